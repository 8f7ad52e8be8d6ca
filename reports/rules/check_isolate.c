/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-NET-011: names the smallest common place of what marking tests found wrong. Each test gives
 * two flows, one a direction. A place (a port as sender, two leaf switches, ...) explains the bad
 * flows through it if nearly no good flow goes there; the place with most bad flows wins, then the
 * next explains what is left. A second pass overrules the first one for the flows it tested.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/nodeset.h"
#include "profiles/base/text.h"
#include "reports/rules/checks.h"

#define NOISE_MAX     1u /* lost datagrams of a flow that accuse nobody */
#define GOOD_PER_BAD  8u /* one good flow at a place is allowed for so many bad ones */
#define NO_LEAF	      UINT32_MAX
#define PORTS_PRINTED 8u

/* What can be wrong with a flow: each is explained on its own. */
static const unsigned int isolate_kinds[] = {
	1u << MARKING_LOST | 1u << MARKING_BLACKHOLE | 1u << MARKING_WRONG,
	1u << MARKING_DSCP,
	1u << MARKING_ECT_CLEARED | 1u << MARKING_ECN,
	1u << MARKING_MTU,
};

/* The smaller place stands before the larger one. "Cross" flows are between ports of two leaves. */
enum place_kind {
	PLACE_SENDER,
	PLACE_RECEIVER,
	PLACE_PORT, /* as sender and as receiver */
	PLACE_LEAF_TO_LEAF,
	PLACE_TWO_LEAVES,
	PLACE_LEAF_OUT, /* cross flows of one leaf */
	PLACE_LEAF_IN,
	PLACE_LEAF_CROSS,
	PLACE_CROSS,
	PLACE_LEAF, /* all flows of its ports */
	PLACE_ALL,
	PLACE_KINDS,
	PLACE_PATHS = PLACE_KINDS, /* no common place, but some source ports of each flow */
};

struct port_place {
	const struct run_host *host;
	const struct run_port *port;
	const char *leaf_name; /* of LLDP; NULL = unknown */
	uint32_t leaf;	       /* number of that name, NO_LEAF = unknown */
};

/* One direction between two ports. */
struct iso_flow {
	uint32_t sender, receiver; /* in struct isolate.port */
	uint8_t pass;		   /* the latest, which the next members are of */
	bool bad;
	unsigned int tests, bad_tests; /* of all passes */
	uint64_t count, of;
	const struct marking_finding *finding; /* of most source ports; NULL = good */
};

/* A place, by one or two numbers of ports or leaves. */
struct place {
	enum place_kind kind;
	uint32_t a, b;
	unsigned int tested, bad; /* flows there that nothing explained before */
	unsigned int partial;	  /* of the bad ones: on some source ports alone */
};

struct isolate {
	const struct run *run;
	const struct rule *rule;
	unsigned int *first; /* port number of each host's first port */
	struct port_place *port;
	unsigned int port_count, tested_ports, tests;
	struct iso_flow *flow;
	size_t flow_count;
	struct place *place; /* candidates, sorted */
	size_t place_count;
};

static void isolate_clear(struct isolate *x)
{
	free(x->first);
	free(x->port);
	free(x->flow);
	free(x->place);
}

static int isolate_compare_leaves(const void *a, const void *b)
{
	const struct port_place *const *x = a, *const *y = b;

	return strcmp((*x)->leaf_name, (*y)->leaf_name);
}

/* Numbers the leaves by the LLDP names of the ports' neighbours. */
static int isolate_number_leaves(struct isolate *x)
{
	struct port_place **known = calloc(x->port_count + 1, sizeof(struct port_place *));
	unsigned int count = 0, leaf = 0;

	if (!known)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->port_count; i++)
		if (x->port[i].leaf_name)
			known[count++] = &x->port[i];
	qsort(known, count, sizeof(struct port_place *), isolate_compare_leaves);
	for (unsigned int i = 0; i < count; i++) {
		if (i && strcmp(known[i - 1]->leaf_name, known[i]->leaf_name))
			leaf++;
		known[i]->leaf = leaf;
	}
	free(known);
	return 0;
}

