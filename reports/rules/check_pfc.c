/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-PFC: checks that the RoCE priority is lossless (802.1Q clause 36): on the host, on its link
 * partner by LLDP, and under load. Also checks settings of one host that are wrong in any fabric,
 * and pauses counted so far.
 */
#include "reports/engine/port_ctx.h"
#include "reports/rules/checks.h"
#include "reports/rules/loss.h"

/* Returns lossless priorities that are off; else those that should be off. */
static uint8_t pfc_wrong_prios(uint8_t want, uint8_t have)
{
	uint8_t missing = want & ~have;

	return missing ? missing : have & ~want;
}

static void pfc_report_none(const struct port_ctx *s, enum verdict none, struct findings *out)
{
	evidence_field(out, s, QOS_PFC_ENABLED);
	if (s->port->qos.pfc_enabled)
		finding_set(out, VERDICT_PASS, "PFC is on for at least one priority");
	else
		finding_set(out, none, "PFC is off on every priority: nothing is lossless%s",
			    none == VERDICT_WARN ? " (no profile: only a warning)" : "");
}

PORT_CHECK(check_pfc_none)
{
	if (!port_ctx_has_profile(s)) {
		if (port_ctx_has(s, out, QOS_BIT(QOS_PFC_ENABLED), "pfc.enabled"))
			pfc_report_none(s, VERDICT_WARN, out);
		return;
	}
	if (!port_ctx_knows(s, out, QOS_PFC_ENABLED))
		return;
	if (!s->want->pfc_enabled) {
		finding_set(out, VERDICT_SKIP, "the profile wants no lossless priority");
		return;
	}
	finding_prios(out, s->want->pfc_enabled);
	pfc_report_none(s, VERDICT_FAIL, out);
}

PORT_CHECK(check_pfc_mask)
{
	uint8_t want = s->want->pfc_enabled, have;

	if (!port_ctx_knows(s, out, QOS_PFC_ENABLED))
		return;
	have = s->port->qos.pfc_enabled;
	finding_prios(out, have == want ? want : pfc_wrong_prios(want, have));
	port_ctx_compare(s, out, QOS_PFC_ENABLED);
}

PORT_CHECK(check_pfc_peer)
{
	const struct port *p = s->port;
	char peer[64], host[64];

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PFC_ENABLED), "pfc.enabled"))
		return;
	if (!qos_has(&p->lldp_qos, QOS_PFC_ENABLED) && s->c->fabric->dcbx == FABRIC_DCBX_NONE) {
		finding_set(
			out, VERDICT_WARN,
			"PFC of the link partner is not checked: the inventory says dcbx: none");
		return;
	}
	if (!qos_has(&p->lldp_qos, QOS_PFC_ENABLED)) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    p->lldp_qos.has || p->lldp_name[0]
				    ? "the link partner sends no PFC TLV"
				    : "no link partner was heard (LLDP)");
		return;
	}
	qos_prio_set_text(p->lldp_qos.pfc_enabled, peer, sizeof(peer));
	qos_prio_set_text(p->qos.pfc_enabled, host, sizeof(host));
	evidence_field(out, s, QOS_PFC_ENABLED);
	finding_evidence(out, EVIDENCE_LLDP, "%s %s advertises PFC on %s", p->lldp_name,
			 p->lldp_port, peer);
	if (p->lldp_qos.pfc_enabled == p->qos.pfc_enabled) {
		finding_set(out, VERDICT_PASS,
			    "host and link partner pause the same priorities: %s", host);
		return;
	}
	finding_prios(out, pfc_wrong_prios(p->lldp_qos.pfc_enabled, p->qos.pfc_enabled));
	finding_set(out, VERDICT_FAIL, "the host pauses %s, its link partner %s", host, peer);
}

