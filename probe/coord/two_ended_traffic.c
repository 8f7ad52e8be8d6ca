/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traffic of a two-ended probe. The server is asked first in each step: its receives are posted
 * before anything is sent. A stop, or an end that is lost, stops the other one, whose report counts
 * all the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/two_ended_inside.h"
#include "probe/record/run_tcp.h"
#include "profiles/base/json.h"

#define OPEN_MS	      15000
#define RUN_MARGIN_MS 15000 /* after the duration: the agent's watchdog comes first */
#define STOP_MS	      5000  /* for the report of a run that was stopped */
#define CLOSE_MS      5000  /* the agent's watchdog comes first */
#define PROGRESS_MS   500

static const enum run_side order[SIDES] = {SIDE_SERVER, SIDE_CLIENT};

int duo_open(struct duo *d, const char *op, json_t *const spec[SIDES],
	     struct traffic_endpoint self[SIDES], struct err *e)
{
	for (unsigned int i = 0; i < SIDES; i++)
		agent_conn_ask(&d->s.conn[order[i]], op, json_pack("{s:o}", "spec", spec[order[i]]),
			       OPEN_MS);
	session_wait(&d->s);
	for (unsigned int i = 0; i < SIDES; i++) {
		enum run_side side = order[i];
		const json_t *reply = duo_reply(d, side, e);

		if (!reply)
			return e->code;
		if (json_get_uint(reply, "handle", 0, INT32_MAX, &d->handle[side], e) ||
		    traffic_endpoint_from_json(json_object_get(reply, "peer"), &self[side], e)) {
			err_prefix(e, "%s", d->t->run.host[side].name);
			return e->code;
		}
		d->open[side] = true;
	}
	return 0;
}

static int open_both(struct duo *d, struct traffic_endpoint self[SIDES], struct err *e)
{
	json_t *spec[SIDES];

	for (unsigned int i = 0; i < SIDES; i++)
		spec[i] = traffic_spec_to_json(&d->t->spec[i]);
	return duo_open(d, "traffic_open", spec, self, e);
}

int duo_connect(struct duo *d, const struct traffic_endpoint self[SIDES], struct err *e)
{
	int err = destinations_check(&d->destinations, self[SIDE_SERVER].gid, e);

	if (err) {
		err_prefix(e, "%s", d->t->run.host[SIDE_CLIENT].name);
		return err;
	}
	for (unsigned int i = 0; i < SIDES; i++) {
		enum run_side side = order[i];

		agent_conn_ask(&d->s.conn[side], "traffic_connect",
			       json_pack("{s:I, s:o}", "handle", (json_int_t)d->handle[side],
					 "peer", traffic_endpoint_to_json(&self[!side])),
			       OPEN_MS);
	}
	session_wait(&d->s);
	for (unsigned int i = 0; i < SIDES; i++)
		if (!duo_reply(d, order[i], e))
			return e->code;
	return 0;
}

static bool any_busy(const struct duo *d)
{
	return agent_conn_busy(&d->s.conn[SIDE_CLIENT]) || agent_conn_busy(&d->s.conn[SIDE_SERVER]);
}

static bool run_over(void *arg)
{
	const struct duo *d = arg;

	for (unsigned int i = 0; i < SIDES; i++)
		if (d->s.conn[i].state != CONN_READY)
			return true;
	return session_stopped(&d->s) || !any_busy(d);
}

struct stopping {
	struct duo *d;
	uint64_t end_ms; /* of loop_awake_ms() */
};

static bool stopped(void *arg)
{
	const struct stopping *s = arg;

	return !any_busy(s->d) || loop_awake_ms(s->d->s.loop) >= s->end_ms;
}

void duo_stop(struct duo *d, unsigned int wait_ms)
{
	struct stopping s = {d, loop_awake_ms(d->s.loop) + wait_ms};

	for (unsigned int i = 0; i < SIDES; i++)
		if (agent_conn_busy(&d->s.conn[i]))
			agent_conn_notify(&d->s.conn[i], "traffic_stop",
					  json_pack("{s:I}", "handle", (json_int_t)d->handle[i]));
	loop_run_until(d->s.loop, stopped, &s);
}

/* Then a stop is the end that was meant. */
static bool until_stopped(const struct traffic_spec *spec)
{
	for (unsigned int i = 0; i < spec->class_count; i++)
		if (spec->class[i].count)
			return false;
	return !spec->duration_ms;
}

/* Without memory for it the record is short of what the reports have as well. */
static void fill_tcp(const struct two_ended *t, struct run_pair *pair)
{
	const struct traffic_spec *spec = &t->spec[SIDE_CLIENT];

	if (run_tcp_alloc(pair, spec->tcp, spec->tcp_count))
		return;
	for (unsigned int i = 0; i < pair->tcp_count; i++) {
		const struct traffic_report *client = &t->report[SIDE_CLIENT];
		const struct traffic_report *server = &t->report[SIDE_SERVER];

		if (i < client->tcp_count)
			pair->tcp[i].client = client->tcp[i];
		if (i < server->tcp_count)
			pair->tcp[i].server = server->tcp[i];
	}
}

