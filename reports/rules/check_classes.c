/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-PFC, RC-ETS and RC-QOS of one host: settings that are wrong whatever the fabric is, and what
 * the counters have seen since they began.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dcb/plan/plan.h"
#include "reports/engine/subject.h"
#include "reports/rules/checks.h"

static unsigned int bits_of(uint8_t set)
{
	return (unsigned int)__builtin_popcount(set);
}

PORT_CHECK(check_pfc_pause_instead)
{
	const struct qos *q = &s->port->qos;
	bool asked = (qos_has(s->wish, QOS_PAUSE_RX) && s->wish->pause_rx) ||
		     (qos_has(s->wish, QOS_PAUSE_TX) && s->wish->pause_tx);

	if (!qos_has(q, QOS_PAUSE_RX) || !qos_has(q, QOS_PAUSE_TX)) {
		subject_unreadable(s, out, "link pause");
		return;
	}
	evidence_field(out, s, QOS_PAUSE_RX);
	evidence_field(out, s, QOS_PAUSE_TX);
	if (!q->pause_rx && !q->pause_tx)
		finding_say(out, VERDICT_PASS, "link pause is off");
	else if (qos_has(q, QOS_PFC_ENABLED) && q->pfc_enabled)
		finding_say(out, VERDICT_SKIP, "PFC is on as well (RC-PFC-007)");
	else if (asked)
		finding_say(out, VERDICT_PASS, "link pause is on, as the profile wants");
	else
		finding_say(out, VERDICT_FAIL, "link pause is on in the place of PFC");
}

/* Bytes that arrive after a pause was sent: what mlx5 reserves (linux en/port_buffer.c), by link
 * speed in Gb/s (at least 40) and metres of cable. */
static uint64_t xoff_bytes(const struct port *p)
{
	uint64_t gbps = p->speed_mbps > 40000 ? p->speed_mbps / 1000 : 40;
	uint64_t metres = qos_has(&p->qos, QOS_PFC_DELAY) && p->qos.pfc_delay < 1000
				  ? p->qos.pfc_delay
				  : 7;
	uint64_t mtu = qos_has(&p->qos, QOS_MTU) ? p->qos.mtu : 1500;

	return (301 + 216 * metres / 100) * gbps + 272 * mtu / 100;
}

PORT_CHECK(check_pfc_buffer)
{
	const struct qos *q = &s->port->qos;
	uint64_t needed = QOS_BIT(QOS_PRIO_BUFFER) | QOS_BIT(QOS_BUFFER_SIZE) |
			  QOS_BIT(QOS_PFC_ENABLED);
	uint64_t least = xoff_bytes(s->port) + (qos_has(q, QOS_MTU) ? q->mtu : 1500);
	uint8_t small = 0;

	if ((q->has & needed) != needed || !q->pfc_enabled) {
		finding_say(out, VERDICT_SKIP,
			    "no lossless priority, or a driver that shows no "
			    "buffers");
		return;
	}
	evidence_field(out, s, QOS_PRIO_BUFFER);
	evidence_field(out, s, QOS_BUFFER_SIZE);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		uint32_t size = q->buffer_size_bytes[q->prio_buffer[prio] % QOS_PRIOS];

		if (!(q->pfc_enabled & 1 << prio) || size >= least)
			continue;
		finding_prios(out, (uint8_t)(1 << prio));
		small = 1;
		finding_say(out, size ? VERDICT_WARN : VERDICT_FAIL,
			    "lossless priority %u has a buffer of %u bytes, about %llu are needed",
			    prio, size, (unsigned long long)least);
		if (!size)
			return;
	}
	if (!small)
		finding_say(out, VERDICT_PASS,
			    "lossless priorities have buffers of %llu bytes or more",
			    (unsigned long long)least);
}

