/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was captured, counted as it is put out: what can be read off it comes from PSNs that do not
 * wrap, and from what the generator did.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/tools/run.h"

#define CNP_CLOSE_NS 3000
#define HELD_NS	     100000 /* who was quiet for longer before a pause was not held by it */

int run_note_event(struct run *r, const struct gen_burst *b, uint32_t flow)
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
	f->packets++;
	f->payload_bytes += g->payload;
	f->requests += gen_is_request(g->opcode);
	f->responses += gen_is_response(g->opcode);
	f->cnp += g->opcode == GEN_CNP;
	f->ce += g->ce;
	f->icrc_unverifiable += !whole;
	f->icrc_bad += whole && g->bad_icrc;
	f->icrc_good += whole && !g->bad_icrc;
}

/* Of an answer, once. */
static void count_answer(struct capgen_flow *f, const struct gen_frame *g)
{
	uint8_t kind = g->syndrome >> 5, low = g->opcode & 0x1f;
	bool ack = low == GEN_ACK || low == GEN_ATOMIC_ACK;

	f->acks += gen_is_response(g->opcode) && ack && !kind;
	f->rnr += kind == 1;
	f->naks_seq += kind == 3 && !(g->syndrome & 0x1f);
	f->naks_other += kind == 3 && (g->syndrome & 0x1f);
}

static void space_cnp(struct capgen_flow *f, uint64_t now_ns)
{
	uint64_t ns = now_ns - f->cnp_last_ns;

	if (f->cnp_last_ns && ns) {
		f->cnp_span_ns += ns;
		f->cnp_close += ns < CNP_CLOSE_NS;
		if (!f->cnp_min_ns || ns < f->cnp_min_ns)
			f->cnp_min_ns = ns;
	}
	f->cnp_last_ns = now_ns;
}

/* The first packet behind a pause that a flow may have waited for. */
static void count_held(struct held *h, struct capgen_flow *f, bool request, uint64_t now_ns)
{
	if (h->since_ns && request) {
		f->held++;
		f->held_ns += h->end_ns - h->since_ns;
	}
	h->since_ns = 0;
	h->last_ns = now_ns;
}

/* From here on both ways have new PSNs. */
static void count_connection(struct run *r, uint32_t id)
{
	struct capgen_truth *t = r->truth;

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t at = (id & ~1U) + i;

		if (r->path[at].transport != GEN_UD)
			t->flow[at].new_connections += t->flow[at].packets != 0;
		if (at < r->o->requesters)
			r->stream[at].seen_psn = r->stream[at].psn;
	}
}

uint32_t run_number(struct run *r, uint8_t tunnel)
{
	struct capgen_mirrors *m = &r->truth->mirrors;
	struct tunnel *t = &r->tunnel[tunnel];

	if (tunnel == GEN_ERSPAN2 || tunnel == GEN_ERSPAN3) {
		m->packets++;
		m->gaps += t->begun && t->missed;
		m->missing += t->begun ? t->missed : 0;
	}
	t->begun = true;
	t->sequence += t->missed + 1;
	t->missed = 0;
	return t->sequence;
}

static void measure(struct gen_stream *s, struct capgen_flow *f, enum gen_mark mark)
{
	if (mark == MARK_GAP) {
		s->gap_ns = s->due_ns;
	} else if (mark == MARK_NAK) {
		f->nak_ns += s->gap_ns ? s->due_ns - s->gap_ns : 0;
		s->gap_ns = 0;
		s->refused_ns = s->due_ns;
	} else if (mark == MARK_RESENT) {
		f->resend_ns += s->due_ns - s->refused_ns;
	}
}

void run_count(struct run *r, uint32_t id, const struct gen_step *step, uint32_t index, bool whole)
{
	struct gen_stream *s = &r->stream[id];
	struct capgen_flow *f = &r->truth->flow[index];
	bool request = step->request != NO_REQUEST;

	r->truth->frames++;
	count_frame(f, &step->frame, whole);
	f->copies += step->copy;
	f->request_copies += step->copy && request;
	f->held_unknown += request && s->transport != GEN_UD && !r->path[id].vlans &&
			   r->truth->pauses.pfc_frames;
	count_held(&r->held[index], f, request && s->transport != GEN_UD, s->due_ns);
	if (step->copy)
		return;
	count_answer(f, &step->frame);
	measure(s, &r->truth->flow[id], step->mark);
	if (step->frame.opcode == GEN_CNP)
		space_cnp(f, s->due_ns);
	if (step->connects)
		count_connection(r, id);
	if (request && !step->frame.bad_icrc && s->transport != GEN_UD)
		see_request(s, &s->burst->request[step->request], f);
}

void run_end_pause(struct run *r)
{
	uint64_t since_ns = r->pauser.since_ns;

	for (uint32_t i = 0; i < r->truth->streams; i++) {
		struct held *h = &r->held[i];
		bool active = h->last_ns && since_ns - h->last_ns <= HELD_NS;

		h->since_ns = r->path[i].vlans && active ? since_ns : 0;
		h->end_ns = r->pauser.end_ns;
	}
}
