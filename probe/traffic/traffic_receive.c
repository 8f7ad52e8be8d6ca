/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The responder half of a flow: checks what arrived, posts receives again, grants. Wrong data does
 * not stop it: how much is wrong is what one wants to know.
 *
 * RC and XRC deliver in order: the n-th receive is message n. UC and UD lose: the sequence is in
 * the message, a gap is counted when the requester has ended, or says that it waits.
 */
#include <endian.h>
#include <string.h>

#include "probe/traffic/traffic_end.h"
#include "probe/traffic/traffic_pattern.h"

#define SETTLE_NS NS_PER_MS
#define LOST_NS	  (200 * NS_PER_MS) /* so long after the last one: what did not come will not */

static uint32_t grant_step(const struct flow *f)
{
	return f->window / 4 ? f->window / 4 : 1;
}

static int repost(struct flow *f, uint32_t n)
{
	struct responder *x = &f->rx;
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

int flow_post_receives(struct flow *f, struct err *e)
{
	int rc = f->rx.receives ? repost(f, f->rx.receives) : 0;

	f->rx.reposted = 0; /* counted from the first that is taken */
	return rc ? err_sys(e, -rc, "%s: posting receives", f->worker->t->spec.ibdev) : 0;
}

void flow_wrong(struct flow *f, uint64_t n, const char *what, uint64_t offset)
{
	f->worker->out[f->at].mismatches++;
	if (!f->result->mismatches++)
		traffic_blame(f->worker->t, CAUSE_DATA,
			      "class %u QP %u, message %llu %s (at byte %llu)", f->class_index,
			      f->number, (unsigned long long)n, what, (unsigned long long)offset);
}

static enum pattern_fault fault_of(const struct flow *f, uint64_t n, const uint8_t *p,
				   uint64_t *offset)
{
	const struct traffic_class *c = f->class;
	uint32_t slot = (uint32_t)(n % f->slots);
	uint64_t sequence = c->verb == TRAFFIC_READ ? slot : n;
	struct pattern_id id = {f->worker->t->spec.seed, sequence, slot, PATTERN_DATA, f->index};

	return class_checks_whole(c, n) ? pattern_check(p, class_body(c), &id, offset)
					: pattern_check_header(p, class_body(c), &id, offset);
}

void flow_check(struct flow *f, uint64_t n, const uint8_t *p)
{
	uint64_t offset = 0;
	enum pattern_fault fault = fault_of(f, n, p, &offset);

	f->result->checked_bytes += class_checks_whole(f->class, n) ? class_body(f->class)
								    : PATTERN_HEADER_BYTES;
	if (fault != PATTERN_OK)
		flow_wrong(f, n, pattern_fault_text(fault), offset);
}

static void check_slot(struct flow *f, uint64_t n)
{
	flow_check(f, n, f->rx.slot + (size_t)(n % f->slots) * f->stride);
}

/* One more in `arrived`, which the caller has raised. */
static void book(struct flow *f, uint32_t bytes)
{
	f->rx.last_ns = f->worker->now_ns;
	f->rx.heard_awake_ns = f->worker->awake_ns;
	f->result->arrived++;
	f->result->arrived_bytes += bytes;
	if (!f->worker->first_ns)
		f->worker->first_ns = f->worker->now_ns;
	f->worker->last_ns = f->worker->now_ns;
	if (!f->class->probe)
		intervals_add(&f->result->goodput, f->worker->now_ns, bytes);
}

static void count(struct flow *f, uint32_t bytes)
{
	f->rx.arrived++;
	book(f, bytes);
}

/* Which message came over UC or UD; -1: none of ours. */
static int64_t sequence_of(const struct flow *f, const uint8_t *p, const struct ibv_wc *wc)
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

static bool mark_seen(struct responder *x, uint64_t n)
{
	uint64_t *word = &x->seen[n % TRAFFIC_SEEN_BITS / 64], bit = UINT64_C(1) << n % 64;
	bool before = *word & bit;

	*word |= bit;
	return before;
}

static void forget_seen(struct responder *x, uint64_t upto)
{
	uint64_t from = x->next;

	if (upto - from > TRAFFIC_SEEN_BITS)
		from = upto - TRAFFIC_SEEN_BITS;
	for (uint64_t i = from; i < upto; i++)
		x->seen[i % TRAFFIC_SEEN_BITS / 64] &= ~(UINT64_C(1) << i % 64);
	x->next = upto;
}

static void take_loose(struct flow *f, const struct ibv_wc *wc)
{
	struct responder *x = &f->rx;
	uint32_t at = (uint32_t)wc->wr_id, head = f->class->transport == TRAFFIC_UD ? 40 : 0;
	const uint8_t *p = traffic_verb_sends(f->class->verb)
				   ? (const uint8_t *)(uintptr_t)x->sge[at].addr + head
				   : NULL;
	int64_t n = sequence_of(f, p, wc);

	/* Not further ahead than a window of what was granted, nor behind what is remembered. */
	if (n < 0 || wc->byte_len - head != f->class->message_bytes ||
	    (uint64_t)n >= x->next + TRAFFIC_SEEN_BITS ||
	    (uint64_t)n + TRAFFIC_SEEN_BITS < x->next) {
		flow_wrong(f, x->next, "is none of this flow", 0);
		return;
	}
	if ((uint64_t)n < x->next)
		f->result->reordered++;
	else
		forget_seen(x, (uint64_t)n + 1);
	if (mark_seen(x, (uint64_t)n)) {
		flow_wrong(f, (uint64_t)n, "came twice", 0);
		return;
	}
	count(f, f->class->message_bytes);
	if (f->class->check != TRAFFIC_CHECK_NONE && p)
		flow_check(f, (uint64_t)n, p);
	else if (f->class->check != TRAFFIC_CHECK_NONE)
		check_slot(f, (uint64_t)n);
}

static void take_ordered(struct flow *f, const struct ibv_wc *wc)
{
	struct responder *x = &f->rx;
	uint64_t n = x->arrived;
	bool numbered = wc->wc_flags & IBV_WC_WITH_IMM;

	count(f, wc->byte_len);
	if (wc->byte_len != f->class->message_bytes)
		flow_wrong(f, n, "has the wrong length", wc->byte_len);
	else if (numbered && be32toh(wc->imm_data) != (uint32_t)n)
		flow_wrong(f, n, "has the immediate of another message", 0);
	else if (f->class->check != TRAFFIC_CHECK_NONE)
		check_slot(f, n);
}

/* When the round trip of message n began. Taken before the next is posted: what was lost is back,
 * so that an end whose time is over posts no more. */
static uint64_t take_since(struct flow *f, uint64_t n)
{
	struct requester *x = &f->tx;
	uint64_t since_ns = x->asked_ns ? x->asked_ns : x->posted_ns[n & (f->window - 1)];

	x->asked_ns = 0;
	return since_ns;
}

/* A round trip, at the end that began it. */
static void take_probe(struct flow *f, uint64_t since_ns)
{
	struct worker *w = f->worker;

	if (w->t->spec.role == TRAFFIC_CLIENT)
		histogram_add(&f->result->latency, w->now_ns - since_ns);
}

bool flow_awaits(const struct flow *f)
{
	if (!class_polls(f->class) || f->rx.done)
		return false;
	return f->worker->t->spec.role == TRAFFIC_SERVER || f->tx.posted > f->rx.arrived;
}

/* No order of the bytes of a WRITE is promised, though devices keep one: what is not right yet gets
 * a moment. */
static void settle(const struct flow *f, uint64_t n, const uint8_t *p)
{
	uint64_t end_ns = f->worker->now_ns + SETTLE_NS, offset;

	while (fault_of(f, n, p, &offset) != PATTERN_OK && monotonic_ns() < end_ns)
		;
}

void flow_expect(struct flow *f)
{
	uint64_t n = f->rx.arrived;

	f->rx.due = f->rx.slot + (size_t)(n % f->slots) * f->stride + f->class->message_bytes - 1;
	f->rx.due_stamp = class_stamp(f->class, n);
}

/* The answer goes out before anything else is done for what came: each end's way from the one to
 * the other is part of the round trip. The slot is not used again before the answer is answered. */
void flow_look(struct flow *f)
{
	const uint8_t *p = f->rx.slot + (size_t)(f->rx.arrived % f->slots) * f->stride;
	struct worker *w = f->worker;
	uint64_t since_ns;

	if (!flow_has_come(f))
		return;
	since_ns = take_since(f, f->rx.arrived++);
	flow_answer(f);
	w->heard_ns = w->now_ns;
	flow_expect(f);
	book(f, f->class->message_bytes);
	take_probe(f, since_ns);
	if (f->class->check == TRAFFIC_CHECK_NONE)
		return;
	settle(f, f->rx.arrived - 1, p);
	flow_check(f, f->rx.arrived - 1, p);
}

void flow_received(struct flow *f, const struct ibv_wc *wc)
{
	f->rx.received++;
	if (class_loses(f->class))
		take_loose(f, wc);
	else
		take_ordered(f, wc);
	if (f->class->probe)
		take_probe(f, take_since(f, f->rx.arrived - 1));
}

/* A plain WRITE is checked up to what the peer completed; unchecked, it is believed. */
static void take_written(struct flow *f, uint64_t completed)
{
	struct responder *x = &f->rx;

	if (f->class->check == TRAFFIC_CHECK_NONE) {
		f->result->arrived += completed - x->arrived;
		f->result->arrived_bytes += (completed - x->arrived) * f->class->message_bytes;
		x->arrived = completed;
	}
	while (x->arrived < completed) {
		check_slot(f, x->arrived);
		count(f, f->class->message_bytes);
	}
}

void flow_announced(struct flow *f, const struct cell *in)
{
	struct responder *x = &f->rx;
	bool written = f->class->verb == TRAFFIC_WRITE && !f->class->probe;
	bool limited = class_loses(f->class) || (written && f->class->check != TRAFFIC_CHECK_NONE);

	if (in->completed < x->announced || (limited && in->completed > x->granted + f->window)) {
		traffic_fail(f->worker->t, CAUSE_DATA,
			     "class %u QP %u: the other end completed %llu messages after %llu",
			     f->class_index, f->number, (unsigned long long)in->completed,
			     (unsigned long long)x->announced);
		return;
	}
	if (in->completed > x->announced || (in->flags & CELL_ENDED && !x->ended))
		x->heard_awake_ns = f->worker->awake_ns;
	x->announced = in->completed;
	x->ended = in->flags & CELL_ENDED;
	if (written && (limited || x->ended))
		take_written(f, x->announced);
}

/* Nothing came for so long that nothing more will. Only time in which this worker looked counts: a
 * host that stood still for a while has what came meanwhile before it. */
static bool is_quiet(const struct flow *f)
{
	return f->worker->awake_ns - f->rx.heard_awake_ns > LOST_NS;
}

/* What may be granted: all that arrived, and of UC and UD what can come no more. */
static uint64_t grantable(struct flow *f)
{
	struct responder *x = &f->rx;

	if (!class_loses(f->class))
		return x->arrived;
	if (x->announced > x->next && is_quiet(f))
		forget_seen(x, x->announced);
	return x->next;
}

static bool all_seen(const struct flow *f)
{
	const struct responder *x = &f->rx;
	const struct traffic_class *c = f->class;

	if (!x->ended)
		return false;
	if (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC)
		return true;
	if (class_loses(c))
		return x->arrived >= x->announced || is_quiet(f);
	return x->arrived >= x->announced;
}

static void finish(struct flow *f)
{
	struct responder *x = &f->rx;

	x->done = true;
	if (class_loses(f->class) && x->announced > x->arrived)
		f->result->gaps += x->announced - x->arrived;
	f->worker->out[f->at].flags |= CELL_SEEN;
	f->worker->dirty = true;
}

/* Of UC and UD: what a later one came after. Where the flow did not end, more may be missing. */
void flow_leave(struct flow *f)
{
	const struct responder *x = &f->rx;

	if (class_loses(f->class) && !x->done && x->next > x->arrived)
		f->result->gaps += x->next - x->arrived;
}

void flow_grant(struct flow *f)
{
	struct responder *x = &f->rx;
	uint64_t now = grantable(f);
	bool due = x->received - x->reposted >= grant_step(f) || f->class->probe;
	int rc = 0;

	if (!x->on)
		return;
	if (x->receives && due && x->received > x->reposted)
		rc = repost(f, (uint32_t)(x->received - x->reposted));
	if (rc)
		traffic_fail(f->worker->t, CAUSE_LOCAL, "posting receives: %s", strerror(rc));
	if (class_grants(f->class) && now - x->granted >= grant_step(f)) {
		x->granted = now;
		f->worker->out[f->at].granted = now;
		f->worker->dirty = true;
	}
	if (!x->done && all_seen(f))
		finish(f);
}
