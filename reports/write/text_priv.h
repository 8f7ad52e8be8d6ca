/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The document of the text writer, and what its files share.
 */
#ifndef REPORTS_TEXT_PRIV_H
#define REPORTS_TEXT_PRIV_H

#include <stdio.h>

#include "reports/engine/finding_sort.h"
#include "reports/engine/fold.h"
#include "reports/write/writer.h"

/* One document being written. */
struct page {
	const struct report *r;
	const struct findings *f;
	struct finding_order order, hosts;
	struct finding_folds folds;
	FILE *out;
	int *err;   /* first -ENOMEM */
	bool *sets; /* a node set was printed: the legend explains it */
};

/* Writes a word, in the colour of the verdict when the report has colours. */
void write_coloured(const struct page *p, enum verdict v, const char *word);

/* The verdict as printed: a missing host or port is a FAIL of its rule, and makes the report
 * INCOMPLETE. An allowed finding has a list of its own. */
enum verdict text_verdict(const struct finding *f);
const char *text_verdict_word(enum verdict v);

unsigned int text_port_count(const struct run *run);

/* Sorts the names, and keeps each once. Returns how many. */
size_t text_unique_names(const char **names, size_t count);

/* Returns the node set of unique names, the caller's to free: of so many as fit into three lines,
 * and the number of the others; with -v of all. NULL: the page has its error. */
char *text_node_set(const struct page *p, const char *const *names, size_t count);

/* Writes the table of ports: equal rows as one. */
void write_port_table(const struct page *p);

#endif
