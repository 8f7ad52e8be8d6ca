/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links consequences to causes. A cause explains a violation on its own port; a cause on one end
 * also explains what our traffic met on the other end. A warning never explains an error. Links
 * lead to the root, so that one wrong setting is one leading finding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/order.h"

/* Where a finding is, as indices into the run; -1 = the whole host, or the whole fabric. */
struct place {
	int host, port;
};

/* Findings and what is asked of them again and again. */
struct links {
	const struct findings *f;
	const struct run *run;
	struct order hosts;
	struct place *place;
};

static void places_fill(struct links *l)
{
	for (size_t i = 0; i < l->f->count; i++)
		l->place[i] = (struct place){-1, -1};
	for (unsigned int h = 0; h < l->run->host_count; h++) {
		const struct run_host *host = &l->run->host[h];
		size_t end, at = order_host(&l->hosts, l->f, host->name, &end);

		for (; at < end; at++) {
			struct place *p = &l->place[l->hosts.at[at]];

			p->host = (int)h;
			for (unsigned int i = 0; i < host->port_count; i++)
				if (!strcmp(host->port[i].netdev, l->f->list[l->hosts.at[at]].port))
					p->port = (int)i;
		}
	}
}

static bool at_end(struct place p, unsigned int host, unsigned int port)
{
	return p.host == (int)host && p.port == (int)port;
}

static bool rule_causes(const struct rule *cause, const struct rule *effect)
{
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && cause->causes[i]; i++)
		if (!strcmp(cause->causes[i], effect->id))
			return true;
	return false;
}

static bool may_cause(const struct findings *f, size_t cause, size_t effect)
{
	const struct finding *c = &f->list[cause], *e = &f->list[effect];

	return cause != effect && finding_violated(c) && rule_causes(c->rule, e->rule) &&
	       finding_severity(c) >= finding_severity(e);
}

/* The first cause before `limit` among the findings of one host that is at the port of the effect,
 * or with partner, at this port of the run; else limit. */
static size_t cause_at(const struct links *l, size_t effect, const char *host,
		       const struct place *partner, size_t limit)
{
	const struct finding *e = &l->f->list[effect];
	size_t end, at = order_host(&l->hosts, l->f, host, &end);

	for (; at < end && l->hosts.at[at] < limit; at++) {
		size_t i = l->hosts.at[at];
		const char *port = l->f->list[i].port;
		bool near = partner ? at_end(l->place[i], (unsigned int)partner->host,
					     (unsigned int)partner->port)
				    : !*host || !*port || !e->port[0] || !strcmp(port, e->port);

		if (near && may_cause(l->f, i, effect))
			return i;
	}
	return limit;
}

/* At the other end of a pair of the effect's port. */
static size_t cause_of_partner(const struct links *l, size_t effect)
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
				found = cause_at(l, effect, l->run->host[end[!k].host].name,
						 &end[!k], found);
	}
	return found;
}

/* On the same port, else at the other end; the first one. */
static int find_cause(const struct links *l, size_t effect)
{
	const struct finding *e = &l->f->list[effect];
	size_t none = l->f->count, found = none;

	if (!e->host[0]) {
		for (found = 0; found < none && !may_cause(l->f, found, effect);)
			found++;
	} else {
		found = cause_at(l, effect, e->host, NULL, found);
		found = cause_at(l, effect, "", NULL, found);
	}
	if (found == none && e->host[0] &&
	    (e->rule->needs & (NEED_LOAD | NEED_DELTA | NEED_CAPTURE) ||
	     strchr(e->rule->evidence, EVIDENCE_TRAFFIC)))
		found = cause_of_partner(l, effect);
	return found == none ? -1 : (int)found;
}

/* Follows the links; bounded, so that a ring in the table cannot hang a report. */
static int root_of(const struct findings *f, int at)
{
	for (unsigned int hops = 0; hops < rule_count && f->list[at].caused_by >= 0; hops++)
		at = f->list[at].caused_by;
	return at;
}

void findings_link(struct findings *f, const struct run *run)
{
	struct links l = {.f = f, .run = run};

	if (f->err)
		return;
	l.place = calloc(f->count + 1, sizeof(*l.place));
	f->err = l.place ? order_make_hosts(f, &l.hosts) : -ENOMEM;
	if (!f->err) {
		places_fill(&l);
		for (size_t i = 0; i < f->count; i++)
			f->list[i].caused_by = finding_violated(&f->list[i]) ? find_cause(&l, i)
									     : -1;
		for (size_t i = 0; i < f->count; i++)
			if (f->list[i].caused_by >= 0)
				f->list[i].caused_by = root_of(f, (int)i);
	}
	order_clear(&l.hosts);
	free(l.place);
}
