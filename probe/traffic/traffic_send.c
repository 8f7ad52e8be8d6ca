/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requester of a flow: fills slots, posts lists of prebuilt work requests, handles completions.
 * Only the last request of a list is signaled.
 */
#include <endian.h>
#include <string.h>

#include "probe/traffic/traffic_worker.h"
#include "probe/traffic/traffic_pattern.h"

#define POISON	UINT64_C(0xa5a5a5a5a5a5a5a5)
#define FULL_NS (NS_PER_MS / 10) /* time to the next check for free room of the throttle */

/* Overwrites the buffer, so that old data cannot pass for the response of a READ or an atomic. */
static void send_poison(struct qp_flow *f, uint8_t *slot)
{
	uint32_t last = f->class->verb == TRAFFIC_ATOMIC ? 0 : f->class->message_bytes - 8;
	const uint64_t word = POISON;

	memcpy(slot, &word, 8);
	memcpy(slot + last, &word, 8);
}

static void send_fill(struct qp_flow *f, uint64_t n)
{
	const struct traffic_class *c = f->class;
	uint32_t slot = (uint32_t)(n % f->slots);
	uint8_t *p = f->tx.slot + qp_flow_offset(f, n);
	struct pattern_id id = {f->worker->t->spec.seed, n, slot, PATTERN_DATA, f->index};

	if (c->verb == TRAFFIC_READ || c->verb == TRAFFIC_ATOMIC)
		send_poison(f, p);
	else if (class_checks_whole(c, n))
		pattern_fill(p, class_body(c), &id);
	else
		pattern_fill_header(p, class_body(c), &id);
}

static void send_fill_list(struct qp_flow *f, uint64_t from, uint32_t n)
{
	bool filled = f->class->check != TRAFFIC_CHECK_NONE || class_is_unreliable(f->class);
	bool numbered = f->class->verb == TRAFFIC_WRITE_IMM || f->class->verb == TRAFFIC_SEND_IMM ||
			f->class->probe;

	for (uint64_t i = from; i < from + n && filled; i++)
		send_fill(f, i);
	for (uint64_t i = from; i < from + n && class_polls(f->class); i++)
		f->tx.slot[qp_flow_offset(f, i) + f->class->message_bytes - 1] =
			class_stamp(f->class, i);
	for (uint64_t i = from; i < from + n && numbered; i++)
		f->tx.wr[i & (f->window - 1)].imm_data = htobe32((uint32_t)i);
}

static void send_post_failed(struct qp_flow *f, int rc)
{
	traffic_fail(f->worker->t, CAUSE_LOCAL, "class %u QP %u, posting message %llu: %s",
		     f->class_index, f->number, (unsigned long long)f->tx.posted - 1, strerror(rc));
}

static void send_note_progress(struct qp_flow *f)
{
	f->tx.progress_ns = f->worker->now_ns;
	f->tx.progress_awake_ns = f->worker->awake_ns;
}

/* Posts a list that was due at due_ns. */
static void send_post_list(struct qp_flow *f, uint32_t n, uint64_t due_ns)
{
	struct qp_requester *x = &f->tx;
	struct worker *w = f->worker;
	struct ibv_send_wr *first = &x->wr[x->posted & (f->window - 1)];
	struct ibv_send_wr *last = &x->wr[(x->posted + n - 1) & (f->window - 1)];
	struct ibv_send_wr *next = last->next, *bad;
	int rc;

	if (!x->prefilled)
		send_fill_list(f, x->posted, n);
	x->prefilled = false;
	if (x->posted == x->completed)
		send_note_progress(f);
	if (!w->first_ns)
		w->first_ns = w->now_ns;
	/* Uses the intended time: waiting for a turn counts as latency. */
	x->posted_ns[(x->posted + n - 1) & (f->window - 1)] = due_ns < w->now_ns ? due_ns
										 : w->now_ns;
	last->next = NULL;
	last->send_flags |= IBV_SEND_SIGNALED;
	rc = ibv_post_send(f->qp, first, &bad);
	last->next = next;
	x->posted += n;
	if (rc)
		send_post_failed(f, rc);
}

/* Returns the messages whose slots are free again. */
static uint64_t send_freed(const struct qp_requester *x)
{
	return x->needs_credit && x->credited < x->completed ? x->credited : x->completed;
}

/* UC and UD messages are in flight until credited, because nothing else reports their arrival. */
void qp_flow_update_flight(struct qp_flow *f)
{
	struct qp_requester *x = &f->tx;
	uint64_t bytes = x->posted - (class_is_unreliable(f->class) ? send_freed(x) : x->completed);

	bytes *= class_bytes(f->class);
	if (f->class->rate_bytes_per_s)
		throttle_flight(&f->worker->t->throttle, f->class_index, x->flight_was, bytes);
	x->flight_was = bytes;
}

