/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds rows and findings that are equal but for host and port. Rows of one key are joined to hosts
 * with their list of ports; then hosts with equal lists, which are compared by a hash, are one
 * fold.
 */
#include "reports/engine/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/base.h"
#include "reports/engine/finding_sort.h"
#include "reports/engine/rule.h"

static int fold_sign(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int fold_compare_place(const void *a, const void *b)
{
	const struct fold_row *x = a, *y = b;
	int difference = strcmp(x->key, y->key);

	if (!difference)
		difference = strcmp(x->host, y->host);
	if (!difference)
		difference = strcmp(x->port, y->port);
	return difference ? difference : fold_sign(x->index, y->index);
}

static int fold_compare_order(const void *a, const void *b)
{
	const struct fold_row *x = a, *y = b;
	int difference = fold_sign(x->group, y->group);

	if (!difference)
		difference = fold_sign(x->fold, y->fold);
	return difference ? difference : fold_sign(x->index, y->index);
}

/* Returns the end of the rows from i on that have its key, or its host too. */
static size_t fold_end(const struct fold_row *rows, size_t i, size_t count, bool host)
{
	size_t end = i;

	while (end < count && !strcmp(rows[end].key, rows[i].key) &&
	       (!host || !strcmp(rows[end].host, rows[i].host)))
		end++;
	return end;
}

/* Sets the group of rows sorted by place to the lowest index of their key, and their fold to a hash
 * of the ports of their host. */
static void fold_join_ports(struct fold_row *rows, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		size_t lowest = rows[i].index;

		end = fold_end(rows, i, count, false);
		for (size_t k = i, next; k < end; k = next) {
			uint64_t hash = FNV1A_START;

			next = fold_end(rows, k, end, true);
			for (size_t n = k; n < next; n++) {
				hash = fnv1a(hash, rows[n].port, strlen(rows[n].port) + 1);
				lowest = rows[n].index < lowest ? rows[n].index : lowest;
			}
			for (size_t n = k; n < next; n++)
				rows[n].fold = (size_t)hash;
		}
		for (size_t k = i; k < end; k++)
			rows[k].group = lowest;
	}
}

void fold_rows(struct fold_row *rows, size_t count)
{
	size_t fold = 0;

	qsort(rows, count, sizeof(*rows), fold_compare_place);
	fold_join_ports(rows, count);
	qsort(rows, count, sizeof(*rows), fold_compare_order);
	for (size_t i = 0, end; i < count; i = end) {
		const struct fold_row first = rows[i];

		for (end = i;
		     end < count && rows[end].group == first.group && rows[end].fold == first.fold;
		     end++)
			rows[end].fold = first.index;
	}
	qsort(rows, count, sizeof(*rows), fold_compare_order);
	for (size_t i = 0, last = 0; i < count; i++) {
		fold += i && rows[i].fold != last;
		last = rows[i].fold;
		rows[i].fold = fold;
	}
}

/* Findings on their way into folds. */
struct fold_work {
	const struct findings *f;
	const struct finding_order *order;
	bool verbose;
	struct fold_row *row;
	size_t count;
	size_t *root; /* of each finding: its fold in the first pass */
	struct finding_folds *folds;
	size_t members;
};

static int fold_add(struct fold_work *w, size_t place)
{
	size_t index = w->order->at[place];
	const struct finding *f = &w->f->list[index];
	char *key, number[24] = "";

	if (w->verbose && finding_violated(f))
		snprintf(number, sizeof(number), "%zu", index);
	if (asprintf(&key, "%s %s %d %p %x %s:%d %zu %s", number, f->rule->id, (int)f->verdict,
		     (const void *)f->allowed, f->prio_set, f->expected_path, f->expected_line,
		     f->caused_by < 0 ? 0 : w->root[f->caused_by], f->text ? f->text : "") < 0)
		return -ENOMEM;
	w->row[w->count++] =
		(struct fold_row){.key = key, .host = f->host, .port = f->port, .index = place};
	return 0;
}

/* Appends the folds of the sorted rows. */
static void fold_append(struct fold_work *w, bool roots)
{
	struct finding_folds *folds = w->folds;
	size_t base = folds->count;

	for (size_t i = 0; i < w->count; i++) {
		struct finding_fold *fold = &folds->list[base + w->row[i].fold];
		size_t index = w->order->at[w->row[i].index];
		int cause = w->f->list[index].caused_by;

		if (!fold->count++) {
			fold->member = &folds->member[w->members];
			fold->group = w->row[i].group;
			fold->cause = roots ? folds->count : w->root[cause];
			folds->count++;
		}
		folds->member[w->members++] = index;
		w->root[index] = fold->cause;
	}
}

static int fold_pass(struct fold_work *w, bool roots)
{
	int err = 0;

	w->count = 0;
	for (size_t i = 0; !err && i < w->order->count; i++) {
		const struct finding *f = &w->f->list[w->order->at[i]];

		if (f->verdict != VERDICT_PASS && (f->verdict != VERDICT_SKIP || w->verbose) &&
		    (f->caused_by < 0) == roots)
			err = fold_add(w, i);
	}
	if (!err) {
		fold_rows(w->row, w->count);
		fold_append(w, roots);
	}
	for (size_t i = 0; i < w->count; i++)
		free((char *)w->row[i].key);
	return err;
}

static int fold_compare_cause(const void *a, const void *b)
{
	const struct finding_fold *x = a, *y = b;
	int difference = fold_sign(x->cause, y->cause);

	return difference ? difference : (x->member > y->member) - (x->member < y->member);
}

/* Sorts consequences by their roots, and notes at each root where its own are. */
static void fold_link(struct finding_folds *folds)
{
	qsort(folds->list + folds->roots, folds->count - folds->roots, sizeof(*folds->list),
	      fold_compare_cause);
	for (size_t i = folds->count; i-- > folds->roots;) {
		struct finding_fold *root = &folds->list[folds->list[i].cause];

		root->consequences = i;
		root->consequence_count++;
	}
}

int findings_fold(const struct findings *f, const struct finding_order *o, bool verbose,
		  struct finding_folds *folds)
{
	struct fold_work w = {.f = f, .order = o, .verbose = verbose, .folds = folds};
	int err = -ENOMEM;

	*folds = (struct finding_folds){
		.list = calloc(f->count + 1, sizeof(*folds->list)),
		.member = calloc(f->count + 1, sizeof(*folds->member)),
	};
	w.row = calloc(f->count + 1, sizeof(*w.row));
	w.root = calloc(f->count + 1, sizeof(*w.root));
	if (folds->list && folds->member && w.row && w.root)
		err = fold_pass(&w, true);
	folds->roots = folds->count;
	if (!err)
		err = fold_pass(&w, false);
	if (!err)
		fold_link(folds);
	else
		finding_folds_clear(folds);
	free(w.row);
	free(w.root);
	return err;
}

void finding_folds_clear(struct finding_folds *folds)
{
	free(folds->list);
	free(folds->member);
	memset(folds, 0, sizeof(*folds));
}
