/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds gaps between the responses of one READ or of several READs. Late responses, or responses to
 * a retried READ, fill them. An open gap was never retried: the requester gave up, or more likely
 * the capture missed the responses.
 */
#include "capture/flow/responder.h"

#include "capture/decode/opcode.h"

/* Operation bits of an opcode, without the transport. */
#define READ_FIRST  0x0d
#define READ_MIDDLE 0x0e
#define READ_LAST   0x0f

static uint8_t responder_operation(uint8_t opcode)
{
	enum opcode_class class = opcode_class(opcode);

	return class == OPCODE_CLASS_RC || class == OPCODE_CLASS_XRC ? opcode & 0x1f : 0;
}

/* responder_continues(): other responses of the READ come before; responder_has_more(): others
 * follow. */
static bool responder_continues(uint8_t opcode)
{
	uint8_t op = responder_operation(opcode);

	return op == READ_MIDDLE || op == READ_LAST;
}

static bool responder_has_more(uint8_t opcode)
{
	uint8_t op = responder_operation(opcode);

	return op == READ_FIRST || op == READ_MIDDLE;
}

static void responder_open_gap(struct requester_loss_state *own, uint32_t from, uint32_t len,
			       const struct packet *p, struct flow *f, struct flow_events *ev)
{
	if (!len)
		return;
	psn_gap_open(own->response_gap, &own->response_gap_count,
		     &(struct psn_gap){from, len, p->time_ns});
	f->responses_missing += len;
	ev->bits |= FLOW_READ_GAP;
	ev->psns += len;
}

/* True when a missing response arrives late without a retry. A retried response follows its
 * request and begins a READ where the request begins; a second mirrored path may show packets that
 * the first one lost. */
static bool responder_is_late(const struct requester_state *own, const struct packet *p,
			      uint64_t hole_ns, const struct requester_state *requester)
{
	const struct requester_loss_state *asked = requester ? requester->loss : NULL;
	const struct requester_read *read = requester_find_read(requester, p->psn);
	bool begins = !responder_continues(p->opcode);

	if (p->time_ns > hole_ns && p->time_ns - hole_ns >= REQUESTER_REORDER_NS)
		return false;
	if (!requester_is_on_path(own, p) || (begins && !(read && read->psn == p->psn)))
		return false;
	if (!asked || !asked->read_retry_ns || asked->read_retry_ns < hole_ns ||
	    psn_distance(p->psn, asked->read_retry_psn) < 0)
		return true;
	return !begins && p->psn == asked->read_retry_psn;
}

static void responder_fill_gap(struct requester_state *own, const struct packet *p,
			       const struct requester_state *requester, struct flow *f,
			       struct flow_events *ev)
{
	struct requester_loss_state *loss = own->loss;
	const struct psn_gap *hole = psn_gap_at(loss->response_gap, loss->response_gap_count,
						p->psn);
	uint64_t hole_ns = hole ? hole->time_ns : 0;

	if (!hole)
		return;
	ev->psns = psn_gap_fill(loss->response_gap, &loss->response_gap_count, p->psn, 1);
	ev->bits |= FLOW_READ_FILLED;
	f->responses_missing -= ev->psns;
	if (!responder_is_late(own, p, hole_ns, requester))
		return;
	f->responses_reordered++;
	ev->bits |= FLOW_REORDERED;
}

bool responder_awaits(struct requester_loss_state *own, const struct packet *p)
{
	uint8_t flags = opcode_info(p->opcode)->flags;

	return (flags & (OP_RESPONSE | OP_ACK)) == OP_RESPONSE &&
	       psn_gap_at(own->response_gap, own->response_gap_count, p->psn);
}

/* Of d missing responses, how many belong to the end of READ r; `next` was expected. */
static uint32_t responder_missing_end(const struct requester_read *r, uint32_t next, uint32_t d)
{
	uint32_t rest = r ? (uint32_t)psn_distance(r->psn + r->span, next) : 1;

	return rest < d ? rest : d;
}

/* And how many to the beginning of READ r; psn is its first captured response. */
static uint32_t responder_missing_begin(const struct requester_read *r, uint32_t psn, uint32_t d)
{
	uint32_t part = r ? (uint32_t)psn_distance(psn, r->psn) : 1;

	return part < d ? part : d;
}

/* READs without any response before a response to a later request: those within `len` PSNs from
 * `from`. */
static void responder_skip_reads(uint32_t from, uint32_t len, const struct packet *p,
				 const struct requester_state *requester,
				 struct requester_loss_state *own, struct flow *f,
				 struct flow_events *ev)
{
	unsigned int n = requester && len ? requester->read_count : 0;

	/* Most responses are to requests after the newest READ. */
	if (n && psn_distance(from, requester->psn.reads_end) >= 0)
		return;
	for (unsigned int i = 0; i < n && i < REQUESTER_READS; i++) {
		int32_t begin = psn_distance(requester->read[i].psn, from);
		int64_t end = (int64_t)begin + requester->read[i].span;

		begin = begin > 0 ? begin : 0;
		end = end < len ? end : len;
		if (begin < end)
			responder_open_gap(own, (from + (uint32_t)begin) & PSN_MASK,
					   (uint32_t)(end - begin), p, f, ev);
	}
}

/* d PSNs are missing before p. */
static void responder_judge_jump(const struct responder_state *a, const struct packet *p,
				 const struct requester_state *requester, uint32_t d,
				 struct requester_loss_state *own, struct flow *f,
				 struct flow_events *ev)
{
	bool inside = a->phase == RESPONDER_IN_READ, within = responder_continues(p->opcode);
	const struct requester_read *last = inside ? requester_find_read(requester, a->next) : NULL;
	const struct requester_read *now = within ? requester_find_read(requester, p->psn) : NULL;
	uint32_t end, begin;

	if (inside && within && last == now) {
		responder_open_gap(own, a->next, d, p, f, ev);
		return;
	}
	end = inside ? responder_missing_end(last, a->next, d) : 0;
	responder_open_gap(own, a->next, end, p, f, ev);
	begin = within ? responder_missing_begin(now, p->psn, d - end) : 0;
	responder_skip_reads((a->next + end) & PSN_MASK, d - end - begin, p, requester, own, f, ev);
	responder_open_gap(own, (p->psn - begin) & PSN_MASK, begin, p, f, ev);
}

void responder_add_response(struct responder_state *a, const struct packet *p,
			    const struct requester_state *requester, struct requester_state *own,
			    struct flow *f, struct flow_events *ev)
{
	struct requester_loss_state *loss = own->loss;
	int32_t d = psn_distance(p->psn, a->next);

	/* A NAK may overtake earlier responses. */
	if (packet_aeth_kind(p) != AETH_ACK)
		return;
	if (d < -REQUESTER_WINDOW_MAX || d > REQUESTER_WINDOW_MAX)
		a->phase = RESPONDER_UNKNOWN;
	if (a->phase == RESPONDER_UNKNOWN) {
		loss->response_gap_count = 0;
	} else if (d < 0) {
		if (loss->response_gap_count && !(opcode_info(p->opcode)->flags & OP_ACK))
			responder_fill_gap(own, p, requester, f, ev);
		return;
	} else if (d > 0) {
		responder_judge_jump(a, p, requester, (uint32_t)d, loss, f, ev);
	}
	a->phase = responder_has_more(p->opcode) ? RESPONDER_IN_READ : RESPONDER_BETWEEN_READS;
	a->next = (p->psn + 1) & PSN_MASK;
}
