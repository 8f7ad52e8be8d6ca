/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which findings are told: leading violations, each followed by its consequences, the
 * worst first and doubts about the evidence last; then what could not be judged, what does not
 * apply, and what passed.
 */
#ifndef REPORTS_FINDING_SORT_H
#define REPORTS_FINDING_SORT_H

#include "reports/engine/rule.h"

struct finding_order {
	size_t *at;    /* owned: findings in telling order */
	size_t *place; /* owned: place of each finding in at[] */
	size_t count;
};

/* -ENOMEM. The caller clears. */
int findings_sort(const struct findings *f, struct finding_order *o);
void finding_order_clear(struct finding_order *o);

/* The other order, without place: host by host, those of one host as they are in the list. -ENOMEM.
 */
int findings_sort_by_host(const struct findings *f, struct finding_order *o);

/* The findings of one host, "" = the fabric: the first one's place in at[], and the place behind
 * the last one. */
size_t finding_order_host(const struct finding_order *o, const struct findings *f, const char *host,
			  size_t *end);

/* Number of findings with this verdict, and of violations that lead. */
size_t verdict_count(const struct findings *f, enum verdict v);
size_t leading_count(const struct findings *f);

#endif
