/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-QOS, settings: checks that the profile's DSCP maps to the profile's priority, that rdma_cm
 * uses that DSCP, and the mapping of each DSCP, VLAN tag and CNP of one host.
 */
#include <stdio.h>
#include <string.h>

#include "dcb/plan/plan.h"
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

PORT_CHECK(check_qos_trust)
{
	if (port_ctx_knows(s, out, QOS_TRUST))
		port_ctx_compare(s, out, QOS_TRUST);
}

static void qos_prio_word(uint8_t prio, char *buf, size_t size)
{
	if (prio == QOS_UNMAPPED)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%u", prio);
}

/* DSCPs with another priority than in the profile. */
struct map_faults {
	unsigned int count;
	unsigned int worst; /* the one to print: RoCE's, else the first */
	uint8_t prio_set;   /* priorities that lack one */
};

static void qos_find_map_faults(const struct port_ctx *s, struct map_faults *f,
				struct findings *out)
{
	const uint8_t *want = s->want->dscp_prio, *have = s->port->qos.dscp_prio;
	int tos = profile_roce_tos(s->profile);
	char word[8];

	memset(f, 0, sizeof(*f));
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		if (want[dscp] >= QOS_PRIOS || want[dscp] == have[dscp])
			continue;
		if (!f->count++ || (int)dscp == tos >> 2)
			f->worst = dscp;
		f->prio_set |= (uint8_t)(1 << want[dscp]);
		qos_prio_word(have[dscp], word, sizeof(word));
		finding_evidence(out, EVIDENCE_HOST,
				 "DSCP %u maps to priority %s, wanted %u (DCB APP table)", dscp,
				 word, want[dscp]);
	}
}

PORT_CHECK(check_qos_map)
{
	struct map_faults f;
	char word[8];

	if (!port_ctx_knows(s, out, QOS_DSCP_PRIO))
		return;
	qos_find_map_faults(s, &f, out);
	if (!f.count) {
		evidence_field(out, s, QOS_DSCP_PRIO);
		finding_set(out, VERDICT_PASS, "every DSCP maps as the profile wants");
		return;
	}
	qos_prio_word(s->port->qos.dscp_prio[f.worst], word, sizeof(word));
	finding_prios(out, f.prio_set & s->prio_set ? s->prio_set : f.prio_set);
	finding_set(out, VERDICT_FAIL, "DSCP %u maps to priority %s, the profile wants %u", f.worst,
		    word, s->want->dscp_prio[f.worst]);
	if (f.count > 1)
		finding_append(out, ", and %u more DSCPs differ", f.count - 1);
}

PORT_CHECK(check_qos_lossy)
{
	const struct qos *q = &s->port->qos;
	int tos = port_ctx_roce_tos(s), prio;

	if (tos < 0 || !port_ctx_lossless(s)) {
		finding_set(out, VERDICT_SKIP, "%s states no DSCP of RoCE, or no lossless priority",
			    port_ctx_has_profile(s) ? "the profile" : "the port");
		return;
	}
	prio = qos_dscp_to_prio(q, (unsigned int)tos >> 2);
	if (prio < 0 || !qos_has(q, QOS_PFC_ENABLED)) {
		port_ctx_unreadable(s, out, "trust, DSCP map or PFC mask");
		return;
	}
	finding_expected_by(out, s->profile, QOS_PFC_ENABLED);
	finding_evidence(out, EVIDENCE_HOST, "DSCP %d maps to priority %d (dcbnl)", tos >> 2, prio);
	evidence_field(out, s, QOS_PFC_ENABLED);
	if (q->pfc_enabled & 1 << prio)
		finding_set(out, VERDICT_PASS, "RoCE (DSCP %d) is on lossless priority %d",
			    tos >> 2, prio);
	else
		finding_set(out, VERDICT_FAIL,
			    "RoCE (DSCP %d) is on priority %d, which drops instead of pausing",
			    tos >> 2, prio);
}

