/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The READs that a requester asked for last: what is asked for again from the middle of one is not
 * a restart of all that was sent.
 */
#include "capture/stream.h"

uint32_t stream_note_read(struct stream *s, const struct psn_request *r, uint64_t va)
{
	uint32_t span = psn_span(&s->psn, r);

	s->read[s->read_count++ % STREAM_READS] = (struct stream_read){
		.va = va,
		.psn = r->psn,
		.span = span,
		.len = r->read_len,
	};
	if (s->read_count == 2 * STREAM_READS)
		s->read_count = STREAM_READS;
	return span;
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

bool stream_is_rest_of_read(const struct stream *s, const struct packet *p,
			    const struct psn_request *r)
{
	const struct stream_read *q = r->read && r->read_known ? stream_read_of(s, p->psn) : NULL;

	return q && p->psn != q->psn && r->read_len < q->len && p->reth.va > q->va;
}
