/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-QOS, packets: checks DSCP and ECN at the sender and at the receiver, and the priority in which
 * the receiver counted the bytes. A capture at the sender shows faults of the host; captures at
 * both ends, and marking tests, show faults of the fabric. CNPs have their own DSCP and are left
 * out.
 */
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

/* Packets of own flows by DSCP. */
struct marks {
	uint64_t packets, wrong;
	uint64_t by_dscp[QOS_DSCPS];
};

static void marking_add_flow(struct marks *m, const struct flow *f, unsigned int want)
{
	uint64_t cnp = f->cnp;

	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		uint64_t n = f->dscp[dscp];

		if (dscp != want && cnp) {
			uint64_t cut = n < cnp ? n : cnp;

			n -= cut;
			cnp -= cut;
		}
		m->packets += n;
		m->by_dscp[dscp] += n;
		if (dscp != want)
			m->wrong += n;
	}
}

static void marking_report_wrong(const struct port_ctx *s, const struct marks *m, unsigned int want,
				 struct findings *out)
{
	const struct qos *q = &s->port->qos;
	unsigned int got = index_of_largest(m->by_dscp, QOS_DSCPS, want);
	bool by_cm = qos_has(q, QOS_CM_TOS) && q->cm_tos >> 2 == got;

	finding_set(out, VERDICT_FAIL, "traffic leaves with DSCP %u, the profile wants %u%s", got,
		    want, by_cm ? ": rdma_cm of this host sets it" : "");
	finding_evidence(out, EVIDENCE_CAPTURE, "%llu of %llu packets sent have DSCP %u",
			 (count_t)m->by_dscp[got], (count_t)m->packets, got);
	if (by_cm)
		evidence_field(out, s, QOS_CM_TOS);
}

/* Judges by the marking tests of a port that captured nothing: they carry the ToS that rdma_cm
 * gives a connection here. False without one. */
static bool marking_judge_sent(const struct port_ctx *s, unsigned int want, struct findings *out)
{
	const struct run_marking *m;
	enum run_side side;
	unsigned int i = 0;

	while ((m = port_ctx_marking(s, &i, &side))) {
		unsigned int dscp = m->tos[side] >> 2;

		if (!m->arrived[!side])
			continue;
		finding_evidence(out, EVIDENCE_TRAFFIC, "marking tests are sent with DSCP %u",
				 dscp);
		if (qos_has(&s->port->qos, QOS_CM_TOS))
			evidence_field(out, s, QOS_CM_TOS);
		finding_set(out, dscp == want ? VERDICT_PASS : VERDICT_FAIL,
			    dscp == want ? "traffic leaves with DSCP %u"
					 : "traffic leaves with DSCP %u, the profile wants %u",
			    dscp, want);
		return true;
	}
	return false;
}

PORT_CHECK(check_qos_sent_dscp)
{
	const struct capture_summary *k = &s->run_port->capture;
	int tos = profile_roce_tos(s->profile);
	struct marks m = {0};

	if (tos < 0) {
		finding_set(out, VERDICT_SKIP, "the profile does not state the DSCP of RoCE");
		return;
	}
	finding_expected_by(out, s->profile, QOS_CM_TOS);
	for (unsigned int i = 0; s->run_port->has_capture && i < k->flow_count; i++)
		/* QP 1 carries connection requests, which no traffic class applies to. */
		if (k->flow[i].dest_qpn > 1 && port_ctx_owns(s, k->flow[i].src))
			marking_add_flow(&m, &k->flow[i], (unsigned int)tos >> 2);
	if (!m.packets && marking_judge_sent(s, (unsigned int)tos >> 2, out))
		return;
	if (!m.packets) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "no RoCE packet sent by this port was captured");
		return;
	}
	if (m.wrong) {
		marking_report_wrong(s, &m, (unsigned int)tos >> 2, out);
		return;
	}
	finding_evidence(out, EVIDENCE_CAPTURE, "%llu of %llu packets sent have DSCP %d",
			 (count_t)m.packets, (count_t)m.packets, tos >> 2);
	finding_set(out, VERDICT_PASS, "traffic leaves with DSCP %d", tos >> 2);
}

/* Finds the flow in another capture by source, destination and QP. Both captures sort flows by the
 * first packet, so *hint is mostly right. */
