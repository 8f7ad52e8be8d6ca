/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folds rows and findings that are equal but for host and port. Rows of one key are joined to hosts
 * with their list of ports; then hosts with equal lists are one fold.
 */
#include "reports/engine/fold.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/finding_sort.h"
#include "reports/engine/rule.h"

/* Rows of one key on one host, sorted by port. */
struct fold_host {
	struct fold_row *row;
	size_t count;
};

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

static int fold_compare_ports(const struct fold_host *x, const struct fold_host *y)
{
	int difference = fold_sign(x->row->group, y->row->group);

	if (!difference)
		difference = fold_sign(x->count, y->count);
	for (size_t i = 0; !difference && i < x->count; i++)
		difference = strcmp(x->row[i].port, y->row[i].port);
	return difference;
}

static int fold_compare_host(const void *a, const void *b)
{
	const struct fold_host *x = a, *y = b;
	int difference = fold_compare_ports(x, y);

	return difference ? difference : fold_sign(x->row->index, y->row->index);
}

static int fold_compare_order(const void *a, const void *b)
{
	const struct fold_row *x = a, *y = b;
	int difference = fold_sign(x->group, y->group);

	if (!difference)
		difference = fold_sign(x->fold, y->fold);
	return difference ? difference : fold_sign(x->index, y->index);
}

/* Sets the group of sorted rows to the lowest index of their key. Returns the hosts of all keys. */
static size_t fold_find_hosts(struct fold_row *rows, size_t count, struct fold_host *hosts)
{
	size_t n = 0;

	for (size_t i = 0, end; i < count; i = end) {
		size_t lowest = rows[i].index;

		for (end = i; end < count && !strcmp(rows[end].key, rows[i].key); end++) {
			if (end == i || strcmp(rows[end].host, rows[end - 1].host))
				hosts[n++] = (struct fold_host){.row = &rows[end]};
			hosts[n - 1].count++;
			if (rows[end].index < lowest)
				lowest = rows[end].index;
		}
		for (size_t k = i; k < end; k++)
			rows[k].group = lowest;
	}
	return n;
}

/* Sets the fold of each row to the lowest index of the fold. */
static void fold_join_hosts(const struct fold_host *hosts, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		size_t lowest = hosts[i].row->index;

		for (end = i; end < count && !fold_compare_ports(&hosts[end], &hosts[i]); end++)
			for (size_t k = 0; k < hosts[end].count; k++)
				if (hosts[end].row[k].index < lowest)
					lowest = hosts[end].row[k].index;
		for (size_t h = i; h < end; h++)
			for (size_t k = 0; k < hosts[h].count; k++)
				hosts[h].row[k].fold = lowest;
	}
}

int fold_rows(struct fold_row *rows, size_t count)
{
	struct fold_host *hosts = calloc(count + 1, sizeof(*hosts));
	size_t n, lowest = 0, fold = 0;

	if (!hosts)
		return -ENOMEM;
	qsort(rows, count, sizeof(*rows), fold_compare_place);
	n = fold_find_hosts(rows, count, hosts);
	qsort(hosts, n, sizeof(*hosts), fold_compare_host);
	fold_join_hosts(hosts, n);
	free(hosts);
	qsort(rows, count, sizeof(*rows), fold_compare_order);
	for (size_t i = 0; i < count; i++) {
		fold += i && rows[i].fold != lowest;
		lowest = rows[i].fold;
		rows[i].fold = fold;
	}
	return 0;
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
	if (!err)
		err = fold_rows(w->row, w->count);
	if (!err)
		fold_append(w, roots);
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
