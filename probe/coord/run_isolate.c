/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second pass of a fabric run: larger marking tests where the first ones, or the load, lost or
 * changed packets. Suspect ports are tested with each other and with ports that were good, so that
 * host, link and path can be told apart. It comes after the incast, whose counters it would change;
 * losses of the incast are of congestion and make no suspect.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "probe/coord/phase_priv.h"

#define ROUNDS_MAX     8u     /* of suspect ports; as many of them with good ports */
#define PARTNERS       2u     /* good ports for each suspect */
#define ROUND_MS       2500   /* of a good path: 8,832 datagrams, to open and to close */
#define PASS_MAX_MS    120000 /* no round begins later */
#define TESTS_OF_PORTS 16u    /* at most so many pairs a port in the list */

/* 64 source ports find one path of 16, and 128 datagrams of each a loss of 1 in 1,000. */
static const struct marking_plan isolate_plan = {
	.sweep = 64, .count = 128, .size_ports = 16, .pass = 2};

/* What the first pass says of a port. */
struct isolate_port {
	unsigned int tests, failed;
	bool lossy; /* it counted losses in the load */
};

/* The ports of a rail, and the pairs to test again. */
struct isolate {
	struct phase_ports ports;
	struct isolate_port *port; /* of ports.list */
	struct schedule_pair *pair;
	unsigned int *round; /* of each pair; UINT_MAX = left out */
	unsigned int pair_count, pairs_max, rounds, suspect_count;
	bool *busy; /* ports of the round that is being made */
};

static void isolate_clear(struct isolate *x)
{
	phase_ports_clear(&x->ports);
	free(x->port);
	free(x->pair);
	free(x->round);
	free(x->busy);
}

/* Makes room for the ports of a rail whose hosts answer. */
static int isolate_open(struct coordinator *c, int64_t rail, struct isolate *x)
{
	int err = phase_ports_find(c, rail, &x->ports);
	unsigned int kept = 0;

	if (err)
		return err;
	for (unsigned int i = 0; i < x->ports.count; i++) {
		if (!session_ready(&c->s, x->ports.list[i].host))
			continue;
		x->ports.list[kept] = x->ports.list[i];
		x->ports.port[kept++] = x->ports.port[i];
	}
	x->ports.count = kept;
	x->pairs_max = x->ports.count * TESTS_OF_PORTS;
	x->port = calloc(x->ports.count + 1, sizeof(*x->port));
	x->pair = calloc(x->pairs_max + 1, sizeof(*x->pair));
	x->round = calloc(x->pairs_max + 1, sizeof(*x->round));
	x->busy = calloc(x->ports.count + 1, sizeof(*x->busy));
	return x->port && x->pair && x->round && x->busy ? 0 : -ENOMEM;
}

/* Returns the number of a port in the list, which is sorted by host and port; -1: not there. */
static int isolate_find(const struct isolate *x, unsigned int host, unsigned int port)
{
	unsigned int low = 0, high = x->ports.count;

	while (low < high) {
		unsigned int at = low + (high - low) / 2, h = x->ports.list[at].host;

		if (h == host && x->ports.port[at] == port)
			return (int)at;
		if (h < host || (h == host && x->ports.port[at] < port))
			low = at + 1;
		else
			high = at;
	}
	return -1;
}

/* Counts a test of two ports, and notes them as a pair if it failed. */
static void isolate_add(struct isolate *x, unsigned int client_host, unsigned int client_port,
			unsigned int server_host, unsigned int server_port, bool failed)
{
	int a = isolate_find(x, client_host, client_port);
	int b = isolate_find(x, server_host, server_port);

	if (a < 0 || b < 0)
		return;
	x->port[a].tests++;
	x->port[b].tests++;
	x->port[a].failed += failed;
	x->port[b].failed += failed;
	if (failed && x->pair_count < x->pairs_max)
		x->pair[x->pair_count++] = (struct schedule_pair){
			.server = (unsigned int)(a > b ? a : b),
			.client = (unsigned int)(a > b ? b : a),
		};
}

static bool isolate_test_failed(const struct run_marking *m)
{
	for (unsigned int i = 0; i < m->finding_count; i++)
		if (marking_kind_table[m->finding[i].kind].fault)
			return true;
	return false;
}

static uint64_t isolate_growth(const struct run_port *p, enum metric m)
{
	struct counters delta;

	counters_delta(&p->reading[READ_LOAD_BEFORE], &p->reading[READ_LOAD_AFTER], &delta, NULL);
	return counters_has(&delta, m, 0) ? delta.value[m][0] : 0;
}

