/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hole between the responses of one READ. It is filled when they come late, or again for a READ
 * that was sent again; what stays open was never asked for again, so the requester gave up or, more
 * likely, has what the capture has not.
 */
#include "capture/answers.h"

#include "capture/opcode.h"

/* Of an opcode without its transport. */
#define READ_FIRST  0x0d
#define READ_MIDDLE 0x0e
#define READ_LAST   0x0f

static uint8_t operation_of(uint8_t opcode)
{
	enum opcode_class class = opcode_class(opcode);

	return class == OPCODE_CLASS_RC || class == OPCODE_CLASS_XRC ? opcode & 0x1f : 0;
}

bool answers_follows(uint8_t opcode)
{
	uint8_t op = operation_of(opcode);

	return op == READ_MIDDLE || op == READ_LAST;
}

bool answers_goes_on(uint8_t opcode)
{
	uint8_t op = operation_of(opcode);

	return op == READ_FIRST || op == READ_MIDDLE;
}

/* The READ that a response of this PSN answers, NULL = it is not known any more. */
static const struct stream_read *read_of(const struct stream *requester, uint32_t psn)
{
	unsigned int n = requester ? requester->read_count : 0;

	if (n > STREAM_READS)
		n = STREAM_READS;
	for (unsigned int i = 0; i < n; i++) {
		int32_t d = psn_distance(psn, requester->read[i].psn);

		if (d >= 0 && (uint32_t)d < requester->read[i].span)
			return &requester->read[i];
	}
	return NULL;
}

static void open_gap(struct stream_more *own, uint32_t from, uint32_t len, const struct packet *p,
		     struct flow *f, struct flow_events *ev)
{
	struct psn_track t = {.gap = own->answer_gap, .gap_count = own->answer_gap_count};

	psn_gap_open(&t, from, len, p->time_ns);
	own->answer_gap_count = t.gap_count;
	f->responses_missing += len;
	ev->bits |= FLOW_READ_GAP;
	ev->psns = len;
}

static void fill_gap(struct stream_more *own, const struct packet *p, struct flow *f,
		     struct flow_events *ev)
{
	struct psn_track t = {.gap = own->answer_gap, .gap_count = own->answer_gap_count};
	uint32_t filled = psn_gap_fill(&t, p->psn, 1);

	own->answer_gap_count = t.gap_count;
	f->responses_missing -= filled;
	ev->bits |= filled ? FLOW_READ_FILLED : 0;
}

bool answers_awaits(struct stream_more *own, const struct packet *p)
{
	struct psn_track t = {.gap = own->answer_gap, .gap_count = own->answer_gap_count};
	uint8_t flags = opcode_info(p->opcode)->flags;

	return own->answer_gap_count && (flags & (OP_RESPONSE | OP_ACK)) == OP_RESPONSE &&
	       psn_gap_at(&t, p->psn);
}

/* The READ that was under way ended without its last responses. d: how far the answer is beyond
 * them. */
static uint32_t missing_end(const struct answers *a, const struct stream *requester, uint32_t d)
{
	const struct stream_read *r = read_of(requester, a->next);
	uint32_t rest = r ? (uint32_t)psn_distance(r->psn + r->span, a->next) : 1;

	return rest < d ? rest : d;
}

/* The READ that p answers began without its first ones. */
static uint32_t missing_begin(const struct stream *requester, const struct packet *p, uint32_t d)
{
	const struct stream_read *r = read_of(requester, p->psn);
	uint32_t part = r ? (uint32_t)psn_distance(p->psn, r->psn) : 1;

	return part < d ? part : d;
}

/* d PSNs were left out before p. */
static void judge_jump(const struct answers *a, const struct packet *p,
		       const struct stream *requester, uint32_t d, struct stream_more *own,
		       struct flow *f, struct flow_events *ev)
{
	bool inside = a->state == ANSWERS_INSIDE, follows = answers_follows(p->opcode);
	const struct stream_read *r = read_of(requester, a->next);
	uint32_t n;

	if (inside && follows && r == read_of(requester, p->psn)) {
		open_gap(own, a->next, d, p, f, ev);
		return;
	}
	n = inside ? missing_end(a, requester, d) : 0;
	if (n)
		open_gap(own, a->next, n, p, f, ev);
	n = follows ? missing_begin(requester, p, d - n) : 0;
	if (n)
		open_gap(own, (p->psn - n) & PSN_MASK, n, p, f, ev);
}

void answers_take(struct answers *a, const struct packet *p, const struct stream *requester,
		  struct stream_more *own, struct flow *f, struct flow_events *ev)
{
	int32_t d = psn_distance(p->psn, a->next);

	/* A refusal may overtake the responses before it. */
	if (packet_answer_kind(p) != AETH_ACK)
		return;
	if (d < -STREAM_WINDOW_MAX || d > STREAM_WINDOW_MAX)
		a->state = ANSWERS_UNKNOWN;
	if (a->state == ANSWERS_UNKNOWN) {
		own->answer_gap_count = 0;
	} else if (d < 0) {
		if (own->answer_gap_count && !(opcode_info(p->opcode)->flags & OP_ACK))
			fill_gap(own, p, f, ev);
		return;
	} else if (d > 0) {
		judge_jump(a, p, requester, (uint32_t)d, own, f, ev);
	}
	a->state = answers_goes_on(p->opcode) ? ANSWERS_INSIDE : ANSWERS_BETWEEN;
	a->next = (p->psn + 1) & PSN_MASK;
}
