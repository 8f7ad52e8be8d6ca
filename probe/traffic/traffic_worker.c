/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a worker: completions, posts, grants. On hardware it polls; on Soft-RoCE polling
 * starves the kernel that does the work, so it sleeps until an event, but never trusts one to come:
 * Linux 6.12 can lose it, so the CQ is looked at every 10 ms.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "probe/traffic/traffic_end.h"

#define BATCH	      32
#define WAIT_MAX_NS   (10 * NS_PER_MS)
#define AWAKE_MOST_NS (2 * WAIT_MAX_NS) /* of a turn; in a longer one the host stood still */
#define SPIN_NS	      (20 * NS_PER_MS)	/* after what came last: memory that is polled */
#define LOOKS	      524288u		/* at polled memory, between looks at anything else */
#define SPELL	      128u   /* of them at one flow; all where one processor moves packets, too */
#define NAP_NS	      5000   /* after them on Soft-RoCE, for its kernel */
#define NAPS	      20u    /* of that processor, between looks at anything else */
#define SLACK_NS      1000ul /* and not 50 us, which a sleep may be late */
#define LOOK_NS	      (NS_PER_MS / 10)	  /* later on Soft-RoCE: it is looked at so often */
#define STOP_NS	      (2000 * NS_PER_MS)  /* after a stop: nothing comes, and is left */
#define STOP_MOST_NS  (4000 * NS_PER_MS)  /* it comes slowly, and is left */
#define STALL_NS      (5000 * NS_PER_MS)  /* nothing completes, on top of TRAFFIC_STALL_RATE */
#define VERDICT_NS    (60000 * NS_PER_MS) /* a NIC has given up by then */
#define FAREWELLS     100		  /* of 1 ms */

static void take(struct worker *w, const struct ibv_wc *wc)
{
	uint32_t at = (uint32_t)(wc->wr_id >> 32);
	struct flow *f = at < w->flow_count ? &w->flow[at] : NULL;

	if (wc->status != IBV_WC_SUCCESS) {
		if (!f || w->t->spec.mode != TRAFFIC_STRICT || !flow_lost(f, wc))
			traffic_completion_error(w, f, wc);
	} else if (!f) {
		control_taken(w, wc);
	} else if (wc->opcode & IBV_WC_RECV) {
		w->heard_ns = w->now_ns;
		flow_received(f, wc);
	} else {
		flow_completed(f, (uint32_t)wc->wr_id);
	}
}

static bool flow_is_over(const struct flow *f)
{
	return (!f->tx.on || f->tx.seen) && (!f->rx.on || f->rx.done);
}

static bool flows_are_over(const struct worker *w)
{
	for (unsigned int i = 0; i < w->flow_count; i++) {
		if (!flow_is_over(&w->flow[i]))
			return false;
	}
	return true;
}

static void check_end(struct worker *w)
{
	if (!flows_are_over(w))
		return;
	w->over = !w->dirty && !w->control_under_way;
}

/* Once: the cells of all flows say it. */
static void flag_all(struct worker *w, enum cell_flag flag)
{
	for (unsigned int i = 0; i < w->flow_count; i++)
		w->out[i].flags |= flag;
	w->dirty = true;
}

/* Requests that the NIC will give a verdict on. */
static bool is_waiting(const struct worker *w)
{
	bool waits = false;

	for (unsigned int i = 0; i < w->flow_count; i++)
		waits |= w->flow[i].tx.on && w->flow[i].tx.posted > w->flow[i].tx.completed;
	return waits;
}

/* A program that says nothing is gone. While requests of ours are under way the NIC knows better:
 * that nothing is acknowledged any more is another cause. */
static void check_silence(struct worker *w)
{
	uint64_t quiet_ns = w->now_ns - w->heard_ns;

	if (quiet_ns <= TRAFFIC_SILENCE_MS * NS_PER_MS || !w->flow_count)
		return;
	if (quiet_ns > VERDICT_NS || !is_waiting(w))
		traffic_fail(w->t, CAUSE_PEER_GONE, "nothing came from the other end for %.1f s",
			     (double)quiet_ns / 1e9);
}

/* What was under way when it was stopped need not come to its end: the path may be gone. */
static void check_stop(struct worker *w)
{
	uint64_t since_ns = w->last_ns > w->stopped_ns ? w->last_ns : w->stopped_ns;

	if (!w->stopped_ns ||
	    (w->now_ns - since_ns <= STOP_NS && w->now_ns - w->stopped_ns <= STOP_MOST_NS))
		return;
	if (!flows_are_over(w))
		traffic_blame(w->t, CAUSE_UNFINISHED,
			      "what was under way when it was stopped did not end within %.1f s",
			      (double)(w->now_ns - w->stopped_ns) / 1e9);
	w->over = true;
}

static void check_time(struct worker *w)
{
	struct traffic *t = w->t;

	if (w->now_ns >= t->end_ns)
		w->ending = true;
	if (atomic_load_explicit(&t->stopping, memory_order_relaxed) && !w->stopped_ns) {
		w->stopped_ns = w->now_ns;
		w->ending = true;
		flag_all(w, CELL_STOP);
	}
	check_stop(w);
	check_silence(w);
	if (w->now_ns >= t->deadline_ns)
		traffic_fail(t, CAUSE_TIMEOUT, "not finished %u s after its time",
			     TRAFFIC_GRACE_MS / 1000);
	if (atomic_load_explicit(&t->failed, memory_order_relaxed))
		w->over = true;
}

