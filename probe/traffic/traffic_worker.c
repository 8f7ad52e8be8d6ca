/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loop of a worker thread: completions, posts, credits. Polls on hardware. On Soft-RoCE polling
 * starves the kernel that moves the data, so the worker sleeps until a completion event, but polls
 * the CQ at least every 10 ms, because Linux 6.12 can lose the event.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probe/traffic/traffic_worker.h"

#define BATCH		 32
#define WAIT_MAX_NS	 (10 * NS_PER_MS)
#define AWAKE_MOST_NS	 (2 * WAIT_MAX_NS)   /* longest time that counts as awake in a turn */
#define SPIN_NS		 (20 * NS_PER_MS)    /* polling of memory after the last arrival */
#define SPIN_LOOKS	 524288u	     /* polls of memory between two other checks */
#define SPIN_BUDGET	 128u		     /* polls of one flow; all of them with one CPU */
#define BACKOFF_SLEEP_NS 5000		     /* after them on Soft-RoCE, for its kernel */
#define BACKOFF_SLEEPS	 20u		     /* sleeps between two other checks */
#define SLACK_NS	 1000ul		     /* instead of 50 us, by which a sleep may be late */
#define LOOK_NS		 (NS_PER_MS / 10)    /* later on Soft-RoCE: poll interval */
#define STOP_NS		 (2000 * NS_PER_MS)  /* after a stop: limit without any progress */
#define STOP_MOST_NS	 (4000 * NS_PER_MS)  /* after a stop: limit with progress */
#define STALL_NS	 (5000 * NS_PER_MS)  /* without a completion, plus TRAFFIC_STALL_RATE */
#define VERDICT_NS	 (60000 * NS_PER_MS) /* a NIC has reported an error by then */
#define ABORT_POLLS	 100		     /* of 1 ms each */

static void worker_complete(struct worker *w, const struct ibv_wc *wc)
{
	uint32_t at = (uint32_t)(wc->wr_id >> 32);
	struct qp_flow *f = at < w->flow_count ? &w->flow[at] : NULL;

	if (wc->status != IBV_WC_SUCCESS) {
		if (!f || w->t->spec.mode != TRAFFIC_STRICT || !qp_flow_lost(f, wc))
			traffic_completion_error(w, f, wc);
	} else if (!f) {
		control_completed(w, wc);
	} else if (wc->opcode & IBV_WC_RECV) {
		w->heard_ns = w->now_ns;
		qp_flow_received(f, wc);
	} else {
		qp_flow_completed(f, (uint32_t)wc->wr_id);
	}
}

static bool worker_flow_is_over(const struct qp_flow *f)
{
	return (!f->tx.on || f->tx.seen) && (!f->rx.on || f->rx.done);
}

static bool worker_flows_are_over(const struct worker *w)
{
	for (unsigned int i = 0; i < w->flow_count; i++) {
		if (!worker_flow_is_over(&w->flow[i]))
			return false;
	}
	return true;
}

/* Sets the flag once, in the credit slots of all flows. */
static void worker_flag_all(struct worker *w, enum credit_flag flag)
{
	for (unsigned int i = 0; i < w->flow_count; i++)
		w->out[i].flags |= flag;
	w->dirty = true;
}

/* Returns true with outstanding requests, which the NIC will complete or fail. */
static bool worker_is_waiting(const struct worker *w)
{
	bool waits = false;

	for (unsigned int i = 0; i < w->flow_count; i++)
		waits |= w->flow[i].tx.on && w->flow[i].tx.posted > w->flow[i].tx.completed;
	return waits;
}

/* A silent peer is gone, unless requests are outstanding: then the NIC reports missing
 * acknowledgements, which is another cause. */
static void worker_check_silence(struct worker *w)
{
	uint64_t quiet_ns = w->now_ns - w->heard_ns;

	if (quiet_ns <= TRAFFIC_SILENCE_MS * NS_PER_MS || !w->flow_count)
		return;
	if (quiet_ns > VERDICT_NS || !worker_is_waiting(w))
		traffic_fail(w->t, CAUSE_REMOTE_GONE, "no data from the peer for %.1f s",
			     (double)quiet_ns / 1e9);
}

