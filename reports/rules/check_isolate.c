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

#define NOISE_MAX    1u /* lost datagrams of a flow that accuse nobody */
#define GOOD_PER_BAD 8u /* one good flow at a place is allowed for so many bad ones */

/* Kinds of faults of a flow. Each kind is explained on its own. */
static const unsigned int isolate_kinds[] = {
	1u << MARKING_LOST | 1u << MARKING_BLACKHOLE | 1u << MARKING_WRONG,
	1u << MARKING_DSCP,
	1u << MARKING_ECT_CLEARED | 1u << MARKING_ECN,
	1u << MARKING_MTU,
};

enum place_end { END_ANY, END_PORT, END_LEAF };

enum { EITHER = 1, CROSS = 2, FABRIC = 4 };

/* Places, the smaller one before the larger one. */
static const struct place_row {
	enum place_end from, to;
	unsigned int how;    /* flows of EITHER direction, between two leaves alone; no port's */
	const char *text[3]; /* around the names of the ends */
} place_table[] = {
	{.from = END_PORT, .text = {"from "}},
	{.to = END_PORT, .text = {"to "}},
	{.from = END_PORT, .how = EITHER, .text = {"from and to "}},
	{.from = END_LEAF, .to = END_LEAF, .how = CROSS, .text = {"from ", " to "}},
	{.from = END_LEAF, .to = END_LEAF, .how = EITHER | CROSS, .text = {"between ", " and "}},
	{.from = END_LEAF, .how = CROSS, .text = {"from ", " to other leaves"}},
	{.to = END_LEAF, .how = CROSS, .text = {"to ", " from other leaves"}},
	{.from = END_LEAF, .how = EITHER | CROSS, .text = {"between ", " and other leaves"}},
	{.how = CROSS, .text = {"between all leaves"}},
	{.from = END_LEAF, .how = EITHER, .text = {"through "}},
	{.how = FABRIC, .text = {"on all tested paths"}},
};

/* No common place: what nothing explains. */
static const struct place_row place_none = {.how = 0};

struct iso_port {
	const struct run_host *host;
	const struct run_port *port;
	const char *leaf_name; /* of LLDP; NULL = unknown */
	uint64_t leaf;	       /* hash of that name */
	bool tested;
	bool hit; /* by the place that is reported */
};

/* One direction between two ports. */
struct iso_flow {
	struct iso_port *sender, *receiver;
	uint8_t pass; /* the latest, which the next members are of */
	bool bad;
	uint64_t count, of;		       /* datagrams; none for the MTU */
	const struct marking_finding *finding; /* of most source ports; NULL = good */
};

/* A flow at a place of some row. */
struct spot {
	const struct iso_port *end[2];
	uint64_t key[2]; /* of the ends */
	const struct iso_flow *flow;
};

/* A place, and the sums of its flows that nothing explained before. */
struct place {
	const struct place_row *row;
	struct spot at;
	const struct iso_flow *first; /* bad one with most source ports tested, as the next */
	unsigned int tested, bad;
	uint64_t count, of;
	uint64_t ports, ports_of; /* affected source ports, of those tested */
	/* If all source ports lost alike, chance would leave `unhit` of them without a loss. */
	double unhit, variance;
};

struct isolate {
	const struct run *run;
	const struct rule *rule;
	unsigned int *first; /* port number of each host's first port */
	struct iso_port *port;
	unsigned int port_count, tested_ports, tests;
	struct iso_flow *flow;
	size_t flow_count;
	size_t bad, noise; /* flows; noise: with too few losses */
	struct spot *spot; /* room for two of each flow */
};

static struct iso_port isolate_read_port(const struct run_host *h, const struct run_port *p)
{
	const struct snapshot *s = h->has_after ? &h->after : &h->before;
	const struct port *known = h->has_before || h->has_after ? snapshot_port(s, p->netdev)
								 : NULL;
	struct iso_port port = {.host = h, .port = p};

	if (known && known->lldp_name[0]) {
		port.leaf_name = known->lldp_name;
		port.leaf = fnv1a(FNV1A_START, known->lldp_name, strlen(known->lldp_name));
	}
	return port;
}

