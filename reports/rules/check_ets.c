/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-ETS: checks that RoCE has its own traffic class and share of the link (802.1Q clause 37), and
 * that nothing on the host limits or starves it.
 */
#include <errno.h>

#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"

PORT_CHECK(check_ets_sum)
{
	const struct qos *q = &s->port->qos;
	unsigned int sum = 0, classes = 0;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW), "ETS"))
		return;
	finding_expected_by(out, s->profile, QOS_TC_TX_BW);
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		if (q->tc_tsa[tc] != QOS_TSA_ETS)
			continue;
		classes++;
		sum += q->tc_tx_bw[tc];
	}
	evidence_field(out, s, QOS_TC_TSA);
	evidence_field(out, s, QOS_TC_TX_BW);
	if (!classes)
		finding_set(out, VERDICT_SKIP, "no traffic class shares bandwidth by ETS");
	else if (sum == 100)
		finding_set(out, VERDICT_PASS, "the shares of %u ETS classes sum to 100 %%",
			    classes);
	else
		finding_set(out, VERDICT_FAIL, "the shares of %u ETS classes sum to %u %%, not 100",
			    classes, sum);
}

/* Priorities in the traffic class of prio. */
static uint8_t ets_class_prios(const struct qos *q, unsigned int prio)
{
	uint8_t set = 0;

	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		if (q->prio_tc[i] == q->prio_tc[prio])
			set |= (uint8_t)(1 << i);
	return set;
}

/* Uses the lossless priorities of the profile: a wrong PFC mask is reported by RC-PFC-002. */
PORT_CHECK(check_ets_shared)
{
	uint8_t lossless = port_ctx_lossless(s), bad = 0, mates = 0;
	const struct qos *q = &s->port->qos;
	unsigned int at = 0;
	char with[64];

	if (!lossless) {
		finding_set(out, VERDICT_SKIP,
			    port_ctx_has_profile(s) ? "the profile wants no lossless priority"
						    : "no priority is lossless");
		return;
	}
	if (!port_ctx_has(s, out, QOS_BIT(QOS_PRIO_TC), "ETS"))
		return;
	finding_expected_by(out, s->profile, QOS_PRIO_TC);
	evidence_field(out, s, QOS_PRIO_TC);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		uint8_t others = ets_class_prios(q, prio) & ~lossless;

		if (!(lossless & 1 << prio) || !others)
			continue;
		bad |= (uint8_t)(1 << prio);
		mates = others;
		at = prio;
	}
	if (!bad) {
		finding_set(out, VERDICT_PASS, "no lossy priority is in a lossless traffic class");
		return;
	}
	finding_prios(out, bad);
	qos_prio_set_text(mates, with, sizeof(with));
	finding_set(out, VERDICT_FAIL,
		    "lossless priority %u is in traffic class %u with lossy ones: %s", at,
		    q->prio_tc[at], with);
}

PORT_CHECK(check_ets_strict)
{
	const struct qos *q = &s->port->qos;
	unsigned int tc;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA), "ETS"))
		return;
	tc = q->prio_tc[s->roce_prio] % QOS_TCS;
	finding_expected_by(out, s->profile, QOS_TC_TSA);
	evidence_field(out, s, QOS_TC_TSA);
	if (qos_has(s->want, QOS_TC_TSA) && s->want->tc_tsa[tc] == QOS_TSA_STRICT)
		finding_set(out, VERDICT_SKIP, "the profile wants traffic class %u strict", tc);
	else if (q->tc_tsa[tc] == QOS_TSA_STRICT)
		finding_set(out, VERDICT_FAIL,
			    "RoCE is in strict traffic class %u: it can starve others", tc);
	else
		finding_set(out, VERDICT_PASS, "RoCE's traffic class %u is not strict", tc);
}

