/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Order of findings in a report: root causes with their consequences, errors first and RC-META
 * last; then INCONCLUSIVE, SKIP and PASS.
 */
#ifndef REPORTS_FINDING_SORT_H
#define REPORTS_FINDING_SORT_H

#include "reports/engine/findings.h"

struct finding_order {
	size_t *at;    /* owned: findings in the order of the report */
	size_t *place; /* owned: place of each finding in at[] */
	size_t count;
};

/* -ENOMEM. The caller clears. */
int findings_sort(const struct findings *f, struct finding_order *o);
void finding_order_clear(struct finding_order *o);

/* Sorts by host, without place[]; findings of one host keep their order. -ENOMEM. */
int findings_sort_by_host(const struct findings *f, struct finding_order *o);

/* Returns the place of the host's first finding in at[] ("" = the fabric); *end is the place after
 * its last one. */
size_t finding_order_host(const struct finding_order *o, const struct findings *f, const char *host,
			  size_t *end);

#endif