/* Lists the ports of all hosts; notes those of tests that ran. */
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
			x->port[x->first[h] + p] = isolate_read_port(&r->host[h],
								     &r->host[h].port[p]);
	for (unsigned int i = 0; i < r->marking_count; i++) {
		const struct run_marking *m = &r->marking[i];

		if (!m->ran)
			continue;
		x->tests++;
		x->port[x->first[m->client_host] + m->client_port].tested = true;
		x->port[x->first[m->server_host] + m->server_port].tested = true;
	}
	for (unsigned int i = 0; i < x->port_count; i++)
		x->tested_ports += x->port[i].tested;
	return 0;
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
	struct iso_port *ends[] = {&x->port[x->first[m->client_host] + m->client_port],
				   &x->port[x->first[m->server_host] + m->server_port]};
	struct iso_flow f = {.sender = ends[direction == MARKING_REVERSE],
			     .receiver = ends[direction == MARKING_FORWARD],
			     .pass = m->pass};

	for (unsigned int i = 0; i < m->finding_count; i++) {
		const struct marking_finding *one = &m->finding[i];

		if (one->direction != direction || !(kinds & 1u << one->kind))
			continue;
		f.count += one->count;
		f.of += one->of;
		f.finding = f.finding ? f.finding : one;
	}
	return f;
}

/* Lists the flows of all tests that ran, each pair of ports and direction once, and marks the bad
 * ones. */
static int isolate_list_flows(struct isolate *x, unsigned int kinds)
{
	size_t count = 0, kept = 0;
	bool found = false;

	x->bad = x->noise = x->flow_count = 0;
	free(x->flow);
	x->flow = calloc(2 * (size_t)x->run->marking_count + 1, sizeof(*x->flow));
	if (!x->flow)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->run->marking_count; i++) {
		const struct run_marking *m = &x->run->marking[i];

		for (unsigned int d = 0; m->ran && d < MARKING_DIRECTIONS; d++) {
			x->flow[count] = isolate_read_test(x, m, (enum marking_direction)d, kinds);
			found |= x->flow[count++].finding != NULL;
		}
	}
	if (!found)
		return 0;
	qsort(x->flow, count, sizeof(*x->flow), isolate_compare_flows);
	for (size_t i = 0; i < count; i++) {
		const struct iso_flow *one = &x->flow[i];
		struct iso_flow *f = kept ? &x->flow[kept - 1] : NULL;

		if (!f || f->sender != one->sender || f->receiver != one->receiver) {
			x->flow[kept++] = *one;
			continue;
		}
		if (one->pass != f->pass)
			continue;
		f->count += one->count;
		f->of += one->of;
		if (one->finding && (!f->finding || one->finding->ports_of > f->finding->ports_of))
			f->finding = one->finding;
	}
	x->flow_count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct iso_flow *f = &x->flow[i];

		f->bad = f->finding && (!(kinds & 1u << MARKING_LOST) || f->count > NOISE_MAX);
		x->bad += f->bad;
		x->noise += f->finding && !f->bad;
	}
	return 0;
}

static bool isolate_is_port(const struct place_row *row)
{
	return row->from == END_PORT || row->to == END_PORT;
}

static bool isolate_is_same(const struct spot *x, const struct spot *y)
{
	return x->key[0] == y->key[0] && x->key[1] == y->key[1];
}

static int isolate_compare_spots(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->key[0] != y->key[0])
		return x->key[0] < y->key[0] ? -1 : 1;
	if (x->key[1] != y->key[1])
		return x->key[1] < y->key[1] ? -1 : 1;
	return (x->flow > y->flow) - (x->flow < y->flow);
}

static void isolate_set_end(struct spot *at, unsigned int i, enum place_end kind,
			    const struct iso_port *port)
{
	if (kind == END_ANY)
		return;
	at->end[i] = port;
	at->key[i] = kind == END_PORT ? (uintptr_t)port : port->leaf;
}

/* Returns at how many places of a row a flow is, at most two. */
static unsigned int isolate_find_spots(const struct place_row *row, const struct iso_flow *f,
				       struct spot out[2])
{
	const struct iso_port *end[] = {f->sender, f->receiver};
	unsigned int count = 0;