PORT_CHECK(check_pfc_count)
{
	const struct qos *q = &s->port->qos;
	unsigned int n;

	if (!qos_has(q, QOS_PFC_ENABLED)) {
		subject_unreadable(s, out, "pfc.enabled");
		return;
	}
	n = bits_of(q->pfc_enabled);
	finding_prios(out, q->pfc_enabled);
	evidence_field(out, s, QOS_PFC_ENABLED);
	if (qos_has(q, QOS_PFC_CAP))
		evidence_field(out, s, QOS_PFC_CAP);
	if (qos_has(q, QOS_PFC_CAP) && q->pfc_cap && n > q->pfc_cap)
		finding_say(out, VERDICT_FAIL, "%u priorities are lossless, the port can do %u", n,
			    q->pfc_cap);
	else if (n > 2 &&
		 !(qos_has(s->wish, QOS_PFC_ENABLED) && bits_of(s->wish->pfc_enabled) == n))
		finding_say(out, VERDICT_WARN,
			    "%u priorities are lossless: few buffers hold so many", n);
	else
		finding_say(out, VERDICT_PASS, "%u lossless priorities are not too many", n);
}

PORT_CHECK(check_pfc_stray_pause)
{
	const struct counters *k = &s->port->counters;
	uint8_t known = 0, came = 0;

	if (!qos_has(&s->port->qos, QOS_PFC_ENABLED)) {
		subject_unreadable(s, out, "pfc.enabled");
		return;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!counters_has(k, METRIC_PFC_RX_FRAMES, prio))
			continue;
		known |= (uint8_t)(1 << prio);
		if (k->value[METRIC_PFC_RX_FRAMES][prio] &&
		    !(s->port->qos.pfc_enabled & 1 << prio)) {
			came |= (uint8_t)(1 << prio);
			finding_evidence(out, EVIDENCE_COUNTER, "pfc_rx_frames prio %u is %llu",
					 prio,
					 (unsigned long long)k->value[METRIC_PFC_RX_FRAMES][prio]);
		}
	}
	evidence_field(out, s, QOS_PFC_ENABLED);
	finding_prios(out, came);
	if (!known)
		finding_say(out, VERDICT_INCONCLUSIVE, "pause is not counted on this port");
	else if (came)
		finding_say(out, VERDICT_FAIL,
			    "pause came in for priorities without PFC since the "
			    "counters began");
	else
		finding_say(out, VERDICT_PASS, "pause never came in for a priority without PFC");
}

PORT_CHECK(check_pfc_storm)
{
	const struct qos *q = &s->port->qos;

	if (!qos_has(q, QOS_PFC_STORM) || !qos_has(q, QOS_PFC_ENABLED) || !q->pfc_enabled) {
		finding_say(out, VERDICT_SKIP, "PFC is off, or the port has no such setting");
		return;
	}
	evidence_field(out, s, QOS_PFC_STORM);
	if (q->pfc_storm_ms)
		finding_say(out, VERDICT_PASS, "a storm of pause from this NIC ends by itself");
	else
		finding_say(out, VERDICT_FAIL, "nothing ends a storm of pause from this NIC");
}

PORT_CHECK(check_ets_cap)
{
	const struct qos *q = &s->port->qos;
	unsigned int used = 0;

	if (!qos_has(q, QOS_PRIO_TC)) {
		subject_unreadable(s, out, "ETS");
		return;
	}
	if (!qos_has(q, QOS_ETS_CAP) || !q->ets_cap) {
		finding_say(out, VERDICT_SKIP, "the port does not say how many classes it has");
		return;
	}
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (q->prio_tc[prio] >= used)
			used = q->prio_tc[prio] + 1u;
	evidence_field(out, s, QOS_PRIO_TC);
	evidence_field(out, s, QOS_ETS_CAP);
	if (used > q->ets_cap)
		finding_say(out, VERDICT_FAIL, "traffic class %u is used, the port has %u",
			    used - 1, q->ets_cap);
	else
		finding_say(out, VERDICT_PASS, "the port has the %u traffic classes that are used",
			    used);
}

