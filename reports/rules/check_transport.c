/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC-TRN: checks the RC transport under load. A sequence gap is loss; a retry without a gap may be
 * a late response; an RNR is a slow receiver, never the fabric. Also checks drops counted so far.
 */
#include "reports/rules/checks.h"
#include "reports/rules/loss.h"

/* Sums RoCE packets sent and received under load over all ports. Only Soft-RoCE counts every packet
 * at both ends; false when a port is no Soft-RoCE, was not read, or counted nothing. */
static bool transport_packet_sums(const struct rule_context *c, uint64_t *sent, uint64_t *arrived)
{
	const struct run *run = c->run;
	struct counters delta;
	struct port_ctx s;

	*sent = *arrived = 0;
	for (unsigned int i = 0; i < run->host_count; i++)
		for (unsigned int k = 0; k < run->host[i].port_count; k++) {
			if (!port_ctx_at(c, i, k, &s) || s.port->kind != PORT_SOFT_ROCE ||
			    !port_ctx_delta(&s, READ_LOAD_BEFORE, &delta, NULL) ||
			    !counters_has(&delta, METRIC_RDMA_TX_PACKETS, 0) ||
			    !counters_has(&delta, METRIC_RDMA_RX_PACKETS, 0))
				return false;
			*sent += delta.value[METRIC_RDMA_TX_PACKETS][0];
			*arrived += delta.value[METRIC_RDMA_RX_PACKETS][0];
		}
	return *sent > 0;
}

/* Retries without a gap: late responses if no packet is missing in the sums. */
static void transport_report_retries(const struct port_ctx *s, count_t unexplained,
				     struct findings *out)
{
	const char *retries = unexplained == 1 ? "retry" : "retries";
	uint64_t sent, arrived;

	if (!transport_packet_sums(s->c, &sent, &arrived) || arrived > sent)
		finding_set(
			out, VERDICT_WARN,
			"%llu %s without a sequence error: late responses, or a lost last packet",
			unexplained, retries);
	else if (arrived < sent)
		finding_set(out, VERDICT_WARN,
			    "%llu %s without a sequence error, and %llu of %llu packets never "
			    "arrived: a lost last packet or response",
			    unexplained, retries, (count_t)(sent - arrived), (count_t)sent);
	else
		finding_set(out, VERDICT_PASS,
			    "%llu %s, but all %llu packets sent by the ports of the run arrived: "
			    "late responses",
			    unexplained, retries, (count_t)sent);
}

PORT_CHECK(check_transport_retransmits)
{
	struct loss loss;
	uint64_t lost;

	loss_gather(s, &loss, out);
	lost = loss.gaps + loss.naks + loss.responses + loss.dead;
	if (lost)
		finding_set(out, VERDICT_FAIL,
			    "packets were lost: %llu sequence gaps, %llu sequence NAKs, %llu "
			    "missing responses, %llu failed queue pairs",
			    (count_t)loss.gaps, (count_t)loss.naks, (count_t)loss.responses,
			    (count_t)loss.dead);
	else if (loss.unexplained)
		transport_report_retries(s, loss.unexplained, out);
	else if (!loss.gaps_known && !loss.naks_known)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "the port counts neither sequence gaps nor sequence NAKs");
	else
		finding_set(out, VERDICT_PASS, "no loss and no retransmission");
}

static bool transport_receiver_died(const struct port_ctx *s, struct findings *out)
{
	const struct run_pair *pair;
	unsigned int i = 0;

	while ((pair = port_ctx_pair(s, &i))) {
		if (!pair->ran || pair->client.cause != CAUSE_RNR)
			continue;
		finding_evidence(out, EVIDENCE_TRAFFIC, "%s -> %s: %s",
				 s->c->run->host[pair->client_host].name,
				 s->c->run->host[pair->server_host].name, pair->client.detail);
		return true;
	}
	return false;
}

PORT_CHECK(check_transport_rnr)
{
	static const enum metric rnr[] = {METRIC_RNR_NAK_RX, METRIC_RNR_NAK_TX};
	bool died = transport_receiver_died(s, out), known = false;
	struct counters delta;
	uint64_t count = 0;

	port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(rnr); i++) {
		if (!counters_has(&delta, rnr[i], 0))
			continue;
		known = true;
		count += evidence_counter(out, s, &delta, rnr[i], 0);
	}
	if (count || died)
		finding_set(out, VERDICT_FAIL, "%llu RNR NAKs: a receiver was not ready",
			    (count_t)count);
	else if (!known)
		finding_set(out, VERDICT_INCONCLUSIVE, "RNR NAKs are not counted on this port");
	else
		finding_set(out, VERDICT_PASS, "receivers were always ready");
}

static uint64_t transport_wrong_messages(const struct port_ctx *s, struct findings *out,
					 uint64_t *checked)
{
	const struct run_pair *pair;
	uint64_t wrong = 0;
	unsigned int i = 0;

	*checked = 0;
	while ((pair = port_ctx_pair(s, &i))) {
		if (!port_ctx_is_server(s, pair) || !pair->ran)
			continue;
		wrong += pair->server.mismatches;
		*checked += pair->server.checked_bytes;
	}
	if (*checked)
		finding_evidence(out, EVIDENCE_TRAFFIC, "%llu bytes compared, %llu messages wrong",
				 (count_t)*checked, (count_t)wrong);
	return wrong;
}

