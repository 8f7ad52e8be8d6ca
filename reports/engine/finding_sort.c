/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts findings for reports. Sort keys are compared member by member; the last is the index in the
 * list, so the order is total and the same in every run.
 */
#include "reports/engine/finding_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/rule.h"

struct key {
	int group;    /* violations, INCONCLUSIVE, SKIP and allowed, PASS */
	int mildness; /* of the root cause: errors first */
	int meta;     /* the root cause is of RC-META */
	size_t few;   /* smaller with more consequences */
	size_t root;  /* index of the root cause */
	int follows;  /* a consequence, after its root cause */
	size_t index;
};

static const int group_of[] = {
	[VERDICT_FAIL] = 0, [VERDICT_WARN] = 0, [VERDICT_INCONCLUSIVE] = 1,
	[VERDICT_SKIP] = 2, [VERDICT_PASS] = 3,
};

static int sort_group(const struct finding *f)
{
	return group_of[f->allowed ? VERDICT_SKIP : f->verdict];
}

static int sort_sign(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int sort_key_compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->group != y->group)
		return x->group - y->group;
	if (x->mildness != y->mildness)
		return x->mildness - y->mildness;
	if (x->meta != y->meta)
		return x->meta - y->meta;
	if (x->few != y->few)
		return sort_sign(x->few, y->few);
	if (x->root != y->root)
		return sort_sign(x->root, y->root);
	if (x->follows != y->follows)
		return x->follows - y->follows;
	return sort_sign(x->index, y->index);
}

static size_t finding_root(const struct findings *f, size_t i)
{
	int cause = f->list[i].caused_by;

	return cause >= 0 && (size_t)cause < f->count ? (size_t)cause : i;
}

static void sort_fill_keys(const struct findings *f, struct key *keys)
{
	for (size_t i = 0; i < f->count; i++)
		keys[i] = (struct key){.few = f->count, .index = i};
	for (size_t i = 0; i < f->count; i++)
		if (finding_root(f, i) != i)
			keys[finding_root(f, i)].few--;
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *root = &f->list[finding_root(f, i)];

		keys[i].group = sort_group(&f->list[i]);
		keys[i].root = finding_root(f, i);
		keys[i].follows = keys[i].root != i;
		if (keys[i].group)
			continue;
		keys[i].mildness = SEVERITY_ERROR - (int)finding_severity(root);
		keys[i].meta = rule_is_meta(root->rule);
		keys[i].few = keys[keys[i].root].few;
	}
}

/* Keeps the keys of violations, and returns their number. */
static size_t sort_gather_violations(size_t count, struct key *keys)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!keys[i].group)
			keys[n++] = keys[i];
	return n;
}

int findings_sort(const struct findings *f, struct finding_order *o)
{
	struct key *keys = calloc(f->count + 1, sizeof(*keys));
	size_t n;

	o->count = f->count;
	o->at = calloc(f->count + 1, sizeof(*o->at));
	o->place = calloc(f->count + 1, sizeof(*o->place));
	if (!keys || !o->at || !o->place) {
		free(keys);
		finding_order_clear(o);
		return -ENOMEM;
	}
	sort_fill_keys(f, keys);
	n = sort_gather_violations(f->count, keys);
	qsort(keys, n, sizeof(*keys), sort_key_compare);
	for (size_t i = 0; i < n; i++)
		o->at[i] = keys[i].index;
	/* All others keep their order within their group. */
	for (int group = 1; group <= group_of[VERDICT_PASS]; group++)
		for (size_t i = 0; i < f->count; i++)
			if (sort_group(&f->list[i]) == group)
				o->at[n++] = i;
	for (size_t i = 0; i < n; i++)
		o->place[o->at[i]] = i;
	free(keys);
	return 0;
}

/* Findings of one host in a row: a rule checks all ports of a host before the next one. */
struct stretch {
	const char *host;
	size_t first, count;
};

static int sort_stretch_compare(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;
	int difference = strcmp(x->host, y->host);

	return difference ? difference : sort_sign(x->first, y->first);
}

int findings_sort_by_host(const struct findings *f, struct finding_order *o)
{
	struct stretch *list = calloc(f->count + 1, sizeof(*list));
	size_t n = 0, at = 0;

	*o = (struct finding_order){.count = f->count, .at = calloc(f->count + 1, sizeof(*o->at))};
	if (!list || !o->at) {
		free(list);
		finding_order_clear(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < f->count; i++) {
		if (!i || strcmp(list[n - 1].host, f->list[i].host))
			list[n++] = (struct stretch){f->list[i].host, i, 0};
		list[n - 1].count++;
	}
	qsort(list, n, sizeof(*list), sort_stretch_compare);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < list[i].count; k++)
			o->at[at++] = list[i].first + k;
	free(list);
	return 0;
}

size_t finding_order_host(const struct finding_order *o, const struct findings *f, const char *host,
			  size_t *end)
{
	size_t first = 0;

	for (size_t behind = o->count; first < behind;) {
		size_t middle = first + (behind - first) / 2;

		if (strcmp(f->list[o->at[middle]].host, host) < 0)
			first = middle + 1;
		else
			behind = middle;
	}
	for (*end = first; *end < o->count && !strcmp(f->list[o->at[*end]].host, host);)
		(*end)++;
	return first;
}

void finding_order_clear(struct finding_order *o)
{
	free(o->at);
	free(o->place);
	memset(o, 0, sizeof(*o));
}