PORT_CHECK(check_ets_rate)
{
	const struct qos *q = &s->port->qos;
	unsigned int tc;

	if (!qos_has(q, QOS_TC_MAXRATE) || !qos_has(q, QOS_PRIO_TC)) {
		finding_say(out, VERDICT_SKIP, "the port has no rate limits");
		return;
	}
	tc = q->prio_tc[s->roce_prio] % QOS_TCS;
	evidence_field(out, s, QOS_TC_MAXRATE);
	if (!q->tc_maxrate_kbps[tc])
		finding_say(out, VERDICT_PASS, "RoCE's traffic class %u has no rate limit", tc);
	else if (qos_has(s->wish, QOS_TC_MAXRATE) &&
		 s->wish->tc_maxrate_kbps[tc] == q->tc_maxrate_kbps[tc])
		finding_say(out, VERDICT_PASS, "RoCE's traffic class has the profile's rate limit");
	else
		finding_say(out, VERDICT_FAIL, "RoCE's traffic class %u is limited to %llu kbit/s",
			    tc, (unsigned long long)q->tc_maxrate_kbps[tc]);
}

/* Priorities 6 and 7 are for control, which is little; so are CNPs. */
static bool carries_bulk(const struct qos *q, unsigned int tc)
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

	if (!qos_has(q, QOS_PRIO_TC) || !qos_has(q, QOS_TC_TSA)) {
		subject_unreadable(s, out, "ETS");
		return;
	}
	roce = q->prio_tc[s->roce_prio];
	evidence_field(out, s, QOS_PRIO_TC);
	evidence_field(out, s, QOS_TC_TSA);
	for (unsigned int tc = 0; tc < QOS_TCS; tc++) {
		bool wanted = qos_has(s->wish, QOS_TC_TSA) && s->wish->tc_tsa[tc] == QOS_TSA_STRICT;
		bool limited = qos_has(q, QOS_TC_MAXRATE) && q->tc_maxrate_kbps[tc];

		if (tc == roce || q->tc_tsa[tc] != QOS_TSA_STRICT || wanted || limited ||
		    !carries_bulk(q, tc) ||
		    (q->tc_tsa[roce % QOS_TCS] == QOS_TSA_STRICT && tc < roce))
			continue;
		finding_say(out, VERDICT_FAIL,
			    "traffic class %u is strict without a rate limit: it starves RoCE's "
			    "class %u",
			    tc, roce);
		return;
	}
	finding_say(out, VERDICT_PASS, "no strict class of bulk traffic is above RoCE's");
}

PORT_CHECK(check_qos_untagged)
{
	const struct qos *q = &s->port->qos;

	if (!qos_has(q, QOS_TRUST)) {
		subject_unreadable(s, out, "trust");
		return;
	}
	evidence_field(out, s, QOS_TRUST);
	if (q->trust != QOS_TRUST_PCP) {
		finding_say(out, VERDICT_PASS,
			    "DSCP is trusted: untagged packets keep their priority");
		return;
	}
	if (!s->port->seat.known) {
		finding_say(out, VERDICT_INCONCLUSIVE, "the snapshot says nothing of VLANs");
		return;
	}
	finding_evidence(out, EVIDENCE_HOST, "%u VLANs on %s (proc)", s->port->seat.vlan_count,
			 s->name);
	if (s->port->seat.vlan_count)
		finding_say(out, VERDICT_PASS, "PCP is trusted and %s carries it",
			    s->port->seat.vlan[0].netdev);
	else if (!subject_lossless(s))
		finding_say(out, VERDICT_SKIP, "no priority is lossless: all are alike");
	else
		finding_say(out, VERDICT_FAIL,
			    "PCP is trusted and nothing is tagged: all packets have priority 0");
}

