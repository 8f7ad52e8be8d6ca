/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PSNs of one requester towards one QP: what came in order, what is missing, what came again.
 * 24-bit arithmetic with a half window (IBTA vol 1, 9.7.1); the first packet sets the baseline, and
 * nothing before it is judged.
 */
#ifndef CAPTURE_PSN_H
#define CAPTURE_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define PSN_MASK     0xffffffU
#define PSN_GAPS_MAX 16

enum psn_verdict {
	PSN_FIRST, /* the baseline */
	PSN_IN_ORDER,
	PSN_GAP,	    /* `count` PSNs were skipped */
	PSN_FILLED,	    /* `count` PSNs of an earlier gap came late, or again */
	PSN_DUPLICATE,	    /* seen before: sent again */
	PSN_NEW_CONNECTION, /* a jump that no loss explains: the QP number is used anew */
	PSN_UNJUDGED,	    /* follows a READ of unknown span */
};

struct psn_gap {
	uint32_t start, len;
	uint64_t time_ns; /* of the request that showed it */
};

/* All zero is a requester of which nothing was seen. */
struct psn_track {
	bool started;
	bool blind; /* the last request was a READ of unknown span */
	uint8_t pmtu_votes;
	uint8_t pmtu_mask; /* path MTUs that the spans of READs allow, bit n = 256 << n */
	uint32_t expected; /* the least it can be, when blind */
	uint32_t pmtu;	   /* bytes, 0 = unknown */
	uint32_t read_len; /* of the last READ, when blind */
	uint32_t gap_count;
	uint32_t reads_end; /* what follows the newest READ, if there was one */
	uint64_t last_ns;
	/* Still open; the oldest is forgotten for a new one. Room for PSN_GAPS_MAX that the caller
	 * lends to psn_observe(); else it is only there when there are gaps. */
	struct psn_gap *gap;
};

struct psn_request {
	uint32_t psn;
	bool read;	 /* takes a PSN for each response it asks for */
	bool read_known; /* read_len was captured */
	uint32_t read_len;
	bool unacked; /* it was sent before, and is the first that was not acknowledged */
	uint64_t time_ns;
};

/* a - b in 24 bits, between -2^23 and 2^23 - 1. */
static inline int32_t psn_distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* The payload of a FIRST or MIDDLE packet is the path MTU. Other values than 256 to 4096 are
 * ignored. */
void psn_learn_pmtu(struct psn_track *t, uint32_t payload);

/* Accounts one request. *count: PSNs newly missing (PSN_GAP) or no longer missing (PSN_FILLED). */
enum psn_verdict psn_observe(struct psn_track *t, const struct psn_request *r, uint32_t *count);

/* Too far from what is expected for a loss: the QP number is used anew. */
bool psn_is_jump(const struct psn_track *t, const struct psn_request *r);

/* A list of gaps, for what else is counted by PSNs, too; there is room for PSN_GAPS_MAX. */

/* The gap that holds a PSN, NULL = none. Valid until the list changes. */
const struct psn_gap *psn_gap_at(const struct psn_gap *gap, uint32_t count, uint32_t psn);

/* The first opens a gap, the other tells how many missing PSNs a packet brings; span 0 = up to the
 * end of the gap it lies in. */
void psn_gap_open(struct psn_gap *gap, uint32_t *count, const struct psn_gap *new);
uint32_t psn_gap_fill(struct psn_gap *gap, uint32_t *count, uint32_t psn, uint32_t span);

/* The receiver has all up to a PSN: what is missing there was not lost. Closes those gaps and
 * returns how many PSNs they held. */
uint32_t psn_cover(struct psn_track *t, uint32_t psn);

/* How many PSNs a request takes; 0 = a READ of unknown span. */
uint32_t psn_span(const struct psn_track *t, const struct psn_request *r);

#endif