static const struct flow *marking_find_flow(const struct capture_summary *k, const struct flow *f,
					    unsigned int *hint)
{
	for (unsigned int n = 0; n < k->flow_count; n++) {
		unsigned int at = (*hint + n) % k->flow_count;
		const struct flow *other = &k->flow[at];

		if (other->dest_qpn != f->dest_qpn || memcmp(other->src, f->src, sizeof(f->src)) ||
		    memcmp(other->dst, f->dst, sizeof(f->dst)))
			continue;
		*hint = at + 1;
		return other;
	}
	return NULL;
}

/* Changes of flows between two captures. */
struct transit {
	unsigned int flows;    /* seen at both ends */
	unsigned int unmarked; /* of them, sent Not-ECT */
	uint64_t packets, changed;
	unsigned int sent, got; /* DSCP of the last change */
	const char *sender;
};

typedef void compare_flow(const struct flow *tx, const struct flow *rx, struct transit *t);

static void marking_compare_dscp(const struct flow *tx, const struct flow *rx, struct transit *t)
{
	unsigned int sent = index_of_largest(tx->dscp, QOS_DSCPS, QOS_DSCPS);
	uint64_t cnp = rx->cnp; /* a NIC sends them behind the sender's capture */

	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		uint64_t n = tx->dscp[dscp] ? 0 : rx->dscp[dscp];
		uint64_t cut = n < cnp ? n : cnp;

		cnp -= cut;
		if (n == cut)
			continue;
		t->changed += n - cut;
		t->sent = sent;
		t->got = dscp;
	}
}

/* Packets without ECT that are no CNP. */
static uint64_t marking_not_ect(const struct flow *f)
{
	return saturating_sub(f->ecn[0], f->cnp);
}

static void marking_compare_ecn(const struct flow *tx, const struct flow *rx, struct transit *t)
{
	if (marking_not_ect(tx))
		t->unmarked++;
	else
		t->changed += marking_not_ect(rx);
}

static void marking_read_transit(const struct port_ctx *s, compare_flow *compare, struct transit *t)
{
	const struct capture_summary *mine = &s->run_port->capture;
	struct port_ctx other;
	unsigned int i = 0;

	while (port_ctx_next_partner(s, &i, &other)) {
		unsigned int hint = 0;

		for (unsigned int k = 0; other.run_port->has_capture && k < mine->flow_count; k++) {
			const struct flow *rx = &mine->flow[k], *tx;
			uint64_t before = t->changed;

			if (!port_ctx_owns(&other, rx->src) || !port_ctx_owns(s, rx->dst))
				continue;
			tx = marking_find_flow(&other.run_port->capture, rx, &hint);
			if (!tx)
				continue;
			t->flows++;
			t->packets += rx->packets;
			compare(tx, rx, t);
			if (t->changed != before || !t->sender)
				t->sender = other.host->name;
		}
	}
}

/* Marking tests whose datagrams arrived at a port. */
struct arrivals {
	unsigned int tests;
	uint64_t datagrams;
	const struct marking_finding *changed; /* the first that the path changed */
	const char *sender;		       /* of that one */
};

/* Reads what the tests of the port say of these kinds (1 << enum marking_kind), with its evidence.
 */
static void marking_read_tests(const struct port_ctx *s, unsigned int kinds, struct arrivals *a,
			       struct findings *out)
{
	const struct run_marking *m;
	enum run_side side;
	unsigned int i = 0;

	while ((m = port_ctx_marking(s, &i, &side))) {
		a->tests += m->arrived[side] > 0;
		a->datagrams += m->arrived[side];
	}
	if (a->datagrams)
		finding_evidence(out, EVIDENCE_TRAFFIC,
				 "%llu datagrams of %u marking test%s arrived at this port",
				 (count_t)a->datagrams, a->tests, plural(a->tests));
	a->changed = port_ctx_marking_finding(s, kinds, true, &a->sender);
	if (a->changed)
		evidence_marking(out, a->changed, a->sender);
}

/* False when neither captures nor tests saw a path to the port. */
static bool marking_path_seen(const struct transit *t, const struct arrivals *a,
			      struct findings *out)
{
	if (t->flows || a->datagrams)
		return true;
	finding_set(out, VERDICT_INCONCLUSIVE, "no flow to this port was captured at both ends");
	return false;
}

