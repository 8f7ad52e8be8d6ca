/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which findings are told: leading violations, each followed by its consequences, the
 * worst first and doubts about the evidence last; then what could not be judged, what does not
 * apply, and what passed.
 */
#ifndef REPORTS_ORDER_H
#define REPORTS_ORDER_H

#include "reports/engine/rules.h"

struct order {
	size_t *at;    /* owned: findings in telling order */
	size_t *place; /* owned: place of each finding in at[] */
	size_t count;
};

/* -ENOMEM. The caller clears. */
int order_make(const struct findings *f, struct order *o);
void order_clear(struct order *o);

/* The other order, without place: host by host, those of one host as they are in the list. -ENOMEM.
 */
int order_make_hosts(const struct findings *f, struct order *o);

/* The findings of one host, "" = the fabric: the first one's place in at[], and the place behind
 * the last one. */
size_t order_host(const struct order *o, const struct findings *f, const char *host, size_t *end);

/* Number of findings with this verdict, and of violations that lead. */
size_t verdict_count(const struct findings *f, enum verdict v);
size_t leading_count(const struct findings *f);

#endif