	if ((row->how & CROSS || row->from == END_LEAF) &&
	    (!end[0]->leaf_name || !end[1]->leaf_name ||
	     (row->how & CROSS && end[0]->leaf == end[1]->leaf)))
		return 0;
	for (unsigned int way = 0; way <= (row->how & EITHER); way++) {
		struct spot at = {.flow = f};

		isolate_set_end(&at, 0, row->from, end[way]);
		isolate_set_end(&at, 1, row->to, end[!way]);
		/* Two leaves are named in one order. */
		if (row->how & EITHER && row->to &&
		    strcmp(at.end[0]->leaf_name, at.end[1]->leaf_name) > 0)
			continue;
		if (!count || !isolate_is_same(&at, out))
			out[count++] = at;
	}
	return count;
}

static bool isolate_has_flow(const struct place *p, const struct iso_flow *f)
{
	struct spot at[2];
	unsigned int n = isolate_find_spots(p->row, f, at);

	return (n && isolate_is_same(&p->at, &at[0])) || (n > 1 && isolate_is_same(&p->at, &at[1]));
}

/* e^-x, within 1 %. */
static double isolate_decay(double x)
{
	double y = x < 1024 ? 1 - x / 1024 : 0;

	for (unsigned int i = 0; i < 10; i++)
		y *= y;
	return y;
}

static void isolate_add_flow(struct place *p, const struct iso_flow *f)
{
	const struct marking_finding *m = f->finding;

	p->tested++;
	if (!f->bad)
		return;
	p->bad++;
	p->count += f->count;
	p->of += f->of;
	p->ports += m->ports;
	p->ports_of += m->ports_of;
	if (m->count && m->ports_of) { /* balls thrown into boxes */
		double each = (double)m->count / m->ports_of, empty = isolate_decay(each);

		p->unhit += m->ports_of * empty;
		p->variance += m->ports_of * empty * (1 - (1 + each) * empty);
	}
	if (!p->first || m->ports_of > p->first->finding->ports_of)
		p->first = f;
}

/* Returns true if more source ports are without fault than chance explains (four sigma), and at
 * least as many as two paths leave (a hash does not share evenly): one path of several. */
static bool isolate_is_partial(const struct place *p)
{
	double more = (double)(p->ports_of - p->ports) - p->unhit;

	return p->ports * 16 <= p->ports_of * 11 && more > 0 && more * more > 16 * p->variance;
}

/* Paths of which one is affected; 0 = more than one, or all. Some source ports of that path have no
 * loss by chance. */
static uint64_t isolate_count_paths(const struct place *p)
{
	double hit = (double)p->ports;
	uint64_t paths;

	if (!isolate_is_partial(p) || !p->ports)
		return 0;
	if (p->count)
		hit /= 1 - isolate_decay((double)p->count / hit);
	paths = (uint64_t)((double)p->ports_of / hit + 0.5);
	return paths > 1 ? paths : 0;
}

/* Returns true if a place is better than the best one so far. Two ports alone cannot be told
 * apart, nor is one flow a pattern. */
static bool isolate_is_better(const struct isolate *x, const struct place *p,
			      const struct place *best)
{
	bool port = isolate_is_port(p->row);

	if (p->bad < 2 || (p->tested - p->bad) * GOOD_PER_BAD > p->bad ||
	    (port && x->tested_ports < 3))
		return false;
	if (!best->row || p->bad != best->bad)
		return p->bad > best->bad;
	/* The link of a host is one path: some source ports of all its flows speak for an uplink.
	 */
	if (p->tested == best->tested)
		return !port && isolate_is_port(best->row) && isolate_is_partial(best);
	return p->tested < best->tested;
}

/* Adds up the flows of each place of a row, and keeps the best. A flow with little noise is neither
 * good nor bad. */
static void isolate_score_row(struct isolate *x, const struct place_row *row, struct place *best)
{
	struct spot *at = x->spot;
	struct place p = {.row = row};
	size_t count = 0;

	for (size_t i = 0; i < x->flow_count; i++)
		if (x->flow[i].bad || !x->flow[i].finding)
			count += isolate_find_spots(row, &x->flow[i], &at[count]);
	qsort(at, count, sizeof(*at), isolate_compare_spots);
	for (size_t i = 0; i < count; i++) {
		if (!i || !isolate_is_same(&at[i - 1], &at[i]))
			p = (struct place){.row = row, .at = at[i]};
		isolate_add_flow(&p, at[i].flow);
		if ((i + 1 == count || !isolate_is_same(&at[i], &at[i + 1])) &&
		    isolate_is_better(x, &p, best))
			*best = p;
	}
}

