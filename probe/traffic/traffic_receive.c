/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Responder of a flow: checks arrived messages, reposts receives, sends credits. Continues after
 * wrong data, to count how much is wrong.
 *
 * RC and XRC deliver in order: the n-th receive is message n. UC and UD can lose: the message has
 * its sequence number, and gaps are counted when the requester has ended or reports that it waits.
 */
#include <endian.h>
#include <string.h>

#include "probe/traffic/traffic_worker.h"
#include "probe/traffic/traffic_pattern.h"

#define SETTLE_NS NS_PER_MS
#define LOST_NS	  (200 * NS_PER_MS) /* of silence: a missing message is lost */

static uint32_t receive_credit_step(const struct qp_flow *f)
{
	return f->window / 4 ? f->window / 4 : 1;
}

static int receive_repost(struct qp_flow *f, uint32_t n)
{
	struct qp_responder *x = &f->rx;
	struct ibv_recv_wr *first = &x->wr[x->reposted & (x->receives - 1)];
	struct ibv_recv_wr *last = &x->wr[(x->reposted + n - 1) & (x->receives - 1)];
	struct ibv_recv_wr *next = last->next, *bad;
	int rc;

	last->next = NULL;
	rc = f->srq ? ibv_post_srq_recv(f->srq, first, &bad) : ibv_post_recv(f->qp, first, &bad);
	last->next = next;
	x->reposted += n;
	return rc;
}

int qp_flow_post_receives(struct qp_flow *f, struct err *e)
{
	int rc = f->rx.receives ? receive_repost(f, f->rx.receives) : 0;

	f->rx.reposted = 0; /* counted from the first consumed one */
	return rc ? err_sys(e, -rc, "%s: posting receives", f->worker->t->spec.ibdev) : 0;
}

void qp_flow_mismatch(struct qp_flow *f, uint64_t n, const char *what, uint64_t offset)
{
	f->worker->out[f->at].mismatches++;
	if (!f->result->mismatches++)
		traffic_set_cause(f->worker->t, CAUSE_DATA,
				  "class %u QP %u, message %llu %s (at byte %llu)", f->class_index,
				  f->number, (unsigned long long)n, what,
				  (unsigned long long)offset);
}

static enum pattern_fault receive_fault(const struct qp_flow *f, uint64_t n, const uint8_t *p,
					uint64_t *offset)
{
	const struct traffic_class *c = f->class;
	uint32_t slot = (uint32_t)(n % f->slots);
	uint64_t sequence = c->verb == TRAFFIC_READ ? slot : n;
	struct pattern_id id = {f->worker->t->spec.seed, sequence, slot, PATTERN_DATA, f->index};

	return class_checks_whole(c, n) ? pattern_check(p, class_body(c), &id, offset)
					: pattern_check_header(p, class_body(c), &id, offset);
}

void qp_flow_check(struct qp_flow *f, uint64_t n, const uint8_t *p)
{
	uint64_t offset = 0;
	enum pattern_fault fault = receive_fault(f, n, p, &offset);

	f->result->checked_bytes += class_checks_whole(f->class, n) ? class_body(f->class)
								    : PATTERN_HEADER_BYTES;
	if (fault != PATTERN_OK)
		qp_flow_mismatch(f, n, pattern_fault_text(fault), offset);
}

static void receive_check_slot(struct qp_flow *f, uint64_t n)
{
	qp_flow_check(f, n, f->rx.slot + qp_flow_offset(f, n));
}

/* Accounts one message; the caller has increased `arrived`. */
static void receive_account(struct qp_flow *f, uint32_t bytes)
{
	f->rx.last_ns = f->worker->now_ns;
	f->rx.heard_awake_ns = f->worker->awake_ns;
	f->result->arrived++;
	f->result->arrived_bytes += bytes;
	if (!f->worker->first_ns)
		f->worker->first_ns = f->worker->now_ns;
	f->worker->last_ns = f->worker->now_ns;
	if (!f->class->probe)
		rate_series_add(&f->result->goodput, f->worker->now_ns, bytes);
}

static void receive_count(struct qp_flow *f, uint32_t bytes)
{
	f->rx.arrived++;
	receive_account(f, bytes);
}

/* Returns the sequence of a UC or UD message; -1: foreign. */
static int64_t receive_sequence(const struct qp_flow *f, const uint8_t *p, const struct ibv_wc *wc)
{
	struct pattern_id id;

	if (f->class->verb == TRAFFIC_WRITE_IMM)
		return (int64_t)(f->rx.next + (uint64_t)(int64_t)(int32_t)(be32toh(wc->imm_data) -
									   (uint32_t)f->rx.next));
	if (pattern_peek(p, f->class->message_bytes, f->worker->t->spec.seed, &id) ||
	    id.kind != PATTERN_DATA || id.flow != f->index || id.sequence > INT64_MAX)
		return -1;
	return (int64_t)id.sequence;
}