PORT_CHECK(check_qos_rewritten)
{
	struct transit t = {0};
	struct arrivals a = {0};

	marking_read_transit(s, marking_compare_dscp, &t);
	marking_read_tests(s, 1 << MARKING_DSCP, &a, out);
	if (!marking_path_seen(&t, &a, out))
		return;
	if (t.flows)
		finding_evidence(out, EVIDENCE_CAPTURE,
				 "%llu of %llu packets of %u flows arrived with another "
				 "DSCP than they were sent with",
				 (count_t)t.changed, (count_t)t.packets, t.flows);
	if (a.changed)
		finding_set(out, VERDICT_FAIL,
			    "DSCP %u from %s arrives as %u: rewritten on the path", a.changed->from,
			    a.sender, a.changed->to);
	else if (t.changed)
		finding_set(out, VERDICT_FAIL,
			    "DSCP %u from %s arrives as %u: rewritten on the path", t.sent,
			    t.sender, t.got);
	else if (a.datagrams)
		finding_set(out, VERDICT_PASS, "DSCPs arrive as they were sent");
	else
		finding_set(out, VERDICT_PASS,
			    "DSCPs of the captured flows arrive as they were sent");
}

PORT_CHECK(check_qos_ecn_cleared)
{
	struct transit t = {0};
	struct arrivals a = {0};

	marking_read_transit(s, marking_compare_ecn, &t);
	marking_read_tests(s, 1 << MARKING_ECT_CLEARED | 1 << MARKING_ECN, &a, out);
	if (!marking_path_seen(&t, &a, out))
		return;
	if (t.unmarked == t.flows && !a.datagrams) {
		finding_set(out, VERDICT_SKIP, "%s sends Not-ECT: there is nothing to clear",
			    t.sender);
		return;
	}
	if (t.flows)
		finding_evidence(
			out, EVIDENCE_CAPTURE,
			"%llu of %llu packets of %u flows were sent ECT and arrived Not-ECT",
			(count_t)t.changed, (count_t)t.packets, t.flows - t.unmarked);
	if (a.changed)
		finding_set(out, VERDICT_FAIL,
			    "ECN bits of packets from %s are changed on the path", a.sender);
	else if (t.changed)
		finding_set(out, VERDICT_FAIL, "ECT of packets from %s is cleared on the path",
			    t.sender);
	else
		finding_set(out, VERDICT_PASS, "ECN bits arrive as they were sent");
}

/* Nothing else of rocecheck is on the path while the marking tests run. */
PORT_CHECK(check_net_lost)
{
	const struct run_marking *m;
	struct arrivals a = {0};
	const char *error = NULL;
	enum run_side side;
	unsigned int i = 0;

	while ((m = port_ctx_planned_marking(s, &i, &side)))
		if (!m->ran && !m->pass)
			error = m->error;
	marking_read_tests(s, 1 << MARKING_LOST | 1 << MARKING_BLACKHOLE | 1 << MARKING_WRONG, &a,
			   out);
	if (a.changed && a.changed->class) {
		finding_set(out, VERDICT_FAIL, "no datagram with DSCP %u arrives from %s",
			    a.changed->from, a.sender);
	} else if (a.changed) {
		finding_set(
			out, VERDICT_FAIL,
			"%u of %u datagrams from %s are lost or damaged on the path without load",
			a.changed->count, a.changed->of, a.sender);
	} else if (error && a.datagrams) {
		finding_set(out, VERDICT_INCONCLUSIVE, "a marking test did not run: %s", error);
	} else if (error) { /* a device without UD: rules that need the test say so */
		finding_set(out, VERDICT_SKIP, "the marking test did not run: %s", error);
	} else if (!a.datagrams) {
		finding_set(out, VERDICT_SKIP, "no marking test in this run");
	} else {
		finding_set(out, VERDICT_PASS, "no datagram to this port was lost");
	}
}

/* False when no pair sent to this port. Sums the payload that rocecheck's traffic delivered; stray:
 * a sender with another DSCP. */
