/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges the reports of the ends of each pair. Losses of strict mode and gaps of count mode are
 * events, not statistics: one is enough. Those that an RNR, a full receive queue, a dead peer or
 * drops of the host explain are not of the fabric.
 */
#include "reports/traffic/verdict_priv.h"

#define LL(n) ((unsigned long long)(n))

/* A loss towards `receiver`, unless its sender could not even send. */
static void judge_report_lost(struct judge *j, unsigned int sender, unsigned int receiver,
			      int class, const char *what)
{
	const struct judged_end *from = &j->end[sender];

	if (from->unsent)
		judge_add_reason(j, REASON_LOST_IN_SENDER, (int)sender, class,
				 "%s -> %s: %s; %s itself failed to send %llu times",
				 judge_host(j, sender), judge_host(j, receiver), what,
				 judge_host(j, sender), LL(from->unsent));
	else
		judge_add_reason(j, REASON_LOST, (int)receiver, class, "%s -> %s: %s",
				 judge_host(j, sender), judge_host(j, receiver), what);
}

/* A request was lost, or its answer: where one of the two could not send, that one lost it. */
static void judge_report_unanswered(struct judge *j, unsigned int requester, unsigned int responder,
				    int class, const char *what)
{
	if (j->end[requester].unsent)
		judge_report_lost(j, requester, responder, class, what);
	else if (j->end[responder].unsent)
		judge_report_lost(j, responder, requester, class, what);
	else
		judge_add_reason(j, REASON_LOST, VERDICT_NOWHERE, class,
				 "between %s and %s (request or response): %s",
				 judge_host(j, requester), judge_host(j, responder), what);
}

/* rdma_rxe ends a queue pair that may not retransmit on an RNR as well: what comes behind the RNR is
 * out of sequence (seen on Linux 6.1 and 6.12). */
static uint64_t judge_rnr_losses(const struct judge *j, const struct verdict_pair *pair)
{
	const struct judged_end *a = &j->end[pair->client], *b = &j->end[pair->server];

	return a->seen->soft ? a->loss.rnr + b->loss.rnr : 0;
}

/* Its answers carry data too, and are lost like requests. */
static bool judge_is_answered(const struct traffic_spec *spec, unsigned int class)
{
	return class < spec->class_count && (spec->class[class].verb == TRAFFIC_READ ||
					     spec->class[class].verb == TRAFFIC_ATOMIC);
}

static void judge_strict(struct judge *j, const struct verdict_pair *pair, unsigned int end,
			 unsigned int class, const struct traffic_class_result *r)
{
	uint64_t lost = saturating_sub(r->losses, judge_rnr_losses(j, pair));
	char what[120];

	if (!lost || judge_remote_gone(pair))
		return;
	snprintf(what, sizeof(what), "%llu packets of class %u were lost without retransmission (strict)",
		 LL(lost), class);
	if (judge_is_answered(pair->spec, class))
		judge_report_unanswered(j, end, judge_other(pair, end), (int)class, what);
	else
		judge_report_lost(j, end, judge_other(pair, end), (int)class, what);
}

/* Datagrams that found no receive buffer, or died in the receiving host, are not the fabric's. The
 * port counts them, whoever's they were: what explains those of one class explains no other's. */
static void judge_gaps(struct judge *j, const struct verdict_pair *pair, unsigned int end,
		       unsigned int class, const struct traffic_class_result *r)
{
	struct judged_end *at = &j->end[end];
	uint64_t no_buffer = at->drops.no_buffer;
	uint64_t lost = saturating_sub(r->gaps, at->excused);
	char what[120], name[JUDGE_NAME_MAX];

	if (r->reordered)
		judge_add_reason(j, REASON_REORDERED, (int)end, (int)class,
				 "%s: %llu messages of class %u arrived out of order",
				 judge_name(j, pair, end, name), LL(r->reordered), class);
	if (r->gaps && no_buffer)
		judge_add_reason(
			j, REASON_RNR, (int)end, (int)class,
			"%s: %llu messages of class %u are missing, and %llu packets found no "
			"receive buffer",
			judge_name(j, pair, end, name), LL(r->gaps), class, LL(no_buffer));
	if (judge_remote_gone(pair))
		return;
	at->excused = saturating_sub(at->excused, r->gaps);
	if (!lost)
		return;
	snprintf(what, sizeof(what), "%llu messages of class %u never arrived (counted)", LL(lost),
		 class);
	judge_report_lost(j, judge_other(pair, end), end, (int)class, what);
}

static void judge_classes(struct judge *j, const struct verdict_pair *pair, unsigned int end,
			  const struct traffic_report *report)
{
	char name[JUDGE_NAME_MAX];

	for (unsigned int i = 0; i < report->class_count; i++) {
		const struct traffic_class_result *r = &report->class[i];

		if (r->mismatches)
			judge_add_reason(
				j, REASON_WRONG_DATA, (int)end, (int)i,
				"%s: %llu messages of class %u arrived with wrong contents",
				judge_name(j, pair, end, name), LL(r->mismatches), i);
		judge_strict(j, pair, end, i, r);
		judge_gaps(j, pair, end, i, r);
	}
}

