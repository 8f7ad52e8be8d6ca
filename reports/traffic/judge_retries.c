/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges retries without a gap. On hardware they are a lost last packet or ACK, or a wait longer
 * than the ACK timer, as under pause. On Soft-RoCE nothing may be lost: its timer is not reset by
 * progress (rxe_comp.c). There both ends count every packet, and the sums of sent and received
 * packets decide.
 */
#include "reports/traffic/verdict_priv.h"

#define LL(n)		((unsigned long long)(n))
#define TIMEOUT_TRUSTED 18    /* 1.07 s: below it Soft-RoCE retransmits what is not late */
#define NS_PER_UNIT	4096u /* of the ACK timeout: 4.096 us * 2^code (IBTA vol 1, 9.7.6.1.3) */

/* Packets of all ports together; of two ports also by direction, from the first to the second and
 * back. */
struct account {
	bool valid; /* a difference tells of a loss */
	bool equal; /* whatever the reading is worth: nothing is missing */
	struct packet_account sum;
	uint64_t there, back; /* lost */
};

/* False when more arrived than was sent: somebody else sends to that port. */
static bool judge_missing(const struct judged_end *from, const struct judged_end *to,
			  uint64_t *lost)
{
	uint64_t sent = from->load.value[METRIC_RDMA_TX_PACKETS][0];
	uint64_t arrived = to->load.value[METRIC_RDMA_RX_PACKETS][0];

	*lost = sent - arrived;
	return arrived <= sent;
}

static void judge_account_ports(const struct judge *j, struct account *a)
{
	*a = (struct account){.sum = {.known = j->in->end_count >= 2}};
	for (unsigned int i = 0; i < j->in->end_count; i++) {
		const struct judged_end *e = &j->end[i];

		packet_account_add(&a->sum, e->seen->soft && !e->seen->user_count,
				   e->known ? e->seen : NULL);
	}
	a->valid = a->sum.known && a->sum.arrived <= a->sum.sent;
	if (a->valid && j->in->end_count == 2)
		a->valid = judge_missing(&j->end[0], &j->end[1], &a->there) &&
			   judge_missing(&j->end[1], &j->end[0], &a->back);
	a->equal = a->valid && a->sum.sent == a->sum.arrived;
	a->valid &= j->in->accountable;
}

/* An answer that never came holds its queue pair for the whole ACK timeout; so does a host that
 * gets no processor for so long. Where messages wait about as long in their queue, one more tells
 * nothing. */
static bool retries_waited(const struct judge *j, unsigned int end)
{
	uint64_t timeout_ns = (uint64_t)NS_PER_UNIT << j->end[end].timeout;

	for (unsigned int i = 0; i < j->in->pair_count; i++) {
		const struct verdict_pair *pair = &j->in->pair[i];
		const struct traffic_report *r = judge_report_of(pair, end);

		if ((pair->client != end && pair->server != end) || !r)
			continue;
		for (unsigned int c = 0; c < r->class_count; c++) {
			const struct histogram *h = &r->class[c].latency;

			if (h->max_ns >= timeout_ns / 4 * 3 &&
			    histogram_percentile(h, HISTOGRAM_P50) < timeout_ns / 4)
				return true;
		}
	}
	return false;
}

static bool judge_loss_reported(const struct judge *j)
{
	return traffic_verdict_has(j->out, REASON_LOST) ||
	       traffic_verdict_has(j->out, REASON_LOST_IN_SENDER) ||
	       traffic_verdict_has(j->out, REASON_HOST_DISCARD) ||
	       traffic_verdict_has(j->out, REASON_CORRUPTION);
}

static void judge_report_retries(struct judge *j, unsigned int i, const struct account *a)
{
	static const enum reason_kind kinds[] = {
		[RETRY_ACCOUNTED] = REASON_ACCOUNTED,	[RETRY_LOST] = REASON_LOST,
		[RETRY_MAY_BE_LOST] = REASON_TIMEOUTS,	[RETRY_SOFT_TIMER] = REASON_SPURIOUS,
		[RETRY_PAUSED] = REASON_SPURIOUS_PAUSE,
	};
	const struct judged_end *e = &j->end[i];
	const struct retries r = {
		.count = e->loss.unexplained,
		.soft = e->seen->soft,
		.accounted = e->seen->soft && a->valid && a->equal,
		.sent = a->sum.sent,
		.waited = e->timeout >= TIMEOUT_TRUSTED && !a->equal && retries_waited(j, i),
		.timer_off = !e->timeout,
		.timer = e->timeout,
		.paused = e->paused > 0,
	};
	char text[RETRIES_TEXT];
	enum retry_cause cause = loss_explain_retries(&r, text);

	judge_add_reason(j, kinds[cause], (int)i, VERDICT_NOWHERE, "%s: %s", judge_host(j, i),
			 text);
}

static uint64_t judge_count_retries(const struct judge *j)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < j->in->end_count; i++)
		sum += j->end[i].known ? j->end[i].loss.unexplained : 0;
	return sum;
}

static bool judge_any_gone(const struct judge *j)
{
	for (unsigned int i = 0; i < j->in->end_count; i++)
		if (j->end[i].remote_gone)
			return true;
	return false;
}

/* Packets that are missing: lost, where somebody had to retransmit; else they were ACKs, which a
 * later one stands in for. */
static void judge_account(struct judge *j, const struct account *a)
{
	enum reason_kind kind = judge_count_retries(j) ? REASON_LOST : REASON_ACKS_LOST;
	const char *why = kind == REASON_LOST ? "" : ", and none was retransmitted: ACKs";

	if (!a->valid || a->equal || judge_loss_reported(j) || judge_any_gone(j))
		return;
	if (j->in->end_count == 2)
		judge_add_reason(
			j, kind, VERDICT_NOWHERE, VERDICT_NOWHERE,
			"of %llu packets, %llu from %s to %s and %llu back never arrived%s",
			LL(a->sum.sent), LL(a->there), judge_host(j, 0), judge_host(j, 1),
			LL(a->back), why);
	else
		judge_add_reason(j, kind, VERDICT_NOWHERE, VERDICT_NOWHERE,
				 "of %llu packets, %llu never arrived%s", LL(a->sum.sent),
				 LL(packet_account_missing(&a->sum)), why);
}

void judge_retries(struct judge *j)
{
	struct account a;
	bool lost;

	judge_account_ports(j, &a);
	judge_account(j, &a);
	lost = judge_loss_reported(j);
	for (unsigned int i = 0; i < j->in->end_count; i++) {
		const struct judged_end *e = &j->end[i];

		/* What died sent its last packets again until it gave up. */
		if (!e->known || !e->loss.unexplained || lost || e->remote_gone)
			continue;
		judge_report_retries(j, i, &a);
	}
}
