/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells a series of mirror duplicates from retransmissions: they follow the requests in order,
 * faster than any timeout, with new requests between. Three steps are proof.
 */
#include "capture/flow/mirror_dup.h"

#include <string.h>

#include "capture/decode/opcode.h"

#define DUP_STEPS  3
#define DUP_NS	   1000000
#define DUP_MISSED 8 /* duplicates in a row that may be missing */

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
	struct requester_loss_state *loss = s->loss;

	if (!loss->dup_count || !dup_follows(s, r, before_ns))
		loss->dup_count = loss->dup_restarts = loss->dup_steps = 0;
	else if (loss->dup_expected != s->psn.expected && loss->dup_expected != loss->dup_next)
		loss->dup_steps++; /* new requests came before all old ones were repeated */
	loss->dup_count++;
	loss->dup_restarts += (ev->bits & FLOW_UNEXPLAINED) != 0;
	dup_advance(s, r);
	if (loss->dup_steps < DUP_STEPS)
		return;
	/* All requests of the series were duplicates, including this one. */
	f->copies += loss->dup_count;
	f->duplicates -= loss->dup_count;
	f->unexplained -= loss->dup_restarts;
	loss->dup_count = loss->dup_restarts = 0;
	ev->bits = (ev->bits & ~(uint32_t)(FLOW_DUPLICATE | FLOW_UNEXPLAINED)) | FLOW_MIRROR_DUP;
	loss->retry = RETRY_CAUSE_NONE;
	loss->skip_count = 0;
}

bool mirror_dup_follows_known(struct requester_state *s, const struct psn_request *r)
{
	struct requester_loss_state *loss = s->loss;

	if (loss->dup_steps < DUP_STEPS || loss->refused || loss->retry ||
	    psn_gap_at(s->psn.gap, s->psn.gap_count, r->psn) || !dup_follows(s, r, s->psn.last_ns))
		return false;
	dup_advance(s, r);
	return true;
}

static bool dup_is_datagram(const struct packet *p)
{
	return opcode_class(p->opcode) == OPCODE_CLASS_UD;
}

/* A sender numbers its datagrams for all receivers together. */
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
