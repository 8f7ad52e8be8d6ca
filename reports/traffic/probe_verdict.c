/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the record of a probe, a size of a sweep, or an incast: the volume of each class at each
 * port, by priority, and the input of traffic_verdict_make().
 */
#include "reports/traffic/probe_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"
#include "reports/engine/causes.h"
#include "reports/engine/tcp_share.h"

#define HEADERS_MAX 98u /* of a packet: Ethernet, a tag, IPv6, UDP, BTH, RETH or AETH, ICRC */

/* A pair of a record. */
struct flow_source {
	const struct run *run;
	const struct run_pair *pair;
};

static unsigned int verdict_host_of(const struct run_pair *p, unsigned int side)
{
	return side == SIDE_CLIENT ? p->client_host : p->server_host;
}

/* Settings of the port of a side; without a snapshot none is known. */
static const struct qos *verdict_qos(const struct flow_source *s, unsigned int side)
{
	static const struct qos unknown;
	const struct run_host *h = &s->run->host[verdict_host_of(s->pair, side)];
	const struct port *port = snapshot_port(&h->before, h->port[0].netdev);

	return port ? &port->qos : &unknown;
}

static const struct run_end *verdict_side(const struct flow_source *s, unsigned int side)
{
	return &s->pair->ends->side[side];
}

static const struct traffic_report *verdict_report(const struct flow_source *s, unsigned int side)
{
	const struct run_end *end = verdict_side(s, side);

	return end->has_report ? &end->report : NULL;
}

static int verdict_prio(const struct qos *q, const struct traffic_class *class)
{
	if (qos_has(q, QOS_TRUST) && q->trust == QOS_TRUST_PCP)
		return class->sl;
	return qos_dscp_to_prio(q, class->tos >> 2);
}

/* The priority in which a class has to come to a side: the one it was sent in, by the sender's map.
 * The receiver's own would agree with whatever it does. */
static int verdict_prio_at(const struct flow_source *s, unsigned int side, unsigned int i)
{
	const struct traffic_class *class = &verdict_side(s, !side)->spec.class[i];
	int sent = verdict_prio(verdict_qos(s, !side), class);

	return sent >= 0 ? sent : verdict_prio(verdict_qos(s, side), class);
}

/* The class whose marking credits have (traffic_control_class() of the first worker). */
static unsigned int verdict_control_class(const struct traffic_spec *spec)
{
	for (unsigned int i = 0; spec->bringup == TRAFFIC_CM && i < spec->class_count; i++)
		if (spec->class[i].tos)
			return i;
	return 0;
}

/* Each message of this end may be acknowledged by a packet, credits as well; those of the other end
 * come themselves. */
static void verdict_add_beside(const struct flow_source *s, unsigned int side, unsigned int i,
			       struct prio_volume *flow)
{
	const struct traffic_report *own = verdict_report(s, side),
				    *other = verdict_report(s, !side);
	const struct traffic_spec *spec = &verdict_side(s, side)->spec;

