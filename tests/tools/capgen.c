/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run: requesters in a heap by the time of their next frame, each with the burst that it is in.
 * What can be read off the captured frames is counted as they are put out, from PSNs that do not
 * wrap.
 */
#include "tests/tools/capgen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tools/script.h"

#define BEGIN_NS   UINT64_C(1700000000000000000)
#define PAUSE_NS   3000 /* a burst of one requester follows so long after those of all others */
#define HOSTS	   60
#define PSN_ROUND  UINT64_C(0x1000000)
#define QPN_FACTOR 0x9e3779b1U /* odd: every index has a QPN of its own */
#define FLOWS_MAX  (1U << 20)

struct run {
	const struct capgen_options *o;
	capgen_put *put;
	void *arg;
	struct capgen_truth *truth;
	struct gen_rng rng;
	struct gen_stream *stream;
	struct gen_path *path; /* by flow */
	uint32_t *heap, heap_count;
	struct gen_burst *spare[64];
	unsigned int spare_count;
};

void capgen_truth_clear(struct capgen_truth *truth)
{
	if (!truth)
		return;
	free(truth->flow);
	free(truth->event);
	memset(truth, 0, sizeof(*truth));
}

static void sift_down(struct run *r, uint32_t at)
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

static int note_event(struct run *r, const struct gen_burst *b, uint32_t flow)
{
	struct capgen_truth *t = r->truth;

	if (!(t->event_count & (t->event_count - 1))) {
		size_t room = t->event_count ? 2 * (size_t)t->event_count : 1;
		struct capgen_event *event = realloc(t->event, room * sizeof(*event));

		if (!event)
			return -ENOMEM;
		t->event = event;
	}
	t->event[t->event_count++] = (struct capgen_event){
		.fault = b->fault,
		.flow = flow,
		.psn = (uint32_t)(b->fault_psn & 0xffffff),
		.count = b->fault_count,
		.frame = t->frames,
	};
	return 0;
}

/* What the PSN of a captured request says. The receiver believes no packet that is broken, and
 * copies say nothing. */
static void see_request(struct gen_stream *s, struct gen_request *q, struct capgen_flow *f)
{
	if (q->psn > s->seen_psn + PSN_ROUND / 8)
		f->new_connections++;
	else if (q->psn > s->seen_psn) {
		f->gaps++;
		f->missing += q->psn - s->seen_psn;
	}
	if (q->seen)
		f->again++;
	else if (q->psn < s->seen_psn)
		f->missing -= q->span;
	q->seen = true;
	if (q->psn + q->span > s->seen_psn)
		s->seen_psn = q->psn + q->span;
}

static void count_frame(struct capgen_flow *f, const struct gen_frame *g, bool whole)
{
	uint8_t kind = g->syndrome >> 5;

	f->packets++;
	f->payload_bytes += g->payload;
	f->requests += g->opcode <= GEN_READ;
	f->responses += g->opcode > GEN_READ && g->opcode <= GEN_ACK;
	f->acks += g->opcode == GEN_ACK && !kind;
	f->rnr += kind == 1;
	f->naks_seq += kind == 3 && !(g->syndrome & 0x1f);
	f->naks_other += kind == 3 && (g->syndrome & 0x1f);
	f->cnp += g->opcode == GEN_CNP;
	f->ce += g->ce;
	f->icrc_unverifiable += !whole;
	f->icrc_bad += whole && g->bad_icrc;
	f->icrc_good += whole && !g->bad_icrc;
}

static int put_step(struct run *r, uint32_t id)
{
	struct gen_stream *s = &r->stream[id];
	struct gen_burst *b = s->burst;
	const struct gen_step *step = &b->step[b->at++];
	bool request = step->request != NO_REQUEST;
	uint32_t index = request ? id : id ^ 1, keep = r->o->snap ? r->o->snap : CAPGEN_FRAME_MAX;
	struct capgen_flow *f = &r->truth->flow[index];
	uint8_t bytes[CAPGEN_FRAME_MAX];
	uint32_t len = gen_frame_build(&r->path[index], &step->frame, keep, bytes);
	int err = 0;

	r->truth->frames++;
	count_frame(f, &step->frame, len <= keep);
	f->copies += step->copy;
	f->request_copies += step->copy && request;
	if (request && !step->copy && !step->frame.bad_icrc)
		see_request(s, &b->request[step->request], f);
	if (step->shows)
		err = note_event(r, b, id);
	return err ? err : r->put(r->arg, bytes, len < keep ? len : keep, len, s->due_ns);
}

