/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict mode: without retransmission, the first lost packet ends a queue pair. The loss is counted
 * with its time, and both hosts reconnect the queue pair: the requester drains the failed one,
 * chooses a new PSN and sends it in its credit slot; the responder resets its queue pair to that
 * PSN and confirms. The requester posts incomplete messages again, into the same slots.
 *
 * A latency probe uses one queue pair in both directions, so both hosts may lose packets, even at
 * the same time. A host that gets a reset request while its own requests are outstanding drains
 * them first and also sends a request; when both request the same epoch, each serves the other's
 * request and continues when both are done. The recovery time is part of the lost message's round
 * trip.
 *
 * The ACK timer of rxe (Linux 6.1 and 6.12) is not restarted per request and fires without loss,
 * which would be a false loss here. It is off on rxe: a NAK reveals loss in the stream, and a timer
 * of the worker loss at its tail.
 */
#include "probe/traffic/traffic_worker.h"

#define DRAIN_NS	(1000 * NS_PER_MS) /* all requests of a dead queue pair come back; or not */
#define STALL_NS	(1500 * NS_PER_MS) /* Soft-RoCE: no answer at all for so long */
#define STALL_BEFORE_NS (2000 * NS_PER_MS) /* the worker gives up */

static bool recovery_is_last(const struct qp_flow *f, const struct ibv_wc *wc)
{
	return (uint32_t)wc->wr_id == ((f->tx.posted - 1) & (f->window - 1));
}

/* What is lost may have been a packet or its answer: an atomic may have been done. */
static void recovery_drain(struct qp_flow *f)
{
	f->state = QP_FLOW_DRAINING;
	f->since_ns = f->worker->now_ns;
	f->tx.returned = RETURNED_UNKNOWN;
}

static void recovery_begin_drain(struct qp_flow *f, const struct ibv_wc *wc)
{
	f->result->losses++;
	traffic_note_failure(f, wc, true);
	recovery_drain(f);
}

/* A message of a probe has come when the other end did what follows it, though its ACK is lost. */
static void recovery_complete_answered(struct qp_flow *f)
{
	bool client = f->worker->t->spec.role == TRAFFIC_CLIENT;
	struct qp_requester *x = &f->tx;
	uint64_t sure;

	if (!f->class->probe)
		return;
	if (qp_flow_awaits(f))
		qp_flow_poll(f);
	sure = client || !f->rx.arrived ? f->rx.arrived : f->rx.arrived - 1;
	if (sure > x->completed && sure <= x->posted)
		qp_flow_completed(f, (uint32_t)(sure - 1) & (f->window - 1));
	if (client && !x->first_post_ns && x->posted > x->completed)
		x->first_post_ns = x->posted_ns[x->completed & (f->window - 1)];
}

static void recovery_drained(struct qp_flow *f)
{
	struct credit_slot *out = &f->worker->out[f->at];
	struct err e = {0};

	recovery_complete_answered(f);
	f->tx.posted = f->tx.completed;
	qp_flow_update_flight(f);
	f->tx.prefilled = false;
	f->self.psn = traffic_random_psn();
	if (qp_flow_reset(f, &e)) {
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
		return;
	}
	f->state = QP_FLOW_WAITING;
	f->since_ns = f->worker->now_ns;
	out->epoch = ++f->epoch;
	out->psn = f->self.psn;
	out->flags = (out->flags & ~(uint32_t)CREDIT_RESUME) | CREDIT_RESET;
	f->worker->dirty = true;
}

bool qp_flow_lost(struct qp_flow *f, const struct ibv_wc *wc)
{
	if (f->state == QP_FLOW_WAITING)
		return true; /* late, of the queue pair before */
	if (f->state == QP_FLOW_LIVE) {
		if (wc->status != IBV_WC_RETRY_EXC_ERR || !f->tx.on)
			return false;
		recovery_begin_drain(f, wc);
	}
	if (recovery_is_last(f, wc))
		recovery_drained(f);
	return true;
}

