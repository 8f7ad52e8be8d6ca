/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run: requesters in a heap by the time of their next frame, each with the burst that it is in.
 * Requesters whose connection is down wait outside of it.
 */
#include "tests/tools/capgen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/run.h"

#define FLOWS_MAX (1U << 20)
#define CM_MAX	  4096U /* requesters */
#define SNAP_MIN  90
#define SNAP_DEEP 192 /* tunnel, VLANs and every extension header */
#define SNAP_CM	  448 /* and a datagram of the connection manager behind them */

void capgen_truth_clear(struct capgen_truth *truth)
{
	if (!truth)
		return;
	free(truth->flow);
	free(truth->event);
	memset(truth, 0, sizeof(*truth));
}

void run_sift_down(struct run *r, uint32_t at)
{
	uint32_t moved = r->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < r->heap_count &&
		    r->stream[r->heap[child + 1]].due_ns < r->stream[r->heap[child]].due_ns)
			child++;
		if (child >= r->heap_count ||
		    r->stream[moved].due_ns <= r->stream[r->heap[child]].due_ns)
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = moved;
}

static void heap_push(struct run *r, uint32_t id)
{
	uint32_t at = r->heap_count++;

	for (; at; at = (at - 1) / 2) {
		uint32_t above = r->heap[(at - 1) / 2];

		if (r->stream[above].due_ns <= r->stream[id].due_ns)
			break;
		r->heap[at] = above;
	}
	r->heap[at] = id;
}

static void heap_pop(struct run *r)
{
	r->heap[0] = r->heap[--r->heap_count];
	run_sift_down(r, 0);
}

static struct gen_burst *burst_take(struct run *r)
{
	return r->spare_count ? r->spare[--r->spare_count] : malloc(sizeof(struct gen_burst));
}

static void burst_give(struct run *r, struct gen_burst *b)
{
	if (r->spare_count < sizeof(r->spare) / sizeof(r->spare[0]))
		r->spare[r->spare_count++] = b;
	else
		free(b);
}

/* The flow that a step of a requester belongs to. */
static uint32_t flow_of(const struct run *r, uint32_t id, const struct gen_step *step)
{
	if (step->frame.mad)
		return r->link[id / 2].manager[step->back];
	return step->request != NO_REQUEST ? id : id ^ 1;
}

static int put_step(struct run *r, uint32_t id)
{
	struct gen_stream *s = &r->stream[id];
	struct gen_burst *b = s->burst;
	struct gen_step *step = &b->step[b->at++];
	uint32_t index = flow_of(r, id, step), keep = r->o->snap ? r->o->snap : CAPGEN_FRAME_MAX;
	uint8_t bytes[CAPGEN_FRAME_MAX];
	uint32_t len;
	int err = 0;

	step->frame.sequence = run_number(r, r->path[id].tunnel);
	len = gen_frame_build(&r->path[step->frame.mad ? id ^ step->back : index], &step->frame,
			      keep, bytes);
	run_count(r, id, step, index, len <= keep);
	if (step->shows)
		err = run_note_event(r, b, id);
	return err ? err : r->put(r->arg, bytes, len < keep ? len : keep, len, s->due_ns);
}

/* A connection that was made: both go on. */
static void link_up(struct run *r, uint32_t id, uint64_t now_ns)
{
	struct link *l = &r->link[id / 2];
	uint32_t other = id ^ 1;

	l->down = false;
	l->again = true;
	l->waiting = 0;
	if (other >= r->o->requesters)
		return;
	r->stream[other].begin_ns = r->stream[other].due_ns = now_ns + 1000;
	heap_push(r, other);
}

/* Sets when the stream has its next frame; false when it has none any more. */
static bool plan_next(struct run *r, uint32_t id)
{
	struct gen_stream *s = &r->stream[id];

	if (s->burst->at < s->burst->steps) {
		s->due_ns = s->begin_ns + s->burst->step[s->burst->at].at_ns;
		return true;
	}
	s->begin_ns += s->burst->end_ns + 2000;
	s->begin_ns += gen_below(&r->rng, 2 * PAUSE_NS) * (uint64_t)r->o->requesters;
	s->due_ns = s->begin_ns;
	burst_give(r, s->burst);
	s->burst = NULL;
	return r->truth->frames < r->o->frames;
}

/* Waits until both requesters are between their bursts; the last one connects them, in the name of
 * the first. */