/* Returns true if the port counted sequence gaps in the load that no slow receiver explains. */
static bool isolate_counted_loss(const struct run_port *p)
{
	const unsigned int both = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;

	return (p->has & both) == both &&
	       isolate_growth(p, METRIC_OUT_OF_SEQUENCE) + isolate_growth(p, METRIC_SEQ_NAK_RX) >
		       isolate_growth(p, METRIC_RNR_NAK_TX) + isolate_growth(p, METRIC_RNR_NAK_RX);
}

static bool isolate_pair_failed(const struct run_pair *p)
{
	return p->client.cause == CAUSE_RETRY_EXCEEDED || p->server.cause == CAUSE_RETRY_EXCEEDED ||
	       p->client.mismatches || p->server.mismatches;
}

/* Reads the marking tests and the load. */
static void isolate_read(struct isolate *x, const struct run *r)
{
	for (unsigned int i = 0; i < r->marking_count; i++) {
		const struct run_marking *m = &r->marking[i];

		if (m->ran)
			isolate_add(x, m->client_host, m->client_port, m->server_host,
				    m->server_port, isolate_test_failed(m));
	}
	for (unsigned int i = 0; i < r->pair_count; i++) {
		const struct run_pair *p = &r->pair[i];

		/* A good pair clears no port: it says nothing of markings. */
		if (p->ran && p->phase == PHASE_LOAD && isolate_pair_failed(p))
			isolate_add(x, p->client_host, p->client_port, p->server_host,
				    p->server_port, true);
	}
	for (unsigned int i = 0; i < x->ports.count; i++) {
		const struct schedule_port *at = &x->ports.list[i];

		x->port[i].lossy = isolate_counted_loss(&r->host[at->host].port[x->ports.port[i]]);
	}
}

/* A suspect port fails in more than half of its tests or counted losses; without such a port, all
 * ports of failed pairs are. */
static void isolate_mark_suspect(struct isolate *x)
{
	for (unsigned int pass = 0; pass < 2 && !x->suspect_count; pass++)
		for (unsigned int i = 0; i < x->ports.count; i++) {
			const struct isolate_port *p = &x->port[i];
			bool suspect = pass ? p->failed : p->failed * 2 > p->tests || p->lossy;

			x->ports.list[i].suspect = suspect;
			x->suspect_count += suspect;
		}
}

static int isolate_compare(const void *a, const void *b)
{
	const struct schedule_pair *x = a, *y = b;

	if (x->client != y->client)
		return x->client < y->client ? -1 : 1;
	return x->server < y->server ? -1 : x->server > y->server;
}

/* Adds the pairs of suspect ports that are up to ROUNDS_MAX of them apart, after the failed ones.
 */
static int isolate_add_suspect_pairs(struct isolate *x)
{
	unsigned int *list = calloc(x->suspect_count + 1, sizeof(*list)), n = 0, failed;

	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->ports.count; i++)
		if (x->ports.list[i].suspect)
			list[n++] = i;
	qsort(x->pair, x->pair_count, sizeof(*x->pair), isolate_compare);
	failed = 0;
	for (unsigned int i = 0; i < x->pair_count; i++)
		if (!failed || isolate_compare(&x->pair[failed - 1], &x->pair[i]))
			x->pair[failed++] = x->pair[i];
	x->pair_count = failed;
	for (unsigned int d = 1; d <= ROUNDS_MAX; d++)
		for (unsigned int i = 0; i + d < n && x->pair_count < x->pairs_max; i++) {
			const struct schedule_pair p = {.client = list[i], .server = list[i + d]};

			if (x->ports.list[p.client].host != x->ports.list[p.server].host &&
			    !bsearch(&p, x->pair, failed, sizeof(p), isolate_compare))
				x->pair[x->pair_count++] = p;
		}
	free(list);
	return 0;
}

/* Gives each pair a round, in which a port has one pair. */
static void isolate_make_rounds(struct isolate *x)
{
	unsigned int left = x->pair_count;

	for (unsigned int i = 0; i < x->pair_count; i++)
		x->round[i] = UINT_MAX;
	for (x->rounds = 0; left && x->rounds < ROUNDS_MAX; x->rounds++) {
		for (unsigned int i = 0; i < x->ports.count; i++)
			x->busy[i] = false;
		for (unsigned int i = 0; i < x->pair_count; i++) {
			const struct schedule_pair *p = &x->pair[i];

			if (x->round[i] != UINT_MAX || x->busy[p->client] || x->busy[p->server])
				continue;
			x->busy[p->client] = x->busy[p->server] = true;
			x->round[i] = x->rounds;
			left--;
		}
	}
}

