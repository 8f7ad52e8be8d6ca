/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-ECN: checks that data is ECN capable (RFC 3168), that marks are answered with CNPs (IBTA Annex
 * A17), and that congestion control is on (DCQCN: NP and RP).
 */
#include <string.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

/* Counts data packets of the port, and those without ECT (CNPs and responses excluded). */
static void ecn_data_packets(const struct port_ctx *s, uint64_t *packets, uint64_t *not_ect)
{
	const struct capture_summary *k = &s->run_port->capture;

	*packets = 0;
	*not_ect = 0;
	for (unsigned int i = 0; s->run_port->has_capture && i < k->flow_count; i++) {
		const struct flow *f = &k->flow[i];

		if (!f->requests || !port_ctx_owns(s, f->src))
			continue;
		*packets += f->requests;
		*not_ect += saturating_sub(f->ecn[0], f->cnp + f->responses);
	}
}

static bool ecn_tos_lacks_ect(const struct port_ctx *s, struct findings *out)
{
	const struct qos *q = &s->port->qos;
	int want = profile_roce_tos(s->profile);

	if (qos_has(q, QOS_CM_TOS)) {
		evidence_field(out, s, QOS_CM_TOS);
		if (!(q->cm_tos & 3)) {
			finding_set(out, VERDICT_FAIL,
				    "rdma_cm connections are Not-ECT: ToS %u has no ECN bits",
				    q->cm_tos);
			return true;
		}
	}
	if (want < 0 || want & 3)
		return false;
	finding_set(out, VERDICT_FAIL, "the profile itself sets Not-ECT: ToS %d has no ECN bits",
		    want);
	return true;
}

PORT_CHECK(check_ecn_ect)
{
	bool lacks = ecn_tos_lacks_ect(s, out), by_tos = qos_has(&s->port->qos, QOS_CM_TOS);
	uint64_t packets = 0, not_ect = 0;

	finding_expected_by(out, s->profile, QOS_CM_TOS);
	if (s->run_port)
		ecn_data_packets(s, &packets, &not_ect);
	if (packets)
		finding_evidence(out, EVIDENCE_CAPTURE,
				 "%llu of %llu data packets sent are Not-ECT", (count_t)not_ect,
				 (count_t)packets);
	if (lacks)
		return;
	if (not_ect)
		finding_set(out, VERDICT_FAIL,
			    "data is sent Not-ECT: switches cannot mark it, only drop it");
	else if (packets || by_tos)
		finding_set(out, VERDICT_PASS, "data is ECN capable, shown by %s%s%s",
			    packets ? "the capture" : "", packets && by_tos ? " and by " : "",
			    by_tos ? "rdma_cm's default ToS" : "");
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "neither a capture nor rdma_cm's default ToS is available");
}

/* Counts received CE packets and sent CNPs in the capture. */
static void ecn_captured_marks(const struct port_ctx *s, uint64_t *ce, uint64_t *cnp)
{
	const struct capture_summary *k = &s->run_port->capture;

	for (unsigned int i = 0; i < k->flow_count; i++) {
		if (port_ctx_owns(s, k->flow[i].dst))
			*ce += k->flow[i].ecn[3];
		if (port_ctx_owns(s, k->flow[i].src))
			*cnp += k->flow[i].cnp;
	}
}

/* Received CE packets or sent CNPs under load, by the port's counter or else by its capture. */
struct ecn_count {
	uint64_t count;
	bool counted, captured;
};

static void ecn_add_counted(const struct port_ctx *s, struct findings *out, enum metric m,
			    struct ecn_count *c)
{
	static const enum run_reading first[] = {READ_LOAD_BEFORE, READ_INCAST_BEFORE};
	struct counters delta;

	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++) {
		if (!port_ctx_delta(s, first[i], &delta, NULL) || !counters_has(&delta, m, 0))
			continue;
		c->counted = true;
		c->count += evidence_counter(out, s, &delta, m, 0);
	}
}

static void ecn_count_marks(const struct port_ctx *s, struct findings *out, struct ecn_count *ce,
			    struct ecn_count *cnp)
{
	const struct run_port *p = s->run_port;
	uint64_t marked = 0, sent = 0;

	*ce = *cnp = (struct ecn_count){.count = 0};
	ecn_add_counted(s, out, METRIC_ECN_MARKED_RX, ce);
	ecn_add_counted(s, out, METRIC_CNP_TX, cnp);
	if ((ce->counted && cnp->counted) || !p->has_capture || !p->capture.totals.roce)
		return;
	ecn_captured_marks(s, &marked, &sent);
	finding_evidence(out, EVIDENCE_CAPTURE, "%llu packets received with CE, %llu CNPs sent",
			 (count_t)marked, (count_t)sent);
	if (!ce->counted)
		*ce = (struct ecn_count){.count = marked, .captured = true};
	if (!cnp->counted)
		*cnp = (struct ecn_count){.count = sent, .captured = true};
}

/* Marking tests are sent without other load of rocecheck. */
PORT_CHECK(check_ecn_idle)
{
	const struct marking_finding *f;
	const struct run_marking *m;
	const char *sender;
	enum run_side side;
	unsigned int i = 0;
	uint64_t arrived = 0;

	while ((m = port_ctx_marking(s, &i, &side)))
		arrived += m->arrived[side];
	if (!arrived) {
		finding_set(out, VERDICT_SKIP, "no marking test in this run");
		return;
	}
	finding_evidence(out, EVIDENCE_TRAFFIC, "%llu datagrams of marking tests arrived",
			 (count_t)arrived);
	f = port_ctx_marking_finding(s, 1 << MARKING_CE, true, &sender);
	if (f) {
		evidence_marking(out, f, sender);
		finding_set(out, VERDICT_FAIL,
			    "%u of %u datagrams from %s arrive with CE, without load on the path",
			    f->count, f->of, sender);
	} else {
		finding_set(out, VERDICT_PASS, "no packet is marked CE while the path has no load");
	}
}

