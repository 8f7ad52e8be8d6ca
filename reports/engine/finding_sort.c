/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts findings for reports and links consequences to root causes. Sort keys are compared member
 * by member; the last is the index in the list, so the order is total and the same in every run.
 */
#include "reports/engine/finding_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct key {
	int group;    /* violations, INCONCLUSIVE, SKIP, PASS */
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

		keys[i].group = group_of[f->list[i].verdict];
		keys[i].root = finding_root(f, i);
		keys[i].follows = keys[i].root != i;
		if (keys[i].group)
			continue;
		keys[i].mildness = SEVERITY_ERROR - (int)finding_severity(root);
		keys[i].meta = !strncmp(root->rule->id, "RC-META-", strlen("RC-META-"));
		keys[i].few = keys[keys[i].root].few;
	}
}

int findings_sort(const struct findings *f, struct finding_order *o)
{
	struct key *keys = calloc(f->count + 1, sizeof(*keys));

	o->count = f->count;
	o->at = calloc(f->count + 1, sizeof(*o->at));
	o->place = calloc(f->count + 1, sizeof(*o->place));
	if (!keys || !o->at || !o->place) {
		free(keys);
		finding_order_clear(o);
		return -ENOMEM;
	}
	sort_fill_keys(f, keys);
	qsort(keys, f->count, sizeof(*keys), sort_key_compare);
	for (size_t i = 0; i < f->count; i++) {
		o->at[i] = keys[i].index;
		o->place[keys[i].index] = i;
	}
	free(keys);
	return 0;
}

static int sort_host_compare(const void *a, const void *b, void *arg)
{
	const struct findings *f = arg;
	const size_t *x = a, *y = b;
	int difference = strcmp(f->list[*x].host, f->list[*y].host);

	return difference ? difference : sort_sign(*x, *y);
}

int findings_sort_by_host(const struct findings *f, struct finding_order *o)
{
	*o = (struct finding_order){.count = f->count, .at = calloc(f->count + 1, sizeof(*o->at))};
	if (!o->at)
		return -ENOMEM;
	for (size_t i = 0; i < f->count; i++)
		o->at[i] = i;
	qsort_r(o->at, f->count, sizeof(*o->at), sort_host_compare, (void *)f);
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

/* Links consequences to causes. A cause explains a violation on its own port, and a violation that
 * rocecheck's traffic found on the port at the remote end. A warning never explains an error. Links
 * go to the root, so that one wrong setting is one root cause. */

/* Place of a finding, as indices into the run; -1 = the whole host, or the whole fabric. */
struct place {
	int host, port;
};

/* Findings, with lookups that linking repeats for each of them. */
struct causes {
	const struct findings *f;
	const struct run *run;
	struct finding_order hosts;
	struct place *place;
};

static void finding_fill_places(struct causes *l)
{
	for (size_t i = 0; i < l->f->count; i++)
		l->place[i] = (struct place){-1, -1};
	for (unsigned int h = 0; h < l->run->host_count; h++) {
		const struct run_host *host = &l->run->host[h];
		size_t end, at = finding_order_host(&l->hosts, l->f, host->name, &end);

		for (; at < end; at++) {
			struct place *p = &l->place[l->hosts.at[at]];

			p->host = (int)h;
			for (unsigned int i = 0; i < host->port_count; i++)
				if (!strcmp(host->port[i].netdev, l->f->list[l->hosts.at[at]].port))
					p->port = (int)i;
		}
	}
}

static bool finding_is_at(struct place p, unsigned int host, unsigned int port)
{
	return p.host == (int)host && p.port == (int)port;
}

static bool finding_rule_causes(const struct rule *cause, const struct rule *effect)
{
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && cause->causes[i]; i++)
		if (!strcmp(cause->causes[i], effect->id))
			return true;
	return false;
}

static bool finding_may_cause(const struct findings *f, size_t cause, size_t effect)
{
	const struct finding *c = &f->list[cause], *e = &f->list[effect];

	return cause != effect && finding_violated(c) && finding_rule_causes(c->rule, e->rule) &&
	       finding_severity(c) >= finding_severity(e);
}

/* Returns the first cause before `limit` among the findings of one host, at the port of the effect,
 * or with `partner` at that port of the run; else limit. */
static size_t finding_cause_at(const struct causes *l, size_t effect, const char *host,
			       const struct place *partner, size_t limit)
{
	const struct finding *e = &l->f->list[effect];
	size_t end, at = finding_order_host(&l->hosts, l->f, host, &end);

	for (; at < end && l->hosts.at[at] < limit; at++) {
		size_t i = l->hosts.at[at];
		const char *port = l->f->list[i].port;
		bool near = partner ? finding_is_at(l->place[i], (unsigned int)partner->host,
						    (unsigned int)partner->port)
				    : !*host || !*port || !e->port[0] || !strcmp(port, e->port);

		if (near && finding_may_cause(l->f, i, effect))
			return i;
	}
	return limit;
}

/* Looks for a cause at the remote port of each pair of the effect's port. */
static size_t finding_cause_at_partner(const struct causes *l, size_t effect)
{
	struct place e = l->place[effect];
	size_t found = l->f->count;

	for (unsigned int i = 0; i < l->run->pair_count; i++) {
		const struct run_pair *pair = &l->run->pair[i];
		const struct place end[] = {
			{(int)pair->client_host, (int)pair->client_port},
			{(int)pair->server_host, (int)pair->server_port},
		};

		for (unsigned int k = 0; k < 2; k++)
			if (e.host == end[k].host && e.port == end[k].port)
				found = finding_cause_at(l, effect, l->run->host[end[!k].host].name,
							 &end[!k], found);
	}
	return found;
}

/* Returns the first cause on the same port, else at a remote port; -1 without one. */
static int finding_find_cause(const struct causes *l, size_t effect)
{
	const struct finding *e = &l->f->list[effect];
	size_t none = l->f->count, found = none;

	if (!e->host[0]) {
		for (found = 0; found < none && !finding_may_cause(l->f, found, effect);)
			found++;
	} else {
		found = finding_cause_at(l, effect, e->host, NULL, found);
		found = finding_cause_at(l, effect, "", NULL, found);
	}
	if (found == none && e->host[0] &&
	    (e->rule->needs & (NEED_LOAD | NEED_DELTA | NEED_CAPTURE) ||
	     strchr(e->rule->evidence, EVIDENCE_TRAFFIC)))
		found = finding_cause_at_partner(l, effect);
	return found == none ? -1 : (int)found;
}

/* Follows the links; bounded, so that a cycle in the table cannot hang a report. */
static int finding_root_cause(const struct findings *f, int at)
{
	for (unsigned int hops = 0; hops < rule_count && f->list[at].caused_by >= 0; hops++)
		at = f->list[at].caused_by;
	return at;
}

void findings_set_causes(struct findings *f, const struct run *run)
{
	struct causes l = {.f = f, .run = run};

	if (f->err)
		return;
	l.place = calloc(f->count + 1, sizeof(*l.place));
	f->err = l.place ? findings_sort_by_host(f, &l.hosts) : -ENOMEM;
	if (!f->err) {
		finding_fill_places(&l);
		for (size_t i = 0; i < f->count; i++)
			f->list[i].caused_by = finding_violated(&f->list[i])
						       ? finding_find_cause(&l, i)
						       : -1;
		for (size_t i = 0; i < f->count; i++)
			if (f->list[i].caused_by >= 0)
				f->list[i].caused_by = finding_root_cause(f, (int)i);
	}
	finding_order_clear(&l.hosts);
	free(l.place);
}