static const char *isolate_leaf_name(const struct run_host *h, const struct run_port *p)
{
	const struct snapshot *s = h->has_after ? &h->after : &h->before;
	const struct port *known = h->has_before || h->has_after ? snapshot_port(s, p->netdev)
								 : NULL;

	return known && known->lldp_name[0] ? known->lldp_name : NULL;
}

static int isolate_list_ports(struct isolate *x)
{
	const struct run *r = x->run;

	x->first = calloc(r->host_count + 1, sizeof(*x->first));
	for (unsigned int h = 0; x->first && h < r->host_count; h++) {
		x->first[h] = x->port_count;
		x->port_count += r->host[h].port_count;
	}
	x->port = calloc(x->port_count + 1, sizeof(*x->port));
	if (!x->first || !x->port)
		return -ENOMEM;
	for (unsigned int h = 0; h < r->host_count; h++)
		for (unsigned int p = 0; p < r->host[h].port_count; p++)
			x->port[x->first[h] + p] = (struct port_place){
				.host = &r->host[h],
				.port = &r->host[h].port[p],
				.leaf_name = isolate_leaf_name(&r->host[h], &r->host[h].port[p]),
				.leaf = NO_LEAF,
			};
	return isolate_number_leaves(x);
}

static int isolate_compare_flows(const void *a, const void *b)
{
	const struct iso_flow *x = a, *y = b;

	if (x->sender != y->sender)
		return x->sender < y->sender ? -1 : 1;
	if (x->receiver != y->receiver)
		return x->receiver < y->receiver ? -1 : 1;
	return (int)y->pass - (int)x->pass; /* the latest first */
}

/* Reads one direction of a test. */
static struct iso_flow isolate_read_test(const struct isolate *x, const struct run_marking *m,
					 enum marking_direction direction, unsigned int kinds)
{
	uint32_t ends[] = {x->first[m->client_host] + m->client_port,
			   x->first[m->server_host] + m->server_port};
	struct iso_flow f = {.sender = ends[direction == MARKING_REVERSE],
			     .receiver = ends[direction == MARKING_FORWARD],
			     .pass = m->pass,
			     .tests = 1};

	for (unsigned int i = 0; i < m->finding_count; i++) {
		const struct marking_finding *one = &m->finding[i];

		if (one->direction != direction || !(kinds & 1u << one->kind))
			continue;
		f.count += one->kind == MARKING_MTU ? one->ports : one->count;
		f.of += one->kind == MARKING_MTU ? one->ports_of : one->of;
		if (!f.finding)
			f.finding = one;
	}
	f.bad_tests = f.finding ? 1 : 0;
	return f;
}

/* Lists the flows of all tests that ran, each pair of ports and direction once. */
static int isolate_list_flows(struct isolate *x, unsigned int kinds)
{
	size_t count = 0, kept = 0;

	free(x->flow);
	x->flow = calloc(2 * (size_t)x->run->marking_count + 1, sizeof(*x->flow));
	if (!x->flow)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->run->marking_count; i++) {
		const struct run_marking *m = &x->run->marking[i];

		for (unsigned int d = 0; m->ran && d < MARKING_DIRECTIONS; d++)
			x->flow[count++] = isolate_read_test(x, m, (enum marking_direction)d,
							     kinds);
	}
	qsort(x->flow, count, sizeof(*x->flow), isolate_compare_flows);
	for (size_t i = 0; i < count; i++) {
		struct iso_flow *f = kept ? &x->flow[kept - 1] : NULL, *one = &x->flow[i];

		if (!f || f->sender != one->sender || f->receiver != one->receiver) {
			x->flow[kept++] = *one;
			continue;
		}
		f->tests++;
		f->bad_tests += one->bad_tests;
		if (one->pass != f->pass)
			continue;
		f->count += one->count;
		f->of += one->of;
		if (one->finding && (!f->finding || one->finding->ports_of > f->finding->ports_of))
			f->finding = one->finding;
	}
	x->flow_count = kept;
	return 0;
}

