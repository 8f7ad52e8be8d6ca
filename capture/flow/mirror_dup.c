/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a trail of copies is told from retransmission: it follows the requests in their order, closer
 * than any timeout, and new requests come between. Three times is no accident.
 */
#include "capture/flow/mirror_dup.h"

#include <string.h>

#include "capture/decode/opcode.h"

#define DUP_STEPS  3
#define DUP_NS	   1000000
#define DUP_MISSED 8 /* copies in a row that may be missing */

static bool dup_follows(const struct requester_state *s, const struct psn_request *r,
			uint64_t before_ns)
{
	int32_t d = psn_distance(r->psn, s->loss->dup_next);

	return d >= 0 && d <= DUP_MISSED &&
	       (r->time_ns < before_ns || r->time_ns - before_ns < DUP_NS);
}

static void dup_advance(struct requester_state *s, const struct psn_request *r)
{
	uint32_t span = psn_span(&s->psn, r);

	s->loss->dup_next = (r->psn + (span ? span : 1)) & PSN_MASK;
	s->loss->dup_expected = s->psn.expected;
}

void mirror_dup_add(struct requester_state *s, const struct psn_request *r, struct flow *f,
		    uint64_t before_ns, struct flow_events *ev)
{
	struct requester_loss_state *more = s->loss;

	if (!more->dup_count || !dup_follows(s, r, before_ns))
		more->dup_count = more->dup_restarts = more->dup_steps = 0;
	else if (more->dup_expected != s->psn.expected && more->dup_expected != more->dup_next)
		more->dup_steps++; /* what was new came before all was there again */
	more->dup_count++;
	more->dup_restarts += (ev->bits & FLOW_UNEXPLAINED) != 0;
	dup_advance(s, r);
	if (more->dup_steps < DUP_STEPS)
		return;
	/* All requests of the trail turn out to be copies, this one among them. */
	f->copies += more->dup_count;
	f->duplicates -= more->dup_count;
	f->unexplained -= more->dup_restarts;
	more->dup_count = more->dup_restarts = 0;
	ev->bits = (ev->bits & ~(uint32_t)(FLOW_DUPLICATE | FLOW_UNEXPLAINED)) | FLOW_MIRROR_DUP;
	more->retry = RETRY_CAUSE_NONE;
	more->skip_count = 0;
}

bool mirror_dup_follows_known(struct requester_state *s, const struct psn_request *r)
{
	struct requester_loss_state *more = s->loss;

	if (more->dup_steps < DUP_STEPS || more->refused || more->retry ||
	    psn_gap_at(s->psn.gap, s->psn.gap_count, r->psn) || !dup_follows(s, r, s->psn.last_ns))
		return false;
	dup_advance(s, r);
	return true;
}

static bool dup_is_datagram(const struct packet *p)
{
	return opcode_class(p->opcode) == OPCODE_CLASS_UD;
}

/* Senders count their datagrams, whoever they are for. */
static uint32_t dup_datagram_mark(const struct packet *p)
{
	uint32_t src_qpn = p->headers & HDR_DETH ? p->deth.src_qpn : 0;

	return (src_qpn * 0x9e3779b1U ^ (uint32_t)p->sport << 8 ^ p->psn << 1) | 1;
}

bool mirror_dup_has_datagram(const struct requester_state *s, const struct packet *p)
{
	uint32_t mark = dup_datagram_mark(p);

	for (unsigned int i = 0; dup_is_datagram(p) && i < REQUESTER_DATAGRAMS; i++)
		if (s->datagram[i] == mark)
			return true;
	return !dup_is_datagram(p);
}

void mirror_dup_keep_datagram(struct requester_state *s, const struct packet *p)
{
	if (!dup_is_datagram(p))
		return;
	memmove(s->datagram + 1, s->datagram, sizeof(s->datagram) - sizeof(s->datagram[0]));
	s->datagram[0] = dup_datagram_mark(p);
}
