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
#include "probe/record/run_port.h"

#define ROUNDS_MAX  8u	   /* of suspect ports; as many of them with good ports */
#define GOOD_PORTS  2u	   /* for each suspect */
#define ROUND_MS    2500   /* of a good path: 8,832 datagrams, to open and to close */
#define PASS_MAX_MS 120000 /* no round begins later */
#define TESTS_MAX   16u	   /* of a port with suspects of higher numbers; as many with good ports */

/* 64 source ports find one path of 16, and 128 datagrams of each a loss of 1 in 1,000. */
static const struct marking_plan isolate_plan = {
	.sweep = 64, .count = 128, .size_ports = 16, .pass = 2};

/* A port, what the first pass says of it, and its tests with ports of higher numbers. */
struct isolate_port {
	unsigned int host, port;
	bool here; /* of this rail, and its host answers */
	bool suspect;
	bool busy; /* in the round that is being made */
	unsigned int tests, failed;
	struct {
		unsigned int port;
		unsigned int round; /* UINT_MAX = left out */
	} test[2 * TESTS_MAX];
	unsigned int test_count;
	unsigned int old; /* of them: their rounds are made */
};

struct isolate {
	struct isolate_port *port; /* of all hosts */
	unsigned int *first;	   /* of each host: its first port */
	unsigned int port_count, here_count, suspect_count, rounds;
};

/* Lists all ports; those of a rail, or with -1 of all, whose hosts answer are `here`. */
static int isolate_open(const struct coordinator *c, int64_t rail, struct isolate *x)
{
	const struct run *r = c->s.r;

	x->first = calloc(r->host_count + 1, sizeof(*x->first));
	for (unsigned int h = 0; x->first && h < r->host_count; h++) {
		x->first[h] = x->port_count;
		x->port_count += r->host[h].port_count;
	}
	x->port = calloc(x->port_count + 1, sizeof(*x->port));
	if (!x->port || !x->first)
		return -ENOMEM;
	for (unsigned int h = 0; h < r->host_count; h++)
		for (unsigned int p = 0; p < r->host[h].port_count; p++) {
			struct isolate_port *at = &x->port[x->first[h] + p];

			at->host = h;
			at->port = p;
			at->here = session_ready(&c->s, h) &&
				   (rail < 0 || r->host[h].port[p].rail == rail);
			x->here_count += at->here;
		}
	return 0;
}

/* Notes a pair to test, once. */
static void isolate_add_pair(struct isolate *x, unsigned int a, unsigned int b)
{
	struct isolate_port *p = &x->port[a < b ? a : b];
	unsigned int other = a < b ? b : a;

	for (unsigned int i = p->old; i < p->test_count; i++)
		if (p->test[i].port == other)
			return;
	if (p->test_count - p->old == TESTS_MAX)
		return;
	p->test[p->test_count].port = other;
	p->test[p->test_count++].round = UINT_MAX;
}

/* Counts a test of two ports, and notes them as a pair if it failed. */
static void isolate_add_test(struct isolate *x, unsigned int a, unsigned int b, bool failed)
{
	if (!x->port[a].here || !x->port[b].here)
		return;
	x->port[a].tests++;
	x->port[b].tests++;
	x->port[a].failed += failed;
	x->port[b].failed += failed;
	if (failed)
		isolate_add_pair(x, a, b);
}

static bool isolate_test_failed(const struct run_marking *m)
{
	for (unsigned int i = 0; i < m->finding_count; i++)
		if (marking_kind_table[m->finding[i].kind].fault)
			return true;
	return false;
}

static uint64_t isolate_count(const struct counters *delta, enum metric m)
{
	return counters_has(delta, m, 0) ? delta->value[m][0] : 0;
}

/* Returns true if the port counted sequence gaps in the load that no slow receiver explains. */
static bool isolate_counted_loss(const struct run_port *p)
{
	struct counters load;

	return run_port_delta(p, READ_LOAD_BEFORE, &load, NULL) &&
	       isolate_count(&load, METRIC_OUT_OF_SEQUENCE) +
			       isolate_count(&load, METRIC_SEQ_NAK_RX) >
		       isolate_count(&load, METRIC_RNR_NAK_TX) +
			       isolate_count(&load, METRIC_RNR_NAK_RX);
}

static bool isolate_pair_failed(const struct run_pair *p)
{
	return p->client.cause == CAUSE_RETRY_EXCEEDED || p->server.cause == CAUSE_RETRY_EXCEEDED ||
	       p->client.mismatches || p->server.mismatches || p->losses;
}

/* Reads the marking tests and the load. */
static void isolate_read(struct isolate *x, const struct run *r)
{
	for (unsigned int i = 0; i < r->marking_count; i++) {
		const struct run_marking *m = &r->marking[i];

		if (m->ran)
			isolate_add_test(x, x->first[m->client_host] + m->client_port,
					 x->first[m->server_host] + m->server_port,
					 isolate_test_failed(m));
	}
	for (unsigned int i = 0; i < r->pair_count; i++) {
		const struct run_pair *p = &r->pair[i];

		/* A good pair clears no port: it says nothing of markings. */
		if (p->ran && p->phase == PHASE_LOAD && isolate_pair_failed(p))
			isolate_add_test(x, x->first[p->client_host] + p->client_port,
					 x->first[p->server_host] + p->server_port, true);
	}
}

/* A suspect port fails in more than half of its tests or counted losses; without such a port, all
 * ports of failed pairs are. */