PORT_CHECK(check_qos_egress)
{
	const struct qos *q = &s->port->qos;
	int tos = subject_roce_tos(s);
	unsigned int skb, pcp;

	if (!qos_has(q, QOS_TRUST) || q->trust != QOS_TRUST_PCP ||
	    (!qos_has(q, QOS_VLAN_PRIO) && !s->port->seat.vlan_count)) {
		finding_say(out, VERDICT_SKIP, "PCP is not trusted, or there is no VLAN");
		return;
	}
	if (tos < 0 || !qos_has(q, QOS_VLAN_PRIO)) {
		finding_say(out, VERDICT_INCONCLUSIVE, "%s",
			    tos < 0 ? "nothing says the ToS of RoCE"
				    : "the maps of the VLANs differ or cannot be read");
		return;
	}
	skb = profile_skb_prio((uint8_t)tos) % QOS_SKB_PRIOS;
	pcp = q->vlan_prio[skb];
	finding_wish(out, s->profile, QOS_VLAN_PRIO);
	evidence_field(out, s, QOS_VLAN_PRIO);
	finding_evidence(out, EVIDENCE_HOST, "ToS %d is socket priority %u, and PCP %u", tos, skb,
			 pcp);
	if ((int)pcp == s->roce_prio)
		finding_say(out, VERDICT_PASS, "RoCE leaves with PCP %u", pcp);
	else
		finding_say(out, VERDICT_FAIL, "RoCE leaves with PCP %u, its priority is %d", pcp,
			    s->roce_prio);
}

/* Only where entries that are missing are not the kernel's to fill. */
PORT_CHECK(check_qos_holes)
{
	const struct driver_quirk *quirk = driver_quirk_find(s->port->driver);
	const struct qos *q = &s->port->qos;
	unsigned int bare = 0;

	if (!qos_has(q, QOS_DSCP_PRIO)) {
		subject_unreadable(s, out, "app.dscp");
		return;
	}
	for (unsigned int dscp = 0; dscp < QOS_DSCPS; dscp++)
		bare += q->dscp_prio[dscp] == QOS_UNMAPPED;
	finding_evidence(out, EVIDENCE_HOST, "%u of %d DSCPs have an entry (dcbnl APP)",
			 QOS_DSCPS - bare, QOS_DSCPS);
	if (quirk->driver)
		finding_evidence(out, EVIDENCE_HOST, "driver %s, known by %s", quirk->driver,
				 plan_tier_word(quirk->tier));
	if (bare == QOS_DSCPS || !quirk->dscps_of_firmware)
		finding_say(out, VERDICT_SKIP, "DSCPs without an entry have priority 0 here");
	else if (bare)
		finding_say(
			out, VERDICT_FAIL,
			"%u DSCPs have no entry, and the priority that the firmware holds for them",
			bare);
	else
		finding_say(out, VERDICT_PASS, "every DSCP has an entry");
}

PORT_CHECK(check_qos_clash)
{
	if (!qos_has(&s->port->qos, QOS_DSCP_PRIO)) {
		subject_unreadable(s, out, "app.dscp");
		return;
	}
	if (s->port->clash[0]) {
		finding_evidence(out, EVIDENCE_HOST, "%s (dcbnl)", s->port->clash);
		finding_say(out, VERDICT_FAIL, "%s", s->port->clash);
		return;
	}
	evidence_field(out, s, QOS_DSCP_PRIO);
	finding_say(out, VERDICT_PASS, "every DSCP has one priority");
}

PORT_CHECK(check_qos_forced)
{
	int tos = profile_roce_tos(s->profile);
	uint8_t forced = s->port->qos.verbs_tos;

	finding_wish(out, s->profile, QOS_VERBS_TOS);
	if (qos_has(s->wish, QOS_VERBS_TOS))
		tos = s->wish->verbs_tos;
	if (!qos_has(&s->port->qos, QOS_VERBS_TOS)) {
		finding_say(out, VERDICT_SKIP, "the driver forces no traffic class");
		return;
	}
	evidence_field(out, s, QOS_VERBS_TOS);
	if (tos < 0)
		finding_say(out, VERDICT_SKIP, "the profile does not say the DSCP of RoCE");
	else if (forced >> 2 == tos >> 2)
		finding_say(out, VERDICT_PASS,
			    "the driver forces DSCP %u, as the profile wants "
			    "(DevX queue pairs bypass it)",
			    forced >> 2);
	else
		finding_say(out, VERDICT_FAIL,
			    "the driver forces DSCP %u on every connection, the "
			    "profile wants %d",
			    forced >> 2, tos >> 2);
}