PORT_CHECK(check_qos_cm_tos)
{
	int tos = profile_roce_tos(s->profile), dscp, prio;
	char word[16] = "unknown";

	if (!port_ctx_knows(s, out, QOS_CM_TOS) || tos < 0)
		return;
	dscp = s->port->qos.cm_tos >> 2;
	prio = qos_dscp_to_prio(&s->port->qos, (unsigned int)dscp);
	evidence_field(out, s, QOS_CM_TOS);
	if (dscp == tos >> 2) {
		finding_set(out, VERDICT_PASS, "rdma_cm connections get DSCP %d", dscp);
		return;
	}
	if (prio >= 0) {
		snprintf(word, sizeof(word), "%d", prio);
		finding_evidence(out, EVIDENCE_HOST, "DSCP %d maps to priority %d here (dcbnl)",
				 dscp, prio);
	}
	/* Another DSCP with the right priority is not dropped on this host. */
	finding_set(out, prio == s->roce_prio ? VERDICT_WARN : VERDICT_FAIL,
		    "rdma_cm connections get DSCP %d (priority %s), wanted DSCP %d (priority %d)",
		    dscp, word, tos >> 2, s->roce_prio);
}

PORT_CHECK(check_qos_untagged)
{
	const struct qos *q = &s->port->qos;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_TRUST), "trust"))
		return;
	evidence_field(out, s, QOS_TRUST);
	if (q->trust != QOS_TRUST_PCP) {
		finding_set(out, VERDICT_PASS,
			    "DSCP is trusted: untagged packets keep their priority");
		return;
	}
	if (!s->port->pci_slot.known) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "snapshot has no VLAN data (collected by an older version)");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "%u VLANs on %s (proc)", s->port->pci_slot.vlan_count,
			 s->name);
	if (s->port->pci_slot.vlan_count)
		finding_set(out, VERDICT_PASS, "PCP is trusted and %s carries it",
			    s->port->pci_slot.vlan[0].netdev);
	else if (!port_ctx_lossless(s))
		finding_set(out, VERDICT_SKIP, "no priority is lossless");
	else
		finding_set(out, VERDICT_FAIL,
			    "PCP is trusted but packets are untagged: all get priority 0");
}

PORT_CHECK(check_qos_egress)
{
	const struct qos *q = &s->port->qos;
	int tos = port_ctx_roce_tos(s);
	unsigned int skb, pcp;

	if (!qos_has(q, QOS_TRUST) || q->trust != QOS_TRUST_PCP ||
	    (!qos_has(q, QOS_VLAN_PRIO) && !s->port->pci_slot.vlan_count)) {
		finding_set(out, VERDICT_SKIP, "PCP is not trusted, or there is no VLAN");
		return;
	}
	if (tos < 0 || !qos_has(q, QOS_VLAN_PRIO)) {
		finding_set(out, VERDICT_INCONCLUSIVE, "%s",
			    tos < 0 ? "the ToS of RoCE is unknown"
				    : "the egress maps of the VLANs differ or cannot be read");
		return;
	}
	skb = profile_skb_prio((uint8_t)tos) % QOS_SKB_PRIOS;
	pcp = q->vlan_prio[skb];
	finding_expected_by(out, s->profile, QOS_VLAN_PRIO);
	evidence_field(out, s, QOS_VLAN_PRIO);
	finding_evidence(out, EVIDENCE_HOST, "ToS %d maps to socket priority %u and PCP %u", tos,
			 skb, pcp);
	if ((int)pcp == s->roce_prio)
		finding_set(out, VERDICT_PASS, "RoCE leaves with PCP %u", pcp);
	else
		finding_set(out, VERDICT_FAIL,
			    "RoCE leaves with PCP %u, its priority is %d: %s needs egress-qos-map "
			    "%u:%d",
			    pcp, s->roce_prio,
			    s->port->pci_slot.vlan_count ? s->port->pci_slot.vlan[0].netdev
							 : "its VLAN",
			    skb, s->roce_prio);
}

