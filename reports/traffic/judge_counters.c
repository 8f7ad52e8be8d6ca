/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the counters of each port. A gap that a corrupted or discarded packet explains is reported
 * as that; a NAK at the sender is reported only where the receiver does not count gaps itself.
 */
#include "reports/rules/port_events.h"
#include "reports/traffic/verdict_priv.h"

#define LL(n) ((unsigned long long)(n))
#define ALL   0xff

/* What the counters of the port say of its own host. */
static const struct {
	port_sign *sign;
	enum reason_kind fail, warn;
} judge_sign_table[] = {
	{port_sign_corrupt, REASON_CORRUPTION, REASON_NONE},
	{port_sign_drops, REASON_HOST_DISCARD, REASON_PORT_DISCARDS},
	{port_sign_rnr, REASON_NONE, REASON_RNR},
	{port_sign_unsent, REASON_NONE, REASON_SEND_ERRORS},
	{port_sign_pause, REASON_NONE, REASON_LONG_PAUSE},
};

static void judge_signs(struct judge *j, unsigned int i)
{
	const struct port_sign_input in = {.who = judge_host(j, i),
					   .delta = &j->end[i].net,
					   .prios = judge_prios(j->in),
					   .tcp = j->in->tcp};
	char text[PORT_SIGN_TEXT];

	for (unsigned int k = 0; k < ARRAY_SIZE(judge_sign_table); k++) {
		enum verdict v = judge_sign_table[k].sign(&in, text);
		enum reason_kind kind = v == VERDICT_FAIL   ? judge_sign_table[k].fail
					: v == VERDICT_WARN ? judge_sign_table[k].warn
							    : REASON_NONE;

		/* The loss that it explains was told. */
		if (kind == REASON_SEND_ERRORS &&
		    judge_has_reason(j, REASON_LOST_IN_SENDER, (int)i))
			continue;
		if (kind != REASON_NONE)
			judge_add_reason(j, kind, (int)i, VERDICT_NOWHERE, "%s", text);
	}
}

/* True when a partner counts the gaps itself that NAKs to this port report. */
static bool judge_partner_reported(const struct judge *j, unsigned int i)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];
		const struct judged_end *other;

		if (pair->client != i && pair->server != i)
			continue;
		other = &j->end[judge_other(pair, i)];
		if (other->loss.gaps)
			return true;
	}
	return false;
}

/* The host that sends to port i and could not: the first one. */
static const struct judged_end *judge_failing_sender(const struct judge *j, unsigned int i,
						     unsigned int *at)
{
	for (unsigned int p = 0; p < j->in->pair_count; p++) {
		const struct verdict_pair *pair = &j->in->pair[p];

		if (pair->client != i && pair->server != i)
			continue;
		*at = judge_other(pair, i);
		if (j->end[*at].unsent)
			return &j->end[*at];
	}
	return NULL;
}

static void judge_report_gaps(struct judge *j, unsigned int i, uint64_t gaps)
{
	const struct judged_end *sender;
	unsigned int at;

	sender = judge_failing_sender(j, i, &at);
	if (sender)
		judge_add_reason(
			j, REASON_LOST_IN_SENDER, (int)at, VERDICT_NOWHERE,
			"%s saw %llu sequence gaps, and %s itself failed to send %llu times",
			judge_host(j, i), LL(gaps), judge_host(j, at), LL(sender->unsent));
	else
		judge_add_reason(j, REASON_LOST, (int)i, VERDICT_NOWHERE,
				 "packets to %s were lost or reordered: %llu sequence gaps%s",
				 judge_host(j, i), LL(gaps),
				 j->end[i].seen->soft ? " (Soft-RoCE also counts bad ICRCs as gaps)"
						      : "");
}

/* READ and atomic responses, which the other end sends. */
static void judge_report_responses(struct judge *j, unsigned int i, uint64_t missing)
{
	const struct judged_end *sender;
	unsigned int at;

	sender = judge_failing_sender(j, i, &at);
	if (sender)
		judge_add_reason(
			j, REASON_LOST_IN_SENDER, (int)at, VERDICT_NOWHERE,
			"%llu READ or atomic responses to %s are missing, and %s itself failed to "
			"send %llu times",
			LL(missing), judge_host(j, i), judge_host(j, at), LL(sender->unsent));
	else
		judge_add_reason(
			j, REASON_LOST, (int)i, VERDICT_NOWHERE,
			"responses to %s were lost: %llu READ or atomic responses are missing",
			judge_host(j, i), LL(missing));
}

