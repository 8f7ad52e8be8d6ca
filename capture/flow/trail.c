/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a trail of copies is told from retransmission: it follows the requests in their order, closer
 * than any timeout, and new requests come between. Three times is no accident.
 */
#include "capture/flow/trail.h"

#include <string.h>

#include "capture/decode/opcode.h"

#define TRAIL_STEPS  3
#define TRAIL_NS     1000000
#define TRAIL_MISSED 8 /* copies in a row that may be missing */

static bool follows(const struct stream *s, const struct psn_request *r, uint64_t before_ns)
{
	int32_t d = psn_distance(r->psn, s->more->trail_next);

	return d >= 0 && d <= TRAIL_MISSED &&
	       (r->time_ns < before_ns || r->time_ns - before_ns < TRAIL_NS);
}

static void go_on(struct stream *s, const struct psn_request *r)
{
	uint32_t span = psn_span(&s->psn, r);

	s->more->trail_next = (r->psn + (span ? span : 1)) & PSN_MASK;
	s->more->trail_expected = s->psn.expected;
}

void trail_note(struct stream *s, const struct psn_request *r, struct flow *f, uint64_t before_ns,
		struct flow_events *ev)
{
	struct stream_more *more = s->more;

	if (!more->trail_count || !follows(s, r, before_ns))
		more->trail_count = more->trail_restarts = more->trail_steps = 0;
	else if (more->trail_expected != s->psn.expected &&
		 more->trail_expected != more->trail_next)
		more->trail_steps++; /* what was new came before all was there again */
	more->trail_count++;
	more->trail_restarts += (ev->bits & FLOW_UNEXPLAINED) != 0;
	go_on(s, r);
	if (more->trail_steps < TRAIL_STEPS)
		return;
	/* All requests of the trail turn out to be copies, this one among them. */
	f->copies += more->trail_count;
	f->duplicates -= more->trail_count;
	f->unexplained -= more->trail_restarts;
	more->trail_count = more->trail_restarts = 0;
	ev->bits = (ev->bits & ~(uint32_t)(FLOW_DUPLICATE | FLOW_UNEXPLAINED)) | FLOW_COPY;
	more->retry = STREAM_CAUSE_NONE;
	more->skip_count = 0;
}

bool trail_is_copy(struct stream *s, const struct psn_request *r)
{
	struct stream_more *more = s->more;

	if (more->trail_steps < TRAIL_STEPS || more->refused || more->retry ||
	    psn_gap_at(s->psn.gap, s->psn.gap_count, r->psn) || !follows(s, r, s->psn.last_ns))
		return false;
	go_on(s, r);
	return true;
}

static bool is_datagram(const struct packet *p)
{
	return opcode_class(p->opcode) == OPCODE_CLASS_UD;
}

/* Senders count their datagrams, whoever they are for. */
static uint32_t mark_of(const struct packet *p)
{
	uint32_t src_qpn = p->headers & HDR_DETH ? p->deth.src_qpn : 0;

	return (src_qpn * 0x9e3779b1U ^ (uint32_t)p->sport << 8 ^ p->psn << 1) | 1;
}

bool trail_has_datagram(const struct stream *s, const struct packet *p)
{
	uint32_t mark = mark_of(p);

	for (unsigned int i = 0; is_datagram(p) && i < STREAM_DATAGRAMS; i++)
		if (s->datagram[i] == mark)
			return true;
	return !is_datagram(p);
}

void trail_keep_datagram(struct stream *s, const struct packet *p)
{
	if (!is_datagram(p))
		return;
	memmove(s->datagram + 1, s->datagram, sizeof(s->datagram) - sizeof(s->datagram[0]));
	s->datagram[0] = mark_of(p);
}
