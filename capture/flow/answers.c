/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hole between the responses of one READ, or of READs. It is filled when they come late, or again
 * for a READ that was sent again; what stays open was never asked for again, so the requester gave
 * up or, more likely, has what the capture has not.
 */
#include "capture/flow/answers.h"

#include "capture/decode/opcode.h"

/* Of an opcode without its transport. */
#define READ_FIRST  0x0d
#define READ_MIDDLE 0x0e
#define READ_LAST   0x0f

static uint8_t operation_of(uint8_t opcode)
{
	enum opcode_class class = opcode_class(opcode);

	return class == OPCODE_CLASS_RC || class == OPCODE_CLASS_XRC ? opcode & 0x1f : 0;
}

/* Whether `opcode` is a response with others of its READ before it, and behind it. */
static bool follows(uint8_t opcode)
{
	uint8_t op = operation_of(opcode);

	return op == READ_MIDDLE || op == READ_LAST;
}

static bool goes_on(uint8_t opcode)
{
	uint8_t op = operation_of(opcode);

	return op == READ_FIRST || op == READ_MIDDLE;
}

static void open_hole(struct stream_more *own, uint32_t from, uint32_t len, const struct packet *p,
		      struct flow *f, struct flow_events *ev)
{
	if (!len)
		return;
	psn_gap_open(own->answer_gap, &own->answer_gap_count,
		     &(struct psn_gap){from, len, p->time_ns});
	f->responses_missing += len;
	ev->bits |= FLOW_READ_GAP;
	ev->psns += len;
}

/* Whether a response that was missing comes late by itself. One that was asked for again follows
 * the request that did so, and begins a READ where that begins anew; a mirror's other way may show
 * what the first one lost. */
static bool is_late(const struct stream *own, const struct packet *p, uint64_t hole_ns,
		    const struct stream *requester)
{
	const struct stream_more *asked = requester ? requester->more : NULL;
	const struct stream_read *read = stream_read_of(requester, p->psn);
	bool begins = !follows(p->opcode);

	if (p->time_ns > hole_ns && p->time_ns - hole_ns >= STREAM_REORDER_NS)
		return false;
	if (!stream_is_on_path(own, p) || (begins && !(read && read->psn == p->psn)))
		return false;
	if (!asked || !asked->again_ns || asked->again_ns < hole_ns ||
	    psn_distance(p->psn, asked->again_psn) < 0)
		return true;
	return !begins && p->psn == asked->again_psn;
}

static void fill_hole(struct stream *own, const struct packet *p, const struct stream *requester,
		      struct flow *f, struct flow_events *ev)
{
	struct stream_more *more = own->more;
	const struct psn_gap *hole = psn_gap_at(more->answer_gap, more->answer_gap_count, p->psn);
	uint64_t hole_ns = hole ? hole->time_ns : 0;

	if (!hole)
		return;
	ev->psns = psn_gap_fill(more->answer_gap, &more->answer_gap_count, p->psn, 1);
	ev->bits |= FLOW_READ_FILLED;
	f->responses_missing -= ev->psns;
	if (!is_late(own, p, hole_ns, requester))
		return;
	f->responses_reordered++;
	ev->bits |= FLOW_REORDERED;
}

bool answers_awaits(struct stream_more *own, const struct packet *p)
{
	uint8_t flags = opcode_info(p->opcode)->flags;

	return (flags & (OP_RESPONSE | OP_ACK)) == OP_RESPONSE &&
	       psn_gap_at(own->answer_gap, own->answer_gap_count, p->psn);
}

/* Of d responses that are missing: how many are of the end of the READ r, of which `next` was due.
 */
static uint32_t missing_end(const struct stream_read *r, uint32_t next, uint32_t d)
{
	uint32_t rest = r ? (uint32_t)psn_distance(r->psn + r->span, next) : 1;

	return rest < d ? rest : d;
}

/* And how many of the beginning of the READ r, of which psn is the first that came. */
static uint32_t missing_begin(const struct stream_read *r, uint32_t psn, uint32_t d)
{
	uint32_t part = r ? (uint32_t)psn_distance(psn, r->psn) : 1;

	return part < d ? part : d;
}

/* READs of which nothing came before an answer to a later request: of what lies within `len` PSNs
 * behind `from`. */
static void pass_over_reads(uint32_t from, uint32_t len, const struct packet *p,
			    const struct stream *requester, struct stream_more *own, struct flow *f,
			    struct flow_events *ev)
{
	unsigned int n = requester && len ? requester->read_count : 0;

	/* Most answers are to what was sent behind the newest READ. */
	if (n && psn_distance(from, requester->psn.reads_end) >= 0)
		return;
	for (unsigned int i = 0; i < n && i < STREAM_READS; i++) {
		int32_t begin = psn_distance(requester->read[i].psn, from);
		int64_t end = (int64_t)begin + requester->read[i].span;

		begin = begin > 0 ? begin : 0;
		end = end < len ? end : len;
		if (begin < end)
			open_hole(own, (from + (uint32_t)begin) & PSN_MASK, (uint32_t)(end - begin),
				  p, f, ev);
	}
}

/* d PSNs were left out before p. */
static void judge_jump(const struct answers *a, const struct packet *p,
		       const struct stream *requester, uint32_t d, struct stream_more *own,
		       struct flow *f, struct flow_events *ev)
{
	bool inside = a->state == ANSWERS_INSIDE, within = follows(p->opcode);
	const struct stream_read *last = inside ? stream_read_of(requester, a->next) : NULL;
	const struct stream_read *now = within ? stream_read_of(requester, p->psn) : NULL;
	uint32_t end, begin;

	if (inside && within && last == now) {
		open_hole(own, a->next, d, p, f, ev);
		return;
	}
	end = inside ? missing_end(last, a->next, d) : 0;
	open_hole(own, a->next, end, p, f, ev);
	begin = within ? missing_begin(now, p->psn, d - end) : 0;
	pass_over_reads((a->next + end) & PSN_MASK, d - end - begin, p, requester, own, f, ev);
	open_hole(own, (p->psn - begin) & PSN_MASK, begin, p, f, ev);
}

void answers_take(struct answers *a, const struct packet *p, const struct stream *requester,
		  struct stream *own, struct flow *f, struct flow_events *ev)
{
	struct stream_more *more = own->more;
	int32_t d = psn_distance(p->psn, a->next);

	/* A refusal may overtake the responses before it. */
	if (packet_answer_kind(p) != AETH_ACK)
		return;
	if (d < -STREAM_WINDOW_MAX || d > STREAM_WINDOW_MAX)
		a->state = ANSWERS_UNKNOWN;
	if (a->state == ANSWERS_UNKNOWN) {
		more->answer_gap_count = 0;
	} else if (d < 0) {
		if (more->answer_gap_count && !(opcode_info(p->opcode)->flags & OP_ACK))
			fill_hole(own, p, requester, f, ev);
		return;
	} else if (d > 0) {
		judge_jump(a, p, requester, (uint32_t)d, more, f, ev);
	}
	a->state = goes_on(p->opcode) ? ANSWERS_INSIDE : ANSWERS_BETWEEN;
	a->next = (p->psn + 1) & PSN_MASK;
}