static void isolate_write_what(FILE *out, const struct place *p)
{
	const struct marking_finding *m = p->first->finding;
	uint64_t count = larger(p->count, 1);
	uint64_t one_in = (p->of / larger(isolate_count_paths(p), 1) + count / 2) / count;
	const char *done = m->kind == MARKING_WRONG ? "damaged" : "lost";

	if (m->kind == MARKING_MTU)
		fprintf(out, "packets of %u bytes do not arrive (path MTU %u)", m->expected_bytes,
			m->bytes);
	else if (m->kind == MARKING_DSCP)
		fprintf(out, "DSCP %u arrives as %u", m->from, m->to);
	else if (m->kind == MARKING_ECT_CLEARED || m->kind == MARKING_ECN)
		fputs("ECN bits are changed", out);
	else if (m->class)
		fprintf(out, "all datagrams with DSCP %u are %s", m->from, done);
	else if (one_in < 2)
		fprintf(out, "%s datagrams are %s", p->count < p->of ? "most" : "all", done);
	else
		fprintf(out, "1 in %llu datagrams is %s", (count_t)one_in, done);
}

static void isolate_write_where(FILE *out, const struct place *p)
{
	const char *const *text = p->row->text;

	if (*text)
		fprintf(out, " %s", *text++);
	for (unsigned int i = 0; i < ARRAY_SIZE(p->at.end); i++) {
		if (!p->at.end[i])
			continue;
		if (isolate_is_port(p->row))
			fprintf(out, "%s %s", p->at.end[i]->host->name, p->at.end[i]->port->netdev);
		else
			fputs(p->at.end[i]->leaf_name, out);
		if (*text)
			fputs(*text++, out);
	}
}

static void isolate_write_paths(FILE *out, const struct place *p)
{
	const struct marking_finding *m = p->first->finding;
	unsigned int n = m->ports < MARKING_NAMED_MAX ? m->ports : MARKING_NAMED_MAX;
	uint64_t paths = isolate_count_paths(p);

	if (!isolate_is_partial(p)) {
		fputs(p->ports == p->ports_of ? ", on all source ports" : "", out);
		return;
	}
	if (paths)
		fprintf(out, ", on one of about %llu paths", (count_t)paths);
	else
		fprintf(out, ", on %llu of %llu source ports", (count_t)p->ports,
			(count_t)p->ports_of);
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s%u", i ? ", " : ": source ports ", m->named[i]);
	fprintf(out, "%s from %s to %s", m->ports > n ? ", ..." : "", p->first->sender->host->name,
		p->first->receiver->host->name);
}

/* Marks the ports of a place's bad flows, and returns the names of their senders and receivers as
 * node sets, the caller's. */
static int isolate_find_hosts(struct isolate *x, const struct place *p, char *set[2])
{
	const char **name = calloc(2 * x->flow_count + 1, sizeof(*name));
	size_t count = 0;
	int err = name ? 0 : -ENOMEM;

	for (unsigned int i = 0; i < x->port_count; i++)
		x->port[i].hit = false;
	for (size_t i = 0; name && i < x->flow_count; i++) {
		struct iso_flow *f = &x->flow[i];

		if (!f->bad || !isolate_has_flow(p, f))
			continue;
		name[count] = f->sender->host->name;
		name[x->flow_count + count++] = f->receiver->host->name;
		f->sender->hit = f->receiver->hit = true;
	}
	for (unsigned int k = 0; !err && k < 2; k++)
		err = nodeset_fold(name + k * x->flow_count, count, &set[k]);
	free(name);
	return err;
}