static void judge_loss(struct judge *j, unsigned int i)
{
	const struct judged_end *e = &j->end[i];
	const struct loss *loss = &e->loss;
	uint64_t explained = e->corrupted + e->drops.roce;

	if (loss->gaps > explained)
		judge_report_gaps(j, i, loss->gaps - explained);
	if (loss->naks && !judge_partner_reported(j, i))
		judge_add_reason(
			j, REASON_LOST, (int)i, VERDICT_NOWHERE,
			"packets from %s were lost or reordered: it received %llu sequence NAKs",
			judge_host(j, i), LL(loss->naks));
	if (loss->responses > explained)
		judge_report_responses(j, i, loss->responses - explained);
	if (loss->dead && !e->remote_gone && !e->strict &&
	    !traffic_verdict_has(j->out, REASON_LOST) &&
	    !traffic_verdict_has(j->out, REASON_LOST_IN_SENDER))
		judge_add_reason(j, REASON_LOST, (int)i, VERDICT_NOWHERE,
				 "%llu queue pairs of %s gave up after all retries", LL(loss->dead),
				 judge_host(j, i));
}

/* Requests that were refused, and receivers that were waited for too long, unless a pair said so.
 */
static void judge_refusals(struct judge *j, unsigned int i)
{
	const struct judged_end *e = &j->end[i];
	uint64_t refused = judge_delta(e, METRIC_REFUSED_REQUESTS, ALL);
	uint64_t died = judge_delta(e, METRIC_RNR_EXCEEDED, ALL);

	if (died && !traffic_verdict_has(j->out, REASON_RNR_DIED))
		judge_add_reason(j, REASON_RNR_DIED, (int)i, VERDICT_NOWHERE,
				 "%llu queue pairs of %s gave up on a receiver that was not ready",
				 LL(died), judge_host(j, i));
	if (refused && !e->remote_gone && !traffic_verdict_has(j->out, REASON_QP_FAILED))
		judge_add_reason(j, REASON_REFUSED, (int)i, VERDICT_NOWHERE,
				 "%s: %llu requests were refused", judge_host(j, i), LL(refused));
}

/* A link that an end reports as lost is not reported again. */
static void judge_events(struct judge *j, unsigned int i)
{
	static const enum reason_kind kinds[] = {REASON_BAD_PACKETS, REASON_PRESSURE, REASON_STORM,
						 REASON_LINK_DOWN, REASON_CNP_IGNORED};
	char text[160];

	for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++)
		if (port_events_text(reason_table[kinds[k]].rule, &j->end[i].net, text,
				     sizeof(text)) &&
		    (kinds[k] != REASON_LINK_DOWN || !traffic_verdict_has(j->out, kinds[k])))
			judge_add_reason(j, kinds[k], (int)i, VERDICT_NOWHERE, "%s: %s",
					 judge_host(j, i), text);
}

/* The same signs before our traffic: somebody else's. */
static void judge_idle(struct judge *j, unsigned int i)
{
	struct counters idle;
	struct loss loss;

	if (!run_port_delta(j->end[i].seen, READ_QUIET_BEFORE, &idle, NULL))
		return;
	loss_count(&idle, j->end[i].seen->soft, -1, &loss);
	if (loss.gaps || loss.naks || loss.responses)
		judge_add_reason(j, REASON_IDLE_LOSS, (int)i, VERDICT_NOWHERE,
				 "%s counted %llu sequence gaps, %llu sequence NAKs, %llu missing "
				 "responses before rocecheck's traffic started",
				 judge_host(j, i), LL(loss.gaps), LL(loss.naks),
				 LL(loss.responses));
}

void judge_counters(struct judge *j)
{
	for (unsigned int i = 0; i < j->in->end_count; i++) {
		judge_idle(j, i);
		if (!j->end[i].known)
			continue;
		judge_loss(j, i);
		judge_signs(j, i);
		judge_refusals(j, i);
		judge_events(j, i);
	}
}
