/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds what is equal but for host and port, for reports of large fabrics: any rows, and findings.
 * Pure: findings are not changed, so that JSON and JUnit have each of them.
 */
#ifndef REPORTS_FOLD_H
#define REPORTS_FOLD_H

#include <stdbool.h>
#include <stddef.h>

struct findings;
struct finding_order;

/* A row at a place. Rows with equal keys may fold. */
struct fold_row {
	const char *key, *host, *port; /* borrowed */
	size_t index;		       /* of the row, by the caller: in rising order */
	size_t fold;		       /* filled: number of its fold */
	size_t group;		       /* filled: equal for folds of one key */
};

/* Numbers the folds and sorts the rows by them. In each fold every host has the same ports: "h[1-3]
 * roce[0-7]". Folds of one key are adjacent; the order is that of their first rows. Sorts by keys:
 * the time is that of a sort. */
void fold_rows(struct fold_row *rows, size_t count);

/* Findings of one rule with equal verdict, exception, priorities, text and cause. */
struct finding_fold {
	const size_t *member; /* indices in the list of findings, in the order of the report */
	size_t count;
	size_t group;	     /* equal for folds that differ in places alone */
	size_t cause;	     /* index of the fold of the root cause; of a root: its own */
	size_t consequences; /* number of the first fold that it caused */
	size_t consequence_count;
};

struct finding_folds {
	struct finding_fold *list; /* owned: roots in the order of the report, then consequences */
	size_t count, roots;
	size_t *member; /* owned */
};

/* Folds violations and INCONCLUSIVE. verbose: each violation is a fold of its own, and SKIP is
 * folded, too. -ENOMEM. The caller clears. */
int findings_fold(const struct findings *f, const struct finding_order *o, bool verbose,
		  struct finding_folds *folds);
void finding_folds_clear(struct finding_folds *folds);

#endif