/* Outstanding work need not complete after a stop: the path may be gone. */
static void worker_check_stop(struct worker *w)
{
	uint64_t since_ns = w->last_ns > w->stopped_ns ? w->last_ns : w->stopped_ns;

	if (!w->stopped_ns ||
	    (w->now_ns - since_ns <= STOP_NS && w->now_ns - w->stopped_ns <= STOP_MOST_NS))
		return;
	if (!worker_flows_are_over(w))
		traffic_set_cause(w->t, CAUSE_UNFINISHED,
				  "outstanding work did not end within %.1f s after the stop",
				  (double)(w->now_ns - w->stopped_ns) / 1e9);
	w->over = true;
}

static void worker_check_time(struct worker *w)
{
	struct traffic *t = w->t;

	if (w->now_ns >= t->end_ns)
		w->ending = true;
	if (atomic_load_explicit(&t->stopping, memory_order_relaxed) && !w->stopped_ns) {
		w->stopped_ns = w->now_ns;
		w->ending = true;
		worker_flag_all(w, CREDIT_STOP);
	}
	worker_check_stop(w);
	worker_check_silence(w);
	if (w->now_ns >= t->deadline_ns)
		traffic_fail(t, CAUSE_TIMEOUT, "not finished %u s after the end of the run",
			     TRAFFIC_GRACE_MS / 1000);
	if (atomic_load_explicit(&t->failed, memory_order_relaxed))
		w->over = true;
}

uint64_t worker_stall_timeout_ns(const struct worker *w)
{
	uint64_t limit_ns = STALL_NS;

	for (unsigned int i = 0; i < w->flow_count; i++)
		limit_ns += w->flow[i].class->message_bytes * UINT64_C(1000000000) /
			    TRAFFIC_STALL_RATE;
	return limit_ns;
}

/* The peer answers, but no request completes: endless pause, or a kernel that retries for ever (rxe
 * of Linux 6.1 after the MTU was lowered). */
static void worker_check_progress(struct worker *w)
{
	uint64_t limit_ns;

	if (w->now_ns - w->progress_ns <= STALL_NS)
		return;
	limit_ns = worker_stall_timeout_ns(w);
	if (!worker_is_waiting(w))
		w->progress_ns = w->now_ns;
	else if (w->now_ns - w->progress_ns > limit_ns &&
		 w->now_ns - w->heard_ns < TRAFFIC_SILENCE_MS / 2 * NS_PER_MS)
		traffic_fail(w->t, CAUSE_TIMEOUT, "no completion for %.1f s, but the peer answers",
			     (double)limit_ns / 1e9);
}

void worker_read_clock(struct worker *w)
{
	uint64_t now = monotonic_ns(), passed = now - w->now_ns;

	w->awake_ns += passed < AWAKE_MOST_NS ? passed : AWAKE_MOST_NS;
	w->now_ns = now;
}

bool worker_turn(struct worker *w)
{
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(w->cq, BATCH, wc);

	if (n < 0)
		traffic_fail(w->t, CAUSE_LOCAL, "cannot read the completion queue");
	worker_read_clock(w);
	w->next_ns = UINT64_MAX;
	for (int i = 0; i < n; i++)
		worker_complete(w, &wc[i]);
	if (w->t->soft && ++w->first >= w->flow_count)
		w->first = 0;
	for (unsigned int i = 0; i < w->flow_count; i++) {
		struct qp_flow *f = &w->flow[(w->first + i) % w->flow_count];

		if (qp_flow_awaits(f))
			qp_flow_poll(f);
		qp_flow_send_credit(f);
		if (f->tx.on)
			qp_flow_post(f);
		qp_flow_finish(f);
		if (w->t->spec.mode == TRAFFIC_STRICT)
			qp_flow_check_recovery(f);
	}
	control_flush(w);
	worker_check_time(w);
	if (n <= 0)
		worker_check_progress(w);
	if (!w->over && worker_flows_are_over(w))
		w->over = !w->dirty && !w->control_under_way;
	return n > 0;
}

static void worker_sleep(struct worker *w, uint64_t max_ns)
{
	struct pollfd fd = {.fd = w->channel->fd, .events = POLLIN};
	struct timespec ts = {.tv_nsec = (long)max_ns};
	struct ibv_cq *cq;
	void *context;

	if (ppoll(&fd, 1, &ts, NULL) < 0 && errno != EINTR)
		traffic_fail(w->t, CAUSE_LOCAL, "poll: %s", strerror(errno));
	if (fd.revents & POLLIN && !ibv_get_cq_event(w->channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		w->armed = false;
	}
}

/* Returns how long the worker may sleep for flows that poll memory: 0 = poll, as ib_write_lat does.
 * A quiet flow leaves the core to the kernel. */
static uint64_t worker_poll_wait_ns(const struct worker *w)
{
	uint64_t wait = WAIT_MAX_NS;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct qp_flow *f = &w->flow[i];
		uint64_t last = f->tx.progress_ns > f->rx.last_ns ? f->tx.progress_ns
								  : f->rx.last_ns;

		if (!qp_flow_awaits(f))
			continue;
		if (last + SPIN_NS > w->now_ns)
			return 0;
		wait = LOOK_NS;
	}
	return wait;
}