static void fill_pair(struct duo *d)
{
	struct run_pair *pair = &d->t->run.pair[0];
	const struct two_ended *t = d->t;

	run_pair_clear(pair);
	two_ended_pair(t->spec, t->has_report, t->report, pair);
	fill_tcp(t, pair);
}

/* A lost end is worth more than a stop, and both are worth more than what the other end says of it.
 */
static int take_reports(struct duo *d, bool was_stopped, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; i < SIDES; i++) {
		enum run_side side = order[i];
		struct err one = {0};
		const json_t *reply = duo_reply(d, side, &one);

		if (reply && !traffic_report_from_json(json_object_get(reply, "result"),
						       &d->t->report[side], &one)) {
			d->t->has_report[side] = true;
			(void)json_get_uint_or(reply, "late_ns", 0, 0, JSON_UINT_MAX,
					       &d->t->start.late_ns[side], &one);
			continue;
		}
		if (reply)
			err_prefix(&one, "%s", d->t->run.host[side].name);
		if (!err || one.code == -EPIPE) {
			*e = one;
			err = one.code;
		}
	}
	fill_pair(d);
	d->t->stopped = was_stopped;
	if (!was_stopped || err == -EPIPE || (!err && until_stopped(&d->w->spec)))
		return err;
	return err_set(e, -EINTR, "stopped");
}

static uint32_t run_ms(const struct duo *d)
{
	uint32_t ms = d->w->spec.duration_ms;

	return (ms ? ms : TRAFFIC_DURATION_MAX_MS) + RUN_MARGIN_MS +
	       (d->w->meeting ? MEETING_LEAD_MS : 0);
}

static int run_both(struct duo *d, struct err *e)
{
	bool was_stopped;

	d->t->ran = true;
	d->live.started_ms = d->live.now_ms = monotonic_ms();
	d->live.duration_ms = d->w->spec.duration_ms;
	memset(d->live.side, 0, sizeof(d->live.side)); /* of a size before */
	for (unsigned int i = 0; i < SIDES; i++)
		agent_conn_ask(&d->s.conn[order[i]], "traffic_run",
			       json_pack("{s:I, s:i, s:I}", "handle",
					 (json_int_t)d->handle[order[i]], "progress_ms",
					 PROGRESS_MS, "start_ns",
					 (json_int_t)duo_start_ns(d, order[i])),
			       run_ms(d));
	if (d->t->start.start_ns)
		d->live.started_ms = d->t->start.start_ns / 1000000;
	loop_run_until(d->s.loop, run_over, d);
	session_mark_lost(&d->s); /* now: others of an incast may run for long */
	was_stopped = session_stopped(&d->s);
	if (any_busy(d))
		duo_stop(d, STOP_MS);
	return take_reports(d, was_stopped, e);
}

int duo_traffic(struct duo *d, struct err *e)
{
	struct traffic_endpoint *self = calloc(SIDES, sizeof(*self));
	int err = self ? open_both(d, self, e) : err_sys(e, -ENOMEM, "probe");

	fill_pair(d);
	if (!err)
		err = duo_connect(d, self, e);
	if (!err)
		err = duo_clocks(d, e);
	if (!err)
		err = duo_meet(d, MEET_CONNECTED, e);
	if (!err)
		session_report(&d->s, "traffic");
	if (!err)
		err = run_both(d, e);
	free(self);
	return err;
}

/* An end that does not answer is told, and what waits there ends by it. */
void duo_close_traffic(struct duo *d)
{
	struct stopping s = {d, loop_awake_ms(d->s.loop) + CLOSE_MS};
	bool any = false;

	for (unsigned int i = 0; i < SIDES; i++) {
		struct agent_conn *k = &d->s.conn[i];
		json_t *handle = json_pack("{s:I}", "handle", (json_int_t)d->handle[i]);

		if (!d->open[i])
			json_decref(handle);
		else if (agent_conn_busy(k))
			agent_conn_notify(k, "traffic_close", handle);
		else
			agent_conn_ask(k, "traffic_close", handle, CLOSE_MS);
		any |= d->open[i];
		d->open[i] = false;
	}
	if (any)
		loop_run_until(d->s.loop, stopped, &s);
}

int duo_try_transports(struct duo *d, struct err *e)
{
	struct traffic_endpoint *self;
	bool rare = false;
	int err;

	for (unsigned int i = 0; i < d->w->spec.class_count; i++)
		rare |= d->w->spec.class[i].transport == TRAFFIC_XRC;
	if (!rare)
		return 0;
	self = calloc(SIDES, sizeof(*self));
	err = self ? open_both(d, self, e) : err_sys(e, -ENOMEM, "probe");
	free(self);
	duo_close_traffic(d);
	return err;
}
