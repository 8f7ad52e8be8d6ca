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

#define DRAIN_NS	(1000 * NS_PER_MS) /* time limit for the flush of a failed queue pair */
#define STALL_NS	(1500 * NS_PER_MS) /* Soft-RoCE: no reply at all for this long */
#define STALL_BEFORE_NS (2000 * NS_PER_MS) /* before the worker's own stall timeout */

/* Flushes outstanding requests. A request or its response may have been lost: an atomic may have
 * been executed. */
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

/* A probe message has arrived if the peer answered it, even if its ACK is lost. */
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
		return true; /* late, from the previous queue pair */
	if (f->state == QP_FLOW_LIVE) {
		if (wc->status != IBV_WC_RETRY_EXC_ERR || !f->tx.on)
			return false;
		recovery_begin_drain(f, wc);
	}
	if ((uint32_t)wc->wr_id == ((f->tx.posted - 1) & (f->window - 1))) /* the last one */
		recovery_drained(f);
	return true;
}

/* Serves the peer's reset request. */
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

/* The peer's queue pair is already reset; this request may have overwritten its earlier
 * confirmation. */
static void recovery_read_request(struct qp_flow *f, const struct credit_slot *in)
{
	if (f->state == QP_FLOW_DRAINING)
		return; /* the peer will also send a request */
	if (f->state == QP_FLOW_LIVE && f->tx.posted > f->tx.completed) {
		recovery_drain(f);
		recovery_kill_qp(f);
		return;
	}
	f->worker->out[f->at].flags &= ~(uint32_t)CREDIT_RESET;
	recovery_reset(f, in);
	f->state = QP_FLOW_LIVE;
}

/* Handles the answer to a reset request of this host. */
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

/* Returns the time a reply may take behind one post list of every flow (all flows, or those with
 * outstanding messages). Flows of other workers share the path and count as well. */
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

/* True if all other flows had their turn without a reply, or none of them has one either. Counts
 * only time in which this worker ran: after a pause without CPU, replies are still unread. */
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
	const struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};

	if (f->state == QP_FLOW_DRAINING && f->worker->now_ns - f->since_ns > DRAIN_NS) {
		recovery_drained(f);
	} else if (f->state == QP_FLOW_LIVE && recovery_is_stalled(f)) {
		/* Acts as if the ACK timer had fired. */
		recovery_begin_drain(f, &wc);
		recovery_kill_qp(f);
	}
}
