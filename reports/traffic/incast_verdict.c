/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Combines the probes of an incast into one input of traffic_verdict_make(). The volume of the
 * client port is the sum of all probes.
 */
#include "reports/traffic/incast_verdict.h"

#include <errno.h>
#include <string.h>

#include "reports/traffic/pair_verdict.h"

static bool has_load(const struct observation *o)
{
	return o->has & 1u << READ_LOAD_BEFORE && o->has & 1u << READ_LOAD_AFTER;
}

/* All probes read the client's port around the same load; the first that could counts. */
static const struct observation *client_of(const struct incast *in)
{
	for (unsigned int i = 0; i < in->count; i++)
		if (has_load(&in->one[i].t.seen[SIDE_CLIENT]))
			return &in->one[i].t.seen[SIDE_CLIENT];
	return &in->one[0].t.seen[SIDE_CLIENT];
}

/* To the row of its class and priority. One whose priority is not known cannot be looked for. */
static unsigned int add_flow(const struct prio_volume *more,
			     struct prio_volume flow[PRIO_VOLUMES_MAX], unsigned int count)
{
	unsigned int i;

	if (more->prio < 0 || more->prio >= QOS_PRIOS)
		return count;
	for (i = 0; i < count; i++)
		if (flow[i].class == more->class && flow[i].prio == more->prio)
			break;
	if (i == PRIO_VOLUMES_MAX)
		return count; /* not with TRAFFIC_CLASSES_MAX classes */
	if (i == count) {
		flow[count++] = *more;
		return count;
	}
	flow[i].packets += more->packets;
	flow[i].bytes += more->bytes;
	flow[i].beside_packets += more->beside_packets;
	flow[i].beside_bytes += more->beside_bytes;
	return count;
}

/* Each server sends by its own map: what they send of one class may belong to several. */
static void judge_arrival(const struct incast *in, struct incast_verdict *out)
{
	struct prio_volume flow[PRIO_VOLUMES_MAX], more;
	unsigned int count = 0;

	for (unsigned int i = 0; i < in->count; i++) {
		const struct pair *t = &in->one[i].t;

		for (unsigned int c = 0; c < t->spec[SIDE_CLIENT].class_count; c++) {
			pair_flow_in(t, SIDE_CLIENT, c, &more);
			count = add_flow(&more, flow, count);
		}
	}
	if (pair_arrival(out->end[0], out->in.tcp, flow, count, &out->arrival))
		out->arrivals[0] = &out->arrival;
}

/* 0, not known, as soon as it is for one of them. */
static uint8_t prios_of(const struct incast *in)
{
	uint8_t prios = 0;

	for (unsigned int i = 0; i < in->count; i++) {
		uint8_t more = pair_prios(&in->one[i].t);

		if (!more)
			return 0;
		prios |= more;
	}
	return prios;
}

static uint8_t tcp_prios_of(const struct incast *in)
{
	uint8_t prios = 0;

	for (unsigned int i = 0; i < in->count; i++)
		prios |= pair_tcp_prios(&in->one[i].t);
	return prios;
}

static void take_one(const struct pair *t, unsigned int i, struct incast_verdict *out)
{
	out->end[i + 1] = &t->seen[SIDE_SERVER];
	out->pair[i] = (struct verdict_pair){
		.spec = &t->spec[SIDE_CLIENT],
		.client = 0,
		.server = i + 1,
		.client_report = t->has_report[SIDE_CLIENT] ? &t->report[SIDE_CLIENT] : NULL,
		.server_report = t->has_report[SIDE_SERVER] ? &t->report[SIDE_SERVER] : NULL,
	};
	out->in.aborted |= t->partial;
	out->in.accountable &= !t->partial && !t->stopped && !t->seen[SIDE_CLIENT].user_count &&
			       !t->seen[SIDE_SERVER].user_count;
}

int incast_judge(const struct incast *in, struct incast_verdict *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	if (!in->count || in->count > INCAST_MAX)
		return err_set(e, -EINVAL, "incast: %u probes", in->count);
	out->in = (struct verdict_input){
		.end = out->end,
		.end_count = in->count + 1,
		.arrival = out->arrivals,
		.pair = out->pair,
		.pair_count = in->count,
		.incast = true,
		.lossless = prios_of(in),
		.tcp = tcp_prios_of(in),
		.accountable = true,
	};
	out->end[0] = client_of(in);
	for (unsigned int i = 0; i < in->count; i++) {
		if (!in->one[i].t.ran)
			return err_set(e, -EINVAL, "incast: server %u sent nothing", i + 1);
		take_one(&in->one[i].t, i, out);
	}
	judge_arrival(in, out);
	return traffic_verdict_make(&out->in, &out->v, e);
}
