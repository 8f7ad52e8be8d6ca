/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The phases that fill links: an incast on each priority of --maintenance, unpaced and without
 * retransmission, so that each loss is an event of one pair; a canary on another priority between
 * two of its senders; as negative control the same incast on a lossy priority, which shows that the
 * load was congestion; and the incast with TCP beside it, which shows how classes share a link.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/breaker.h"
#include "probe/coord/half.h"
#include "probe/coord/phase_priv.h"
#include "probe/coord/schedule.h"
#include "probe/record/run_tcp.h"
#include "probe/traffic/histogram.h"
#include "probe/traffic/rate_series.h"

#define INCAST_QPS    4u /* of a NIC: one queue pair does not fill its link */
#define SHARE_STREAMS 4u /* of TCP, from each sender */
#define CANARY_BYTES  64u

static const struct incast_row {
	enum run_phase phase;
	const char *title;
	const char *none; /* message if the profile has no lossy priority; NULL = needs none */
} incast_table[STAGES] = {
	[STAGE_INCAST] = {.phase = PHASE_INCAST, .title = "incast"},
	[STAGE_CONTROL] = {.phase = PHASE_CONTROL,
			   .title = "negative control",
			   .none = "no negative control: the profile has no lossy priority"},
	[STAGE_SHARES] = {.phase = PHASE_SHARES,
			  .title = "incast with TCP beside it",
			  .none = "no shares: the profile has no lossy priority for TCP"},
};

/* The priority of another class: a lossy one or, for a canary, rather a lossless one that the
 * incast leaves alone. -1 without one. */
static int incast_other_prio(const struct fabric *f, bool canary)
{
	const struct profile *p = &f->profile;
	uint8_t lossless = p->qos.pfc_enabled, others = (uint8_t)(lossless & ~f->maintenance);

	for (unsigned int prio = 0; canary && prio < QOS_PRIOS; prio++)
		if (others & 1u << prio && profile_prio_tos(p, prio) >= 0)
			return (int)prio;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (!(lossless & 1u << prio) && profile_prio_tos(p, prio) >= 0)
			return (int)prio;
	return -1;
}

/* The priorities of a stage, each in turn; 0 = it does not run. */
static uint8_t incast_prios(const struct fabric *f, enum run_stage stage)
{
	int lossy = incast_other_prio(f, false);

	if (incast_table[stage].none && lossy < 0)
		return 0;
	return stage == STAGE_CONTROL ? (uint8_t)(1u << lossy) : f->maintenance;
}

/* What the phase changes of a load's spec: class, length, and no pace. */
static void incast_set_spec(const struct coordinator *c, const struct run_pair *p,
			    struct traffic_spec *spec, uint8_t tos, bool soft)
{
	struct traffic_class *k = &spec->class[0];

	spec->tcp_count = 0;
	if (p->phase == PHASE_SHARES) {
		int lossy = incast_other_prio(c->f, false);

		spec->tcp_count = 1;
		spec->tcp[0] = (struct traffic_tcp){
			.tos = (uint8_t)(profile_prio_tos(&c->f->profile, (unsigned int)lossy) &
					 ~3),
			.streams = SHARE_STREAMS,
		};
	}
	spec->duration_ms = c->f->traffic_s * 1000;
	k->tos = tos;
	k->sl = p->prio;
	k->check = TRAFFIC_CHECK_SAMPLED;
	k->verb = p->verb;
	if (p->verb == TRAFFIC_SEND) {
		k->probe = true;
		k->message_bytes = CANARY_BYTES;
		return;
	}
	spec->mode = p->phase == PHASE_SHARES ? TRAFFIC_OBSERVE : TRAFFIC_STRICT;
	k->qps = soft ? 1 : INCAST_QPS;
}

/* RoCE's class is marked as an application on that host would mark it. */
static void incast_adjust(struct coordinator *c, struct run_pair *p,
			  struct traffic_spec spec[SIDES])
{
	int tos = profile_prio_tos(&c->f->profile, p->prio);
	bool roce = profile_roce_prio(&c->f->profile) == p->prio;
	/* Both ends have the same number of queue pairs. */
	bool soft = c->s.r->host[p->client_host].port[p->client_port].soft ||
		    c->s.r->host[p->server_host].port[p->server_port].soft;

	for (unsigned int i = 0; i < SIDES; i++)
		incast_set_spec(c, p, &spec[i], roce ? spec[i].class[0].tos : (uint8_t)tos, soft);
}

