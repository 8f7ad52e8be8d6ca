/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks the PSNs of one requester to one QP: in order, missing, or seen again. 24-bit arithmetic
 * with a half window (IBTA vol 1, 9.7.1). The first packet is the baseline; earlier PSNs are not
 * checked.
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
	PSN_FILLED,	    /* `count` PSNs of an earlier gap, late or retransmitted */
	PSN_DUPLICATE,	    /* seen before: a retransmission */
	PSN_NEW_CONNECTION, /* a jump too large for a loss: the QP number is reused */
	PSN_UNJUDGED,	    /* follows a READ of unknown span */
};

struct psn_gap {
	uint32_t start, len;
	uint64_t time_ns; /* of the request after the gap */
};

/* All zero: no request seen yet. */
struct psn_track {
	bool started;
	bool blind; /* the last request was a READ of unknown span */
	uint8_t pmtu_votes;
	uint8_t pmtu_mask; /* path MTUs that the spans of READs allow, bit n = 256 << n */
	uint32_t expected; /* when blind, the lowest possible value */
	uint32_t pmtu;	   /* bytes, 0 = unknown */
	uint32_t read_len; /* of the last READ, when blind */
	uint32_t gap_count;
	uint32_t reads_end; /* PSN after the newest READ, if any */
	uint64_t last_ns;
	/* Open gaps; a new one replaces the oldest. Room for PSN_GAPS_MAX, lent by the caller of
	 * psn_observe(); else valid only while gap_count > 0. */
	struct psn_gap *gap;
};

struct psn_request {
	uint32_t psn;
	bool read;	 /* uses a PSN per response */
	bool read_known; /* read_len was captured */
	uint32_t read_len;
	bool unacked; /* a retransmission, and the first unacknowledged request */
	uint64_t time_ns;
};

/* Returns a - b in 24 bits, -2^23 to 2^23 - 1. */
static inline int32_t psn_distance(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* Learns the path MTU from the payload of a FIRST or MIDDLE packet. Ignores other values than 256
 * to 4096. */
void psn_learn_pmtu(struct psn_track *t, uint32_t payload);

/* Accounts one request. *count: PSNs newly missing (PSN_GAP) or no longer missing (PSN_FILLED). */
enum psn_verdict psn_observe(struct psn_track *t, const struct psn_request *r, uint32_t *count);

/* True when a PSN is too far from the expected one for a loss: the QP number is reused. */
bool psn_is_jump(const struct psn_track *t, const struct psn_request *r);

/* Lists of gaps, with room for PSN_GAPS_MAX; also used for responses. */

/* Returns the gap that contains a PSN, or NULL. Valid until the list changes. */
const struct psn_gap *psn_gap_at(const struct psn_gap *gap, uint32_t count, uint32_t psn);

/* psn_gap_open() adds a gap. psn_gap_fill() returns how many missing PSNs a packet fills; span 0 =
 * up to the end of the gap. */
void psn_gap_open(struct psn_gap *gap, uint32_t *count, const struct psn_gap *new);
uint32_t psn_gap_fill(struct psn_gap *gap, uint32_t *count, uint32_t psn, uint32_t span);

/* The receiver acknowledged all up to a PSN: missing PSNs there are no loss. Closes those gaps and
 * returns how many PSNs they held. */
uint32_t psn_cover(struct psn_track *t, uint32_t psn);

/* Returns how many PSNs a request uses; 0 = a READ of unknown span. */
uint32_t psn_span(const struct psn_track *t, const struct psn_request *r);

#endif
