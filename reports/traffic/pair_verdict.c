/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the volume of a probe at each of its two ports, by priority.
 */
#include "reports/traffic/pair_verdict.h"

#include <stdio.h>
#include <string.h>

#include "reports/engine/tcp_share.h"

#define HEADERS_MAX 98u /* of a packet: Ethernet, a tag, IPv6, UDP, BTH, RETH or AETH, ICRC */

static int prio_by(const struct qos *q, const struct traffic_class *class)
{
	if (qos_has(q, QOS_TRUST) && q->trust == QOS_TRUST_PCP)
		return class->sl;
	return qos_dscp_to_prio(q, class->tos >> 2);
}

/* The priority in which a class has to come to a side: the one it was sent in, by the sender's map.
 * The receiver's own would agree with whatever it does. */
static int prio_at(const struct pair *t, unsigned int side, unsigned int i)
{
	const struct traffic_class *class = &t->spec[!side].class[i];
	int sent = prio_by(&t->ends.port[!side]->qos, class);

	return sent >= 0 ? sent : prio_by(&t->ends.port[side]->qos, class);
}

/* The class whose marking credits have (traffic_control_class() of the first worker). */
static unsigned int control_class(const struct traffic_spec *spec)
{
	for (unsigned int i = 0; spec->bringup == TRAFFIC_CM && i < spec->class_count; i++)
		if (spec->class[i].tos)
			return i;
	return 0;
}

/* Each message of this end may be acknowledged by a packet, credits as well; those of the other end
 * come themselves. */
static void add_beside(const struct pair *t, unsigned int side, unsigned int i,
		       struct prio_volume *flow)
{
	const struct traffic_report *own = &t->report[side], *other = &t->report[!side];

	if (t->spec[side].class[i].verb != TRAFFIC_READ)
		flow->beside_packets = own->class[i].messages;
	if (i == control_class(&t->spec[side])) {
		flow->beside_packets += own->total.control_messages;
		if (t->has_report[!side]) {
			flow->beside_packets +=
				prio_packets(other->total.control_messages,
					     other->total.control_messages
						     ? (uint32_t)(other->total.control_bytes /
								  other->total.control_messages)
						     : 0,
					     own->total.mtu);
			flow->beside_bytes = other->total.control_bytes;
		}
	}
	flow->beside_bytes += flow->beside_packets * HEADERS_MAX;
}

void pair_flow_in(const struct pair *t, unsigned int side, unsigned int i, struct prio_volume *flow)
{
	const struct traffic_class *class = &t->spec[!side].class[i];
	const struct traffic_report *r = &t->report[side];
	uint64_t messages = 0;

	*flow = (struct prio_volume){
		.prio = prio_at(t, side, i), .dscp = class->tos >> 2, .class = i};
	if (!t->has_report[side] || i >= r->class_count)
		return;
	messages = r->class[i].arrived;
	flow->bytes = r->class[i].arrived_bytes;
	if (class->verb == TRAFFIC_READ) {
		messages = r->class[i].messages;
		flow->bytes = r->class[i].bytes;
	}
	flow->packets = prio_packets(messages, class->message_bytes, r->total.mtu);
	add_beside(t, side, i, flow);
}

uint8_t pair_prios(const struct pair *t)
{
	uint8_t prios = 0;

	for (unsigned int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < t->spec[side].class_count; i++) {
			int prio = prio_at(t, side, i);

			if (prio < 0 || prio >= QOS_PRIOS)
				return 0;
			prios |= (uint8_t)(1u << prio);
		}
	return prios;
}

uint8_t pair_tcp_prios(const struct pair *t)
{
	uint8_t prios = 0;

	for (unsigned int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < t->spec[side].tcp_count; i++)
			prios |= tcp_share_prios(&t->ends.port[side]->qos, &t->spec[side].tcp[i]);
	return prios;
}

