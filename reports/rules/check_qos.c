/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-QOS, settings: does a packet with the profile's DSCP reach the profile's priority, and do
 * programs that ask rdma_cm for a connection send that DSCP?
 */
#include <stdio.h>
#include <string.h>

#include "reports/engine/compare.h"
#include "reports/rules/checks.h"

PORT_CHECK(check_qos_trust)
{
	if (subject_knows(s, out, QOS_TRUST))
		subject_compare(s, out, QOS_TRUST);
}

static void prio_word(uint8_t prio, char *buf, size_t size)
{
	if (prio == QOS_UNMAPPED)
		snprintf(buf, size, "none");
	else
		snprintf(buf, size, "%u", prio);
}

/* DSCPs that go elsewhere than the profile wants. */
struct map_faults {
	unsigned int count;
	unsigned int lead; /* the one to name: RoCE's, else the first */
	uint8_t prio_set;  /* priorities that miss one */
};

static void map_faults_find(const struct subject *s, struct map_faults *f, struct findings *out)
{
	const uint8_t *want = s->wish->dscp_prio, *have = s->port->qos.dscp_prio;
	int tos = profile_roce_tos(s->profile);
	char word[8];

	memset(f, 0, sizeof(*f));
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++) {
		if (want[dscp] >= QOS_PRIOS || want[dscp] == have[dscp])
			continue;
		if (!f->count++ || (int)dscp == tos >> 2)
			f->lead = dscp;
		f->prio_set |= (uint8_t)(1 << want[dscp]);
		prio_word(have[dscp], word, sizeof(word));
		finding_evidence(out, EVIDENCE_HOST,
				 "DSCP %u maps to priority %s, wanted %u (dcbnl APP)", dscp, word,
				 want[dscp]);
	}
}

PORT_CHECK(check_qos_map)
{
	struct map_faults f;
	char word[8];

	if (!subject_knows(s, out, QOS_DSCP_PRIO))
		return;
	map_faults_find(s, &f, out);
	if (!f.count) {
		evidence_field(out, s, QOS_DSCP_PRIO);
		finding_say(out, VERDICT_PASS, "every DSCP of the profile maps as it wants");
		return;
	}
	prio_word(s->port->qos.dscp_prio[f.lead], word, sizeof(word));
	finding_prios(out, f.prio_set & s->prio_set ? s->prio_set : f.prio_set);
	finding_say(out, VERDICT_FAIL, "DSCP %u maps to priority %s, the profile wants %u", f.lead,
		    word, s->wish->dscp_prio[f.lead]);
	if (f.count > 1)
		finding_append(out, ", and %u more DSCPs differ", f.count - 1);
}

FABRIC_CHECK(check_qos_map_across)
{
	static const struct comparison map = {
		.fields = QOS_BIT(QOS_DSCP_PRIO),
		.conform = QOS_BIT(QOS_DSCP_PRIO),
		.show = QOS_DSCP_PRIO,
		.noun = "the DSCP map",
	};

	compare_hosts(rule, c, &map, out);
}

PORT_CHECK(check_qos_lossy)
{
	const struct qos *q = &s->port->qos;
	int tos = subject_roce_tos(s), prio;

	if (tos < 0 || !subject_lossless(s)) {
		finding_say(out, VERDICT_SKIP, "%s states no DSCP of RoCE or nothing lossless",
			    subject_has_profile(s) ? "the profile" : "the port");
		return;
	}
	prio = qos_dscp_to_prio(q, (unsigned int)tos >> 2);
	if (prio < 0 || !qos_has(q, QOS_PFC_ENABLED)) {
		subject_unreadable(s, out, "trust, DSCP map or PFC mask");
		return;
	}
	finding_wish(out, s->profile, QOS_PFC_ENABLED);
	finding_evidence(out, EVIDENCE_HOST, "DSCP %d maps to priority %d (dcbnl)", tos >> 2, prio);
	evidence_field(out, s, QOS_PFC_ENABLED);
	if (q->pfc_enabled & 1 << prio)
		finding_say(out, VERDICT_PASS, "RoCE (DSCP %d) is on lossless priority %d",
			    tos >> 2, prio);
	else
		finding_say(out, VERDICT_FAIL,
			    "RoCE (DSCP %d) is on priority %d, which drops instead of pausing",
			    tos >> 2, prio);
}

PORT_CHECK(check_qos_cm_tos)
{
	int tos = profile_roce_tos(s->profile), dscp, prio;

	if (!subject_knows(s, out, QOS_CM_TOS) || tos < 0)
		return;
	dscp = s->port->qos.cm_tos >> 2;
	prio = qos_dscp_to_prio(&s->port->qos, (unsigned int)dscp);
	evidence_field(out, s, QOS_CM_TOS);
	if (dscp == tos >> 2) {
		finding_say(out, VERDICT_PASS, "rdma_cm connections get DSCP %d", dscp);
		return;
	}
	if (prio >= 0)
		finding_evidence(out, EVIDENCE_HOST, "DSCP %d maps to priority %d here (dcbnl)",
				 dscp, prio);
	/* With another DSCP but the right priority nothing is lost on this host. */
	finding_say(out, prio == s->roce_prio ? VERDICT_WARN : VERDICT_FAIL,
		    "rdma_cm connections get DSCP %d, the profile wants %d", dscp, tos >> 2);
}