	if (spec->class[i].verb != TRAFFIC_READ)
		flow->beside_packets = own->class[i].messages;
	if (i == verdict_control_class(spec)) {
		flow->beside_packets += own->total.control_messages;
		if (other) {
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

/* Fills the volume that class i received at the port of a side: messages of a responder, or the
 * data of READs. */
static void verdict_flow_in(const struct flow_source *s, unsigned int side, unsigned int i,
			    struct prio_volume *flow)
{
	const struct traffic_class *class = &verdict_side(s, !side)->spec.class[i];
	const struct traffic_report *r = verdict_report(s, side);
	uint64_t messages = 0;

	*flow = (struct prio_volume){
		.prio = verdict_prio_at(s, side, i), .dscp = class->tos >> 2, .class = i};
	if (!r || i >= r->class_count)
		return;
	messages = r->class[i].arrived;
	flow->bytes = r->class[i].arrived_bytes;
	if (class->verb == TRAFFIC_READ) {
		messages = r->class[i].messages;
		flow->bytes = r->class[i].bytes;
	}
	flow->packets = prio_packets(messages, class->message_bytes, r->total.mtu);
	verdict_add_beside(s, side, i, flow);
}

/* Priorities of all classes at both ports; 0 when one is unknown. */
static uint8_t verdict_prios(const struct flow_source *s)
{
	uint8_t prios = 0;

	for (unsigned int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < verdict_side(s, side)->spec.class_count; i++) {
			int prio = verdict_prio_at(s, side, i);

			if (prio < 0 || prio >= QOS_PRIOS)
				return 0;
			prios |= (uint8_t)(1u << prio);
		}
	return prios;
}

/* Priorities of the TCP backgrounds at both ports; all when one is unknown. */
static uint8_t verdict_tcp_prios(const struct flow_source *s)
{
	uint8_t prios = 0;

	for (unsigned int side = 0; side < SIDES; side++)
		for (unsigned int i = 0; i < verdict_side(s, side)->spec.tcp_count; i++)
			prios |= tcp_share_prios(verdict_qos(s, side),
						 &verdict_side(s, side)->spec.tcp[i]);
	return prios;
}

static void verdict_hide(struct counters *growth, uint8_t prios)
{
	growth->has[METRIC_PRIO_RX_PACKETS] &= (uint8_t)~prios;
	growth->has[METRIC_PRIO_RX_BYTES] &= (uint8_t)~prios;
}

static bool verdict_any_beside(const struct prio_volume *flow, unsigned int count, uint8_t tcp)
{
	for (unsigned int i = 0; i < count; i++)
		if (flow[i].prio >= 0 && flow[i].prio < QOS_PRIOS && !(tcp & 1u << flow[i].prio) &&
		    flow[i].packets)
			return true;
	return false;
}

/* Checks where received traffic arrived, without the priorities `tcp`, whose packets may not be
 * RoCE. False without counters around the load.
 * Without TCP's priorities nothing of the classes was counted, with them something was: all of them
 * may be there, or this port does not count RoCE by priority. */
static bool verdict_arrival(const struct run_port *seen, uint8_t tcp,
			    const struct prio_volume *flow, unsigned int count,
			    struct prio_arrival *a)
{
	struct counters net, whole, beside;
	struct prio_arrival all;

	if (!run_port_delta(seen, READ_LOAD_BEFORE, &whole, NULL) || !run_port_net(seen, &net))
		return false;
	beside = net;
	verdict_hide(&beside, tcp);
	prio_arrival_check(&beside, &whole, true, flow, count, a);
	if (!tcp || a->known || !verdict_any_beside(flow, count, tcp))
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

/* What a test lacks of the server is not judged; its error is. */
static void verdict_read_echo(const struct run_marking *m, struct verdict_pair *pair)
{
	pair->echo_failed = m->error[0] ? m->error : NULL;
	pair->echo = m;
}

void probe_verdict_clear(struct probe_verdict *v)
{
	traffic_verdict_clear(&v->v);
	free(v->run.host);
	free(v->run.pair);
	v->run = (struct run){.host = NULL};
}

/* Adds a pair: the priorities of all pairs are known, or none. */
static void verdict_add_pair(const struct run_pair *p, struct probe_verdict *out)
{
	const struct flow_source s = {&out->run, p};
	unsigned int i = out->in.pair_count++;
	uint8_t prios = verdict_prios(&s);

	out->in.lossless = prios && (out->in.lossless || !i) ? out->in.lossless | prios : 0;
	out->in.tcp |= verdict_tcp_prios(&s);
	out->pair[i] = (struct verdict_pair){
		.spec = &p->ends->side[SIDE_CLIENT].spec,
		.client = p->client_host,
		.server = p->server_host,
		.client_report = verdict_report(&s, SIDE_CLIENT),
		.server_report = verdict_report(&s, SIDE_SERVER),
	};
	out->in.aborted |= p->ends->partial;
	out->in.accountable &= !p->ends->partial && !p->ends->stopped;
}

/* Adds to the row of its class and priority. Without a known priority it cannot be found. */
static unsigned int verdict_add_flow(const struct prio_volume *more,
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

/* What all pairs send to the port of a host. Each sends by its own map: the traffic of one class
 * may belong to several priorities. */
static void verdict_check_arrival(unsigned int host, struct probe_verdict *out)
{
	struct prio_volume flow[PRIO_VOLUMES_MAX], more;
	unsigned int count = 0;

	for (unsigned int i = 0; i < out->run.pair_count; i++) {
		const struct flow_source s = {&out->run, &out->run.pair[i]};

		for (unsigned int side = 0; side < SIDES; side++) {
			if (verdict_host_of(s.pair, side) != host)
				continue;
			for (unsigned int c = 0; c < verdict_side(&s, side)->spec.class_count;
			     c++) {
				verdict_flow_in(&s, side, c, &more);
				count = verdict_add_flow(&more, flow, count);
			}
		}
	}
	if (verdict_arrival(out->end[host].port, out->in.tcp, flow, count, &out->arrival[host]))
		out->arrivals[host] = &out->arrival[host];
}

/* Judges the hosts and pairs of out->run, and links causes. */
static int verdict_make(struct probe_verdict *out, bool incast, struct err *e)
{
	const struct run *r = &out->run;
	int err;

	out->in = (struct verdict_input){
		.end = out->end,
		.end_count = r->host_count,
		.arrival = out->arrivals,
		.pair = out->pair,
		.incast = incast,
		.accountable = true,
	};
	for (unsigned int i = 0; i < r->host_count; i++) {
		out->end[i] = (struct verdict_end){r->host[i].name, &r->host[i].port[0]};
		out->in.accountable &= !r->host[i].port[0].user_count;
	}
	for (unsigned int i = 0; i < r->pair_count; i++)
		verdict_add_pair(&r->pair[i], out);
	for (unsigned int i = 0; i < r->host_count; i++)
		verdict_check_arrival(i, out);
	if (r->marking_count)
		verdict_read_echo(&r->marking[0], &out->pair[0]);
	err = traffic_verdict_make(&out->in, &out->v, e);
	if (!err) {
		findings_set_causes(&out->v.findings, &out->run);
		err = out->v.findings.err ? err_sys(e, -ENOMEM, "verdict") : 0;
	}
	if (err)
		probe_verdict_clear(out);
	return err;
}

int pair_judge(const struct pair *t, unsigned int number, struct probe_verdict *out, struct err *e)
{
	struct run *r = &out->run;

	memset(out, 0, sizeof(*out));
	*r = t->run;
	r->host = calloc(SIDES, sizeof(*r->host));
	r->pair = calloc(1, sizeof(*r->pair));
	if (!r->host || !r->pair) {
		probe_verdict_clear(out);
		return err_sys(e, -ENOMEM, "verdict");
	}
	r->pair[0] = t->run.pair[number];
	r->pair_count = 1;
	if (number + 1 < t->run.pair_count)
		r->marking_count = 0;
	for (unsigned int side = 0; side < SIDES; side++) {
		struct run_port *own = r->pair[0].ends->side[side].port;

		r->host[side] = t->run.host[side];
		if (own)
			r->host[side].port = own;
	}
	return verdict_make(out, false, e);
}

int incast_judge(const struct incast *in, struct probe_verdict *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	if (!in->count || in->count > INCAST_MAX)
		return err_set(e, -EINVAL, "incast: %u probes", in->count);
	for (unsigned int i = 0; i < in->count; i++)
		if (!in->one[i].t.ran)
			return err_set(e, -EINVAL, "incast: server %u sent nothing", i + 1);
	if (incast_make_run(in, &out->run))
		return err_sys(e, -ENOMEM, "verdict");
	return verdict_make(out, true, e);
}

/* Adds the reason of an abort between two sizes, which belongs to no size. */
static void verdict_of_abort(const struct pair *t, struct size_verdicts *v)
{
	struct findings *own = &v->own.findings;

	if (!t->partial)
		return;
	for (unsigned int i = 0; i < v->count; i++)
		if (traffic_verdict_has(&v->size[i].v, REASON_ABORTED))
			return;
	v->own.verdict = reason_table[REASON_ABORTED].verdict;
	finding_begin(own, rule_find(reason_table[REASON_ABORTED].rule), "", "", 0);
	finding_set(own, VERDICT_INCONCLUSIVE, "the size sweep ended after %u sizes%s%.180s",
		    v->count, t->why[0] ? ": " : "", t->why);
	finding_reason(own, REASON_ABORTED, -1, reason_table[REASON_ABORTED].advice);
	v->verdict = traffic_verdict_graver(v->verdict, v->own.verdict);
}

/* Adds copies of findings; bytes 0: of the sweep itself. */
static void verdict_add_findings(struct findings *to, const struct findings *from, uint32_t bytes)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct finding *f = &from->list[i];

		finding_begin(to, f->rule, f->host, f->port, f->prio_set);
		if (bytes)
			finding_set(to, f->verdict, "messages of %u bytes: %s", bytes, f->text);
		else
			finding_set(to, f->verdict, "%s", f->text);
		finding_reason(to, f->reason, f->class, f->advice);
		for (unsigned int k = 0; k < f->evidence_count; k++)
			finding_evidence(to, (enum evidence_kind)f->evidence[k].kind, "%s",
					 f->evidence[k].text);
	}
}

int size_verdicts_make(const struct pair *t, struct size_verdicts **out, struct err *e)
{
	struct size_verdicts *v = calloc(1, sizeof(*v) + t->size_count * sizeof(v->size[0]));
	int err = 0;

	if (!v)
		return err_sys(e, -ENOMEM, "verdict");
	v->verdict = VERDICT_PASS;
	for (unsigned int i = 0; i < t->size_count && !err; i++) {
		err = pair_judge(t, i, &v->size[i], e);
		if (err)
			break;
		v->count++;
		v->verdict = traffic_verdict_graver(v->verdict, v->size[i].v.verdict);
	}
	if (!err) {
		verdict_of_abort(t, v);
		verdict_add_findings(&v->all, &v->own.findings, 0);
		for (unsigned int i = 0; i < v->count; i++)
			verdict_add_findings(&v->all, &v->size[i].v.findings,
					     t->run.pair[i].message_bytes);
		findings_set_causes(&v->all, &t->run);
		if (v->all.err || v->own.findings.err)
			err = err_sys(e, -ENOMEM, "verdict");
	}
	if (err) {
		size_verdicts_free(v);
		return err;
	}
	*out = v;
	return 0;
}

void size_verdicts_free(struct size_verdicts *v)
{
	if (!v)
		return;
	for (unsigned int i = 0; i < v->count; i++)
		probe_verdict_clear(&v->size[i]);
	traffic_verdict_clear(&v->own);
	findings_clear(&v->all);
	free(v);
}

/* Copies reasons; bytes 0: of the sweep itself. */
static void verdict_add_size(json_t *to, const json_t *verdict, uint32_t bytes)
{
	size_t i;
	json_t *reason;

	json_array_foreach (json_object_get(verdict, "reasons"), i, reason) {
		json_t *copy = json_copy(reason);

		if (bytes)
			json_object_set_new(copy, "message_bytes", json_integer(bytes));
		json_array_append_new(to, copy);
	}
}

json_t *size_verdicts_to_json(const struct size_verdicts *v, json_t *rows)
{
	json_t *own = traffic_verdict_to_json(&v->own), *reasons = json_array();

	verdict_add_size(reasons, own, 0);
	json_decref(own);
	for (unsigned int i = 0; i < v->count; i++) {
		const struct probe_verdict *of = &v->size[i];
		json_t *one = traffic_verdict_to_json(&of->v);

		verdict_add_size(reasons, one, of->pair[0].spec->class[0].message_bytes);
		if (json_object_set_new(json_array_get(rows, i), "verdict", one)) {
			json_decref(reasons);
			return NULL;
		}
	}
	return json_pack("{s:s, s:o, s:i}", "verdict", verdict_word(v->verdict), "reasons", reasons,
			 "more", 0);
}
