/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links consequences to causes. A cause explains a violation on its own port, and a violation that
 * rocecheck's traffic found on the port at the remote end. A warning never explains an error. Links
 * go to the root, so that one wrong setting is one root cause.
 */
#include "reports/engine/causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/finding_sort.h"
#include "reports/engine/port_pairs.h"
#include "reports/engine/rule.h"

/* Place of a finding, as indices into the run; -1 = the whole host, or the whole fabric. */
struct place {
	int host, port;
};

/* Findings, with lookups that linking repeats for each of them. */
struct causes {
	const struct findings *f;
	const struct run *run;
	struct finding_order hosts; /* violations alone */
	struct place *place;
	struct port_pairs pairs;
};

static void causes_keep_violations(struct causes *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->hosts.count; i++)
		if (finding_violated(&l->f->list[l->hosts.at[i]]))
			l->hosts.at[kept++] = l->hosts.at[i];
	l->hosts.count = kept;
}

static void causes_fill_places(struct causes *l)
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

static bool causes_is_at(struct place p, unsigned int host, unsigned int port)
{
	return p.host == (int)host && p.port == (int)port;
}

static bool causes_has_effect(const struct rule *cause, const struct rule *effect)
{
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && cause->causes[i]; i++)
		if (!strcmp(cause->causes[i], effect->id))
			return true;
	return false;
}

static bool causes_may_explain(const struct findings *f, size_t cause, size_t effect)
{
	const struct finding *c = &f->list[cause], *e = &f->list[effect];

	return cause != effect && finding_violated(c) && causes_has_effect(c->rule, e->rule) &&
	       finding_severity(c) >= finding_severity(e);
}

/* Returns the first cause before `limit` among the findings of one host, at the port of the effect,
 * or with `partner` at that port of the run; else limit. */
static size_t causes_find_at(const struct causes *l, size_t effect, const char *host,
			     const struct place *partner, size_t limit)
{
	const struct finding *e = &l->f->list[effect];
	size_t end, at = finding_order_host(&l->hosts, l->f, host, &end);

	for (; at < end && l->hosts.at[at] < limit; at++) {
		size_t i = l->hosts.at[at];
		const char *port = l->f->list[i].port;
		bool near = partner ? causes_is_at(l->place[i], (unsigned int)partner->host,
						   (unsigned int)partner->port)
				    : !*host || !*port || !e->port[0] || !strcmp(port, e->port);

		if (near && causes_may_explain(l->f, i, effect))
			return i;
	}
	return limit;
}

/* Looks for a cause at each port that has a pair, or a marking test, with the effect's port. */
static size_t causes_find_at_partner(const struct causes *l, size_t effect,
				     const struct port_uses *uses, size_t limit)
{
	struct place e = l->place[effect];
	const struct port_use *use;
	size_t count;

	if (e.port < 0)
		return limit;
	use = port_pairs_find(&l->pairs, uses, (unsigned int)e.host, (unsigned int)e.port, &count);
	for (size_t i = 0; i < count; i++) {
		const struct place other = {(int)use[i].host, (int)use[i].port};

		if (!use[i].again)
			limit = causes_find_at(l, effect, l->run->host[other.host].name, &other,
					       limit);
	}
	return limit;
}

/* Returns the first cause on the same port, else at a remote port; -1 without one. */
static int causes_find(const struct causes *l, size_t effect)
{
	const struct finding *e = &l->f->list[effect];
	size_t none = l->f->count, found = none;

	if (!e->host[0]) {
		for (found = 0; found < none && !causes_may_explain(l->f, found, effect);)
			found++;
	} else {
		found = causes_find_at(l, effect, e->host, NULL, found);
		found = causes_find_at(l, effect, "", NULL, found);
	}
	if (found == none && e->host[0] &&
	    (e->rule->needs & (NEED_LOAD | NEED_DELTA | NEED_CAPTURE | NEED_PATH) ||
	     strchr(e->rule->evidence, EVIDENCE_TRAFFIC))) {
		found = causes_find_at_partner(l, effect, &l->pairs.pairs, found);
		found = causes_find_at_partner(l, effect, &l->pairs.markings, found);
	}
	return found == none ? -1 : (int)found;
}

/* Follows the links; bounded, so that a cycle in the table cannot hang a report. */
static int causes_find_root(const struct findings *f, int at)
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
	if (!f->err)
		f->err = port_pairs_make(run, &l.pairs);
	if (!f->err) {
		causes_keep_violations(&l);
		causes_fill_places(&l);
		for (size_t i = 0; i < f->count; i++)
			f->list[i].caused_by = finding_violated(&f->list[i]) ? causes_find(&l, i)
									     : -1;
		for (size_t i = 0; i < f->count; i++)
			if (f->list[i].caused_by >= 0)
				f->list[i].caused_by = causes_find_root(f, (int)i);
	}
	port_pairs_clear(&l.pairs);
	finding_order_clear(&l.hosts);
	free(l.place);
}
