/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Congestion control of one host (DCQCN: NP, RP and where CNPs go), frame sizes, rdma_cm's RoCE
 * version, and drops counted so far.
 */
#include <stdio.h>
#include <string.h>

#include "reports/engine/subject.h"
#include "reports/rules/checks.h"

#define CC_FIELDS                                                                                  \
	(QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE) | QOS_BIT(QOS_CNP_DSCP) |                 \
	 QOS_BIT(QOS_CNP_PRIO) | QOS_BIT(QOS_CNP_INTERVAL) | QOS_BIT(QOS_CC_ALGORITHM) |           \
	 QOS_BIT(QOS_CC_PARAMS))

/* Drivers without it, by the name of the RDMA device's driver. */
static const struct {
	const char *driver, *reason;
} without_dcqcn[] = {
	{"irdma", "the kernel's irdma leaves DCQCN off, Intel's own driver has it"},
	{"erdma", "erdma has a congestion control of its own, without settings"},
	{"mana", "mana has no settings of congestion control"},
	{"mana_ib", "mana has no settings of congestion control"},
	{"efa", "efa has a transport of its own"},
	{"qedr", "qedr shows no settings of congestion control"},
	{"rxe", "Soft-RoCE answers no mark with a slower rate"},
};

PORT_CHECK(check_ecn_driver)
{
	const struct qos *q = &s->port->qos;

	finding_evidence(out, EVIDENCE_HOST, "RDMA driver %s %s settings of congestion control",
			 s->port->rdma_driver[0] ? s->port->rdma_driver : "none",
			 q->has & CC_FIELDS ? "shows" : "shows no");
	if (q->has & CC_FIELDS) {
		finding_say(out, VERDICT_PASS, "the driver has congestion control to set");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(without_dcqcn); i++) {
		if (strcmp(without_dcqcn[i].driver, s->port->rdma_driver))
			continue;
		finding_say(out, VERDICT_FAIL, "%s", without_dcqcn[i].reason);
		return;
	}
	finding_say(out, VERDICT_INCONCLUSIVE, "nothing tells what congestion control is on");
}

/* NP or RP on the RoCE priority: on unless the profile turns it off. */
static void check_point(const struct subject *s, struct findings *out, enum qos_field_id id,
			uint8_t have, uint8_t want, const char *point)
{
	bool asked = !qos_has(s->wish, id) || want & s->prio_set;

	finding_wish(out, s->profile, id);
	if (!qos_has(&s->port->qos, id)) {
		finding_say(out, VERDICT_INCONCLUSIVE, "%s cannot be read on this port",
			    qos_fields[id].key);
		return;
	}
	evidence_field(out, s, id);
	if (!asked)
		finding_say(out, VERDICT_SKIP, "the profile does not want it on RoCE's priority");
	else if (have & s->prio_set)
		finding_say(out, VERDICT_PASS, "%s is on for priority %d", point, s->roce_prio);
	else
		finding_say(out, VERDICT_FAIL, "%s is off for priority %d", point, s->roce_prio);
}

PORT_CHECK(check_ecn_np)
{
	check_point(s, out, QOS_NP_ENABLE, s->port->qos.np_enable, s->wish->np_enable,
		    "answering marks (NP)");
}

PORT_CHECK(check_ecn_rp)
{
	check_point(s, out, QOS_RP_ENABLE, s->port->qos.rp_enable, s->wish->rp_enable,
		    "slowing down (RP)");
}

PORT_CHECK(check_ecn_params)
{
	uint64_t fields = CC_FIELDS & ~(QOS_BIT(QOS_NP_ENABLE) | QOS_BIT(QOS_RP_ENABLE));
	uint64_t asked = s->wish->has & fields, known = asked & s->port->qos.has;
	uint64_t differ = qos_diff(s->wish, &s->port->qos) & known;
	char have[512], want[512];

	if (!asked) {
		finding_say(out, VERDICT_SKIP, "the profile states no parameters");
		return;
	}
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (known & QOS_BIT(id))
			evidence_field(out, s, id);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		if (!(differ & QOS_BIT(id)))
			continue;
		finding_wish(out, s->profile, id);
		qos_field_text(&s->port->qos, id, have, sizeof(have));
		finding_say(out, VERDICT_FAIL, "%s is %s, the profile wants %s", qos_fields[id].key,
			    have, wish_text(s, id, want, sizeof(want)));
		return;
	}
	if (known == asked)
		finding_say(out, VERDICT_PASS, "congestion control is as the profile wants");
	else
		finding_say(out, VERDICT_INCONCLUSIVE, "not all of it can be read on this port");
}