PORT_CHECK(check_ecn_cnp)
{
	struct ecn_count ce, cnp;

	ecn_count_marks(s, out, &ce, &cnp);
	if (!ce.counted && !ce.captured)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count CE, and nothing was captured");
	else if (!ce.count)
		finding_set(out, VERDICT_SKIP, "no packet was received with CE, so no CNP was due");
	else if (cnp.count)
		finding_set(out, VERDICT_PASS, "%llu CE packets were answered with %llu CNPs",
			    (count_t)ce.count, (count_t)cnp.count);
	else if (cnp.counted)
		finding_set(out, VERDICT_FAIL,
			    "%llu packets were received with CE and no CNP was sent",
			    (count_t)ce.count);
	else
		/* A NIC makes CNPs itself: what the host captures need not show them. */
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "%llu packets were received with CE, and this port does not count the "
			    "CNPs that it sends%s",
			    (count_t)ce.count, cnp.captured ? "; the capture shows none" : "");
}

#define CC_FIELDS                                                                                  \
	(QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE) | QOS_BIT(QOS_CNP_DSCP) |                 \
	 QOS_BIT(QOS_CNP_PRIO) | QOS_BIT(QOS_CNP_INTERVAL) | QOS_BIT(QOS_CC_ALGORITHM) |           \
	 QOS_BIT(QOS_CC_PARAMS))

/* Drivers without DCQCN, by the name of the RDMA driver. */
static const struct {
	const char *driver, *reason;
} without_dcqcn[] = {
	{"irdma", "the kernel's irdma keeps DCQCN off, Intel's own driver supports it"},
	{"erdma", "erdma has its own congestion control, without settings"},
	{"mana", "mana has no settings of congestion control"},
	{"mana_ib", "mana has no settings of congestion control"},
	{"efa", "efa has its own transport"},
	{"qedr", "qedr shows no settings of congestion control"},
	{"rxe", "Soft-RoCE does not slow down for congestion marks"},
};

PORT_CHECK(check_ecn_driver)
{
	const struct qos *q = &s->port->qos;

	finding_evidence(out, EVIDENCE_HOST, "RDMA driver %s %s settings of congestion control",
			 s->port->rdma_driver[0] ? s->port->rdma_driver : "none",
			 q->has & CC_FIELDS ? "shows" : "shows no");
	if (q->has & CC_FIELDS) {
		finding_set(out, VERDICT_PASS, "the driver has congestion control settings");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(without_dcqcn); i++) {
		if (strcmp(without_dcqcn[i].driver, s->port->rdma_driver))
			continue;
		finding_set(out, VERDICT_FAIL, "%s", without_dcqcn[i].reason);
		return;
	}
	finding_set(out, VERDICT_INCONCLUSIVE, "this port does not show its congestion control");
}

/* Checks NP or RP on the RoCE priority: expected on unless the profile turns it off. */
static void ecn_check_point(const struct port_ctx *s, struct findings *out, enum qos_field_id id,
			    uint8_t have, uint8_t want, const char *point)
{
	bool asked = !qos_has(s->want, id) || want & s->prio_set;

	finding_expected_by(out, s->profile, id);
	if (!qos_has(&s->port->qos, id)) {
		finding_set(out, VERDICT_INCONCLUSIVE, "%s cannot be read on this port",
			    qos_fields[id].key);
		return;
	}
	evidence_field(out, s, id);
	if (!asked)
		finding_set(out, VERDICT_SKIP, "the profile does not enable it on RoCE's priority");
	else if (have & s->prio_set)
		finding_set(out, VERDICT_PASS, "%s is on for priority %d", point, s->roce_prio);
	else
		finding_set(out, VERDICT_FAIL, "%s is off for priority %d", point, s->roce_prio);
}

PORT_CHECK(check_ecn_np)
{
	ecn_check_point(s, out, QOS_NP_ENABLE, s->port->qos.np_enable, s->want->np_enable,
			"sending CNPs (NP)");
}

PORT_CHECK(check_ecn_rp)
{
	ecn_check_point(s, out, QOS_RP_ENABLE, s->port->qos.rp_enable, s->want->rp_enable,
			"slowing down on CNPs (RP)");
}

PORT_CHECK(check_ecn_params)
{
	uint64_t fields = CC_FIELDS & ~(QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE));
	uint64_t asked = s->want->has & fields, known = asked & s->port->qos.has;
	uint64_t differ = qos_diff(s->want, &s->port->qos) & known;
	char have[512], want[512];

	if (!asked) {
		finding_set(out, VERDICT_SKIP, "the profile states no parameters");
		return;
	}
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (known & QOS_BIT(id))
			evidence_field(out, s, id);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(differ & QOS_BIT(id)))
			continue;
		finding_expected_by(out, s->profile, id);
		qos_field_text(&s->port->qos, id, have, sizeof(have));
		finding_set(out, VERDICT_FAIL, "%s is %s, the profile wants %s", qos_fields[id].key,
			    have, port_ctx_want_text(s, id, want, sizeof(want)));
		return;
	}
	if (known == asked)
		finding_set(out, VERDICT_PASS, "congestion control is as the profile wants");
	else
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "some parameters cannot be read on this port");
}