/* Returns the line of an explanation, the caller's; NULL on -ENOMEM. */
static char *isolate_text(const struct isolate *x, const struct place *p, char *const set[2])
{
	size_t size = 0, others = x->flow_count - p->tested;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	isolate_write_what(out, p);
	isolate_write_where(out, p);
	isolate_write_paths(out, p);
	fprintf(out, "; hit: %u of %u flows%s (%s to %s)", p->bad, p->tested,
		p->row->text[0] ? " there" : "", set[0], set[1]);
	if (others)
		fprintf(out, ", %zu of %zu others", x->bad - p->bad, others);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void isolate_report_at(const struct isolate *x, const struct iso_port *at,
			      const struct place *p, const char *line, struct findings *out)
{
	char text[320];

	finding_begin(out, x->rule, at ? at->host->name : "", at ? at->port->netdev : "", 0);
	finding_set(out, VERDICT_FAIL, "%s", line);
	marking_finding_text(p->first->finding, text, sizeof(text));
	finding_evidence(out, EVIDENCE_TRAFFIC, "%s to %s: %s", p->first->sender->host->name,
			 p->first->receiver->host->name, text);
}

/* Reports an explanation at its port, or at all ports of its bad flows: equal lines are one in a
 * report. Its flows are explained then. */
static int isolate_report(struct isolate *x, const struct place *p, struct findings *out)
{
	char *set[2] = {NULL, NULL}, *line = NULL;
	const struct iso_port *only = p->at.end[0] ? p->at.end[0] : p->at.end[1];

	if (!isolate_find_hosts(x, p, set))
		line = isolate_text(x, p, set);
	if (line && p->row->how & FABRIC)
		isolate_report_at(x, NULL, p, line, out);
	for (unsigned int i = 0; line && i < x->port_count && !(p->row->how & FABRIC); i++)
		if (isolate_is_port(p->row) ? &x->port[i] == only : x->port[i].hit)
			isolate_report_at(x, &x->port[i], p, line, out);
	for (size_t i = 0; i < x->flow_count; i++)
		x->flow[i].bad = x->flow[i].bad && !isolate_has_flow(p, &x->flow[i]);
	free(set[0]);
	free(set[1]);
	free(line);
	return line ? 0 : -ENOMEM;
}

/* Reports the bad flows that no place explains. If some of their source ports have no fault, one of
 * several paths between these hosts is bad. */
static int isolate_report_rest(struct isolate *x, struct findings *out)
{
	struct place p = {.row = &place_none};

	for (size_t i = 0; i < x->flow_count; i++)
		if (x->flow[i].bad)
			isolate_add_flow(&p, &x->flow[i]);
	p.tested = (unsigned int)x->flow_count;
	if (p.bad && isolate_is_partial(&p))
		return isolate_report(x, &p, out);
	if (!p.bad && (!x->noise || x->bad))
		return 0;
	finding_begin(out, x->rule, "", "", 0);
	if (!p.bad)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "1 datagram was lost on %zu of %zu flows: too few to name a place",
			    x->noise, x->flow_count);
	else if (x->tested_ports < 3)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%s to %s: two ports cannot tell the hosts from the path: add a third "
			    "port",
			    p.first->sender->host->name, p.first->receiver->host->name);
	else
		finding_set(
			out, VERDICT_INCONCLUSIVE,
			"hit: %u of %u flows, the first from %s to %s: no host, leaf or path is "
			"common to them",
			p.bad, p.tested, p.first->sender->host->name,
			p.first->receiver->host->name);
	return 0;
}

/* Explains the bad flows of these kinds. *failed: there were some, or noise. */
static int isolate_explain(struct isolate *x, unsigned int kinds, bool *failed,
			   struct findings *out)
{
	struct place best = {.row = &place_none};
	size_t left;
	int err = isolate_list_flows(x, kinds);

	if (err)
		return err;
	*failed = *failed || x->bad || x->noise;
	free(x->spot);
	x->spot = calloc(2 * x->flow_count + 1, sizeof(*x->spot));
	if (!x->spot)
		return -ENOMEM;
	left = x->bad;
	while (!err && left && best.row) {
		best = (struct place){.row = NULL};
		for (unsigned int k = 0; k < ARRAY_SIZE(place_table); k++)
			isolate_score_row(x, &place_table[k], &best);
		if (best.row)
			err = isolate_report(x, &best, out);
		left -= best.bad;
	}
	return err ? err : isolate_report_rest(x, out);
}

FABRIC_CHECK(check_net_isolate)
{
	struct isolate x = {.run = c->run, .rule = rule};
	bool failed = false;
	int err = isolate_list_ports(&x);

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(isolate_kinds); i++)
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
	free(x.first);
	free(x.port);
	free(x.flow);
	free(x.spot);
}
