/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps of a load.
 */
#include "probe/coord/load.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "probe/traffic/traffic.h"
#include "profiles/base/json.h"

#define OPEN_MS	   15000
#define STOP_MS	   5000 /* for the results of flows that were stopped */
#define CLOSE_MS   5000 /* the agent's watchdog comes first */
#define CLOCK_MS   5000
#define CLOCK_ASKS 5
#define START_MS   1000	 /* from the last question to the common start */
#define MARGIN_MS  15000 /* after the time of a run: the agent's watchdog comes first */

static const enum run_side order[SIDES] = {SIDE_SERVER, SIDE_CLIENT};

static struct agent_conn *load_conn(const struct load_end *end)
{
	return &end->s->conn[end->host];
}

static void load_ask(struct load_end *end, const char *op, json_t *fields, unsigned int timeout_ms)
{
	agent_call(load_conn(end), &end->call, op, fields, timeout_ms);
}

static json_t *load_handle(const struct load_end *end)
{
	return json_pack("{s:I}", "handle", (json_int_t)end->handle);
}

void load_fail(struct load_flow *f, enum run_side side, const struct err *e)
{
	const struct load_end *end = &f->end[side];

	if (f->failed)
		return;
	f->failed = true;
	f->e = *e;
	err_prefix(&f->e, "%s", end->s->r->host[end->host].name);
}

const json_t *load_reply(const struct load_flow *f, enum run_side side, struct err *e)
{
	return agent_call_reply(load_conn(&f->end[side]), &f->end[side].call, e);
}

/* Reads the answer of each end that was asked; a flow without one fails. */
static void load_read_answers(struct load *l,
			      int (*read_answer)(struct load_end *end, const json_t *reply,
						 struct err *e))
{
	for (unsigned int i = 0; i < l->count; i++) {
		struct load_flow *f = &l->flow[i];

		for (unsigned int k = 0; k < SIDES && !f->failed; k++) {
			struct err e = {0};
			const json_t *reply = load_reply(f, order[k], &e);

			if (!reply || (read_answer && read_answer(&f->end[order[k]], reply, &e)))
				load_fail(f, order[k], &e);
		}
	}
}

struct load_wait {
	struct load *l;
	bool for_stop; /* a stop ends the wait */
	uint64_t end_ms;
};

static bool load_flow_pending(const struct load_flow *f)
{
	return f->end[SIDE_CLIENT].call.op || f->end[SIDE_SERVER].call.op;
}

static bool load_answered(void *arg)
{
	const struct load_wait *w = arg;
	bool pending = false;

	for (unsigned int i = 0; i < w->l->count; i++) {
		const struct load_flow *f = &w->l->flow[i];

		pending |= load_flow_pending(f);
		if (w->for_stop && session_stopped(f->end[SIDE_CLIENT].s))
			return true;
	}
	return !pending || (w->end_ms && loop_awake_ms(w->l->loop) >= w->end_ms);
}

/* Both ends of a flow belong to one session. */
static void load_mark_lost(struct load *l)
{
	struct session *last = NULL;

	for (unsigned int i = 0; i < l->count; i++) {
		struct session *s = l->flow[i].end[SIDE_CLIENT].s;

		if (s != last)
			session_mark_lost(s);
		last = s;
	}
}

/* Gives up what is pending. */
static void load_end_wait(struct load *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		for (unsigned int k = 0; k < SIDES; k++)
			agent_call_abandon(load_conn(&l->flow[i].end[k]), &l->flow[i].end[k].call);
	load_mark_lost(l);
}

/* Waits until all answered or, with for_stop, a stop; at most so long unless 0. */
static void load_wait(struct load *l, bool for_stop, unsigned int most_ms)
{
	struct load_wait w = {l, for_stop, most_ms ? loop_awake_ms(l->loop) + most_ms : 0};

	loop_run_until(l->loop, load_answered, &w);
	load_end_wait(l);
}

static int load_read_open(struct load_end *end, const json_t *reply, struct err *e)
{
	struct traffic_endpoint *peer = malloc(sizeof(*peer));
	int err = peer ? json_get_uint(reply, "handle", 0, INT_MAX, &end->handle, e)
		       : err_sys(e, -ENOMEM, "traffic");

	end->open = !err;
	if (!err)
		err = traffic_endpoint_from_json(json_object_get(reply, "peer"), peer, e);
	if (!err)
		end->peer = traffic_endpoint_to_json(peer);
	if (!err)
		memcpy(end->gid, peer->gid, sizeof(end->gid));
	free(peer);
	return err;
}

void load_open(struct load *l, const char *op)
{
	for (unsigned int k = 0; k < SIDES; k++) {
		for (unsigned int i = 0; i < l->count; i++) {
			struct load_end *end = &l->flow[i].end[order[k]];

			if (!l->flow[i].failed)
				load_ask(end, op, json_pack("{s:o}", "spec", end->spec), OPEN_MS);
			else
				json_decref(end->spec);
			end->spec = NULL;
		}
	}
	load_wait(l, true, 0);
	load_read_answers(l, load_read_open);
}

/* A server does not make us send to a third host. */
static void load_check_places(struct load_flow *f)
{
	for (unsigned int k = 0; k < SIDES; k++) {
		struct load_end *end = &f->end[k];
		struct err e;

		if (!f->failed && end->place && destinations_check(end->place, end->gid, &e))
			load_fail(f, k, &e);
	}
}