/* Only for drivers that leave missing entries to the firmware. */
PORT_CHECK(check_qos_holes)
{
	const struct driver_quirk *quirk = driver_quirk_find(s->port->driver);
	const struct qos *q = &s->port->qos;
	unsigned int bare = 0;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_DSCP_PRIO), "app.dscp"))
		return;
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		bare += q->dscp_prio[dscp] == QOS_UNMAPPED;
	finding_evidence(out, EVIDENCE_HOST, "%u of %d DSCPs have an entry (DCB APP table)",
			 QOS_DSCPS - bare, QOS_DSCPS);
	if (quirk->driver)
		finding_evidence(out, EVIDENCE_HOST, "driver %s, behaviour known from: %s",
				 quirk->driver, plan_tier_word(quirk->tier));
	if (bare == QOS_DSCPS || !quirk->dscps_of_firmware)
		finding_set(out, VERDICT_SKIP,
			    "no DSCP has an entry, or this driver gives the others priority 0");
	else if (bare)
		finding_set(out, VERDICT_FAIL,
			    "%u DSCPs have no entry: the firmware decides their priority", bare);
	else
		finding_set(out, VERDICT_PASS, "every DSCP has an entry");
}

PORT_CHECK(check_qos_clash)
{
	if (!port_ctx_has(s, out, QOS_BIT(QOS_DSCP_PRIO), "app.dscp"))
		return;
	if (s->port->clash[0]) {
		finding_evidence(out, EVIDENCE_HOST, "%s (dcbnl)", s->port->clash);
		finding_set(out, VERDICT_FAIL, "%s", s->port->clash);
		return;
	}
	evidence_field(out, s, QOS_DSCP_PRIO);
	finding_set(out, VERDICT_PASS, "every DSCP has one priority");
}

PORT_CHECK(check_qos_forced)
{
	int tos = profile_roce_tos(s->profile);
	uint8_t forced = s->port->qos.verbs_tos;

	finding_expected_by(out, s->profile, QOS_VERBS_TOS);
	if (qos_has(s->want, QOS_VERBS_TOS))
		tos = s->want->verbs_tos;
	if (!qos_has(&s->port->qos, QOS_VERBS_TOS)) {
		finding_set(out, VERDICT_SKIP, "the driver forces no traffic class");
		return;
	}
	evidence_field(out, s, QOS_VERBS_TOS);
	if (tos < 0)
		finding_set(out, VERDICT_SKIP, "the profile does not state the DSCP of RoCE");
	else if (forced >> 2 == tos >> 2)
		finding_set(out, VERDICT_PASS,
			    "the driver forces DSCP %u, as the profile wants (DevX queue pairs "
			    "bypass it)",
			    forced >> 2);
	else
		finding_set(out, VERDICT_FAIL,
			    "the driver forces DSCP %u on every connection, the profile wants %d",
			    forced >> 2, tos >> 2);
}

PORT_CHECK(check_qos_cnp)
{
	const struct qos *q = &s->port->qos;
	int prio;
	unsigned int tc;

	if (!qos_has(q, QOS_CNP_DSCP)) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the DSCP of CNPs cannot be read on this port");
		return;
	}
	prio = qos_dscp_to_prio(q, q->cnp_dscp);
	if (prio < 0 || !qos_has(q, QOS_PRIO_TC) || !qos_has(q, QOS_TC_TSA)) {
		port_ctx_unreadable(s, out, "trust, DSCP map or ETS");
		return;
	}
	tc = q->prio_tc[prio] % QOS_TCS;
	evidence_field(out, s, QOS_CNP_DSCP);
	finding_evidence(out, EVIDENCE_HOST,
			 "DSCP %u maps to priority %d, traffic class %u (dcbnl)", q->cnp_dscp, prio,
			 tc);
	finding_prios(out, (uint8_t)(1 << prio));
	if (port_ctx_lossless(s) & 1 << prio)
		finding_set(out, VERDICT_FAIL,
			    "CNPs are on lossless priority %d and are paused with the data", prio);
	else if (tc == q->prio_tc[s->roce_prio])
		finding_set(out, VERDICT_FAIL, "CNPs queue behind the data in traffic class %u",
			    tc);
	else if (q->tc_tsa[tc] != QOS_TSA_STRICT)
		finding_set(out, VERDICT_FAIL, "CNPs share traffic class %u, which is not strict",
			    tc);
	else
		finding_set(out, VERDICT_PASS, "CNPs go first, in strict traffic class %u", tc);
}
