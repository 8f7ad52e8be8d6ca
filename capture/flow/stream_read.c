/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The READs that a requester asked for last: what is asked for again from the middle of one is not
 * a restart of all that was sent.
 */
#include "capture/flow/stream.h"

/* From a hole to the READ that is sent again for it: less than a timeout. */
#define HOLE_NS 1000000

void stream_note_read(struct stream *s, const struct psn_request *r, uint64_t va)
{
	s->read[s->read_count++ % STREAM_READS] = (struct stream_read){
		.va = va,
		.psn = r->psn,
		.span = psn_span(&s->psn, r),
		.len = r->read_len,
	};
	if (s->read_count == 2 * STREAM_READS)
		s->read_count = STREAM_READS;
}

const struct stream_read *stream_read_of(const struct stream *s, uint32_t psn)
{
	unsigned int n = s ? s->read_count : 0;

	for (unsigned int i = 0; i < n && i < STREAM_READS; i++) {
		int32_t d = psn_distance(psn, s->read[i].psn);

		if (d >= 0 && (uint32_t)d < s->read[i].span)
			return &s->read[i];
	}
	return NULL;
}

/* The requester does not wait for what is missing, so it was not long ago. */
static bool is_recent(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns && (now_ns < then_ns || now_ns - then_ns < HOLE_NS);
}

static bool was_late(const struct stream_more *more, const struct packet *p)
{
	return is_recent(more->late_ns, p->time_ns) && psn_distance(p->psn, more->late_from) >= 0 &&
	       psn_distance(p->psn, more->late_end) < 0;
}

/* The hole lies in the READ q, or ends there. */
static bool is_all_again(const struct stream_more *more, const struct packet *p,
			 const struct stream_read *q, uint32_t len)
{
	return p->psn == q->psn && len == q->len && !more->retry && !more->refused &&
	       is_recent(more->hole_ns, p->time_ns) && psn_distance(more->hole_end, q->psn) > 0 &&
	       psn_distance(more->hole_from, q->psn + q->span) < 0;
}

bool stream_read_again(struct stream *s, const struct packet *p, const struct psn_request *r,
		       struct flow *f, struct flow_events *ev)
{
	const struct stream_read *q = r->read && r->read_known ? stream_read_of(s, p->psn) : NULL;
	struct stream_more *more = s->more;
	bool rest = q && p->psn != q->psn && r->read_len < q->len && p->reth.va > q->va;

	if (!rest && !(q && is_all_again(more, p, q, r->read_len)))
		return false;
	f->read_retries++;
	ev->bits |= FLOW_READ_RETRY;
	if (ev->bits & FLOW_TIMEOUT)
		return true;
	more->again_psn = p->psn;
	more->again_ns = p->time_ns;
	f->reads_reordered += was_late(more, p);
	more->hole_ns = more->late_ns = 0;
	return true;
}

void stream_read_hole(struct stream *s, const struct packet *p, uint32_t from, struct flow *f,
		      const struct flow_events *ev)
{
	struct stream_more *more = s->more;
	uint32_t end = (p->psn + 1) & PSN_MASK;

	if (ev->bits & FLOW_READ_GAP) {
		more->hole_from = from;
		more->hole_end = p->psn;
		more->hole_ns = p->time_ns;
	} else if (more->again_ns && p->psn == more->again_psn) {
		/* It was under way when it was asked for again. */
		f->reads_reordered++;
		more->again_ns = 0;
	} else {
		if (!is_recent(more->late_ns, p->time_ns) ||
		    psn_distance(p->psn, more->late_from) < 0) {
			more->late_from = p->psn;
			more->late_end = end;
		}
		if (psn_distance(end, more->late_end) > 0)
			more->late_end = end;
		more->late_ns = p->time_ns;
	}
}
