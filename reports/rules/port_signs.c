/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the counters of a host that lost packets itself, or was slow. A packet without a receive
 * buffer is answered with an RNR NAK and sent again: slow, and no loss.
 */
#include "reports/rules/port_signs.h"

#include <stdio.h>
#include <string.h>

#include "probe/record/run_port.h"
#include "reports/rules/checks.h"

#define NS_A_US	 1000u
#define PAUSE_PC 10u /* of the load: longer is worth a word */

/* Adds up the metrics that the port has; false when it has none of them. */
static bool port_sum(const struct counters *delta, const enum metric *m, size_t count,
		     uint64_t *sum)
{
	bool known = false;

	*sum = 0;
	for (size_t i = 0; i < count; i++)
		if (counters_has(delta, m[i], 0)) {
			*sum += delta->value[m[i]][0];
			known = true;
		}
	return known;
}

static uint64_t port_count(const struct counters *delta, enum metric m, bool *known)
{
	uint64_t sum;

	*known |= port_sum(delta, &m, 1, &sum);
	return sum;
}

enum verdict port_sign_rnr(const struct port_sign_input *in, char text[PORT_SIGN_TEXT])
{
	bool known = false;
	uint64_t sent = port_count(in->delta, METRIC_RNR_NAK_TX, &known);
	uint64_t got = port_count(in->delta, METRIC_RNR_NAK_RX, &known);
	uint64_t no_buffer = port_count(in->delta, METRIC_OUT_OF_BUFFER, &known);

	if (sent || no_buffer)
		snprintf(text, PORT_SIGN_TEXT,
			 "%s was not ready to receive: %llu RNR NAKs sent, %llu packets without a "
			 "buffer",
			 in->who, (count_t)sent, (count_t)no_buffer);
	else if (got)
		snprintf(text, PORT_SIGN_TEXT,
			 "a remote host of %s was not ready to receive: %llu RNR NAKs received",
			 in->who, (count_t)got);
	else
		snprintf(text, PORT_SIGN_TEXT, "%s",
			 known ? "receivers were always ready"
			       : "RNR NAKs are not counted on this port");
	if (sent || no_buffer || got)
		return VERDICT_WARN;
	return known ? VERDICT_PASS : VERDICT_INCONCLUSIVE;
}

enum verdict port_sign_drops(const struct port_sign_input *in, char text[PORT_SIGN_TEXT])
{
	struct host_drops d;

	host_drops_count(in->delta, in->prios, in->tcp, &d);
	if (d.roce) {
		snprintf(text, PORT_SIGN_TEXT,
			 "%s itself dropped %llu RoCE packets that had crossed the fabric", in->who,
			 (count_t)d.roce);
		return VERDICT_FAIL;
	}
	if (d.shared)
		snprintf(text, PORT_SIGN_TEXT,
			 "%s itself dropped %llu packets in priorities that RoCE and rocecheck's "
			 "own TCP share: the counters cannot separate them",
			 in->who, (count_t)d.shared);
	else if (d.any && !d.known)
		snprintf(text, PORT_SIGN_TEXT, "%s itself dropped %llu packets, of any protocol",
			 in->who, (count_t)d.any);
	else
		snprintf(text, PORT_SIGN_TEXT, "%s",
			 d.known       ? "the host dropped no RoCE packet"
			 : d.any_known ? "the host dropped no packet"
				       : "discards are not counted on this port");
	if (d.shared || (d.any && !d.known))
		return VERDICT_WARN;
	return d.known || d.any_known ? VERDICT_PASS : VERDICT_INCONCLUSIVE;
}

static const enum metric corrupt_metrics[] = {METRIC_ICRC_ERRORS, METRIC_RX_CRC_ERRORS};
static const enum metric unsent_metrics[] = {METRIC_SEND_ERRORS, METRIC_TX_DISCARDS};

uint64_t port_count_corrupt(const struct counters *delta)
{
	uint64_t sum;

	port_sum(delta, corrupt_metrics, ARRAY_SIZE(corrupt_metrics), &sum);
	return sum;
}

uint64_t port_count_unsent(const struct counters *delta)
{
	uint64_t sum;

	port_sum(delta, unsent_metrics, ARRAY_SIZE(unsent_metrics), &sum);
	return sum;
}

uint64_t port_count_paused(const struct counters *delta)
{
	static const enum metric by_prio[] = {METRIC_PFC_RX_FRAMES, METRIC_PFC_RX_PAUSE_US};
	bool known = false;
	uint64_t sum = port_count(delta, METRIC_GLOBAL_PAUSE_RX, &known);

	for (unsigned int i = 0; i < ARRAY_SIZE(by_prio); i++)
		for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
			sum += counters_has(delta, by_prio[i], prio)
				       ? delta->value[by_prio[i]][prio]
				       : 0;
	return sum;
}

enum verdict port_sign_corrupt(const struct port_sign_input *in, char text[PORT_SIGN_TEXT])
{
	bool icrc_known = false, fcs_known = false;
	uint64_t icrc = port_count(in->delta, METRIC_ICRC_ERRORS, &icrc_known);
	uint64_t fcs = port_count(in->delta, METRIC_RX_CRC_ERRORS, &fcs_known);