PORT_CHECK(check_pfc_global_pause)
{
	const struct qos *q = &s->port->qos;
	uint64_t needed = QOS_BIT(QOS_PAUSE_RX) | QOS_BIT(QOS_PAUSE_TX) | QOS_BIT(QOS_PFC_ENABLED);

	if ((q->has & needed) != needed) {
		port_ctx_unreadable(s, out,
				    qos_has(q, QOS_PFC_ENABLED) ? "link pause" : "pfc.enabled");
		return;
	}
	evidence_field(out, s, QOS_PAUSE_RX);
	evidence_field(out, s, QOS_PAUSE_TX);
	evidence_field(out, s, QOS_PFC_ENABLED);
	finding_expected_by(out, s->profile, QOS_PAUSE_RX);
	if (q->pfc_enabled && (q->pause_rx || q->pause_tx))
		finding_set(out, VERDICT_FAIL, "link pause (802.3x) is on together with PFC");
	else
		finding_set(out, VERDICT_PASS, "link pause and PFC are not on together");
}

/* Counts signs of congestion: pauses sent or received, CE marks, PFC frames captured. */
static uint64_t pfc_congestion(const struct port_ctx *s, struct findings *out)
{
	static const enum metric signs[] = {METRIC_PFC_RX_FRAMES, METRIC_PFC_TX_FRAMES,
					    METRIC_ECN_MARKED_RX};
	struct counters delta;
	uint64_t seen = 0;

	if (!port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL))
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(signs); i++) {
		unsigned int prio = port_ctx_metric_prio(s, signs[i]);

		if (counters_has(&delta, signs[i], prio))
			seen += evidence_counter(out, s, &delta, signs[i], prio);
	}
	if (s->run_port->has_capture)
		seen += s->run_port->capture.totals.pfc_by_prio[s->roce_prio];
	return seen;
}

PORT_CHECK(check_pfc_loss)
{
	struct loss loss;
	uint64_t congested;

	if (!(s->want->pfc_enabled & s->prio_set)) {
		finding_set(out, VERDICT_SKIP, "the profile's RoCE priority is not lossless");
		return;
	}
	loss_gather(s, &loss, out);
	congested = pfc_congestion(s, out);
	if (loss.gaps || loss.discards)
		finding_set(out, VERDICT_FAIL,
			    "packets were lost%s on lossless priority %d: %llu sequence gaps, %llu "
			    "discards",
			    loss.discards ? "" : " or reordered", s->roce_prio, (count_t)loss.gaps,
			    (count_t)loss.discards);
	else if (loss.events)
		finding_set(out, VERDICT_FAIL,
			    "%llu packets from or to this port were lost on lossless priority %d "
			    "in transfers without retransmission",
			    (count_t)loss.events, s->roce_prio);
	else if (incast_check_loss(s, out))
		return;
	else if (!loss.gaps_known && !loss.strict)
		finding_set(
			out, VERDICT_INCONCLUSIVE,
			"the port does not count sequence gaps: a loss on the way would not show");
	else if (!congested)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "nothing was lost, but no congestion was made: PFC was not put to the "
			    "test");
	else
		finding_set(out, VERDICT_PASS,
			    "nothing was lost on priority %d although it was congested",
			    s->roce_prio);
}

/* Adds evidence of one metric for each priority that grew. Adds priorities with the counter to
 * *known, and those that grew to *grown. */
static void pfc_sum_prios(const struct port_ctx *s, const struct counters *delta, enum metric m,
			  uint8_t prios, struct findings *out, uint8_t *known, uint8_t *grown)
{
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!(prios & 1 << prio) || !counters_has(delta, m, prio))
			continue;
		*known |= (uint8_t)(1 << prio);
		if (!delta->value[m][prio])
			continue;
		evidence_counter(out, s, delta, m, prio);
		*grown |= (uint8_t)(1 << prio);
	}
}