static bool marking_received(const struct port_ctx *s, uint64_t *bytes,
			     const struct run_pair **stray)
{
	int tos = profile_roce_tos(s->profile);
	const struct run_pair *pair;
	bool received = false;
	unsigned int i = 0;

	*bytes = 0;
	*stray = NULL;
	while ((pair = port_ctx_pair(s, &i))) {
		if (!port_ctx_is_server(s, pair) || !pair->ran)
			continue;
		received = true;
		*bytes += pair->server.bytes;
		if (tos >= 0 && pair->client_tos >> 2 != tos >> 2)
			*stray = pair;
	}
	return received;
}

static void marking_report_stray(const struct port_ctx *s, const struct run_pair *stray,
				 unsigned int busiest, struct findings *out)
{
	if (stray)
		finding_set(out, VERDICT_FAIL,
			    "RoCE bytes arrive on priority %u, wanted %d: %s sends DSCP %u",
			    busiest, s->roce_prio, s->c->run->host[stray->client_host].name,
			    stray->client_tos >> 2);
	else
		finding_set(out, VERDICT_FAIL, "RoCE bytes arrive on priority %u, wanted %d",
			    busiest, s->roce_prio);
}

/* Subtracts rocecheck's own TCP from each priority that may have counted it. */
static void marking_subtract_tcp(const struct port_ctx *s, struct counters *delta,
				 struct findings *out)
{
	uint8_t prios = port_ctx_tcp_prios(s);
	uint64_t most = port_ctx_tcp_bytes(s);

	if (!prios)
		return;
	finding_evidence(out, EVIDENCE_TRAFFIC,
			 "rocecheck's own TCP sent at most %llu bytes to this port", (count_t)most);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		uint64_t *bytes = &delta->value[METRIC_PRIO_RX_BYTES][prio];

		if (prios & 1u << prio)
			*bytes = saturating_sub(*bytes, most);
	}
}

PORT_CHECK(check_qos_arrival)
{
	unsigned int wanted = (unsigned int)s->roce_prio, other;
	const struct run_pair *stray;
	struct counters delta, whole;
	uint64_t ours, there, elsewhere;

	if (!marking_received(s, &ours, &stray)) {
		finding_set(out, VERDICT_SKIP, "no traffic was sent to this port");
		return;
	}
	port_ctx_delta(s, READ_LOAD_BEFORE, &whole, NULL);
	delta = whole;
	marking_subtract_tcp(s, &delta, out);
	other = index_of_largest(delta.value[METRIC_PRIO_RX_BYTES], QOS_PRIOS, wanted);
	/* RC-QOS-003 and RC-QOS-007 judge the map and the DSCPs that came. */
	if (!delta.has[METRIC_PRIO_RX_BYTES] && port_ctx_marked(s)) {
		finding_set(out, VERDICT_SKIP,
			    "this port does not count bytes by priority; its DSCP map and the "
			    "marking test are judged instead");
		return;
	}
	if (!counters_has(&delta, METRIC_PRIO_RX_BYTES, wanted) ||
	    !counters_has(&delta, METRIC_PRIO_RX_BYTES, other)) {
		finding_set(out, VERDICT_INCONCLUSIVE, "the port does not count bytes by priority");
		return;
	}
	evidence_counter(out, s, &whole, METRIC_PRIO_RX_BYTES, wanted);
	evidence_counter(out, s, &whole, METRIC_PRIO_RX_BYTES, other);
	there = delta.value[METRIC_PRIO_RX_BYTES][wanted];
	elsewhere = delta.value[METRIC_PRIO_RX_BYTES][other];
	finding_evidence(out, EVIDENCE_TRAFFIC, "%llu bytes were delivered to this port",
			 (count_t)ours);
	/* Counters include headers, so 9/10 of the payload allow for an early reading. */
	if (!ours)
		finding_set(out, VERDICT_INCONCLUSIVE, "nothing was delivered to this port");
	else if (there >= ours / 10 * 9)
		finding_set(out, VERDICT_PASS, "RoCE bytes arrive on priority %u", wanted);
	else if (elsewhere < ours / 10 * 9 &&
		 whole.value[METRIC_PRIO_RX_BYTES][wanted] >= ours / 10 * 9)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "RoCE and rocecheck's own TCP may share priority %u: its byte counter "
			    "cannot separate them",
			    wanted);
	else if (elsewhere > there || there + elsewhere >= ours / 10 * 9)
		marking_report_stray(s, stray, other, out);
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the port's byte counters by priority did not count the traffic");
}