/* What the peer asks for. */
static void recovery_reset(struct qp_flow *f, const struct credit_slot *in)
{
	struct credit_slot *out = &f->worker->out[f->at];
	struct err e = {0};

	f->epoch = in->epoch;
	f->remote.psn = in->psn & 0xffffff;
	if (qp_flow_reset(f, &e)) {
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
		return;
	}
	out->epoch = f->epoch;
	out->flags |= CREDIT_RESUME;
	f->worker->dirty = true;
}

static void recovery_kill_qp(struct qp_flow *f)
{
	struct err e = {0};

	if (qp_flow_set_error(f, &e))
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
}

/* The peer's queue pair is already what it asks ours to be, and an earlier answer of it may have
 * been written over by this. */
static void recovery_read_request(struct qp_flow *f, const struct credit_slot *in)
{
	if (f->state == QP_FLOW_DRAINING)
		return; /* it will ask too */
	if (f->state == QP_FLOW_LIVE && f->tx.posted > f->tx.completed) {
		recovery_drain(f);
		recovery_kill_qp(f);
		return;
	}
	f->worker->out[f->at].flags &= ~(uint32_t)CREDIT_RESET;
	recovery_reset(f, in);
	f->state = QP_FLOW_LIVE;
}

/* To our own question. */
static void recovery_read_answer(struct qp_flow *f, const struct credit_slot *in)
{
	const struct credit_slot *out = &f->worker->out[f->at];
	bool asks = f->rx.on && in->flags & CREDIT_RESET;

	if (asks && !(out->flags & CREDIT_RESUME))
		recovery_reset(f, in);
	if (in->flags & CREDIT_RESUME)
		f->state = QP_FLOW_LIVE;
}

void qp_flow_read_reset(struct qp_flow *f, const struct credit_slot *in)
{
	if (f->worker->t->spec.mode != TRAFFIC_STRICT)
		return;
	if (f->rx.on && in->flags & CREDIT_RESET && in->epoch == f->epoch + 1)
		recovery_read_request(f, in);
	else if (f->state == QP_FLOW_WAITING && in->epoch == f->epoch)
		recovery_read_answer(f, in);
}

/* As if the timer had fired. */
static void recovery_end_stall(struct qp_flow *f)
{
	const struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};

	recovery_begin_drain(f, &wc);
	recovery_kill_qp(f);
}

/* How long an answer may take for which a list of each flow goes first: of each that there is, or
 * that is under way. Those of the other workers go by the same way, and are as many. */
static uint64_t recovery_stall_ns(const struct worker *w, bool each)
{
	uint64_t most_ns = worker_stall_timeout_ns(w) - STALL_BEFORE_NS, bytes = 0, limit_ns;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct qp_requester *x = &w->flow[i].tx;
		uint64_t n = x->posted - x->completed;

		bytes += (each || n > x->post_list ? x->post_list : n) *
			 class_bytes(w->flow[i].class);
	}
	limit_ns = STALL_NS + bytes * w->t->spec.threads * 1000 / TRAFFIC_STALL_RATE * NS_PER_MS;
	return limit_ns < most_ns ? limit_ns : most_ns;
}

/* No answer though all others had their turn; or none came to any of them either, and what is left
 * would be there. Only time in which this worker looked counts: a host that stood still for a while
 * has the answers of meanwhile before it. */
static bool recovery_is_stalled(const struct qp_flow *f)
{
	const struct qp_requester *x = &f->tx;
	const struct worker *w = f->worker;
	uint64_t since_ns = x->progress_awake_ns, any_ns = w->progress_awake_ns;

	if (!w->t->soft || !x->on || x->posted == x->completed ||
	    w->awake_ns - since_ns <= STALL_NS)
		return false;
	if (any_ns < since_ns)
		any_ns = since_ns;
	return w->awake_ns - since_ns > recovery_stall_ns(w, true) ||
	       w->awake_ns - any_ns > recovery_stall_ns(w, false);
}

void qp_flow_check_recovery(struct qp_flow *f)
{
	if (f->state == QP_FLOW_DRAINING && f->worker->now_ns - f->since_ns > DRAIN_NS)
		recovery_drained(f);
	else if (f->state == QP_FLOW_LIVE && recovery_is_stalled(f))
		recovery_end_stall(f);
}