PORT_CHECK(check_ets_share)
{
	const struct qos *q = &s->port->qos;
	unsigned int tc, want_tc, have, want;

	if (!qos_has(s->want, QOS_TC_TX_BW) || !qos_has(s->want, QOS_PRIO_TC)) {
		finding_set(out, VERDICT_SKIP,
			    "the profile states no share of RoCE's traffic class");
		return;
	}
	if (!port_ctx_has(s, out,
			  QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW),
			  "ETS"))
		return;
	tc = q->prio_tc[s->roce_prio] % QOS_TCS;
	want_tc = s->want->prio_tc[s->roce_prio] % QOS_TCS;
	finding_expected_by(out, s->profile, QOS_TC_TX_BW);
	evidence_field(out, s, QOS_PRIO_TC);
	evidence_field(out, s, QOS_TC_TX_BW);
	if (q->tc_tsa[tc] == QOS_TSA_STRICT) {
		finding_set(out, VERDICT_SKIP, "RoCE's traffic class %u is strict (RC-ETS-003)",
			    tc);
		return;
	}
	if (q->tc_tsa[tc] != QOS_TSA_ETS) {
		finding_set(out, VERDICT_FAIL,
			    "RoCE's traffic class %u has no share: it is not ETS", tc);
		return;
	}
	have = q->tc_tx_bw[tc];
	want = s->want->tc_tx_bw[want_tc];
	if (have && have >= want)
		finding_set(out, VERDICT_PASS,
			    "RoCE's traffic class %u has %u %%, the profile wants %u %%", tc, have,
			    want);
	else
		finding_set(out, VERDICT_FAIL,
			    "RoCE's traffic class %u has %u %%, the profile wants %u %%", tc, have,
			    want);
}

PORT_CHECK(check_ets_cap)
{
	const struct qos *q = &s->port->qos;
	unsigned int used = 0;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PRIO_TC), "ETS"))
		return;
	if (!qos_has(q, QOS_ETS_CAP) || !q->ets_cap) {
		finding_set(out, VERDICT_SKIP, "the port does not report how many classes it has");
		return;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (q->prio_tc[prio] >= used)
			used = q->prio_tc[prio] + 1u;
	evidence_field(out, s, QOS_PRIO_TC);
	evidence_field(out, s, QOS_ETS_CAP);
	if (used > q->ets_cap)
		finding_set(out, VERDICT_FAIL, "traffic class %u is used, but the port has only %u",
			    used - 1, q->ets_cap);
	else
		finding_set(out, VERDICT_PASS, "highest class in use: %u, the port has %u classes",
			    used - 1, q->ets_cap);
}

PORT_CHECK(check_ets_rate)
{
	const struct qos *q = &s->port->qos;
	unsigned int tc;

	if (!qos_has(q, QOS_TC_MAXRATE) || !qos_has(q, QOS_PRIO_TC)) {
		finding_set(out, VERDICT_SKIP, "the port has no rate limits");
		return;
	}
	tc = q->prio_tc[s->roce_prio] % QOS_TCS;
	evidence_field(out, s, QOS_TC_MAXRATE);
	if (!q->tc_maxrate_kbps[tc])
		finding_set(out, VERDICT_PASS, "RoCE's traffic class %u has no rate limit", tc);
	else if (qos_has(s->want, QOS_TC_MAXRATE) &&
		 s->want->tc_maxrate_kbps[tc] == q->tc_maxrate_kbps[tc])
		finding_set(out, VERDICT_PASS, "RoCE's traffic class has the profile's rate limit");
	else
		finding_set(out, VERDICT_FAIL, "RoCE's traffic class %u is limited to %llu kbit/s",
			    tc, (count_t)q->tc_maxrate_kbps[tc]);
}

/* Priorities 6 and 7 and CNPs are control traffic of low volume. */
static bool ets_carries_bulk(const struct qos *q, unsigned int tc)
{
	int cnp = qos_has(q, QOS_CNP_DSCP) ? qos_dscp_to_prio(q, q->cnp_dscp) : -ENODATA;

	for (int prio = 0; prio < 6; prio++)
		if (q->prio_tc[prio] == tc && prio != cnp)
			return true;
	return false;
}

PORT_CHECK(check_ets_starve)
{
	const struct qos *q = &s->port->qos;
	unsigned int roce;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PRIO_TC) | QOS_BIT(QOS_TC_TSA), "ETS"))
		return;
	roce = q->prio_tc[s->roce_prio];
	evidence_field(out, s, QOS_PRIO_TC);
	evidence_field(out, s, QOS_TC_TSA);
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		bool wanted = qos_has(s->want, QOS_TC_TSA) && s->want->tc_tsa[tc] == QOS_TSA_STRICT;
		bool limited = qos_has(q, QOS_TC_MAXRATE) && q->tc_maxrate_kbps[tc];

		if (tc == roce || q->tc_tsa[tc] != QOS_TSA_STRICT || wanted || limited ||
		    !ets_carries_bulk(q, tc) ||
		    (q->tc_tsa[roce % QOS_TCS] == QOS_TSA_STRICT && tc < roce))
			continue;
		finding_set(out, VERDICT_FAIL,
			    "traffic class %u is strict without a rate limit: it starves RoCE's "
			    "class %u",
			    tc, roce);
		return;
	}
	finding_set(out, VERDICT_PASS, "no strict class with bulk traffic goes before RoCE");
}