/* Returns true while one more round may begin. */
static bool isolate_may_go_on(const struct coordinator *c, uint64_t begun_ms)
{
	return !session_stopped(&c->s) && loop_now_ms(c->s.loop) - begun_ms < PASS_MAX_MS;
}

static int isolate_run_rounds(struct coordinator *c, struct isolate *x, struct schedule *s,
			      unsigned int good_rounds)
{
	struct run_marking *list = calloc(x->ports.count + 1, sizeof(*list));
	uint64_t begun_ms = loop_now_ms(c->s.loop);
	int err = list ? 0 : -ENOMEM;

	for (unsigned int k = 0; !err && k < x->rounds && isolate_may_go_on(c, begun_ms); k++) {
		unsigned int count = 0;

		for (unsigned int i = 0; i < x->pair_count; i++)
			if (x->round[i] == k)
				list[count++] = phase_marking_pair(&x->ports, &x->pair[i]);
		err = phase_mark_round(c, &isolate_plan, list, count);
		session_count_round(&c->s);
	}
	/* A test is of both directions: every second round of the schedule is left out. */
	for (unsigned int k = 0;
	     !err && k < good_rounds && isolate_may_go_on(c, begun_ms) && schedule_next(s);) {
		if (s->round % 2)
			continue;
		for (unsigned int i = 0; i < s->pair_count; i++)
			list[i] = phase_marking_pair(&x->ports, &s->pair[i]);
		err = phase_mark_round(c, &isolate_plan, list, s->pair_count);
		session_count_round(&c->s);
		k++;
	}
	free(list);
	return err;
}

static void isolate_report(struct coordinator *c, const struct isolate *x, unsigned int rounds)
{
	const struct run_step step = {
		.phase = "second pass",
		.of = rounds,
		.seconds = rounds * ROUND_MS / 1e3,
	};

	session_begin_step(&c->s, &step);
	session_report(&c->s,
		       "second pass: %u of %u ports are suspect, %u round%s of marking tests, %u "
		       "datagrams from each of %u source ports, about %u s, at most %u s",
		       x->suspect_count, x->ports.count, rounds, plural(rounds), isolate_plan.count,
		       isolate_plan.sweep, (rounds * ROUND_MS + 999) / 1000, PASS_MAX_MS / 1000);
}

static int isolate_run_rail(struct coordinator *c, int64_t rail, struct err *e)
{
	struct schedule_estimate sum = {0};
	struct schedule_spec spec = {.pattern = SCHEDULE_SUSPECT, .rounds = PARTNERS};
	struct schedule s = {0};
	struct isolate x = {0};
	unsigned int good_rounds;
	int err = isolate_open(c, rail, &x);

	if (!err) {
		isolate_read(&x, c->s.r);
		isolate_mark_suspect(&x);
	}
	if (!err && x.suspect_count)
		err = isolate_add_suspect_pairs(&x);
	if (!err && x.suspect_count) {
		isolate_make_rounds(&x);
		spec.port = x.ports.list;
		spec.n = x.ports.count;
		err = schedule_open(&s, &spec, e);
	}
	if (!err && x.suspect_count) {
		schedule_estimate(&s, 0, 0, c->f->load_percent, &sum);
		good_rounds = (sum.rounds + 1) / 2;
		good_rounds = good_rounds > ROUNDS_MAX ? ROUNDS_MAX : good_rounds;
		isolate_report(c, &x, x.rounds + good_rounds);
		err = isolate_run_rounds(c, &x, &s, good_rounds);
	}
	schedule_close(&s);
	isolate_clear(&x);
	return err == -ENOMEM ? err_sys(e, err, "second pass") : err;
}

int phase_isolate(struct coordinator *c, struct err *e)
{
	int err = 0;

	if (phase_schedule_whole(c->f))
		return isolate_run_rail(c, -1, e);
	for (int64_t at = phase_next_rail(c->s.r, -1); !err && at >= 0 && !session_stopped(&c->s);
	     at = phase_next_rail(c->s.r, at))
		err = isolate_run_rail(c, at, e);
	return err;
}