/* Marks the bad flows and returns their number; *noise: flows with too few losses. */
static size_t isolate_mark_bad(struct isolate *x, unsigned int kinds, size_t *noise)
{
	size_t bad = 0;

	*noise = 0;
	for (size_t i = 0; i < x->flow_count; i++) {
		struct iso_flow *f = &x->flow[i];

		f->bad = f->finding && (!(kinds & 1u << MARKING_LOST) || f->count > NOISE_MAX);
		*noise += f->finding && !f->bad;
		bad += f->bad;
	}
	return bad;
}

/* Adds the numbers of a flow in places of one kind; returns how many there are, at most two. */
static unsigned int isolate_places(const struct isolate *x, const struct iso_flow *f,
				   enum place_kind kind, struct place out[2])
{
	uint32_t from = x->port[f->sender].leaf, to = x->port[f->receiver].leaf;
	bool known = from != NO_LEAF && to != NO_LEAF, cross = known && from != to;
	uint32_t low = from < to ? from : to, high = from < to ? to : from;

	out[0] = out[1] = (struct place){.kind = kind};
	switch (kind) {
	case PLACE_SENDER:
		out->a = f->sender;
		return 1;
	case PLACE_RECEIVER:
		out->a = f->receiver;
		return 1;
	case PLACE_PORT:
		out[0].a = f->sender;
		out[1].a = f->receiver;
		return 2;
	case PLACE_LEAF_TO_LEAF:
		out->a = from;
		out->b = to;
		return cross;
	case PLACE_TWO_LEAVES:
		out->a = low;
		out->b = high;
		return cross;
	case PLACE_LEAF_OUT:
		out->a = from;
		return cross;
	case PLACE_LEAF_IN:
		out->a = to;
		return cross;
	case PLACE_LEAF_CROSS:
	case PLACE_LEAF:
		out[0].a = from;
		out[1].a = to;
		if (kind == PLACE_LEAF_CROSS)
			return cross ? 2 : 0;
		return cross ? 2 : known;
	case PLACE_CROSS:
		return cross;
	default:
		return 1;
	}
}

static int isolate_compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Sorts the candidates and keeps each once. */
static void isolate_sort_places(struct isolate *x)
{
	size_t kept = 0;

	if (x->place_count)
		qsort(x->place, x->place_count, sizeof(*x->place), isolate_compare_places);
	for (size_t i = 0; i < x->place_count; i++)
		if (!i || isolate_compare_places(&x->place[kept - 1], &x->place[i]))
			x->place[kept++] = x->place[i];
	x->place_count = kept;
}

/* Lists the places of bad flows. There are few of them, also for millions of flows. */
static int isolate_list_places(struct isolate *x)
{
	size_t room = 0;

	x->place_count = 0;
	for (size_t i = 0; i < x->flow_count; i++) {
		if (!x->flow[i].bad)
			continue;
		if (x->place_count + 2 * PLACE_KINDS > room) {
			struct place *more;

			isolate_sort_places(x);
			room = 2 * x->place_count + 4096;
			more = reallocarray(x->place, room, sizeof(*more));
			if (!more)
				return -ENOMEM;
			x->place = more;
		}
		for (unsigned int k = 0; k < PLACE_KINDS; k++)
			x->place_count += isolate_places(x, &x->flow[i], (enum place_kind)k,
							 &x->place[x->place_count]);
	}
	isolate_sort_places(x);
	return 0;
}

/* Sums of the bad flows of a place. */
struct symptoms {
	const struct iso_flow *first; /* with most source ports tested */
	unsigned int flows, tests, bad_tests;
	uint64_t count, of;
	uint64_t ports, ports_of; /* affected source ports, of those tested */
	/* If all source ports lost alike, chance would leave `unhit` of them without a loss, with
	 * this variance. If only some lose, there are `share` of them. */
	double unhit, variance, share;
};

/* e^-x, within 1 %. */
static double isolate_decay(double x)
{
	double y = x < 1024 ? 1 - x / 1024 : 0;

	for (unsigned int i = 0; i < 10; i++)
		y *= y;
	return y;
}

/* Adds the losses of one flow as balls thrown into boxes, its source ports. A change of headers
 * hits all datagrams of a source port: nothing is left to chance. */
