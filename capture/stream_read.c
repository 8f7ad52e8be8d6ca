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

bool stream_is_rest_of_read(const struct stream *s, const struct packet *p,
			    const struct psn_request *r)
{
	unsigned int n = s->read_count < STREAM_READS ? s->read_count : STREAM_READS;

	for (unsigned int i = 0; r->read && r->read_known && i < n; i++) {
		const struct stream_read *q = &s->read[i];
		int32_t d = psn_distance(p->psn, q->psn);

		if (d > 0 && (uint32_t)d < q->span && r->read_len < q->len && p->reth.va > q->va)
			return true;
	}
	return false;
}