PORT_CHECK(check_pfc_lossy_pause)
{
	static const enum run_reading first[] = {READ_LOAD_BEFORE, READ_INCAST_BEFORE,
						 READ_CONTROL_BEFORE};
	uint8_t lossy = (uint8_t)~s->want->pfc_enabled, known = 0, grown = 0;
	struct counters delta;
	char set[64];

	if (!qos_has(s->want, QOS_PFC_ENABLED)) {
		finding_set(out, VERDICT_SKIP, "the profile does not state pfc.enabled");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++)
		if (port_ctx_delta(s, first[i], &delta, NULL))
			pfc_sum_prios(s, &delta, METRIC_PFC_RX_FRAMES, lossy, out, &known, &grown);
	qos_prio_set_text(grown ? grown : known, set, sizeof(set));
	finding_prios(out, grown ? grown : known);
	if (!known && delta.has[METRIC_PFC_RX_FRAMES]) {
		/* linux mlx5 en_stats.c: only priorities with PFC have these counters. */
		finding_set(out, VERDICT_SKIP,
			    "this port counts pauses only for priorities with PFC, and ignores "
			    "pauses of the others");
	} else if (!known) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count received pause frames");
	} else if (grown) {
		finding_set(out, VERDICT_FAIL,
			    "pause was received on priority %s, which is lossy in the profile",
			    set);
	} else {
		finding_evidence(out, EVIDENCE_COUNTER, "pfc_rx_frames +0 on priorities %s", set);
		finding_set(out, VERDICT_PASS, "no pause was received on the lossy priorities");
	}
}

/* A NIC counts the frames, or the time that they stopped it. */
PORT_CHECK(check_pfc_idle_pause)
{
	uint8_t received = 0, sent = 0, grown = 0;
	struct counters delta;
	char set[64];

	port_ctx_delta(s, READ_QUIET_BEFORE, &delta, NULL);
	pfc_sum_prios(s, &delta, METRIC_PFC_RX_FRAMES, 0xff, out, &received, &grown);
	pfc_sum_prios(s, &delta, METRIC_PFC_RX_PAUSE_US, 0xff, out, &received, &grown);
	pfc_sum_prios(s, &delta, METRIC_PFC_TX_FRAMES, 0xff, out, &sent, &grown);
	qos_prio_set_text(grown ? grown : received, set, sizeof(set));
	if (grown) {
		finding_prios(out, grown);
		finding_set(out, VERDICT_FAIL, "pause on priority %s while nothing was sent", set);
	} else if (!received) {
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count received pause frames");
	} else {
		finding_evidence(out, EVIDENCE_COUNTER, "received pause%s +0 on priorities %s",
				 sent ? " and sent pause" : "", set);
		finding_set(out, VERDICT_PASS, "no pause while nothing was sent");
	}
}

static unsigned int pfc_count_prios(uint8_t set)
{
	return (unsigned int)__builtin_popcount(set);
}

PORT_CHECK(check_pfc_pause_instead)
{
	const struct qos *q = &s->port->qos;
	bool asked = (qos_has(s->want, QOS_PAUSE_RX) && s->want->pause_rx) ||
		     (qos_has(s->want, QOS_PAUSE_TX) && s->want->pause_tx);

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PAUSE_RX) | QOS_BIT(QOS_PAUSE_TX), "link pause"))
		return;
	evidence_field(out, s, QOS_PAUSE_RX);
	evidence_field(out, s, QOS_PAUSE_TX);
	if (!q->pause_rx && !q->pause_tx)
		finding_set(out, VERDICT_PASS, "link pause is off");
	else if (qos_has(q, QOS_PFC_ENABLED) && q->pfc_enabled)
		finding_set(out, VERDICT_SKIP, "PFC is on as well (RC-PFC-007)");
	else if (asked)
		finding_set(out, VERDICT_PASS, "link pause is on, as the profile wants");
	else
		finding_set(out, VERDICT_FAIL, "link pause is on instead of PFC");
}

/* Bytes that arrive after a pause was sent: what mlx5 reserves (linux en/port_buffer.c), by link
 * speed in Gb/s (at least 40) and metres of cable. */