/* Why the run ended early, by what the end says. NOWHERE in the table: handled in code. */
static const struct {
	bool reported; /* the row is a reason of its own */
	bool by_death; /* the death of the peer explains it */
	enum reason_kind kind;
} by_cause[CAUSE_COUNT] = {
	[CAUSE_RETRY_EXCEEDED] = {true, true, REASON_LOST},
	[CAUSE_RNR] = {true, true, REASON_RNR_DIED},
	[CAUSE_REMOTE] = {true, true, REASON_QP_FAILED},
	[CAUSE_LOCAL] = {true, true, REASON_QP_FAILED},
	[CAUSE_PORT_DOWN] = {true, false, REASON_LINK_DOWN},
	[CAUSE_REMOTE_GONE] = {true, false, REASON_REMOTE_GONE},
	[CAUSE_DATA] = {true, false, REASON_WRONG_DATA},
	[CAUSE_TIMEOUT] = {true, false, REASON_STALLED},
	[CAUSE_UNFINISHED] = {true, true, REASON_ABORTED},
};

static uint64_t judge_mismatches(const struct traffic_report *report)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < report->class_count; i++)
		sum += report->class[i].mismatches;
	return sum;
}

static const char *judge_words(const struct traffic_report *report)
{
	return report->total.detail[0] ? report->total.detail
				       : traffic_cause_word(report->total.cause);
}

/* Both ends told their results, the other one hears nothing any more, and this one failed to send:
 * it hears nothing either, its queue pair died of it, or its kernel tried without end. */
static bool judge_could_not_send(const struct judge *j, const struct verdict_pair *pair,
				 unsigned int end)
{
	const struct traffic_report *own = judge_report_of(pair, end);
	const struct traffic_report *other = judge_report_of(pair, judge_other(pair, end));

	if (!own || !other || other->total.cause != CAUSE_REMOTE_GONE || !j->end[end].unsent)
		return false;
	return own->total.cause == CAUSE_REMOTE_GONE || own->total.cause == CAUSE_LOCAL ||
	       own->total.cause == CAUSE_RETRY_EXCEEDED || own->total.cause == CAUSE_TIMEOUT;
}

/* An end that says the other is gone, or that it hung itself: one of them could not send, the other
 * one first. Each host is named once. */
static bool judge_sender_failed(struct judge *j, const struct verdict_pair *pair, unsigned int end,
				const struct traffic_report *report)
{
	unsigned int sender = judge_other(pair, end);

	if (!judge_could_not_send(j, pair, sender))
		sender = end;
	if (!judge_could_not_send(j, pair, sender))
		return false;
	if (!judge_has_reason(j, REASON_LOST_IN_SENDER, (int)sender))
		judge_report_lost(j, sender, judge_other(pair, sender), VERDICT_NOWHERE,
				  judge_words(report));
	return true;
}

/* An end that says the other is gone, while that one handed in its result: nobody died. What ended
 * the other one is the cause, and is told there; if it heard nothing either, RDMA itself passes no
 * more. False: the other end ended well, and nothing explains it. */
static bool judge_both_reported(struct judge *j, const struct verdict_pair *pair, unsigned int end,
				const struct traffic_report *report)
{
	unsigned int away = judge_other(pair, end);
	const struct traffic_report *other = judge_report_of(pair, away);

	if (!other || (unsigned int)other->total.cause >= CAUSE_COUNT ||
	    !by_cause[other->total.cause].reported)
		return false;
	if (other->total.cause == CAUSE_REMOTE_GONE && end == pair->client)
		judge_add_reason(j, REASON_LOST, VERDICT_NOWHERE, VERDICT_NOWHERE,
				 "%s and %s: RDMA stopped, although both programs and their "
				 "control connection are alive (%s: %s; %s: %s)",
				 judge_host(j, end), judge_host(j, away), judge_host(j, end),
				 judge_words(report), judge_host(j, away), judge_words(other));
	return true;
}

/* Lost, or not sent at all. Where the other end's words named the host that could not send, that is
 * enough. */
static void judge_report_dead(struct judge *j, const struct verdict_pair *pair, unsigned int end,
			      enum reason_kind kind, const char *what)
{
	unsigned int other = judge_other(pair, end);
	unsigned int failing = j->end[end].unsent ? end : other;

	if (j->end[failing].unsent && judge_has_reason(j, REASON_LOST_IN_SENDER, (int)failing))
		return;
	if (kind == REASON_LOST)
		judge_report_unanswered(j, end, other, VERDICT_NOWHERE, what);
	else
		judge_report_lost(j, end, other, VERDICT_NOWHERE, what);
}