static void isolate_mark_suspect(struct isolate *x, const struct run *r)
{
	for (unsigned int pass = 0; pass < 2 && !x->suspect_count; pass++)
		for (unsigned int i = 0; i < x->port_count; i++) {
			struct isolate_port *p = &x->port[i];

			p->suspect = pass ? p->failed
					  : p->failed * 2 > p->tests ||
						     (p->here &&
						      isolate_counted_loss(
							      &r->host[p->host].port[p->port]));
			x->suspect_count += p->suspect;
		}
}

/* Gives the new pairs rounds, in which a port has one pair. */
static void isolate_make_rounds(struct isolate *x)
{
	bool any = true;

	for (unsigned int k = 0; any && k < ROUNDS_MAX; k++) {
		any = false;
		for (unsigned int i = 0; i < x->port_count; i++)
			x->port[i].busy = false;
		for (unsigned int i = 0; i < x->port_count; i++) {
			struct isolate_port *p = &x->port[i];

			for (unsigned int j = p->old; !p->busy && j < p->test_count; j++) {
				struct isolate_port *other = &x->port[p->test[j].port];

				if (p->test[j].round != UINT_MAX || other->busy)
					continue;
				p->busy = other->busy = any = true;
				p->test[j].round = x->rounds;
			}
		}
		x->rounds += any;
	}
	for (unsigned int i = 0; i < x->port_count; i++)
		x->port[i].old = x->port[i].test_count;
}

/* Adds pairs to the failed ones: suspect ports with each other, up to ROUNDS_MAX of them apart,
 * then suspect ports with good ones. */
static int isolate_make_pairs(struct isolate *x)
{
	unsigned int *suspect = calloc(2 * (size_t)x->port_count + 1, sizeof(*suspect));
	unsigned int *good = suspect ? suspect + x->port_count : NULL, n = 0, goods = 0;

	if (!suspect)
		return -ENOMEM;
	for (unsigned int i = 0; i < x->port_count; i++)
		if (x->port[i].here)
			*(x->port[i].suspect ? &suspect[n++] : &good[goods++]) = i;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = i + 1; k < n && k <= i + ROUNDS_MAX; k++)
			if (x->port[suspect[i]].host != x->port[suspect[k]].host)
				isolate_add_pair(x, suspect[i], suspect[k]);
	isolate_make_rounds(x);
	for (unsigned int k = 0; k < GOOD_PORTS && k < goods; k++)
		for (unsigned int i = 0; i < n; i++) {
			unsigned int at = i + k, end = at + goods;

			while (at < end &&
			       x->port[good[at % goods]].host == x->port[suspect[i]].host)
				at++;
			if (at < end)
				isolate_add_pair(x, suspect[i], good[at % goods]);
		}
	isolate_make_rounds(x);
	free(suspect);
	return 0;
}

/* Lists the tests of a round; returns their number. */
static unsigned int isolate_list_round(const struct isolate *x, unsigned int round,
				       struct run_marking *list)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < x->port_count; i++) {
		const struct isolate_port *p = &x->port[i];

		for (unsigned int j = 0; j < p->test_count; j++) {
			const struct isolate_port *other = &x->port[p->test[j].port];

			if (p->test[j].round == round)
				list[count++] = (struct run_marking){
					.client_host = p->host,
					.client_port = p->port,
					.server_host = other->host,
					.server_port = other->port,
				};
		}
	}
	return count;
}

static int isolate_run_rounds(struct coordinator *c, const struct isolate *x)
{
	struct run_marking *list = calloc(x->port_count + 1, sizeof(*list));
	uint64_t end_ms = loop_now_ms(c->s.loop) + PASS_MAX_MS;
	int err = list ? 0 : -ENOMEM;

	for (unsigned int k = 0;
	     !err && k < x->rounds && !session_stopped(&c->s) && loop_now_ms(c->s.loop) < end_ms;
	     k++) {
		err = phase_mark_round(c, &isolate_plan, list, isolate_list_round(x, k, list));
		session_count_round(&c->s);
	}
	free(list);
	return err;
}

static void isolate_report(struct coordinator *c, const struct isolate *x)
{
	const struct run_step step = {
		.phase = "second pass",
		.of = x->rounds,
		.seconds = x->rounds * ROUND_MS / 1e3,
	};

	session_begin_step(&c->s, &step);
	session_report(&c->s,
		       "second pass: %u of %u ports are suspect, %u round%s of marking tests, %u "
		       "datagrams from each of %u source ports, about %u s, at most %u s",
		       x->suspect_count, x->here_count, x->rounds, plural(x->rounds),
		       isolate_plan.count, isolate_plan.sweep, (x->rounds * ROUND_MS + 999) / 1000,
		       PASS_MAX_MS / 1000);
}

static int isolate_run_rail(struct coordinator *c, int64_t rail, struct err *e)
{
	struct isolate x = {.rounds = 0};
	int err = isolate_open(c, rail, &x);

	if (!err) {
		isolate_read(&x, c->s.r);
		isolate_mark_suspect(&x, c->s.r);
	}
	if (!err && x.suspect_count)
		err = isolate_make_pairs(&x);
	if (!err && x.suspect_count) {
		isolate_report(c, &x);
		err = isolate_run_rounds(c, &x);
	}
	free(x.port);
	free(x.first);
	return err ? err_sys(e, err, "second pass") : 0;
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