static void isolate_sum_chance(struct symptoms *s, const struct marking_finding *m)
{
	double boxes = m->ports_of, balls = m->count, share = m->ports;
	double empty;

	if (m->kind != MARKING_MTU && m->whole != m->ports && boxes > 0) {
		empty = isolate_decay(balls / boxes);
		s->unhit += boxes * empty;
		s->variance += boxes * empty * (1 - (1 + balls / boxes) * empty);
		for (unsigned int i = 0; i < 50 && share > 0 && share < boxes; i++)
			share = m->ports / (1 - isolate_decay(balls / share));
	}
	s->share += share < boxes ? share : boxes;
}

static void isolate_sum_add(struct symptoms *s, const struct iso_flow *f)
{
	const struct marking_finding *m = f->finding;

	isolate_sum_chance(s, m);
	s->ports += m->ports;
	s->ports_of += m->ports_of;
	s->count += f->count;
	s->of += f->of;
	s->tests += f->tests;
	s->bad_tests += f->bad_tests;
	s->flows++;
	if (!s->first || m->ports_of > s->first->finding->ports_of)
		s->first = f;
}

/* Returns true if more source ports are without fault than chance explains (four sigma): one path
 * of several. */
static bool isolate_sum_is_partial(const struct symptoms *s)
{
	double more = (double)(s->ports_of - s->ports) - s->unhit;

	return s->ports < s->ports_of && more > 0 && more * more > 16 * s->variance;
}

static bool isolate_is_partial(const struct iso_flow *f)
{
	struct symptoms s = {0};

	isolate_sum_add(&s, f);
	return isolate_sum_is_partial(&s);
}

/* Counts the flows of each place. A flow with little noise is neither good nor bad. */
static void isolate_count_places(struct isolate *x)
{
	for (size_t i = 0; i < x->place_count; i++)
		x->place[i].tested = x->place[i].bad = x->place[i].partial = 0;
	for (size_t i = 0; x->place_count && i < x->flow_count; i++) {
		const struct iso_flow *f = &x->flow[i];

		for (unsigned int k = 0; (f->bad || !f->finding) && k < PLACE_KINDS; k++) {
			struct place at[2];
			unsigned int n = isolate_places(x, f, (enum place_kind)k, at);

			for (unsigned int j = 0; j < n; j++) {
				struct place *p = bsearch(&at[j], x->place, x->place_count,
							  sizeof(*p), isolate_compare_places);

				if (!p)
					continue;
				p->tested++;
				p->bad += f->bad;
				p->partial += f->bad && isolate_is_partial(f);
			}
		}
	}
}

/* Returns true if a place is better than the best one so far. Two ports alone cannot be told
 * apart, nor is one flow a pattern. */
static bool isolate_is_better(const struct isolate *x, const struct place *p,
			      const struct place *best)
{
	unsigned int good = p->tested - p->bad;

	if (p->bad < 2 || good * GOOD_PER_BAD > p->bad ||
	    (p->kind <= PLACE_PORT && x->tested_ports < 3))
		return false;
	if (!best || p->bad != best->bad)
		return !best || p->bad > best->bad;
	/* The link of a host is one path: some source ports of all its flows speak for an uplink.
	 */
	if (p->tested == best->tested)
		return best->kind <= PLACE_PORT && p->kind > PLACE_PORT &&
		       best->partial > best->bad / 2;
	return p->tested < best->tested;
}

static const struct place *isolate_best_place(const struct isolate *x)
{
	const struct place *best = NULL;

	for (size_t i = 0; i < x->place_count; i++)
		if (isolate_is_better(x, &x->place[i], best))
			best = &x->place[i];
	return best;
}

static bool isolate_is_there(const struct isolate *x, const struct iso_flow *f,
			     const struct place *p)
{
	struct place at[2];
	unsigned int n = p->kind == PLACE_PATHS ? 0 : isolate_places(x, f, p->kind, at);

	if (p->kind == PLACE_PATHS)
		return true;
	for (unsigned int i = 0; i < n; i++)
		if (at[i].a == p->a && at[i].b == p->b)
			return true;
	return false;
}