void load_connect(struct load *l)
{
	for (unsigned int i = 0; i < l->count; i++)
		load_check_places(&l->flow[i]);
	for (unsigned int k = 0; k < SIDES; k++) {
		for (unsigned int i = 0; i < l->count; i++) {
			struct load_flow *f = &l->flow[i];
			json_t *fields;

			if (f->failed)
				continue;
			fields = load_handle(&f->end[order[k]]);
			(void)json_object_set(fields, "peer", f->end[!order[k]].peer);
			load_ask(&f->end[order[k]], "traffic_connect", fields, OPEN_MS);
		}
	}
	load_wait(l, true, 0);
	load_read_answers(l, NULL);
}

/* Keeps the quickest answer: it is wrong by half its round trip at most. */
static int load_read_clock(struct load_end *end, const json_t *reply, struct err *e)
{
	uint64_t round_trip_ns = end->call.answered_ns - end->call.sent_ns, theirs_ns;

	if (json_get_uint(reply, "now_ns", 0, JSON_UINT_MAX, &theirs_ns, e))
		return e->code;
	if (end->round_trip_ns && round_trip_ns >= end->round_trip_ns)
		return 0;
	end->round_trip_ns = round_trip_ns;
	end->ahead_ns = (int64_t)(theirs_ns - end->call.sent_ns - round_trip_ns / 2);
	return 0;
}

void load_compare_clocks(struct load *l)
{
	for (unsigned int n = 0; n < CLOCK_ASKS; n++) {
		for (unsigned int i = 0; i < l->count; i++)
			for (unsigned int k = 0; k < SIDES && !l->flow[i].failed; k++)
				load_ask(&l->flow[i].end[k], "ping",
					 json_pack("{s:i}", "lease_ms", SESSION_LEASE_MS),
					 CLOCK_MS);
		load_wait(l, true, 0);
		load_read_answers(l, load_read_clock);
	}
}

/* An end is lost, the session is stopped, or the client is done where that ends the server. */
static bool load_flow_ends(const struct load_flow *f)
{
	if (f->until_client && !f->end[SIDE_CLIENT].call.op)
		return true;
	for (unsigned int k = 0; k < SIDES; k++)
		if (load_conn(&f->end[k])->state != CONN_READY || session_stopped(f->end[k].s))
			return true;
	return false;
}

static void load_stop_flow(struct load *l, struct load_flow *f)
{
	f->stop_ms = loop_awake_ms(l->loop);
	for (unsigned int k = 0; k < SIDES; k++)
		if (f->end[k].call.op)
			agent_conn_notify(load_conn(&f->end[k]), "traffic_stop",
					  load_handle(&f->end[k]));
}

/* Hosts are marked at once: other flows may run for long. */
static bool load_is_over(void *arg)
{
	struct load *l = arg;
	uint64_t now_ms = loop_awake_ms(l->loop);
	bool over = true;

	for (unsigned int i = 0; i < l->count; i++) {
		struct load_flow *f = &l->flow[i];

		if (!load_flow_pending(f))
			continue;
		if (!f->stop_ms && load_flow_ends(f))
			load_stop_flow(l, f);
		over &= f->stop_ms && now_ms >= f->stop_ms + STOP_MS;
	}
	load_mark_lost(l);
	return over;
}

static json_t *load_run_request(const struct load *l, const struct load_end *end)
{
	json_t *fields = load_handle(end);
	uint64_t start_ns = l->start_ns + (uint64_t)end->ahead_ns;

	if (l->progress_ms)
		(void)json_object_set_new(fields, "progress_ms", json_uint(l->progress_ms));
	if (l->one_start)
		(void)json_object_set_new(fields, "start_ns", json_uint(start_ns));
	return fields;
}

void load_run(struct load *l, unsigned int wave)
{
	unsigned int wait_ms = l->one_start ? START_MS : 0;
	struct err stopped;

	err_set(&stopped, -EINTR, "stopped");
	l->start_ns = l->one_start ? monotonic_ns() + START_MS * UINT64_C(1000000) : 0;
	for (unsigned int k = 0; k < SIDES; k++) {
		for (unsigned int i = 0; i < l->count; i++) {
			struct load_flow *f = &l->flow[i];
			struct load_end *end = &f->end[order[k]];

			if (f->wave == wave && session_stopped(end->s))
				load_fail(f, order[k], &stopped);
			else if (f->wave == wave && !f->failed)
				load_ask(end, "traffic_run", load_run_request(l, end),
					 f->duration_ms + MARGIN_MS + wait_ms);
		}
	}
	loop_run_until(l->loop, load_is_over, l);
	load_end_wait(l);
}

void load_close(struct load *l)
{
	for (unsigned int i = 0; i < l->count; i++) {
		for (unsigned int k = 0; k < SIDES; k++) {
			struct load_end *end = &l->flow[i].end[k];

			if (end->open)
				load_ask(end, "traffic_close", load_handle(end), CLOSE_MS);
			end->open = false;
		}
	}
	load_wait(l, false, CLOSE_MS);
	for (unsigned int i = 0; i < l->count; i++) {
		for (unsigned int k = 0; k < SIDES; k++) {
			struct load_end *end = &l->flow[i].end[k];

			agent_call_clear(&end->call);
			json_decref(end->peer);
			end->peer = NULL;
		}
	}
}