static void judge_cause(struct judge *j, const struct verdict_pair *pair, unsigned int end,
			const struct traffic_report *report)
{
	enum traffic_cause cause = report->total.cause;
	char name[JUDGE_NAME_MAX];
	enum reason_kind kind;

	if ((unsigned int)cause >= CAUSE_COUNT || !by_cause[cause].reported ||
	    (by_cause[cause].by_death && judge_remote_gone(pair)))
		return;
	if (cause == CAUSE_DATA && judge_mismatches(report))
		return; /* said by class */
	if ((cause == CAUSE_REMOTE_GONE || cause == CAUSE_TIMEOUT) &&
	    judge_sender_failed(j, pair, end, report))
		return;
	if (cause == CAUSE_REMOTE_GONE && judge_both_reported(j, pair, end, report))
		return;
	kind = by_cause[cause].kind;
	if (kind == REASON_LOST && judge_rnr_losses(j, pair) && pair->spec->mode == TRAFFIC_STRICT)
		kind = REASON_RNR_DIED;
	if (kind == REASON_LOST || (kind == REASON_QP_FAILED && j->end[end].unsent)) {
		/* rdma_rxe of Linux 6.12 kills the queue pair when the host cannot send. */
		judge_report_dead(j, pair, end, kind, judge_words(report));
		return;
	}
	judge_add_reason(j, kind, (int)end, VERDICT_NOWHERE, "%s: %s",
			 judge_name(j, pair, end, name), judge_words(report));
}

/* Nothing is known of a row that is not there, unless the end says why it stopped. */
static void judge_rows(struct judge *j, const struct verdict_pair *pair, unsigned int end,
		       const struct traffic_report *report)
{
	const struct traffic_spec *asked = pair->spec;
	char name[JUDGE_NAME_MAX];

	if (report->total.cause ||
	    (report->class_count == asked->class_count && report->tcp_count == asked->tcp_count))
		return;
	judge_add_reason(j, REASON_UNACCOUNTED, (int)end, VERDICT_NOWHERE,
			 "%s reports %u of %u classes and %u of %u TCP backgrounds",
			 judge_name(j, pair, end, name), report->class_count, asked->class_count,
			 report->tcp_count, asked->tcp_count);
}

static void judge_report(struct judge *j, const struct verdict_pair *pair, unsigned int end,
			 const struct traffic_report *report)
{
	char name[JUDGE_NAME_MAX];

	if (!report) {
		judge_add_reason(j, REASON_REMOTE_GONE, (int)end, VERDICT_NOWHERE,
				 "%s reported no result", judge_name(j, pair, end, name));
		return;
	}
	judge_classes(j, pair, end, report);
	judge_cause(j, pair, end, report);
	judge_rows(j, pair, end, report);
}

/* UC and UD, from one end to the other: nobody but the receiver knows what came. An end that let
 * all its messages finish counts each of them as arrived or as a gap. */
static void judge_way(struct judge *j, const struct verdict_pair *pair, unsigned int to,
		      const struct traffic_report *sent, const struct traffic_report *came)
{
	for (unsigned int i = 0; i < pair->spec->class_count; i++) {
		enum traffic_transport transport = pair->spec->class[i].transport;
		uint64_t missing;

		if ((transport != TRAFFIC_UC && transport != TRAFFIC_UD) ||
		    i >= sent->class_count || i >= came->class_count)
			continue;
		missing = saturating_sub(sent->class[i].messages, came->class[i].arrived);
		missing = saturating_sub(missing, came->class[i].gaps);
		if (missing)
			judge_add_reason(j, REASON_UNACCOUNTED, (int)to, (int)i,
					 "%s -> %s: of %llu messages of class %u, %llu neither "
					 "arrived nor were counted as missing",
					 judge_host(j, judge_other(pair, to)), judge_host(j, to),
					 LL(sent->class[i].messages), i, LL(missing));
	}
}

/* Judges only if both ends finished: before that, messages can still be on the way. */
static void judge_arrived(struct judge *j, const struct verdict_pair *pair)
{
	const struct traffic_report *client = pair->client_report, *server = pair->server_report;

	if (j->in->aborted || !client || !server || client->total.cause || server->total.cause)
		return;
	judge_way(j, pair, pair->server, client, server);
	judge_way(j, pair, pair->client, server, client);
}

static void judge_arrival(struct judge *j, unsigned int end, const struct prio_arrival *a)
{
	for (unsigned int i = 0; i < a->class_count; i++) {
		if (a->class[i].arrival != ARRIVAL_WRONG)
			continue;
		judge_add_reason(j, REASON_WRONG_PRIORITY, (int)end, (int)a->class[i].class,
				 "%s: %s", judge_host(j, end), a->text);
		return;
	}
	if (a->known && a->text[0])
		judge_add_reason(j, REASON_ALIKE, (int)end, VERDICT_NOWHERE, "%s: %s",
				 judge_host(j, end), a->text);
}

void judge_reports(struct judge *j)
{
	for (unsigned int i = 0; i < j->in->pair_count; i++) {
		const struct verdict_pair *pair = &j->in->pair[i];

		judge_report(j, pair, pair->client, pair->client_report);
		judge_report(j, pair, pair->server, pair->server_report);
		judge_arrived(j, pair);
	}
	for (unsigned int i = 0; j->in->arrival && i < j->in->end_count; i++)
		if (j->in->arrival[i])
			judge_arrival(j, i, j->in->arrival[i]);
}
