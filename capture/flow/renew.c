/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was counted since the doubt began is taken back when it turns out to be a new connection.
 */
#include "capture/flow/renew.h"

#include "capture/decode/opcode.h"

struct stream_before renew_before(const struct flow *f)
{
	return (struct stream_before){
		.duplicates = f->duplicates,
		.wasted_psns = f->wasted_psns,
		.timeouts = f->timeouts,
		.unexplained = f->unexplained,
		.read_retries = f->read_retries,
	};
}

void renew_doubt(struct stream *s, const struct packet *p, const struct stream_before *before)
{
	struct stream_more *more = s->more;

	if (!(s->una & STREAM_UNA) || psn_distance(p->psn, s->una) >= 0)
		return;
	s->doubt = s->anew = true;
	more->doubt_psn = p->psn;
	more->doubt_una = s->una & PSN_MASK;
	more->doubt_end = s->psn.expected;
	more->before = *before;
}

/* A message takes a PSN at least, so a connection that began at doubt_psn counts no more of them.
 */
static bool is_of_new(const struct stream *s, const struct packet *p)
{
	int32_t d = psn_distance(p->psn, s->more->doubt_psn);

	return d >= 0 && psn_distance(p->psn, s->next_psn) < 0 &&
	       (!(p->headers & HDR_AETH) || p->aeth.msn <= (uint32_t)d + 1);
}

bool renew_fits(const struct stream *s, const struct packet *p)
{
	return s->anew && (!s->doubt || is_of_new(s, p));
}

void renew_settle(struct stream *s, struct flow *f, struct flow_events *ev)
{
	struct stream_more *more = s->more;
	const struct stream_before *b = &more->before;
	bool doubt = s->doubt;

	s->anew = s->doubt = false;
	if (!doubt)
		return;
	f->duplicates = b->duplicates;
	f->wasted_psns = b->wasted_psns;
	f->timeouts = b->timeouts;
	f->unexplained = b->unexplained;
	f->read_retries = b->read_retries;
	f->new_connections++;
	ev->bits |= FLOW_NEW_CONNECTION;
	renew_begin(s);
	if (s->psn.expected == more->doubt_end) /* else it is beyond the old one by now */
		s->psn.expected = s->next_psn;
}

/* READs and atomics are answered again with their own PSNs. */
void renew_decide(struct stream *s, const struct packet *p, struct flow *f, struct flow_events *ev)
{
	struct stream_more *more = s->more;
	bool back = s->doubt && psn_distance(p->psn, more->doubt_una) < -1;

	if (back && !(opcode_info(p->opcode)->headers == HDR_AETH &&
		      opcode_info(p->opcode)->flags & OP_ACK))
		return;
	if (back && is_of_new(s, p))
		renew_settle(s, f, ev);
	s->doubt = false;
}

void renew_begin(struct stream *s)
{
	struct stream_more *more = s->more;

	more->refused = more->retry = STREAM_CAUSE_NONE;
	more->late = more->bad_count = more->skip_count = 0;
	more->trail_count = more->trail_steps = 0;
	more->hole_ns = more->late_ns = more->again_ns = 0;
	s->psn.gap_count = 0;
	s->read_count = 0;
	s->pending = false;
	s->una = 0;
}