/* Paths of which one is affected; 0 = more than one, or all. */
static uint64_t isolate_sum_members(const struct symptoms *s)
{
	uint64_t members = s->share > 0 ? (uint64_t)((double)s->ports_of / s->share + 0.5) : 0;

	return isolate_sum_is_partial(s) && members > 1 ? members : 0;
}

static void isolate_write_what(FILE *out, const struct symptoms *s)
{
	const struct marking_finding *m = s->first->finding;
	uint64_t count = larger(s->count, 1);
	uint64_t one_in = (s->of / larger(isolate_sum_members(s), 1) + count / 2) / count;

	if (m->kind == MARKING_MTU)
		fprintf(out, "packets of %u bytes do not arrive (path MTU %u)", m->expected_bytes,
			m->bytes);
	else if (m->kind == MARKING_DSCP)
		fprintf(out, "DSCP %u arrives as %u", m->from, m->to);
	else if (m->kind == MARKING_ECT_CLEARED || m->kind == MARKING_ECN)
		fputs("ECN bits are changed", out);
	else if (one_in < 2)
		fprintf(out, "%s datagrams are %s", s->count < s->of ? "most" : "all",
			m->kind == MARKING_WRONG ? "damaged" : "lost");
	else
		fprintf(out, "1 in %llu datagrams is %s", (count_t)one_in,
			m->kind == MARKING_WRONG ? "damaged" : "lost");
}

static const char *isolate_leaf(const struct isolate *x, uint32_t leaf)
{
	for (unsigned int i = 0; i < x->port_count; i++)
		if (x->port[i].leaf == leaf)
			return x->port[i].leaf_name;
	return "";
}

static void isolate_write_where(FILE *out, const struct isolate *x, const struct place *p)
{
	const char *a, *b;

	switch (p->kind) {
	case PLACE_SENDER:
	case PLACE_RECEIVER:
	case PLACE_PORT:
		fprintf(out, " %s %s %s",
			p->kind == PLACE_SENDER	    ? "from"
			: p->kind == PLACE_RECEIVER ? "to"
						    : "from and to",
			x->port[p->a].host->name, x->port[p->a].port->netdev);
		return;
	case PLACE_CROSS:
		fputs(" between all leaves", out);
		return;
	case PLACE_ALL:
		fputs(" on all tested paths", out);
		return;
	case PLACE_PATHS:
		return;
	default:
		break;
	}
	a = isolate_leaf(x, p->a);
	b = isolate_leaf(x, p->b);
	if (p->kind == PLACE_LEAF_TO_LEAF)
		fprintf(out, " from %s to %s", a, b);
	else if (p->kind == PLACE_TWO_LEAVES)
		fprintf(out, " between %s and %s", a, b);
	else if (p->kind == PLACE_LEAF)
		fprintf(out, " through %s", a);
	else
		fprintf(out, " %s %s %s other leaves",
			p->kind == PLACE_LEAF_OUT  ? "from"
			: p->kind == PLACE_LEAF_IN ? "to"
						   : "between",
			a,
			p->kind == PLACE_LEAF_OUT  ? "to"
			: p->kind == PLACE_LEAF_IN ? "from"
						   : "and");
}

static int isolate_compare_ports(const void *a, const void *b)
{
	const uint16_t *x = a, *y = b;

	return (int)*x - (int)*y;
}

static void isolate_write_paths(FILE *out, const struct isolate *x, const struct symptoms *s)
{
	const struct marking_finding *m = s->first->finding;
	unsigned int n = m->ports < MARKING_NAMED_MAX ? m->ports : MARKING_NAMED_MAX;
	uint64_t members = isolate_sum_members(s);
	uint16_t named[MARKING_NAMED_MAX];

	if (!isolate_sum_is_partial(s)) {
		fputs(s->ports == s->ports_of ? ", on all source ports" : "", out);
		return;
	}
	if (members)
		fprintf(out, ", on one of about %llu paths", (count_t)members);
	else
		fprintf(out, ", on %llu of %llu source ports", (count_t)s->ports,
			(count_t)s->ports_of);
	memcpy(named, m->named, sizeof(named));
	qsort(named, n, sizeof(*named), isolate_compare_ports);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s%u", i ? ", " : ": source ports ", named[i]);
	fprintf(out, "%s from %s to %s", m->ports > n ? ", ..." : "",
		x->port[s->first->sender].host->name, x->port[s->first->receiver].host->name);
}