uint64_t worker_patience_ns(const struct worker *w)
{
	uint64_t limit_ns = STALL_NS;

	for (unsigned int i = 0; i < w->flow_count; i++)
		limit_ns += w->flow[i].class->message_bytes * UINT64_C(1000000000) /
			    TRAFFIC_STALL_RATE;
	return limit_ns;
}

/* The other end answers, but nothing of ours arrives: a pause without end, or a kernel that tries
 * for ever (rxe of Linux 6.1 after the MTU was lowered). */
static void check_progress(struct worker *w)
{
	uint64_t limit_ns;

	if (w->now_ns - w->progress_ns <= STALL_NS)
		return;
	limit_ns = worker_patience_ns(w);
	if (!is_waiting(w))
		w->progress_ns = w->now_ns;
	else if (w->now_ns - w->progress_ns > limit_ns &&
		 w->now_ns - w->heard_ns < TRAFFIC_SILENCE_MS / 2 * NS_PER_MS)
		traffic_fail(w->t, CAUSE_TIMEOUT,
			     "nothing was completed for %.1f s, though the other end answers",
			     (double)limit_ns / 1e9);
}

void worker_take_time(struct worker *w)
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
	worker_take_time(w);
	w->next_ns = UINT64_MAX;
	for (int i = 0; i < n; i++)
		take(w, &wc[i]);
	if (w->t->soft && ++w->first >= w->flow_count)
		w->first = 0;
	for (unsigned int i = 0; i < w->flow_count; i++) {
		struct flow *f = &w->flow[(w->first + i) % w->flow_count];

		if (flow_awaits(f))
			flow_look(f);
		flow_grant(f);
		if (f->tx.on)
			flow_post(f);
		flow_finish(f);
		if (w->t->spec.mode == TRAFFIC_STRICT)
			flow_check_strict(f);
	}
	control_flush(w);
	check_time(w);
	if (n <= 0)
		check_progress(w);
	if (!w->over)
		check_end(w);
	return n > 0;
}

static void sleep_for(struct worker *w, uint64_t max_ns)
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

/* How long the worker may sleep for flows whose arrivals no event tells of: 0 = it polls, as
 * ib_write_lat does. A flow that is quiet leaves the core to the kernel's work. */
static uint64_t polled_wait(const struct worker *w)
{
	uint64_t wait = WAIT_MAX_NS;

	for (unsigned int i = 0; i < w->flow_count; i++) {
		const struct flow *f = &w->flow[i];
		uint64_t last = f->tx.progress_ns > f->rx.last_ns ? f->tx.progress_ns
								  : f->rx.last_ns;

		if (!flow_awaits(f))
			continue;
		if (last + SPIN_NS > w->now_ns)
			return 0;
		wait = LOOK_NS;
	}
	return wait;
}

static bool comes(const struct flow *f)
{
	for (unsigned int n = 0; n < SPELL; n++)
		if (flow_has_come(f))
			return true;
	return false;
}

/* All that is awaited comes to memory, and no message is due later, which goes by the clock. */
static bool polls_alone(const struct worker *w)
{
	if (w->next_ns != UINT64_MAX)
		return false;
	for (unsigned int i = 0; i < w->flow_count; i++)
		if (!class_polls(w->flow[i].class))
			return false;
	return true;
}

/* Memory alone: the clock and the kernel cost more than a message does. True: something came, and
 * was answered. */
static bool spin(struct worker *w, unsigned int looks)
{
	for (unsigned int n = 0; n < looks; n += SPELL) {
		for (unsigned int i = 0; i < w->flow_count; i++) {
			if (!flow_awaits(&w->flow[i]) || !comes(&w->flow[i]))
				continue;
			flow_look(&w->flow[i]);
			return true;
		}
	}
	return false;
}

/* The same on Soft-RoCE, whose kernel moves the packets on the same processors. What came in a nap
 * is answered before anything else is looked at. */
static void doze(struct worker *w)
{
	static const struct timespec nap = {.tv_nsec = NAP_NS};
	bool alone = w->t->processors <= 1;
	unsigned int naps = alone ? NAPS : 1, looks = alone ? SPELL : LOOKS;

	for (unsigned int n = 0; n < naps && !spin(w, looks); n++)
		nanosleep(&nap, NULL);
}

/* Nothing to do. The CQ is armed first and looked at once more, then slept on. */
static void idle(struct worker *w)
{
	uint64_t wait;

	if (!w->t->soft) {
		if (polls_alone(w))
			(void)spin(w, LOOKS);
		return;
	}
	wait = polled_wait(w);
	if (!wait) {
		if (!polls_alone(w))
			sched_yield(); /* to the kernel's thread that moves the packets */
		else
			doze(w);
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
	sleep_for(w, wait);
}

/* So that the other end need not wait for our silence. */
static void say_farewell(struct worker *w)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	struct ibv_wc wc;

	flag_all(w, CELL_FAILED);
	w->control_under_way = 0;
	control_flush(w);
	for (unsigned int i = 0; i < FAREWELLS && w->control_under_way; i++) {
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
	w->heard_ns = w->told_ns = w->progress_ns = w->t->start_ns;
	while (!w->over) {
		if (!worker_turn(w) && !w->over)
			idle(w);
	}
	for (unsigned int i = 0; i < w->flow_count; i++) {
		flow_leave(&w->flow[i]);
		if (!flow_is_over(&w->flow[i]))
			traffic_note_stall(&w->flow[i]);
	}
	if (atomic_load(&w->t->failed))
		say_farewell(w);
}