static void hide(struct counters *growth, uint8_t prios)
{
	growth->has[METRIC_PRIO_RX_PACKETS] &= (uint8_t)~prios;
	growth->has[METRIC_PRIO_RX_BYTES] &= (uint8_t)~prios;
}

static bool any_beside(const struct prio_volume *flow, unsigned int count, uint8_t tcp)
{
	for (unsigned int i = 0; i < count; i++)
		if (flow[i].prio >= 0 && flow[i].prio < QOS_PRIOS && !(tcp & 1u << flow[i].prio) &&
		    flow[i].packets)
			return true;
	return false;
}

/* Without TCP's priorities nothing of the classes was counted, with them something was: all of them
 * may be there, or this port does not count RoCE by priority. */
bool pair_arrival(const struct observation *seen, uint8_t tcp, const struct prio_volume *flow,
		  unsigned int count, struct prio_arrival *a)
{
	struct counters net, whole, beside;
	struct prio_arrival all;

	if (!observe_delta(seen, READ_LOAD_BEFORE, &whole, NULL) || !observe_net(seen, &net))
		return false;
	beside = net;
	hide(&beside, tcp);
	prio_arrival_check(&beside, &whole, true, flow, count, a);
	if (!tcp || a->known || !any_beside(flow, count, tcp))
		return true;
	prio_arrival_check(&net, &whole, true, flow, count, &all);
	if (!all.known)
		return true;
	a->known = true;
	snprintf(a->text, sizeof(a->text),
		 "packets were counted only in the priorities of TCP: the arrival of the classes "
		 "cannot be checked");
	return true;
}

static void judge_arrival(const struct pair *t, unsigned int side, struct pair_verdict *out)
{
	struct prio_volume flow[TRAFFIC_CLASSES_MAX];
	unsigned int count = t->spec[side].class_count;

	for (unsigned int i = 0; i < count; i++)
		pair_flow_in(t, side, i, &flow[i]);
	if (pair_arrival(&t->seen[side], pair_tcp_prios(t), flow, count, &out->arrival[side]))
		out->arrivals[side] = &out->arrival[side];
}

/* Without a result of the client there is nothing to look at; what it lacks of the server is not
 * judged. */
static void judge_echo(const struct pair *t, struct pair_verdict *out)
{
	const struct pair_marking *x = t->echo;
	struct marking_endpoints ends;
	struct err e = {0};

	if (!x)
		return;
	out->pair.echo_failed = x->why[0] ? x->why : NULL;
	pair_marking_ends(x, &ends);
	if (!x->has_result[SIDE_CLIENT])
		return;
	if (marking_findings_make(&ends, &out->echo, &e))
		out->pair.echo_failed = "the two ends disagree on the packets sent";
	else
		out->pair.echo = &out->echo;
}

int pair_judge(const struct pair *t, struct pair_verdict *out, struct err *e)
{
	const struct traffic_report *report[SIDES];
	bool alone = true;

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < SIDES; i++) {
		report[i] = t->has_report[i] ? &t->report[i] : NULL;
		out->end[i] = &t->seen[i];
		alone = alone && !t->seen[i].user_count;
		judge_arrival(t, i, out);
	}
	out->pair = (struct verdict_pair){
		.spec = &t->spec[SIDE_CLIENT],
		.client = SIDE_CLIENT,
		.server = SIDE_SERVER,
		.client_report = report[SIDE_CLIENT],
		.server_report = report[SIDE_SERVER],
	};
	judge_echo(t, out);
	out->in = (struct verdict_input){
		.end = out->end,
		.end_count = SIDES,
		.arrival = out->arrivals,
		.pair = &out->pair,
		.pair_count = 1,
		.lossless = pair_prios(t),
		.tcp = pair_tcp_prios(t),
		.aborted = t->partial,
		.accountable = alone && !t->partial && !t->stopped,
	};
	return traffic_verdict_make(&out->in, &out->v, e);
}