static int await_link(struct run *r, uint32_t id)
{
	struct link *l = &r->link[id / 2];
	uint32_t first = id & ~1U;
	struct gen_stream *s = &r->stream[first], *other = s + 1;
	uint64_t now_ns = r->stream[id].due_ns;
	const uint32_t qpn[2] = {r->path[first].qpn, r->path[first + 1].qpn};

	heap_pop(r);
	if (first + 1 == r->o->requesters)
		other = NULL;
	if (++l->waiting < (other ? 2 : 1))
		return 0;
	s->burst = burst_take(r);
	if (!s->burst)
		return -ENOMEM;
	gen_handshake(r->o, &r->rng, s, other, qpn, l->again, s->burst);
	s->begin_ns = s->due_ns = now_ns;
	heap_push(r, first);
	return 0;
}

static int begin_burst(struct run *r, uint32_t id)
{
	struct gen_stream *s = &r->stream[id];

	s->burst = burst_take(r);
	if (!s->burst)
		return -ENOMEM;
	gen_burst_make(r->o, &r->rng, s, s->burst, &r->truth->flow[id]);
	r->truth->dropped += s->burst->dropped;
	r->tunnel[r->path[id].tunnel].missed += s->burst->dropped;
	r->link[id / 2].down |= s->broken;
	s->broken = false;
	return 0;
}

/* What overtakes another on its way is not stopped in between. */
static bool is_stopped(const struct run *r, uint32_t id)
{
	const struct gen_stream *s = &r->stream[id];

	return gen_pauser_stops(&r->pauser, &r->path[id], s->due_ns) &&
	       (!s->burst || !s->burst->at ||
		(s->burst->fault != CAPGEN_REORDERED && s->burst->fault != CAPGEN_NAK_MISSED));
}

/* What is due next of the requesters. 0, or why not. */
static int step_next(struct run *r)
{
	uint32_t id = r->heap[0];
	struct gen_stream *s = &r->stream[id];
	bool handshake;
	int err;

	if (!s->burst && r->truth->frames >= r->o->frames) {
		heap_pop(r);
		return 0;
	}
	if (is_stopped(r, id)) {
		uint64_t wait_ns = r->pauser.end_ns + 50 + gen_below(&r->rng, 500) - s->due_ns;

		s->begin_ns += wait_ns;
		s->due_ns += wait_ns;
		run_sift_down(r, 0);
		return 0;
	}
	if (!s->burst && r->link[id / 2].down)
		return await_link(r, id);
	err = s->burst ? put_step(r, id) : begin_burst(r, id);
	if (err)
		return err;
	handshake = s->burst->handshake;
	if (plan_next(r, id))
		run_sift_down(r, 0);
	else
		heap_pop(r);
	if (handshake && !s->burst)
		link_up(r, id, s->due_ns);
	return 0;
}

static int put_pause(struct run *r)
{
	uint64_t due_ns = r->pauser.due_ns;
	uint8_t bytes[CAPGEN_FRAME_MAX];
	bool ended;
	uint32_t len = gen_pauser_step(&r->pauser, &r->rng, &r->truth->pauses, &ended, bytes);

	if (ended)
		run_end_pause(r);
	r->truth->frames++;
	return r->put(r->arg, bytes, len, len, due_ns);
}

static int run_next(struct run *r)
{
	uint64_t due_ns = r->stream[r->heap[0]].due_ns;

	/* Nobody is held while nobody sends. */
	if (r->pauser.due_ns + 1000000 < due_ns && r->pauser.end_ns < r->pauser.due_ns)
		r->pauser.due_ns = due_ns + gen_below(&r->rng, 100000);
	return r->pauser.due_ns <= due_ns ? put_pause(r) : step_next(r);
}

static bool is_possible(const struct capgen_options *o)
{
	uint32_t snap = o->mix & (CAPGEN_OPS | CAPGEN_XRC | CAPGEN_NETS) ? SNAP_DEEP : SNAP_MIN;

	if (o->mix & CAPGEN_CM)
		snap = SNAP_CM;
	return o->requesters && o->requesters <= (o->mix & CAPGEN_CM ? CM_MAX : FLOWS_MAX) &&
	       (!o->pmtu || (o->pmtu >= 256 && o->pmtu <= 4096)) && (!o->snap || o->snap >= snap);
}

int capgen_run(const struct capgen_options *o, capgen_put *put, void *arg,
	       struct capgen_truth *truth)
{
	struct run r = {.o = o, .put = put, .arg = arg, .truth = truth, .rng = {o->seed}};
	int err;

	memset(truth, 0, sizeof(*truth));
	if (!is_possible(o))
		return -EINVAL;
	err = run_set_up(&r);
	while (!err && r.heap_count)
		err = run_next(&r);
	run_clear(&r);
	return err;
}