/* Returns the messages to post as one list, 0 = none now. Only the last list is shorter. */
static uint32_t send_next_list(const struct qp_flow *f)
{
	const struct qp_requester *x = &f->tx;
	uint64_t slots = f->window - (x->posted - send_freed(x)), left = x->limit - x->posted;
	uint64_t way = x->flight - (x->posted - x->completed);
	uint32_t want = left < x->post_list ? (uint32_t)left : x->post_list;

	return slots >= want && way >= want ? want : 0;
}

/* A probe posts the next message when the last one is back. */
static bool send_probe_waits(const struct qp_flow *f)
{
	return f->class->probe && f->worker->t->spec.role == TRAFFIC_CLIENT &&
	       f->tx.posted > f->rx.arrived;
}

/* The replying host of a probe owes one message per arrived one. */
static bool send_probe_owes(const struct qp_flow *f)
{
	return !f->class->probe || f->worker->t->spec.role == TRAFFIC_CLIENT ||
	       f->tx.posted < f->rx.arrived;
}

/* Fills a message in advance, if there is a slot for it, to save time when it is due. */
static void send_prefill(struct qp_flow *f, uint32_t n)
{
	bool wanted = class_polls(f->class) || f->class->rate_bytes_per_s;

	if (!wanted || !n || f->tx.prefilled)
		return;
	send_fill_list(f, f->tx.posted, 1);
	f->tx.prefilled = true;
}

/* Sets the latest time of the worker's next turn. */
static void send_wait(struct worker *w, uint64_t wait_ns)
{
	/* Another thread may get the completion. */
	if (wait_ns == THROTTLE_FULL)
		wait_ns = w->t->spec.threads > 1 ? FULL_NS : 0;
	if (wait_ns && w->now_ns + wait_ns < w->next_ns)
		w->next_ns = w->now_ns + wait_ns;
}

/* Posts one message of a class with a rate; false: not due. Reads the time after the post too: a
 * preempted thread has sent at that time at the latest. */
static bool send_post_paced(struct qp_flow *f, bool answers)
{
	struct throttle *s = &f->worker->t->throttle;
	const struct pace *class = &s->class[f->class_index].pace;
	struct qp_requester *x = &f->tx;
	struct worker *w = f->worker;
	uint64_t wait = answers ? 0 : pace_wait_ns(&x->pace, w->now_ns), due;

	if (wait) {
		send_wait(w, wait);
		return false;
	}
	pthread_mutex_lock(&s->lock);
	worker_read_clock(w);
	wait = throttle_wait_ns(s, f->class, f->class_index, answers, w->now_ns);
	if (!wait) {
		due = x->pace.next_ns > class->next_ns ? x->pace.next_ns : class->next_ns;
		send_post_list(f, 1, answers ? w->now_ns : due);
		worker_read_clock(w);
		pace_consume(&x->pace, class_bytes(f->class), w->now_ns);
		throttle_consume(s, f->class, f->class_index, answers, w->now_ns);
		qp_flow_update_flight(f);
	}
	pthread_mutex_unlock(&s->lock);
	if (wait)
		send_wait(w, wait);
	return !wait;
}

void qp_flow_post(struct qp_flow *f)
{
	struct qp_requester *x = &f->tx;
	struct worker *w = f->worker;
	bool answers = f->class->probe && w->t->spec.role == TRAFFIC_SERVER;
	bool paced = f->class->rate_bytes_per_s;

	while (f->state == QP_FLOW_LIVE && (!w->ending || answers || x->first_post_ns) &&
	       !send_probe_waits(f) && send_probe_owes(f)) {
		uint32_t n = send_next_list(f);

		send_prefill(f, n);
		if (!n || (paced && !send_post_paced(f, answers)))
			return;
		if (!paced)
			send_post_list(f, n, w->now_ns);
	}
	send_prefill(f, send_next_list(f));
}

static int send_post_prefilled(struct qp_flow *f)
{
	struct qp_requester *x = &f->tx;
	struct ibv_send_wr *bad;

	x->prefilled = false;
	return ibv_post_send(f->qp, &x->wr[x->posted++ & (f->window - 1)], &bad);
}

/* Replies to an arrived message with minimal work in between. */
void qp_flow_answer(struct qp_flow *f)
{
	struct qp_requester *x = &f->tx;
	struct worker *w = f->worker;
	bool answers = w->t->spec.role == TRAFFIC_SERVER;
	bool now = x->prefilled && f->state == QP_FLOW_LIVE && !f->class->rate_bytes_per_s &&
		   (answers || !w->ending);
	int rc = 0;

	if (now && answers)
		rc = send_post_prefilled(f);
	worker_read_clock(w);
	if (now && !answers)
		rc = send_post_prefilled(f);
	if (!now) {
		qp_flow_post(f);
		return;
	}
	x->posted_ns[(x->posted - 1) & (f->window - 1)] = w->now_ns;
	if (x->posted - 1 == x->completed)
		send_note_progress(f);
	if (rc)
		send_post_failed(f, rc);
}

