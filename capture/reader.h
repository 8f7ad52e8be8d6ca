/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source with what becomes of its frames: decoded, accounted to flows, LLDP put together.
 * Commands and agents turn it step by step and ask for a summary at any time.
 */
#ifndef CAPTURE_READER_H
#define CAPTURE_READER_H

#include "capture/file/source.h"

struct crew;	   /* opaque */
struct skim_batch; /* opaque */

struct reader {
	struct source *source;
	struct flow_table *flows;
	struct lldp_peer peer;
	uint64_t frames;
	struct skim_batch *batch; /* frames that were read ahead; NULL until reader_skim() */
	struct crew *crew;	  /* NULL: one thread */
	bool pass_marks;	  /* see reader_pass_marks() */
	const uint8_t *data;	  /* the frame of the last packet, until the next step */
};

/* Takes the source over, also on failure. max_flows as flow_table_new(). -ENOMEM. The caller
 * clears. */
int reader_init(struct reader *r, struct source *s, unsigned int max_flows, struct err *e);
void reader_clear(struct reader *r);

/* Before the first frame: how fast the link is that pauses hold, where the source does not say. */
void reader_assume_link(struct reader *r, uint32_t mbps);

/* One frame, as source_next(): 1 and a packet, 0, or -errno. A broken LLDP frame is a malformed
 * packet. */
int reader_next(struct reader *r, int timeout_ms, struct packet *p, struct err *e);

/* As reader_next(), only that packets which are no event, and whose flow goes on as it went, are
 * accounted and passed over; every READER_SHOW_EACH-th frame is told in any case, so that its
 * caller sees how far it is. Much faster. Not for live sources. */
#define READER_SHOW_EACH 4096
int reader_skim(struct reader *r, struct packet *p, struct err *e);

/* Before the first reader_skim() and reader_jobs(): a CE mark alone is no event that has to be
 * told. It is counted as ever. */
void reader_pass_marks(struct reader *r);

/* Before the first reader_skim(): lets `jobs` threads read and verify ahead, where the file is an
 * ordinary one; what comes out is the same. -ENOMEM, -EAGAIN. */
int reader_jobs(struct reader *r, unsigned int jobs, struct err *e);

/* What was seen so far, with the drops of the source. -ENOMEM. The caller clears the summary. */
int reader_summary(struct reader *r, struct capture_summary *s);

#endif
