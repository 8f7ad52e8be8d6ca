/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The load of probes between two hosts each: traffic between two readings of the counters. A stop,
 * or an end that is lost, stops the other end, whose report counts all the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/pair_priv.h"
#include "probe/record/run_tcp.h"
#include "profiles/base/json.h"

#define PROGRESS_MS 500

/* True when only a stop ends the run: then the stop is no error. */
static bool pair_runs_until_stopped(const struct traffic_spec *spec)
{
	for (unsigned int i = 0; i < spec->class_count; i++)
		if (spec->class[i].count)
			return false;
	return !spec->duration_ms;
}

/* Without memory the record lacks the TCP results; the reports still have them. */
static void pair_fill_tcp(struct run_pair *pair)
{
	const struct run_end *client = &pair->ends->side[SIDE_CLIENT];
	const struct run_end *server = &pair->ends->side[SIDE_SERVER];

	if (run_tcp_alloc(pair, client->spec.tcp, client->spec.tcp_count))
		return;
	for (unsigned int i = 0; i < pair->tcp_count; i++) {
		if (i < client->report.tcp_count)
			pair->tcp[i].client = client->report.tcp[i];
		if (i < server->report.tcp_count)
			pair->tcp[i].server = server->report.tcp[i];
	}
}

void pair_fill_results(struct run_pair *pair)
{
	const struct run_end *client = &pair->ends->side[SIDE_CLIENT];
	const struct run_end *server = &pair->ends->side[SIDE_SERVER];
	const struct traffic_spec *spec = &client->spec;

	pair->verb = spec->class[0].verb;
	pair->message_bytes = spec->class_count == 1 ? spec->class[0].message_bytes : 0;
	pair->asked_bytes_per_s = 0;
	for (unsigned int i = 0; i < spec->class_count; i++)
		pair->asked_bytes_per_s += spec->class[i].rate_bytes_per_s;
	pair->client_tos = spec->class[0].tos;
	pair->server_tos = server->spec.class[0].tos;
	pair->ran = client->has_report && server->has_report;
	pair->client = client->report.total;
	pair->server = server->report.total;
	pair_fill_tcp(pair);
}

/* The pair of the load that is next, or was last. */
static struct run_pair *pair_last(const struct pair_session *d)
{
	return &d->t->run.pair[d->t->run.pair_count - 1];
}

void pairs_make_load(struct pairs *x, struct load *l)
{
	*l = (struct load){.loop = x->loop, .flow = x->flow, .count = x->count};
	memset(x->flow, 0, x->count * sizeof(*x->flow));
	for (unsigned int i = 0; i < x->count; i++) {
		for (unsigned int k = 0; k < SIDES; k++) {
			x->flow[i].end[k].s = &x->one[i].s;
			x->flow[i].end[k].host = k;
		}
		x->flow[i].end[SIDE_SERVER].place = &x->one[i].destinations;
		x->flow[i].failed = x->one[i].err != 0;
	}
}

/* Opens the traffic of all probes. */
static void pairs_open_traffic(struct pairs *x, struct load *l)
{
	pairs_make_load(x, l);
	for (unsigned int i = 0; i < x->count; i++)
		for (unsigned int k = 0; k < SIDES; k++)
			x->flow[i].end[k].spec =
				traffic_spec_to_json(&pair_end(x->one[i].t, k)->spec);
	load_open(l, "traffic_open");
}

/* Takes over the failures of flows. */
static void pairs_copy_failures(struct pairs *x)
{
	for (unsigned int i = 0; i < x->count; i++)
		if (x->flow[i].failed)
			pair_fail(&x->one[i], &x->flow[i].e);
}

/* Reads both reports. Of several errors a lost end is kept first, then the stop. */
static void pair_read_reports(struct pair_session *d, const struct load_flow *f)
{
	bool was_stopped = session_stopped(&d->s);
	struct err first = {0};

	for (unsigned int side = SIDES; side-- > 0;) {
		struct err e = {0};
		const json_t *reply = load_reply(f, side, &e);
		struct run_end *end = pair_end(d->t, side);

		if (reply &&
		    !traffic_report_from_json(json_object_get(reply, "result"), &end->report, &e)) {
			end->has_report = true;
			(void)json_get_uint_or(reply, "late_ns", 0, 0, JSON_UINT_MAX,
					       &d->t->start.late_ns[side], &e);
			continue;
		}
		err_prefix(&e, "%s", d->t->run.host[side].name);
		if (!first.code || e.code == -EPIPE)
			first = e;
	}
	pair_fill_results(pair_last(d));
	pair_last(d)->ends->stopped = was_stopped;
	if (was_stopped && first.code != -EPIPE &&
	    (first.code || !pair_runs_until_stopped(&d->w->spec)))
		err_set(&first, -EINTR, "stopped");
	if (first.code)
		pair_fail(d, &first);
}

static void pairs_run_traffic(struct pairs *x, struct load *l)
{
	for (unsigned int i = 0; i < x->count; i++) {
		struct pair_session *d = &x->one[i];
		uint32_t ms = d->w->spec.duration_ms;

		session_report(&d->s, "traffic");
		d->t->ran = true;
		d->live.started_ms = d->live.now_ms = monotonic_ms();
		d->live.duration_ms = ms;
		memset(d->live.side, 0, sizeof(d->live.side)); /* of a size before */
		x->flow[i].duration_ms = ms ? ms : TRAFFIC_DURATION_MAX_MS;
	}
	l->progress_ms = PROGRESS_MS;
	load_run(l, 0);
	for (unsigned int i = 0; i < x->count; i++) {
		struct pair_start *start = &x->one[i].t->start;

		start->start_ns = l->start_ns;
		start->round_trip_ns = x->flow[i].end[SIDE_SERVER].round_trip_ns;
		pair_read_reports(&x->one[i], &x->flow[i]);
	}
}

/* Reads the counters once they include the last packet: also after a stop, as that is soon done. */
static void pairs_read_after(struct pairs *x)
{
	unsigned int settle_ms = 0;

	for (unsigned int i = 0; i < x->count; i++) {
		unsigned int ms = session_settle_ms(&x->one[i].s);

		x->one[i].s.stop = NULL;
		settle_ms = ms > settle_ms ? ms : settle_ms;
	}
	session_pause(&x->one[0].s, settle_ms);
	pairs_counters(x, READ_LOAD_AFTER);
}

void pairs_load(struct pairs *x)
{
	struct load l;

	pairs_counters(x, READ_LOAD_BEFORE);
	pairs_check(x);
	pairs_open_traffic(x, &l);
	load_connect(&l);
	l.one_start = x->count > 1;
	if (l.one_start)
		load_compare_clocks(&l);
	pairs_copy_failures(x);
	for (unsigned int i = 0; i < x->count; i++) {
		x->one[i].t->run.traffic = true;
		pair_fill_results(pair_last(&x->one[i]));
	}
	if (!pairs_end_before_start(x)) {
		pairs_run_traffic(x, &l);
		pairs_read_after(x);
	}
	load_close(&l);
}

void pairs_try_transports(struct pairs *x)
{
	const struct traffic_spec *spec = &x->one[0].w->spec;
	bool rare = false;
	struct load l;

	for (unsigned int i = 0; i < spec->class_count; i++)
		rare |= spec->class[i].transport == TRAFFIC_XRC;
	if (!rare)
		return;
	pairs_open_traffic(x, &l);
	load_close(&l);
	pairs_copy_failures(x);
}