/* Each FETCH_ADD of 1 returns the number of earlier ones: none is missing and none was executed
 * twice. */
static void send_check_atomic(struct qp_flow *f, uint64_t n)
{
	uint64_t got;

	memcpy(&got, f->tx.slot + qp_flow_offset(f, n), sizeof(got));
	f->result->checked_bytes += sizeof(got);
	if (got != f->tx.returned && f->tx.returned != RETURNED_UNKNOWN)
		qp_flow_mismatch(f, n, "returned an unexpected counter value", got);
	f->tx.returned = got + 1;
}

void qp_flow_completed(struct qp_flow *f, uint32_t at)
{
	struct qp_requester *x = &f->tx;
	struct worker *w = f->worker;
	uint64_t from = x->completed;
	uint32_t n = ((at - (uint32_t)from) & (f->window - 1)) + 1;

	x->completed += n;
	qp_flow_update_flight(f);
	send_note_progress(f);
	f->result->messages += n;
	f->result->bytes += (uint64_t)n * class_bytes(f->class);
	w->last_ns = w->progress_ns = w->now_ns;
	w->progress_awake_ns = w->awake_ns;
	if (!f->class->probe) {
		rate_series_add(&f->result->goodput, w->now_ns,
				(uint64_t)n * class_bytes(f->class));
		histogram_add(&f->result->latency, w->now_ns - x->posted_ns[at]);
	}
	if (f->class->check == TRAFFIC_CHECK_NONE)
		return;
	if (f->class->verb == TRAFFIC_READ)
		for (uint64_t i = from; i < x->completed; i++)
			qp_flow_check(f, i, f->tx.slot + qp_flow_offset(f, i));
	else if (f->class->verb == TRAFFIC_ATOMIC)
		for (uint64_t i = from; i < x->completed; i++)
			send_check_atomic(f, i);
}

/* The peer's numbers are hostile input: credits must not exceed posted messages and never decrease.
 * They may be ahead of local completions, which arrive on another queue pair. */
void qp_flow_read_credit(struct qp_flow *f, const struct credit_slot *in)
{
	struct qp_requester *x = &f->tx;

	if (x->needs_credit && (in->credited < x->credited || in->credited > x->posted)) {
		traffic_fail(f->worker->t, CAUSE_DATA,
			     "class %u QP %u: the peer grants credits for %llu messages of %llu",
			     f->class_index, f->number, (unsigned long long)in->credited,
			     (unsigned long long)x->posted);
		return;
	}
	if (in->credited > x->credited)
		x->stall_reported = false;
	x->credited = in->credited;
	qp_flow_update_flight(f);
	if (!x->ended || !(in->flags & CREDIT_SEEN))
		return;
	x->seen = true;
	if (in->mismatches)
		traffic_set_cause(f->worker->t, CAUSE_DATA,
				  "class %u QP %u: the peer received %llu wrong messages",
				  f->class_index, f->number, (unsigned long long)in->mismatches);
}

/* Announces completed messages: a plain WRITE can be checked up to there, and UC and UD messages
 * still missing are lost. */
static void send_announce(struct qp_flow *f)
{
	struct credit_slot *out = &f->worker->out[f->at];
	struct qp_requester *x = &f->tx;
	bool checked = f->class->verb == TRAFFIC_WRITE && x->needs_credit;
	uint64_t step = f->window / 4 ? f->window / 4 : 1;

	if (checked && x->completed - out->completed >= step) {
		out->completed = x->completed;
		f->worker->dirty = true;
	}
	if (class_is_unreliable(f->class) && !x->stall_reported && x->completed == x->posted &&
	    x->completed > x->credited && !send_next_list(f)) {
		out->completed = x->completed;
		x->stall_reported = f->worker->dirty = true;
	}
}

static bool send_is_answered(const struct qp_flow *f)
{
	const struct qp_responder *x = &f->rx;

	if (f->worker->t->spec.role == TRAFFIC_CLIENT)
		return x->arrived == f->tx.posted;
	return x->ended && x->arrived == x->announced && f->tx.posted == x->arrived;
}

static bool send_may_end(const struct qp_flow *f)
{
	const struct qp_requester *x = &f->tx;
	bool answers = f->class->probe && f->worker->t->spec.role == TRAFFIC_SERVER;

	if (f->state != QP_FLOW_LIVE || x->completed != x->posted || x->first_post_ns ||
	    (f->class->probe && !send_is_answered(f)))
		return false;
	return answers || f->worker->ending || x->posted == x->limit;
}

void qp_flow_finish(struct qp_flow *f)
{
	struct credit_slot *out = &f->worker->out[f->at];

	if (f->tx.on)
		send_announce(f);
	if (!f->tx.on || f->tx.ended || !send_may_end(f))
		return;
	f->tx.ended = true;
	out->completed = f->tx.completed;
	out->flags |= CREDIT_ENDED;
	f->worker->dirty = true;
}
