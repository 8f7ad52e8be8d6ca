/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts findings for telling. Keys are compared from the first member on; the index in the list is
 * the last, so the order is total and the same in every run.
 */
#include "reports/engine/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct key {
	int group;    /* violations, INCONCLUSIVE, SKIP, PASS */
	int mildness; /* of the leading finding: errors first */
	int doubt;    /* the leading finding is of RC-META */
	size_t few;   /* the more it explains, the smaller */
	size_t lead;  /* index of the leading finding */
	int follows;  /* a consequence, after its lead */
	size_t index;
};

static const int group_of[] = {
	[VERDICT_FAIL] = 0, [VERDICT_WARN] = 0, [VERDICT_INCONCLUSIVE] = 1,
	[VERDICT_SKIP] = 2, [VERDICT_PASS] = 3,
};

static int sign(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int key_compare(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->group != y->group)
		return x->group - y->group;
	if (x->mildness != y->mildness)
		return x->mildness - y->mildness;
	if (x->doubt != y->doubt)
		return x->doubt - y->doubt;
	if (x->few != y->few)
		return sign(x->few, y->few);
	if (x->lead != y->lead)
		return sign(x->lead, y->lead);
	if (x->follows != y->follows)
		return x->follows - y->follows;
	return sign(x->index, y->index);
}

static size_t lead_of(const struct findings *f, size_t i)
{
	int cause = f->list[i].caused_by;

	return cause >= 0 && (size_t)cause < f->count ? (size_t)cause : i;
}

static void keys_fill(const struct findings *f, struct key *keys)
{
	for (size_t i = 0; i < f->count; i++)
		keys[i] = (struct key){.few = f->count, .index = i};
	for (size_t i = 0; i < f->count; i++)
		if (lead_of(f, i) != i)
			keys[lead_of(f, i)].few--;
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *lead = &f->list[lead_of(f, i)];

		keys[i].group = group_of[f->list[i].verdict];
		keys[i].lead = lead_of(f, i);
		keys[i].follows = keys[i].lead != i;
		if (keys[i].group)
			continue;
		keys[i].mildness = SEVERITY_ERROR - (int)finding_severity(lead);
		keys[i].doubt = !strncmp(lead->rule->id, "RC-META-", strlen("RC-META-"));
		keys[i].few = keys[keys[i].lead].few;
	}
}

int order_make(const struct findings *f, struct order *o)
{
	struct key *keys = calloc(f->count + 1, sizeof(*keys));

	o->count = f->count;
	o->at = calloc(f->count + 1, sizeof(*o->at));
	o->place = calloc(f->count + 1, sizeof(*o->place));
	if (!keys || !o->at || !o->place) {
		free(keys);
		order_clear(o);
		return -ENOMEM;
	}
	keys_fill(f, keys);
	qsort(keys, f->count, sizeof(*keys), key_compare);
	for (size_t i = 0; i < f->count; i++) {
		o->at[i] = keys[i].index;
		o->place[keys[i].index] = i;
	}
	free(keys);
	return 0;
}

static int host_compare(const void *a, const void *b, void *arg)
{
	const struct findings *f = arg;
	const size_t *x = a, *y = b;
	int difference = strcmp(f->list[*x].host, f->list[*y].host);

	return difference ? difference : sign(*x, *y);
}

int order_make_hosts(const struct findings *f, struct order *o)
{
	*o = (struct order){.count = f->count, .at = calloc(f->count + 1, sizeof(*o->at))};
	if (!o->at)
		return -ENOMEM;
	for (size_t i = 0; i < f->count; i++)
		o->at[i] = i;
	qsort_r(o->at, f->count, sizeof(*o->at), host_compare, (void *)f);
	return 0;
}

size_t order_host(const struct order *o, const struct findings *f, const char *host, size_t *end)
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

void order_clear(struct order *o)
{
	free(o->at);
	free(o->place);
	memset(o, 0, sizeof(*o));
}

size_t verdict_count(const struct findings *f, enum verdict v)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += f->list[i].verdict == v;
	return count;
}

size_t leading_count(const struct findings *f)
{
	size_t count = 0;

	for (size_t i = 0; i < f->count; i++)
		count += finding_violated(&f->list[i]) && f->list[i].caused_by < 0;
	return count;
}