/* Of a canary. */
static void incast_read_latency(struct run_pair *p, const struct traffic_class_result *class)
{
	if (p->verb != TRAFFIC_SEND)
		return;
	p->p50_ns = histogram_percentile(&class->latency, HISTOGRAM_P50);
	p->p99_ns = histogram_percentile(&class->latency, HISTOGRAM_P99);
}

static void incast_report_pair(struct coordinator *c, const struct run_pair *p)
{
	const struct run_host *client = &c->s.r->host[p->client_host];
	const struct run_host *server = &c->s.r->host[p->server_host];
	const char *phase = qos_word_text(run_phase_words, p->phase);

	if (!p->ran)
		session_report(&c->s, "%s -> %s %s: %s", client->name, server->name, phase,
			       p->error);
	else if (p->verb == TRAFFIC_SEND)
		session_report(&c->s,
			       "%s -> %s canary on priority %u: median %.1f us, 99 %% %.1f us",
			       client->name, server->name, p->prio, (double)p->p50_ns / 1e3,
			       (double)p->p99_ns / 1e3);
	else
		session_report(&c->s, "%s %s -> %s %s %s on priority %u: %.2f MB/s, %llu losses",
			       client->name, client->port[p->client_port].netdev, server->name,
			       server->port[p->server_port].netdev, phase, p->prio,
			       (double)rate_per_s(p->client.bytes, p->client.duration_ns) / 1e6,
			       (unsigned long long)p->losses);
}

/* Runs the load beside the breaker; without memory for a breaker, not at all. */
static void incast_run_load(struct coordinator *c, struct phase_round *r, unsigned int wave)
{
	struct load *l = &r->load;
	const struct run_pair **ends = calloc(l->count + 1, sizeof(*ends));
	struct breaker b = {.s = &c->s};
	struct half half = {.s = &c->s};
	unsigned int count = 0;
	struct err e;

	for (unsigned int i = 0; ends && i < l->count; i++)
		if (l->flow[i].wave == wave)
			ends[count++] = phase_round_pair(c, r, i);
	if (ends && !breaker_start(&b, &c->s, ends, count) &&
	    !half_start(&half, &c->s, ends, count, c->f->traffic_s * 1000)) {
		load_run(l, wave);
	} else {
		err_sys(&e, -ENOMEM, "incast");
		for (unsigned int i = 0; i < l->count; i++)
			if (l->flow[i].wave == wave)
				load_fail(&l->flow[i], SIDE_CLIENT, &e);
	}
	breaker_stop(&b);
	half_stop(&half);
	free(ends);
}

static const struct phase_load incast_load = {.adjust = incast_adjust,
					      .run = incast_run_load,
					      .read = incast_read_latency,
					      .report = incast_report_pair};

/* Canaries that run alone are the first wave. */
static void incast_add_flow(struct coordinator *c, struct phase_round *r,
			    const struct phase_ports *ports, const struct schedule_pair *at,
			    enum run_phase phase, uint8_t prio)
{
	unsigned int wave = phase == PHASE_CANARY ? 0 : 1;
	bool canary = phase == PHASE_CANARY || phase == PHASE_CANARY_BESIDE;
	const struct run_pair p = {
		.verb = canary ? TRAFFIC_SEND : TRAFFIC_WRITE, .phase = phase, .prio = prio};

	if (phase_round_add(c, r, wave, ports, at, &p))
		session_report(&c->s, "out of memory: a pair is left out");
}

/* Adds a canary between the first two hosts that send to one server: it shares their links, and
 * not the link that is full. */
static void incast_add_canaries(struct coordinator *c, struct phase_round *r,
				const struct phase_ports *ports, const struct schedule *s,
				enum run_phase phase, int prio)
{
	unsigned int last = UINT_MAX; /* server whose group has its canary */

	for (unsigned int i = 1; i < s->pair_count && prio >= 0; i++) {
		const struct schedule_pair *a = &s->pair[i - 1], *b = &s->pair[i];

		if (a->server != b->server || a->server == last ||
		    ports->list[a->client].host == ports->list[b->client].host)
			continue;
		last = a->server;
		incast_add_flow(c, r, ports,
				&(struct schedule_pair){.server = b->client, .client = a->client},
				phase, (uint8_t)prio);
	}
}