PORT_CHECK(check_qos_cnp)
{
	const struct qos *q = &s->port->qos;
	int prio;
	unsigned int tc;

	if (!qos_has(q, QOS_CNP_DSCP)) {
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "the DSCP of CNPs cannot be read on this port");
		return;
	}
	prio = qos_dscp_to_prio(q, q->cnp_dscp);
	if (prio < 0 || !qos_has(q, QOS_PRIO_TC) || !qos_has(q, QOS_TC_TSA)) {
		subject_unreadable(s, out, "trust, DSCP map or ETS");
		return;
	}
	tc = q->prio_tc[prio] % QOS_TCS;
	evidence_field(out, s, QOS_CNP_DSCP);
	finding_evidence(out, EVIDENCE_HOST,
			 "DSCP %u maps to priority %d, traffic class %u (dcbnl)", q->cnp_dscp, prio,
			 tc);
	finding_prios(out, (uint8_t)(1 << prio));
	if (subject_lossless(s) & 1 << prio)
		finding_say(out, VERDICT_FAIL,
			    "CNPs are on lossless priority %d, and paused with the "
			    "data",
			    prio);
	else if (tc == q->prio_tc[s->roce_prio])
		finding_say(out, VERDICT_FAIL, "CNPs queue behind the data in traffic class %u",
			    tc);
	else if (q->tc_tsa[tc] != QOS_TSA_STRICT)
		finding_say(out, VERDICT_FAIL, "CNPs share traffic class %u, which is not strict",
			    tc);
	else
		finding_say(out, VERDICT_PASS, "CNPs go first, in strict traffic class %u", tc);
}

PORT_CHECK(check_gid_cm)
{
	const struct qos *q = &s->port->qos;
	bool v1 = qos_has(s->wish, QOS_ROCE_VERSION) && s->wish->roce_version == 1;

	finding_wish(out, s->profile, QOS_ROCE_VERSION);
	if (!qos_has(q, QOS_ROCE_VERSION)) {
		finding_say(out, VERDICT_INCONCLUSIVE,
			    "rdma_cm's RoCE version shows only in a configfs directory that is not "
			    "there");
		return;
	}
	evidence_field(out, s, QOS_ROCE_VERSION);
	if (q->roce_version == 2 || v1)
		finding_say(out, VERDICT_PASS, "rdma_cm connects by RoCE v%u", q->roce_version);
	else
		finding_say(out, VERDICT_FAIL, "rdma_cm connects by RoCE v1");
}

/* linux include/rdma/ib_addr.h: RoCE headers take 96 bytes of the netdev's MTU at most. */
PORT_CHECK(check_mtu_jumbo)
{
	const struct port *p = s->port;

	if (!p->active_mtu || !p->max_mtu) {
		finding_say(out, VERDICT_INCONCLUSIVE, "the RDMA MTU cannot be read");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "RDMA MTU is %u, the device can do %u (verbs)",
			 p->active_mtu, p->max_mtu);
	if (qos_has(&p->qos, QOS_MTU))
		evidence_field(out, s, QOS_MTU);
	if (p->active_mtu >= p->max_mtu)
		finding_say(out, VERDICT_PASS, "RDMA uses the largest MTU, %u", p->active_mtu);
	else
		finding_say(out, VERDICT_FAIL,
			    "RDMA MTU %u of %u: the netdev's MTU has to be %u at "
			    "least",
			    p->active_mtu, p->max_mtu, p->max_mtu + 96);
}

PORT_CHECK(check_trn_dropped)
{
	static const enum metric drops[] = {METRIC_PRIO_RX_DISCARDS, METRIC_RX_DISCARDS,
					    METRIC_OUT_OF_BUFFER};
	const struct counters *k = &s->port->counters;
	unsigned int known = 0, bad = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++) {
		unsigned int prio = metric_table[drops[i]].by_prio && s->roce_prio >= 0
					    ? (unsigned int)s->roce_prio
					    : 0;

		if (!counters_has(k, drops[i], prio) ||
		    (metric_table[drops[i]].by_prio && s->roce_prio < 0))
			continue;
		known++;
		bad += k->value[drops[i]][prio] > 0;
		finding_evidence(out, EVIDENCE_COUNTER, "%s is %llu", metric_table[drops[i]].name,
				 (unsigned long long)k->value[drops[i]][prio]);
	}
	if (!known)
		finding_say(out, VERDICT_INCONCLUSIVE, "the port counts no drops");
	else if (bad)
		finding_say(out, VERDICT_FAIL,
			    "the port has dropped packets since the counters began");
	else
		finding_say(out, VERDICT_PASS,
			    "the port has dropped nothing since the counters began");
}
