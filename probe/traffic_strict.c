/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict mode: the first lost packet kills a queue pair that never repeats. It is counted with its
 * time, and the queue pair is made anew by both ends: the requester takes what the dead one gives
 * back, picks a new PSN and tells it through its cell; the responder resets its queue pair to that
 * and says so. What was not complete is posted again, into the same slots.
 *
 * The ACK timer of rxe (Linux 6.1 and 6.12) is not started again for each request, and fires though
 * nothing was lost; with it, each would be a false loss. There it is off: a loss in the stream is
 * known by the NAK for what follows, and one at its tail by our own clock.
 */
#include <sys/random.h>

#include "probe/traffic_end.h"

#define DRAIN_NS (1000 * NS_PER_MS) /* all requests of a dead queue pair come back; or not */
#define STALL_NS (1500 * NS_PER_MS) /* Soft-RoCE: no answer at all for so long */

static bool is_last(const struct flow *f, const struct ibv_wc *wc)
{
	return (uint32_t)wc->wr_id == ((f->tx.posted - 1) & (f->window - 1));
}

/* What is lost may have been a packet or its answer: an atomic may have been done. */
static void begin_drain(struct flow *f, const struct ibv_wc *wc)
{
	f->result->losses++;
	traffic_note_failure(f, wc, true);
	f->state = FLOW_DRAINING;
	f->since_ns = f->worker->now_ns;
	f->tx.returned = RETURNED_UNKNOWN;
}

bool flow_lost(struct flow *f, const struct ibv_wc *wc)
{
	if (f->state == FLOW_WAITING)
		return true; /* late, of the queue pair before */
	if (f->state == FLOW_LIVE) {
		if (wc->status != IBV_WC_RETRY_EXC_ERR || !f->tx.on)
			return false;
		begin_drain(f, wc);
	}
	if (is_last(f, wc))
		flow_drained(f);
	return true;
}

static uint32_t next_psn(const struct flow *f)
{
	uint32_t psn = 0;

	if (getrandom(&psn, sizeof(psn), 0) != (ssize_t)sizeof(psn))
		psn = f->self.psn + 0x100000;
	return psn & 0xffffff;
}

void flow_drained(struct flow *f)
{
	struct cell *out = &f->worker->out[f->at];
	struct err e = {0};

	f->tx.posted = f->tx.completed;
	f->self.psn = next_psn(f);
	if (traffic_reset_flow(f, &e)) {
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
		return;
	}
	f->state = FLOW_WAITING;
	f->since_ns = f->worker->now_ns;
	out->epoch = ++f->epoch;
	out->psn = f->self.psn;
	out->flags |= CELL_RESET;
	f->worker->dirty = true;
}

static void reset_responder(struct flow *f, const struct cell *in)
{
	struct cell *out = &f->worker->out[f->at];
	struct err e = {0};

	f->epoch = in->epoch;
	f->peer.psn = in->psn & 0xffffff;
	if (traffic_reset_flow(f, &e)) {
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
		return;
	}
	out->epoch = f->epoch;
	out->flags |= CELL_RESUME;
	f->worker->dirty = true;
}

void flow_take_reset(struct flow *f, const struct cell *in)
{
	if (f->worker->t->spec.mode != TRAFFIC_STRICT)
		return;
	if (f->rx.on && in->flags & CELL_RESET && in->epoch == f->epoch + 1)
		reset_responder(f, in);
	else if (f->tx.on && in->flags & CELL_RESUME && in->epoch == f->epoch &&
		 f->state == FLOW_WAITING)
		f->state = FLOW_LIVE;
}

/* As if the timer had fired. */
static void end_stall(struct flow *f)
{
	const struct ibv_wc wc = {.status = IBV_WC_RETRY_EXC_ERR};
	struct err e = {0};

	begin_drain(f, &wc);
	if (traffic_kill_flow(f, &e))
		traffic_fail(f->worker->t, CAUSE_LOCAL, "%.100s", e.text);
}

void flow_check_strict(struct flow *f)
{
	uint64_t now = f->worker->now_ns;
	bool waits = f->tx.on && f->tx.posted > f->tx.completed;

	if (f->state == FLOW_DRAINING && now - f->since_ns > DRAIN_NS)
		flow_drained(f);
	else if (f->state == FLOW_LIVE && f->worker->t->soft && waits &&
		 now - f->tx.progress_ns > STALL_NS)
		end_stall(f);
}