	snprintf(text, PORT_SIGN_TEXT,
		 "%s received %llu packets with a bad ICRC, and %llu frames with a bad FCS",
		 in->who, (count_t)icrc, (count_t)fcs);
	if (icrc || fcs)
		return VERDICT_FAIL;
	return icrc_known ? VERDICT_PASS : VERDICT_INCONCLUSIVE;
}

enum verdict port_sign_unsent(const struct port_sign_input *in, char text[PORT_SIGN_TEXT])
{
	uint64_t count;
	bool known = port_sum(in->delta, unsent_metrics, ARRAY_SIZE(unsent_metrics), &count);

	if (count) {
		snprintf(text, PORT_SIGN_TEXT, "%s itself failed to send %llu times", in->who,
			 (count_t)count);
		return VERDICT_WARN;
	}
	snprintf(text, PORT_SIGN_TEXT, "%s",
		 known ? "the host sent all its packets"
		       : "packets that the host cannot send are not counted on this port");
	return known ? VERDICT_PASS : VERDICT_INCONCLUSIVE;
}

enum verdict port_sign_pause(const struct port_sign_input *in, char text[PORT_SIGN_TEXT])
{
	const struct counters *d = in->delta;
	unsigned int longest = QOS_PRIOS;

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (counters_has(d, METRIC_PFC_RX_PAUSE_US, prio) &&
		    (longest == QOS_PRIOS || d->value[METRIC_PFC_RX_PAUSE_US][prio] >
						     d->value[METRIC_PFC_RX_PAUSE_US][longest]))
			longest = prio;
	if (longest == QOS_PRIOS || !d->when_ns) {
		snprintf(text, PORT_SIGN_TEXT, "this port does not count the time of pauses");
		return VERDICT_INCONCLUSIVE;
	}
	if (!d->value[METRIC_PFC_RX_PAUSE_US][longest]) {
		snprintf(text, PORT_SIGN_TEXT, "%s was not paused", in->who);
		return VERDICT_PASS;
	}
	snprintf(text, PORT_SIGN_TEXT, "%s was paused for %llu of %llu ms on priority %u", in->who,
		 (count_t)d->value[METRIC_PFC_RX_PAUSE_US][longest] / 1000,
		 (count_t)d->when_ns / 1000000, longest);
	return d->value[METRIC_PFC_RX_PAUSE_US][longest] > d->when_ns / NS_A_US / 100 * PAUSE_PC
		       ? VERDICT_WARN
		       : VERDICT_PASS;
}

/* Rules that one sign decides, with their counters. */
#define COUNTERS_MAX 5
static const struct {
	const char *rule;
	port_sign *sign;
	bool optional; /* SKIP where the port does not count it */
	unsigned int count;
	enum metric counter[COUNTERS_MAX];
} port_sign_rules[] = {
	{"RC-PFC-027", port_sign_pause, true, 1, {METRIC_PFC_RX_PAUSE_US}},
	{"RC-TRN-004",
	 port_sign_rnr,
	 false,
	 3,
	 {METRIC_RNR_NAK_RX, METRIC_RNR_NAK_TX, METRIC_OUT_OF_BUFFER}},
	{"RC-TRN-007",
	 port_sign_drops,
	 false,
	 4,
	 {METRIC_PRIO_RX_DISCARDS, METRIC_PRIO_RX_CONGESTED, METRIC_RDMA_RX_DISCARDS,
	  METRIC_RX_DISCARDS}},
};

/* Adds a counter of the port: that of RoCE's priority, and of others that grew. */
static void port_add_evidence(const struct port_ctx *s, const struct counters *net, enum metric m,
			      struct findings *out)
{
	unsigned int own = port_ctx_metric_prio(s, m);

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (counters_has(net, m, prio) &&
		    (prio == own || (metric_table[m].by_prio && net->value[m][prio])))
			evidence_counter(out, s, net, m, prio);
}

PORT_CHECK(check_port_sign)
{
	struct counters net = {0};
	struct port_sign_input in = {
		.who = "this port",
		.delta = &net,
		.prios = (uint8_t)(1u << port_ctx_metric_prio(s, METRIC_PRIO_RX_DISCARDS)),
		.tcp = port_ctx_tcp_prios(s),
	};
	char text[PORT_SIGN_TEXT];
	enum verdict verdict;
	unsigned int rule = 0;

	while (strcmp(port_sign_rules[rule].rule, finding_rule_id(out)))
		rule++;
	run_port_net(s->run_port, &net);
	for (unsigned int i = 0; i < port_sign_rules[rule].count; i++)
		port_add_evidence(s, &net, port_sign_rules[rule].counter[i], out);
	verdict = port_sign_rules[rule].sign(&in, text);
	if (verdict == VERDICT_INCONCLUSIVE && port_sign_rules[rule].optional)
		verdict = VERDICT_SKIP;
	finding_set(out, verdict, "%s", text);
}