static bool receive_mark_seen(struct qp_responder *x, uint64_t n)
{
	uint64_t *word = &x->seen[n % TRAFFIC_SEEN_BITS / 64], bit = UINT64_C(1) << n % 64;
	bool before = *word & bit;

	*word |= bit;
	return before;
}

static void receive_forget_seen(struct qp_responder *x, uint64_t upto)
{
	uint64_t from = x->next;

	if (upto - from > TRAFFIC_SEEN_BITS)
		from = upto - TRAFFIC_SEEN_BITS;
	for (uint64_t i = from; i < upto; i++)
		x->seen[i % TRAFFIC_SEEN_BITS / 64] &= ~(UINT64_C(1) << i % 64);
	x->next = upto;
}

static void receive_unordered(struct qp_flow *f, const struct ibv_wc *wc)
{
	struct qp_responder *x = &f->rx;
	uint32_t at = (uint32_t)wc->wr_id,
		 head = f->class->transport == TRAFFIC_UD ? TRAFFIC_GRH_BYTES : 0;
	const uint8_t *p = traffic_verb_sends(f->class->verb)
				   ? (const uint8_t *)(uintptr_t)x->sge[at].addr + head
				   : NULL;
	int64_t n = receive_sequence(f, p, wc);

	/* At most a window beyond the credited messages, and not before the remembered ones. */
	if (n < 0 || wc->byte_len - head != f->class->message_bytes ||
	    (uint64_t)n >= x->next + TRAFFIC_SEEN_BITS ||
	    (uint64_t)n + TRAFFIC_SEEN_BITS < x->next) {
		qp_flow_mismatch(f, x->next, "does not belong to this flow", 0);
		return;
	}
	if ((uint64_t)n < x->next)
		f->result->reordered++;
	else
		receive_forget_seen(x, (uint64_t)n + 1);
	if (receive_mark_seen(x, (uint64_t)n)) {
		qp_flow_mismatch(f, (uint64_t)n, "arrived twice", 0);
		return;
	}
	receive_count(f, f->class->message_bytes);
	if (f->class->check != TRAFFIC_CHECK_NONE && p)
		qp_flow_check(f, (uint64_t)n, p);
	else if (f->class->check != TRAFFIC_CHECK_NONE)
		receive_check_slot(f, (uint64_t)n);
}

static void receive_ordered(struct qp_flow *f, const struct ibv_wc *wc)
{
	struct qp_responder *x = &f->rx;
	uint64_t n = x->arrived;
	bool numbered = wc->wc_flags & IBV_WC_WITH_IMM;

	receive_count(f, wc->byte_len);
	if (wc->byte_len != f->class->message_bytes)
		qp_flow_mismatch(f, n, "has the wrong length", wc->byte_len);
	else if (numbered && be32toh(wc->imm_data) != (uint32_t)n)
		qp_flow_mismatch(f, n, "has the immediate of another message", 0);
	else if (f->class->check != TRAFFIC_CHECK_NONE)
		receive_check_slot(f, n);
}

/* Returns the start of the round trip of message n. Call before the next post: after the end of the
 * run, the loss of the last message is resolved and no more is posted. */
static uint64_t receive_consume_start_ns(struct qp_flow *f, uint64_t n)
{
	struct qp_requester *x = &f->tx;
	uint64_t since_ns = x->first_post_ns ? x->first_post_ns : x->posted_ns[n & (f->window - 1)];

	x->first_post_ns = 0;
	return since_ns;
}

/* Adds a round trip, on the host that started it. */
static void receive_add_round_trip(struct qp_flow *f, uint64_t since_ns)
{
	struct worker *w = f->worker;

	if (w->t->spec.role == TRAFFIC_CLIENT)
		histogram_add(&f->result->latency, w->now_ns - since_ns);
}

bool qp_flow_awaits(const struct qp_flow *f)
{
	if (!class_polls(f->class) || f->rx.done)
		return false;
	return f->worker->t->spec.role == TRAFFIC_SERVER || f->tx.posted > f->rx.arrived;
}

/* The order of bytes of a WRITE is not guaranteed, although devices keep it: waits a moment for a
 * wrong byte. */
static void receive_await_bytes(const struct qp_flow *f, uint64_t n, const uint8_t *p)
{
	uint64_t end_ns = f->worker->now_ns + SETTLE_NS, offset;

	while (receive_fault(f, n, p, &offset) != PATTERN_OK && monotonic_ns() < end_ns)
		;
}

void qp_flow_set_due(struct qp_flow *f)
{
	uint64_t n = f->rx.arrived;

	f->rx.due = f->rx.slot + qp_flow_offset(f, n) + f->class->message_bytes - 1;
	f->rx.due_stamp = class_stamp(f->class, n);
}

/* Sends the reply first: the time from arrival to reply is part of the round trip. The slot is not
 * reused before the reply is answered. */