static uint64_t pfc_xoff_bytes(const struct port *p)
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
	uint64_t least = pfc_xoff_bytes(s->port) + (qos_has(q, QOS_MTU) ? q->mtu : 1500);
	uint8_t small = 0;

	if ((q->has & needed) != needed || !q->pfc_enabled) {
		finding_set(out, VERDICT_SKIP,
			    "no lossless priority, or a driver that shows no buffers");
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
		finding_set(out, size ? VERDICT_WARN : VERDICT_FAIL,
			    "lossless priority %u has a buffer of %u bytes, about %llu are needed",
			    prio, size, (count_t)least);
		if (!size)
			return;
	}
	if (!small)
		finding_set(out, VERDICT_PASS,
			    "lossless buffers hold %llu bytes or more (pause delay + 1 packet)",
			    (count_t)least);
}

PORT_CHECK(check_pfc_count)
{
	const struct qos *q = &s->port->qos;
	unsigned int n;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PFC_ENABLED), "pfc.enabled"))
		return;
	n = pfc_count_prios(q->pfc_enabled);
	finding_prios(out, q->pfc_enabled);
	evidence_field(out, s, QOS_PFC_ENABLED);
	if (qos_has(q, QOS_PFC_CAP))
		evidence_field(out, s, QOS_PFC_CAP);
	if (qos_has(q, QOS_PFC_CAP) && q->pfc_cap && n > q->pfc_cap)
		finding_set(out, VERDICT_FAIL, "%u priorities are lossless, the port supports %u",
			    n, q->pfc_cap);
	else if (n > 2 &&
		 !(qos_has(s->want, QOS_PFC_ENABLED) && pfc_count_prios(s->want->pfc_enabled) == n))
		finding_set(out, VERDICT_WARN,
			    "%u priorities are lossless: buffers are rarely large enough for more "
			    "than 2",
			    n);
	else
		finding_set(out, VERDICT_PASS, "not too many lossless priorities: %u", n);
}

PORT_CHECK(check_pfc_stray_pause)
{
	const struct counters *k = &s->port->counters;
	uint8_t known = 0, came = 0;

	if (!port_ctx_has(s, out, QOS_BIT(QOS_PFC_ENABLED), "pfc.enabled"))
		return;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		if (!counters_has(k, METRIC_PFC_RX_FRAMES, prio))
			continue;
		known |= (uint8_t)(1 << prio);
		if (k->value[METRIC_PFC_RX_FRAMES][prio] &&
		    !(s->port->qos.pfc_enabled & 1 << prio)) {
			came |= (uint8_t)(1 << prio);
			finding_evidence(out, EVIDENCE_COUNTER, "pfc_rx_frames prio %u is %llu",
					 prio, (count_t)k->value[METRIC_PFC_RX_FRAMES][prio]);
		}
	}
	evidence_field(out, s, QOS_PFC_ENABLED);
	finding_prios(out, came);
	if (!known)
		finding_set(out, VERDICT_INCONCLUSIVE, "this port does not count pause frames");
	else if (came)
		finding_set(
			out, VERDICT_FAIL,
			"pause was received for priorities without PFC since the counters started");
	else
		finding_set(out, VERDICT_PASS, "no pause was received for a priority without PFC");
}

PORT_CHECK(check_pfc_storm)
{
	const struct qos *q = &s->port->qos;

	if (!qos_has(q, QOS_PFC_STORM) || !qos_has(q, QOS_PFC_ENABLED) || !q->pfc_enabled) {
		finding_set(out, VERDICT_SKIP, "PFC is off, or no pfc.storm_prevention_ms here");
		return;
	}
	evidence_field(out, s, QOS_PFC_STORM);
	if (q->pfc_storm_ms)
		finding_set(out, VERDICT_PASS, "the NIC stops its own pause storms");
	else
		finding_set(out, VERDICT_FAIL, "nothing stops a pause storm of this NIC");
}
