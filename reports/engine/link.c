/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links consequences to causes. A cause explains a violation on its own port; a cause on one end
 * also explains what our traffic met on the other end. A warning never explains an error. Links
 * lead to the root, so that one wrong setting is one leading finding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/engine/rules.h"

/* Where a finding is, as indices into the run; -1 = the whole host, or the whole fabric. */
struct place {
	int host, port;
};

/* How near a cause is to its consequence; the nearest explains it. */
enum nearness {
	NEAR_NOT,
	NEAR_PARTNER,
	NEAR_SAME,
};

static struct place place_of(const struct finding *f, const struct run *run)
{
	struct place p = {-1, -1};

	for (unsigned int h = 0; f->host[0] && h < run->host_count; h++) {
		if (strcmp(run->host[h].name, f->host))
			continue;
		p.host = (int)h;
		for (unsigned int i = 0; i < run->host[h].port_count; i++)
			if (!strcmp(run->host[h].port[i].netdev, f->port))
				p.port = (int)i;
	}
	return p;
}

static bool at_end(struct place p, unsigned int host, unsigned int port)
{
	return p.host == (int)host && p.port == (int)port;
}

static bool joined(const struct run *run, struct place a, struct place b)
{
	for (unsigned int i = 0; i < run->pair_count; i++) {
		const struct run_pair *pair = &run->pair[i];
		bool ab = at_end(a, pair->client_host, pair->client_port) &&
			  at_end(b, pair->server_host, pair->server_port);
		bool ba = at_end(b, pair->client_host, pair->client_port) &&
			  at_end(a, pair->server_host, pair->server_port);

		if (ab || ba)
			return true;
	}
	return false;
}

static enum nearness nearness(const struct findings *f, const struct place *place, size_t cause,
			      size_t effect, const struct run *run)
{
	const struct finding *c = &f->list[cause], *e = &f->list[effect];

	if (!c->host[0] || !e->host[0])
		return NEAR_SAME;
	if (!strcmp(c->host, e->host) && (!c->port[0] || !e->port[0] || !strcmp(c->port, e->port)))
		return NEAR_SAME;
	if ((e->rule->needs & (NEED_LOAD | NEED_DELTA | NEED_CAPTURE) ||
	     strchr(e->rule->evidence, EVIDENCE_TRAFFIC)) &&
	    joined(run, place[cause], place[effect]))
		return NEAR_PARTNER;
	return NEAR_NOT;
}

static bool rule_causes(const struct rule *cause, const struct rule *effect)
{
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && cause->causes[i]; i++)
		if (!strcmp(cause->causes[i], effect->id))
			return true;
	return false;
}

static int find_cause(const struct findings *f, const struct place *place, size_t effect,
		      const struct run *run)
{
	enum nearness best = NEAR_NOT;
	int found = -1;

	for (size_t i = 0; i < f->count && best != NEAR_SAME; i++) {
		const struct finding *c = &f->list[i];
		enum nearness near;

		if (i == effect || !finding_violated(c) ||
		    !rule_causes(c->rule, f->list[effect].rule) ||
		    finding_severity(c) < finding_severity(&f->list[effect]))
			continue;
		near = nearness(f, place, i, effect, run);
		if (near > best) {
			best = near;
			found = (int)i;
		}
	}
	return found;
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
	struct place *place;

	if (f->err)
		return;
	place = calloc(f->count + 1, sizeof(*place));
	if (!place) {
		f->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < f->count; i++)
		place[i] = place_of(&f->list[i], run);
	for (size_t i = 0; i < f->count; i++)
		f->list[i].caused_by = finding_violated(&f->list[i]) ? find_cause(f, place, i, run)
								     : -1;
	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].caused_by >= 0)
			f->list[i].caused_by = root_of(f, (int)i);
	free(place);
}
