/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marking echo of a two-ended probe. The server is told to stop when the client is done. What
 * fails here costs the echo, not the probe.
 */
#include "probe/coord/two_ended_echo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/coord/two_ended_inside.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define COUNT	      16
#define PATHS	      4
#define GAP_US	      50
#define DURATION_MS   30000u
#define RUN_MARGIN_MS 15000u /* the agent's watchdog comes first */
#define STOP_MS	      5000u

static bool has_class(const struct marking_spec *s, struct marking_class c)
{
	for (unsigned int i = 0; i < s->class_count; i++)
		if (s->class[i].tos == c.tos && s->class[i].sl == c.sl)
			return true;
	return false;
}

static struct marking_class class_of(const struct traffic_class *c)
{
	return (struct marking_class){
		.tos = c->tos & 3 ? c->tos : c->tos | 2, /* ECT(0) */
		.sl = c->sl,
	};
}

void two_ended_echo_specs(const struct two_ended *t, unsigned int sweep,
			  struct marking_spec spec[2])
{
	for (unsigned int i = 0; i < SIDES; i++) {
		const struct traffic_spec *from = &t->spec[i];

		spec[i] = (struct marking_spec){
			.role = from->role,
			.ib_port = from->ib_port,
			.gid_index = from->gid_index,
			.seed = from->seed,
			.duration_ms = DURATION_MS,
			.count = COUNT,
			.paths = PATHS,
			.sweep = (uint16_t)sweep,
			.gap_us = GAP_US,
			.sizes = true,
		};
		memcpy(spec[i].ibdev, from->ibdev, sizeof(spec[i].ibdev));
	}
	for (unsigned int k = 0; k < t->spec[SIDE_CLIENT].class_count; k++) {
		struct marking_class c = class_of(&t->spec[SIDE_CLIENT].class[k]);

		if (has_class(&spec[SIDE_CLIENT], c))
			continue;
		spec[SIDE_CLIENT].class[spec[SIDE_CLIENT].class_count++] = c;
		spec[SIDE_SERVER].class[spec[SIDE_SERVER].class_count++] =
			class_of(&t->spec[SIDE_SERVER].class[k]);
	}
}

void two_ended_echo_ends(const struct two_ended_echo *x, struct marking_endpoints *ends)
{
	for (unsigned int i = 0; i < SIDES; i++) {
		ends->spec[i] = &x->spec[i];
		ends->result[i] = x->has_result[i] ? &x->result[i] : NULL;
	}
}

static int open_both(struct duo *d, struct two_ended_echo *x, struct err *e)
{
	json_t *specs[SIDES];
	struct traffic_endpoint *self = calloc(SIDES, sizeof(*self));
	int err;

	if (!self)
		return err_sys(e, -ENOMEM, "marking echo");
	for (unsigned int i = 0; i < SIDES; i++)
		specs[i] = marking_spec_to_json(&x->spec[i]);
	err = duo_open(d, "echo_open", specs, self, e);
	if (!err)
		err = duo_connect(d, self, e);
	free(self);
	return err;
}

static bool client_over(void *arg)
{
	const struct duo *d = arg;

	return !agent_conn_busy(&d->s.conn[SIDE_CLIENT]) ||
	       d->s.conn[SIDE_SERVER].state != CONN_READY || session_stopped(&d->s);
}

static void run(struct duo *d)
{
	for (unsigned int i = SIDES; i-- > 0;)
		agent_conn_ask(&d->s.conn[i], "traffic_run",
			       json_pack("{s:I}", "handle", (json_int_t)d->handle[i]),
			       DURATION_MS + RUN_MARGIN_MS);
	loop_run_until(d->s.loop, client_over, d);
	duo_stop(d, STOP_MS);
}

/* A watchdog's result is another one's form, with a detail. */
static int take(struct duo *d, struct two_ended_echo *x, enum run_side side, struct err *e)
{
	const json_t *reply = duo_reply(d, side, e), *result;
	const char *detail;

	if (!reply)
		return e->code;
	result = json_object_get(reply, "result");
	if (!marking_result_from_json(result, &x->result[side], e)) {
		x->has_result[side] = true;
		if (x->result[side].detail[0])
			err_set(e, -EIO, "%s: %s", d->t->run.host[side].name,
				x->result[side].detail);
		return x->result[side].detail[0] ? e->code : 0;
	}
	detail = json_string_value(json_object_get(result, "detail"));
	if (detail && *detail)
		err_set(e, -EIO, "%.160s", detail);
	err_prefix(e, "%s", d->t->run.host[side].name);
	return e->code;
}

static int do_echo(struct duo *d, struct two_ended_echo *x, struct err *e)
{
	int err = open_both(d, x, e);

	if (err)
		return err;
	run(d);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct err one = {0};

		if (take(d, x, (enum run_side)i, &one) && !err) {
			*e = one;
			err = one.code;
		}
	}
	return err;
}

void duo_echo(struct duo *d)
{
	struct two_ended_echo *x;
	struct err e = {0};

	if (!d->w->marking && !d->w->sweep)
		return;
	x = d->t->echo = calloc(1, sizeof(*x));
	if (!x)
		return;
	two_ended_echo_specs(d->t, d->w->sweep, x->spec);
	d->s.stop = d->w->stop;
	if (session_stopped(&d->s) || !session_ready(&d->s, SIDE_CLIENT) ||
	    !session_ready(&d->s, SIDE_SERVER) || agent_conn_busy(&d->s.conn[SIDE_CLIENT]) ||
	    agent_conn_busy(&d->s.conn[SIDE_SERVER])) {
		snprintf(x->why, sizeof(x->why), "the probe ended before the marking test");
		return;
	}
	session_report(&d->s, "testing DSCP and ECN marking");
	if (do_echo(d, x, &e))
		snprintf(x->why, sizeof(x->why), "%.199s", e.text);
	duo_close_traffic(d);
}

json_t *two_ended_echo_to_json(const struct two_ended_echo *x)
{
	struct marking_findings found = {0};
	struct marking_endpoints ends;
	struct err e = {0};
	json_t *doc, *list;

	if (!x)
		return json_null();
	two_ended_echo_ends(x, &ends);
	doc = marking_findings_make(&ends, &found, &e) ? json_object()
						       : marking_findings_to_json(&ends, &found);
	list = json_array();
	for (unsigned int i = 0; i < SIDES; i++)
		json_array_append_new(
			list,
			json_pack("{s:o, s:o}", "spec", marking_spec_to_json(&x->spec[i]), "result",
				  x->has_result[i] ? marking_result_to_json(&x->result[i])
						   : json_null()));
	json_object_set_new(doc, "why", x->why[0] ? text_to_json(x->why) : json_null());
	json_object_set_new(doc, "ends", list);
	return doc;
}