/* Sets when the stream has its next frame; false when it has none any more. */
static bool plan_next(struct run *r, struct gen_stream *s)
{
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

/* The frame that is due next. 0, or why not. */
static int step_next(struct run *r)
{
	uint32_t id = r->heap[0];
	struct gen_stream *s = &r->stream[id];
	int err = 0;

	if (!s->burst && r->truth->frames >= r->o->frames) {
		r->heap[0] = r->heap[--r->heap_count];
		sift_down(r, 0);
		return 0;
	}
	if (!s->burst) {
		s->burst = burst_take(r);
		if (!s->burst)
			return -ENOMEM;
		gen_burst_make(r->o, &r->rng, s, s->burst, &r->truth->flow[id]);
	} else {
		err = put_step(r, id);
	}
	if (!plan_next(r, s))
		r->heap[0] = r->heap[--r->heap_count];
	sift_down(r, 0);
	return err;
}

static void set_host(uint8_t gid[16], unsigned int host, bool ipv6)
{
	memset(gid, 0, 16);
	if (ipv6) {
		memcpy(gid, "\x20\x01\x0d\xb8", 4);
	} else {
		memcpy(gid + 10, "\xff\xff\xc6\x12", 4);
	}
	gid[15] = (uint8_t)(host + 1);
}

/* The two ways of connection c. */
static void set_paths(struct run *r, uint32_t c)
{
	unsigned int a = gen_below(&r->rng, HOSTS),
		     b = (a + 1 + gen_below(&r->rng, HOSTS - 1)) % HOSTS;
	struct gen_path *there = &r->path[2 * c], *back = there + 1;
	uint32_t kind = gen_below(&r->rng, 20);

	*there = (struct gen_path){
		.qpn = (2 * c + 1) * QPN_FACTOR & 0xffffff,
		.sport = (uint16_t)(0xc000 | gen_below(&r->rng, 0x4000)),
		.ipv6 = kind < 2,
		.vlan = kind & 1,
	};
	set_host(there->src, a, there->ipv6);
	set_host(there->dst, b, there->ipv6);
	*back = *there;
	back->qpn = (2 * c + 2) * QPN_FACTOR & 0xffffff;
	memcpy(back->src, there->dst, 16);
	memcpy(back->dst, there->src, 16);
	for (unsigned int i = 0; i < 2; i++) {
		struct capgen_flow *f = &r->truth->flow[2 * c + i];

		memcpy(f->src, there[i].src, 16);
		memcpy(f->dst, there[i].dst, 16);
		f->qpn = there[i].qpn;
	}
}

static void set_stream(struct run *r, uint32_t i)
{
	struct gen_stream *s = &r->stream[i];
	uint64_t psn = r->o->wrap ? PSN_ROUND - 1 - gen_below(&r->rng, 64)
				  : gen_below(&r->rng, (uint32_t)PSN_ROUND);

	/* A round above zero: what is before the first PSN is below it here too. */
	s->psn = s->seen_psn = psn + PSN_ROUND;
	s->va = gen_random(&r->rng) >> 16;
	s->begin_ns = s->due_ns = BEGIN_NS +
				  gen_below(&r->rng, PAUSE_NS) * (uint64_t)r->o->requesters;
	s->fresh = true;
	r->heap[i] = i;
}

static int run_set_up(struct run *r)
{
	uint32_t n = r->o->requesters, flows = (n + 1) & ~1U;

	r->truth->flow = calloc(flows, sizeof(*r->truth->flow));
	r->stream = calloc(n, sizeof(*r->stream));
	r->path = calloc(flows, sizeof(*r->path));
	r->heap = calloc(n, sizeof(*r->heap));
	if (!r->truth->flow || !r->stream || !r->path || !r->heap)
		return -ENOMEM;
	r->truth->flow_count = flows;
	for (uint32_t c = 0; c < flows / 2; c++)
		set_paths(r, c);
	for (uint32_t i = 0; i < n; i++)
		set_stream(r, i);
	r->heap_count = n;
	for (uint32_t i = n / 2; i--;)
		sift_down(r, i);
	return 0;
}

static void run_clear(struct run *r)
{
	for (uint32_t i = 0; r->stream && i < r->o->requesters; i++)
		free(r->stream[i].burst);
	while (r->spare_count)
		free(r->spare[--r->spare_count]);
	free(r->stream);
	free(r->path);
	free(r->heap);
}

int capgen_run(const struct capgen_options *o, capgen_put *put, void *arg,
	       struct capgen_truth *truth)
{
	struct run r = {.o = o, .put = put, .arg = arg, .truth = truth, .rng = {o->seed}};
	int err;

	memset(truth, 0, sizeof(*truth));
	if (!o->requesters || o->requesters > FLOWS_MAX || o->pmtu < 256 || o->pmtu > 4096 ||
	    (o->snap && o->snap < 90))
		return -EINVAL;
	err = run_set_up(&r);
	while (!err && r.heap_count)
		err = step_next(&r);
	run_clear(&r);
	return err;
}