static bool worker_spin_flow(const struct qp_flow *f)
{
	for (unsigned int n = 0; n < SPIN_BUDGET; n++)
		if (qp_flow_has_arrived(f))
			return true;
	return false;
}

/* Returns true if all expected messages arrive in memory and none is due by the clock. */
static bool worker_only_polls(const struct worker *w)
{
	if (w->next_ns != UINT64_MAX)
		return false;
	for (unsigned int i = 0; i < w->flow_count; i++)
		if (!class_polls(w->flow[i].class))
			return false;
	return true;
}

/* Polls memory only: clock and system calls cost more than a message. True: a message arrived and
 * was answered. */
static bool worker_spin(struct worker *w, unsigned int looks)
{
	for (unsigned int n = 0; n < looks; n += SPIN_BUDGET) {
		for (unsigned int i = 0; i < w->flow_count; i++) {
			if (!qp_flow_awaits(&w->flow[i]) || !worker_spin_flow(&w->flow[i]))
				continue;
			qp_flow_poll(&w->flow[i]);
			return true;
		}
	}
	return false;
}

/* The same on Soft-RoCE, whose kernel moves the packets on the same CPUs, with sleeps in between.
 * An arrival during a sleep is answered first. */
static void worker_backoff(struct worker *w)
{
	static const struct timespec pause = {.tv_nsec = BACKOFF_SLEEP_NS};
	bool alone = w->t->processors <= 1;
	unsigned int naps = alone ? BACKOFF_SLEEPS : 1, looks = alone ? SPIN_BUDGET : SPIN_LOOKS;

	for (unsigned int n = 0; n < naps && !worker_spin(w, looks); n++)
		nanosleep(&pause, NULL);
}

/* Idle: arms the CQ, polls it once more, then sleeps. */
static void worker_idle(struct worker *w)
{
	uint64_t wait;

	if (!w->t->soft) {
		if (worker_only_polls(w))
			(void)worker_spin(w, SPIN_LOOKS);
		return;
	}
	wait = worker_poll_wait_ns(w);
	if (!wait) {
		if (!worker_only_polls(w))
			sched_yield(); /* yields to the kernel thread that moves the packets */
		else
			worker_backoff(w);
		return;
	}
	if (!w->armed) {
		if (ibv_req_notify_cq(w->cq, 0))
			traffic_fail(w->t, CAUSE_LOCAL, "cannot ask for completion events");
		w->armed = true;
		return;
	}
	if (w->next_ns <= w->now_ns)
		return;
	if (w->next_ns - w->now_ns < wait)
		wait = w->next_ns - w->now_ns;
	worker_sleep(w, wait);
}

/* Notifies the peer, so that it need not wait for its silence timeout. */
static void worker_send_abort(struct worker *w)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct ibv_wc wc;

	worker_flag_all(w, CREDIT_FAILED);
	w->control_under_way = 0;
	control_flush(w);
	for (unsigned int i = 0; i < ABORT_POLLS && w->control_under_way; i++) {
		while (ibv_poll_cq(w->cq, 1, &wc) > 0) {
			if ((uint32_t)(wc.wr_id >> 32) == WR_CONTROL && !(wc.opcode & IBV_WC_RECV))
				w->control_under_way = 0;
		}
		nanosleep(&moment, NULL);
	}
}

void worker_run(struct worker *w)
{
	traffic_pin(w->t, w->index);
	if (w->t->soft)
		(void)prctl(PR_SET_TIMERSLACK, SLACK_NS);
	w->heard_ns = w->control_sent_ns = w->progress_ns = w->t->start_ns;
	while (!w->over) {
		if (!worker_turn(w) && !w->over)
			worker_idle(w);
	}
	for (unsigned int i = 0; i < w->flow_count; i++) {
		qp_flow_count_gaps(&w->flow[i]);
		if (!worker_flow_is_over(&w->flow[i]))
			traffic_note_stall(&w->flow[i]);
	}
	if (atomic_load(&w->t->failed))
		worker_send_abort(w);
}