void qp_flow_poll(struct qp_flow *f)
{
	const uint8_t *p = f->rx.slot + qp_flow_offset(f, f->rx.arrived);
	struct worker *w = f->worker;
	uint64_t since_ns;

	if (!qp_flow_has_arrived(f))
		return;
	since_ns = receive_consume_start_ns(f, f->rx.arrived++);
	qp_flow_answer(f);
	w->heard_ns = w->now_ns;
	qp_flow_set_due(f);
	receive_account(f, f->class->message_bytes);
	receive_add_round_trip(f, since_ns);
	if (f->class->check == TRAFFIC_CHECK_NONE)
		return;
	receive_await_bytes(f, f->rx.arrived - 1, p);
	qp_flow_check(f, f->rx.arrived - 1, p);
}

void qp_flow_received(struct qp_flow *f, const struct ibv_wc *wc)
{
	f->rx.received++;
	if (class_is_unreliable(f->class))
		receive_unordered(f, wc);
	else
		receive_ordered(f, wc);
	if (f->class->probe)
		receive_add_round_trip(f, receive_consume_start_ns(f, f->rx.arrived - 1));
}

/* Checks a plain WRITE up to the count that the peer completed; without a check, trusts that count.
 */
static void receive_written(struct qp_flow *f, uint64_t completed)
{
	struct qp_responder *x = &f->rx;

	if (f->class->check == TRAFFIC_CHECK_NONE) {
		f->result->arrived += completed - x->arrived;
		f->result->arrived_bytes += (completed - x->arrived) * f->class->message_bytes;
		x->arrived = completed;
	}
	while (x->arrived < completed) {
		receive_check_slot(f, x->arrived);
		receive_count(f, f->class->message_bytes);
	}
}

void qp_flow_read_completed(struct qp_flow *f, const struct credit_slot *in)
{
	struct qp_responder *x = &f->rx;
	bool written = f->class->verb == TRAFFIC_WRITE && !f->class->probe;
	bool limited = class_is_unreliable(f->class) ||
		       (written && f->class->check != TRAFFIC_CHECK_NONE);

	if (in->completed < x->announced || (limited && in->completed > x->credited + f->window)) {
		traffic_fail(f->worker->t, CAUSE_DATA,
			     "class %u QP %u: the peer completed %llu messages after %llu",
			     f->class_index, f->number, (unsigned long long)in->completed,
			     (unsigned long long)x->announced);
		return;
	}
	if (in->completed > x->announced || (in->flags & CREDIT_ENDED && !x->ended))
		x->heard_awake_ns = f->worker->awake_ns;
	x->announced = in->completed;
	x->ended = in->flags & CREDIT_ENDED;
	if (written && (limited || x->ended))
		receive_written(f, x->announced);
}

/* Returns true if nothing arrived for so long that the rest is lost. Counts only time in which this
 * worker ran: after a pause without CPU, arrivals are still unread. */
static bool receive_is_quiet(const struct qp_flow *f)
{
	return f->worker->awake_ns - f->rx.heard_awake_ns > LOST_NS;
}

/* Returns the messages to credit: all that arrived, and for UC and UD those that are lost. */
static uint64_t receive_creditable(struct qp_flow *f)
{
	struct qp_responder *x = &f->rx;

	if (!class_is_unreliable(f->class))
		return x->arrived;
	if (x->announced > x->next && receive_is_quiet(f))
		receive_forget_seen(x, x->announced);
	return x->next;
}

static bool receive_is_complete(const struct qp_flow *f)
{
	const struct qp_responder *x = &f->rx;
	const struct traffic_class *c = f->class;

	if (!x->ended)
		return false;
	if (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC)
		return true;
	if (class_is_unreliable(c))
		return x->arrived >= x->announced || receive_is_quiet(f);
	return x->arrived >= x->announced;
}

static void receive_finish(struct qp_flow *f)
{
	struct qp_responder *x = &f->rx;

	x->done = true;
	if (class_is_unreliable(f->class) && x->announced > x->arrived)
		f->result->gaps += x->announced - x->arrived;
	f->worker->out[f->at].flags |= CREDIT_SEEN;
	f->worker->dirty = true;
}

/* Counts UC and UD messages missing before a later one. If the flow did not end, more may be
 * missing. */
void qp_flow_count_gaps(struct qp_flow *f)
{
	const struct qp_responder *x = &f->rx;

	if (class_is_unreliable(f->class) && !x->done && x->next > x->arrived)
		f->result->gaps += x->next - x->arrived;
}

void qp_flow_send_credit(struct qp_flow *f)
{
	struct qp_responder *x = &f->rx;
	uint64_t now = receive_creditable(f);
	bool due = x->received - x->reposted >= receive_credit_step(f) || f->class->probe;
	int rc = 0;

	if (!x->on)
		return;
	if (x->receives && due && x->received > x->reposted)
		rc = receive_repost(f, (uint32_t)(x->received - x->reposted));
	if (rc)
		traffic_fail(f->worker->t, CAUSE_LOCAL, "posting receives: %s", strerror(rc));
	if (class_needs_credit(f->class) && now - x->credited >= receive_credit_step(f)) {
		x->credited = now;
		f->worker->out[f->at].credited = now;
		f->worker->dirty = true;
	}
	if (!x->done && receive_is_complete(f))
		receive_finish(f);
}