/* Runs all rounds of an incast of a rail; canary: its priority, or -1. */
static void incast_run_rounds(struct coordinator *c, struct phase_round *r,
			      const struct phase_ports *ports, struct schedule *s,
			      enum run_phase phase, unsigned int prio, int canary)
{
	while (!session_stopped(&c->s) && schedule_next(s)) {
		if (phase == PHASE_INCAST)
			incast_add_canaries(c, r, ports, s, PHASE_CANARY, canary);
		for (unsigned int i = 0; i < s->pair_count; i++)
			incast_add_flow(c, r, ports, &s->pair[i], phase, (uint8_t)prio);
		if (phase == PHASE_INCAST)
			incast_add_canaries(c, r, ports, s, PHASE_CANARY_BESIDE, canary);
		phase_round_run(c, r, &incast_load);
		session_count_round(&c->s);
	}
	schedule_rewind(s);
}

static int incast_open_schedule(const struct coordinator *c, unsigned int rail,
				struct phase_ports *ports, struct schedule *s, struct err *e)
{
	struct schedule_spec spec = {.pattern = SCHEDULE_INCAST, .senders = c->f->incast_senders};
	int err = phase_ports_find(c, rail, ports);

	if (err)
		return err;
	spec.port = ports->list;
	spec.n = ports->count;
	return schedule_open(s, &spec, e);
}

/* Runs a stage on a rail. */
static int incast_run_rail(struct coordinator *c, unsigned int number, enum run_stage stage,
			   struct err *e)
{
	const struct incast_row *row = &incast_table[stage];
	int canary = stage == STAGE_INCAST ? incast_other_prio(c->f, true) : -1;
	uint8_t prios = incast_prios(c->f, stage);
	struct phase_ports ports = {0};
	struct phase_round r = {0};
	struct schedule s = {0};
	int err = incast_open_schedule(c, number, &ports, &s, e);

	/* A flow and two canaries of each. */
	if (!err)
		err = phase_round_open(c, 3 * ports.count, &r);
	for (unsigned int prio = 0; !err && prio < QOS_PRIOS && !session_stopped(&c->s); prio++) {
		if (!(prios & 1u << prio))
			continue;
		session_report(&c->s, "rail %u: %s on priority %u, %u ports, links are filled",
			       number, row->title, prio, ports.count);
		incast_run_rounds(c, &r, &ports, &s, row->phase, prio, canary);
	}
	schedule_close(&s);
	phase_round_free(&r);
	phase_ports_clear(&ports);
	return err == -ENOMEM ? err_sys(e, err, "incast") : err;
}

bool phase_was_broken(const struct run *r)
{
	for (unsigned int h = 0; h < r->host_count; h++)
		for (unsigned int p = 0; p < r->host[h].port_count; p++)
			if (r->host[h].port[p].breaker[0])
				return true;
	return false;
}

int phase_incast(struct coordinator *c, enum run_stage stage, struct err *e)
{
	enum run_reading before = phases[stage].before;
	int err = 0;

	if (!incast_prios(c->f, stage)) {
		session_report(&c->s, "%s", incast_table[stage].none);
		return 0;
	}
	if (before != READ_COUNT) {
		phase_read_counters(c, before);
	}
	for (int64_t at = phase_next_rail(c->s.r, -1); !err && at >= 0 && !session_stopped(&c->s);
	     at = phase_next_rail(c->s.r, at))
		err = incast_run_rail(c, (unsigned int)at, stage, e);
	c->s.broken = false; /* what follows is no load */
	if (before == READ_COUNT)
		return err;
	session_pause(&c->s, session_settle_ms(&c->s));
	phase_read_counters(c, before + 1);
	return err;
}

int phase_incast_estimate(const struct coordinator *c, enum run_stage stage,
			  struct schedule_estimate *sum, struct err *e)
{
	unsigned int prios = (unsigned int)__builtin_popcount(incast_prios(c->f, stage));
	/* The canary alone, then beside the incast. */
	unsigned int loads = stage == STAGE_INCAST && incast_other_prio(c->f, true) >= 0 ? 2 : 1;
	struct schedule_estimate one;
	int err = 0;

	for (int64_t at = phase_next_rail(c->s.r, -1); !err && at >= 0;
	     at = phase_next_rail(c->s.r, at)) {
		struct phase_ports ports = {0};
		struct schedule s = {0};

		err = incast_open_schedule(c, (unsigned int)at, &ports, &s, e);
		if (!err) {
			schedule_estimate(&s, c->f->traffic_s, PHASE_ROUND_PAUSE_S, 100, &one);
			one.rounds *= prios;
			one.pairs *= prios;
			one.bytes *= prios;
			one.seconds *= prios * loads;
			schedule_estimate_add(sum, &one);
		}
		schedule_close(&s);
		phase_ports_clear(&ports);
	}
	return err == -ENOMEM ? err_sys(e, err, "incast") : err;
}