/* Returns the packets with a verified ICRC; *bad of them are wrong. */
static uint64_t transport_captured_icrc(const struct port_ctx *s, struct findings *out,
					uint64_t *bad)
{
	uint64_t good = 0;

	*bad = 0;
	for (unsigned int i = 0; s->run_port->has_capture && i < s->run_port->capture.flow_count;
	     i++) {
		good += s->run_port->capture.flow[i].icrc_good;
		*bad += s->run_port->capture.flow[i].icrc_bad;
	}
	if (good + *bad)
		finding_evidence(out, EVIDENCE_CAPTURE, "ICRC: %llu good, %llu bad", (count_t)good,
				 (count_t)*bad);
	return good + *bad;
}

PORT_CHECK(check_transport_icrc)
{
	uint64_t counted = 0, bad, checked, judged, wrong;
	struct counters delta;
	bool known;

	wrong = transport_wrong_messages(s, out, &checked);
	judged = transport_captured_icrc(s, out, &bad);
	known = port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL) &&
		counters_has(&delta, METRIC_ICRC_ERRORS, 0);
	if (known)
		counted = evidence_counter(out, s, &delta, METRIC_ICRC_ERRORS, 0);
	if (wrong)
		finding_set(out, VERDICT_FAIL, "%llu messages arrived with wrong contents",
			    (count_t)wrong);
	else if (counted || bad)
		finding_set(out, VERDICT_FAIL, "%llu packets have a wrong ICRC",
			    (count_t)(counted ? counted : bad));
	else if (!known && !judged && checked)
		finding_set(out, VERDICT_PASS,
			    "every compared byte is right; this port does not count ICRC errors, "
			    "which are losses for the transport");
	else if (!known && !judged)
		finding_set(out, VERDICT_INCONCLUSIVE,
			    "this port does not count ICRC errors, and no packet or content could "
			    "be verified");
	else
		finding_set(out, VERDICT_PASS, "every checked packet has a good ICRC");
}

/* Counts drops of the host itself. either: drops in a priority that rocecheck's own TCP shares.
 * False when only the sum of the port is counted, which includes other protocols. */
static bool transport_own_discards(const struct port_ctx *s, const struct counters *delta,
				   struct findings *out, uint64_t *count, uint64_t *either)
{
	static const enum metric drops[] = {METRIC_PRIO_RX_DISCARDS, METRIC_OUT_OF_BUFFER};
	uint8_t tcp = port_ctx_tcp_prios(s);
	bool known = false;

	*count = *either = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++) {
		unsigned int prio = port_ctx_metric_prio(s, drops[i]);
		bool shared = metric_table[drops[i]].by_prio && tcp & 1u << prio;

		if (!counters_has(delta, drops[i], prio))
			continue;
		known = true;
		*(shared ? either : count) += evidence_counter(out, s, delta, drops[i], prio);
	}
	return known;
}

PORT_CHECK(check_transport_discards)
{
	struct counters delta;
	uint64_t count, either, any;

	port_ctx_delta(s, READ_LOAD_BEFORE, &delta, NULL);
	if (transport_own_discards(s, &delta, out, &count, &either)) {
		if (count)
			finding_set(out, VERDICT_FAIL, "the host dropped %llu RoCE packets",
				    (count_t)count);
		else if (either)
			finding_set(out, VERDICT_WARN,
				    "the host dropped %llu packets in a priority that RoCE and "
				    "rocecheck's own TCP share: the counter cannot separate them",
				    (count_t)either);
		else
			finding_set(out, VERDICT_PASS, "the host dropped no RoCE packet");
		return;
	}
	if (!counters_has(&delta, METRIC_RX_DISCARDS, 0)) {
		finding_set(out, VERDICT_INCONCLUSIVE, "discards are not counted on this port");
		return;
	}
	any = evidence_counter(out, s, &delta, METRIC_RX_DISCARDS, 0);
	if (any)
		finding_set(out, VERDICT_WARN, "the host dropped %llu packets, of any protocol",
			    (count_t)any);
	else
		finding_set(out, VERDICT_PASS, "the host dropped no packet");
}

PORT_CHECK(check_transport_dropped)
{
	static const enum metric drops[] = {METRIC_PRIO_RX_DISCARDS, METRIC_RX_DISCARDS,
					    METRIC_OUT_OF_BUFFER};
	const struct counters *k = &s->port->counters;
	unsigned int known = 0, bad = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(drops); i++) {
		unsigned int prio = port_ctx_metric_prio(s, drops[i]);

		if (!counters_has(k, drops[i], prio) ||
		    (metric_table[drops[i]].by_prio && s->roce_prio < 0))
			continue;
		known++;
		bad += k->value[drops[i]][prio] > 0;
		finding_evidence(out, EVIDENCE_COUNTER, "%s is %llu", metric_table[drops[i]].name,
				 (count_t)k->value[drops[i]][prio]);
	}
	if (!known)
		finding_set(out, VERDICT_INCONCLUSIVE, "the port counts no drops");
	else if (bad)
		finding_set(out, VERDICT_FAIL,
			    "the port has dropped packets since the counters started");
	else
		finding_set(out, VERDICT_PASS,
			    "the port has dropped nothing since the counters started");
}