/* Returns the host names of the senders or receivers of a place's bad flows as a node set, the
 * caller's; NULL on -ENOMEM. */
static char *isolate_hosts(const struct isolate *x, const struct place *p, bool senders)
{
	const char **name = calloc(x->flow_count + 1, sizeof(*name));
	char *text = NULL;
	size_t count = 0;

	for (size_t i = 0; name && i < x->flow_count; i++) {
		const struct iso_flow *f = &x->flow[i];

		if (f->bad && isolate_is_there(x, f, p))
			name[count++] = x->port[senders ? f->sender : f->receiver].host->name;
	}
	if (!name || nodeset_fold(name, count, &text))
		text = NULL;
	free(name);
	return text;
}

/* Returns the line of an explanation, the caller's; NULL on -ENOMEM. */
static char *isolate_text(const struct isolate *x, const struct place *p, const struct symptoms *s,
			  size_t bad)
{
	char *from = isolate_hosts(x, p, true), *to = isolate_hosts(x, p, false), *text = NULL;
	size_t size = 0, others = x->flow_count - p->tested;
	FILE *out = from && to ? open_memstream(&text, &size) : NULL;

	if (out) {
		isolate_write_what(out, s);
		isolate_write_where(out, x, p);
		isolate_write_paths(out, x, s);
		fprintf(out, "; hit: %u of %u flows%s (%s to %s)", p->bad, p->tested,
			p->kind == PLACE_PATHS ? "" : " there", from, to);
		if (others)
			fprintf(out, ", %zu of %zu others", bad - p->bad, others);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(from);
	free(to);
	return text;
}

static void isolate_report_at(const struct isolate *x, const struct port_place *at,
			      const struct symptoms *s, const char *line, struct findings *out)
{
	char text[320];

	finding_begin(out, x->rule, at ? at->host->name : "", at ? at->port->netdev : "", 0);
	finding_set(out, VERDICT_FAIL, "%s", line);
	marking_finding_text(s->first->finding, text, sizeof(text));
	finding_evidence(out, EVIDENCE_TRAFFIC, "%s to %s: %s",
			 x->port[s->first->sender].host->name,
			 x->port[s->first->receiver].host->name, text);
	finding_evidence(out, EVIDENCE_TRAFFIC, "%u of %u tests of these flows show it%s",
			 s->bad_tests, s->tests,
			 s->first->pass ? ", with a second pass" : ", without a second pass");
}

/* Reports an explanation at its port, or at all ports of its bad flows: equal lines are one in a
 * report. Its flows are explained then. */
static int isolate_report(struct isolate *x, const struct place *p, size_t bad,
			  struct findings *out)
{
	bool *there = calloc(x->port_count + 1, sizeof(*there));
	struct symptoms s = {0};
	char *line;

	for (size_t i = 0; there && i < x->flow_count; i++) {
		const struct iso_flow *f = &x->flow[i];

		if (!f->bad || !isolate_is_there(x, f, p))
			continue;
		isolate_sum_add(&s, f);
		there[f->sender] = there[f->receiver] = true;
	}
	line = there ? isolate_text(x, p, &s, bad) : NULL;
	if (line && p->kind == PLACE_ALL)
		isolate_report_at(x, NULL, &s, line, out);
	for (unsigned int i = 0; line && i < x->port_count && p->kind != PLACE_ALL; i++)
		if (p->kind <= PLACE_PORT ? i == p->a : there[i])
			isolate_report_at(x, &x->port[i], &s, line, out);
	for (size_t i = 0; line && i < x->flow_count; i++)
		if (isolate_is_there(x, &x->flow[i], p))
			x->flow[i].bad = false;
	free(there);
	free(line);
	return line ? 0 : -ENOMEM;
}

/* What is left has no common place. Where some source ports are without fault, it is one path of
 * several between these hosts. */
static int isolate_report_rest(struct isolate *x, size_t bad, size_t noise, struct findings *out)
{
	struct place p = {.kind = PLACE_PATHS, .tested = (unsigned int)x->flow_count};
	const struct iso_flow *first = NULL;
	struct symptoms all = {0};

	for (size_t i = 0; i < x->flow_count; i++) {
		if (!x->flow[i].bad)
			continue;
		isolate_sum_add(&all, &x->flow[i]);
		first = first ? first : &x->flow[i];
		p.bad++;
	}
	if (p.bad && isolate_sum_is_partial(&all))
		return isolate_report(x, &p, bad, out);
	if (!p.bad && (!noise || bad))
		return 0;
	finding_begin(out, x->rule, "", "", 0);
	if (!p.bad)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "1 datagram was lost on %zu of %zu flows: too few to name a place",
			    noise, x->flow_count);
	else if (x->tested_ports < 3)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%s to %s: two ports cannot tell the hosts from the path: add a third "
			    "port",
			    x->port[first->sender].host->name, x->port[first->receiver].host->name);
	else
		finding_set(
			out, VERDICT_INCONCLUSIVE,
			"hit: %u of %zu flows, the first from %s to %s: no host, leaf or path is "
			"common to them",
			p.bad, x->flow_count, x->port[first->sender].host->name,
			x->port[first->receiver].host->name);
	return 0;
}

/* Explains the bad flows of these kinds. *failed: there were some, or noise. */
static int isolate_explain(struct isolate *x, unsigned int kinds, bool *failed,
			   struct findings *out)
{
	const struct place *best;
	size_t bad, noise;
	int err = isolate_list_flows(x, kinds);

	if (err)
		return err;
	bad = isolate_mark_bad(x, kinds, &noise);
	*failed = *failed || bad || noise;
	err = isolate_list_places(x);
	if (!err)
		isolate_count_places(x);
	while (!err && (best = isolate_best_place(x))) {
		const struct place found = *best;

		err = isolate_report(x, &found, bad, out);
		isolate_count_places(x);
	}
	return err ? err : isolate_report_rest(x, bad, noise, out);
}

/* Counts tests that ran, and their ports; *kinds: what they found, 1 << enum marking_kind. */
static int isolate_count_tests(struct isolate *x, unsigned int *kinds)
{
	bool *seen = calloc(x->port_count + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->run->marking_count; i++) {
		const struct run_marking *m = &x->run->marking[i];

		if (!m->ran)
			continue;
		x->tests++;
		seen[x->first[m->client_host] + m->client_port] = true;
		seen[x->first[m->server_host] + m->server_port] = true;
		for (unsigned int k = 0; k < m->finding_count; k++)
			*kinds |= 1u << m->finding[k].kind;
	}
	for (unsigned int i = 0; i < x->port_count; i++)
		x->tested_ports += seen[i];
	free(seen);
	return 0;
}

FABRIC_CHECK(check_net_isolate)
{
	struct isolate x = {.run = c->run, .rule = rule};
	unsigned int kinds = 0;
	bool failed = false;
	int err = isolate_list_ports(&x);

	if (!err)
		err = isolate_count_tests(&x, &kinds);
	for (unsigned int i = 0; !err && i < ARRAY_SIZE(isolate_kinds); i++)
		if (kinds & isolate_kinds[i])
			err = isolate_explain(&x, isolate_kinds[i], &failed, out);
	if (err) {
		out->err = err;
	} else if (!x.tests) {
		finding_begin(out, rule, "", "", 0);
		finding_set(out, VERDICT_SKIP, "no marking test in this run");
	} else if (!failed) {
		finding_begin(out, rule, "", "", 0);
		finding_set(out, VERDICT_PASS, "no marking test found loss or a change on a path");
		finding_evidence(out, EVIDENCE_TRAFFIC, "%u marking test%s of %u ports, both ways",
				 x.tests, plural(x.tests), x.tested_ports);
	}
	isolate_clear(&x);
}
