/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way for ordinary packets of known flows, which nearly all packets are. It decides
 * nothing about the protocol: a frame that begins with the same bytes as one that was decoded in
 * full has the same headers, and where the flow machine would only count and go on to the next PSN,
 * that is done here. Everything else goes the long way: packet_decode() and flow_table_add().
 */
#ifndef CAPTURE_SKIM_H
#define CAPTURE_SKIM_H

#include "capture/file/record_file.h"
#include "capture/flow/flow_entry.h"

/* What a frame looks like, to be believed only with the head of a decoded one beside it. */
struct skim {
	uint64_t hash; /* of the flow */
	uint32_t id;   /* of the flow in its table, from 1; 0 = it was not found */
	uint32_t psn;
	uint16_t payload_len;
	uint16_t needs;	      /* enum flow_run_takes, 0 = the frame is not ordinary */
	uint8_t opcode, kind; /* enum flow_run_kind */
	uint8_t tclass, icrc;
};

/* What frames of one opcode and layout have in common when their lengths are the same: they are
 * looked at once. All zero fits no frame. */
struct skim_shape {
	uint64_t ip, udp, len; /* the bytes that tell it, and both lengths of the record */
	uint16_t payload_len, needs;
	uint8_t kind, tclass;
	uint8_t aeth_not; /* as in struct skim_opcode */
	bool icrc;	  /* it was captured */
};

struct skim_opcode {
	uint32_t head_len;    /* BTH and what follows it */
	uint32_t around;      /* what UDP's length counts beside payload and pad bytes */
	uint16_t needs;	      /* enum flow_run_takes */
	uint16_t payload_not; /* bits that are not set in the length of a payload */
	uint8_t kind;	      /* enum flow_run_kind */
	uint8_t second_not;   /* the same of the second byte of the BTH, */
	uint8_t aeth_not;     /* and of the first byte behind the BTH, of an answer that is one */
};

#define SKIM_BATCH 16 /* what belongs to more would not stay in the first cache */

/* Frames that are at hand. Those before `at` are done. */
struct skim_batch {
	uint64_t seed;
	struct skim_opcode opcode[512]; /* the second half: of those that ask for an answer */
	unsigned int count, at;
	bool pass_marks;		 /* packets with a CE mark may be ordinary */
	struct skim_shape shape[4][512]; /* by layout, and as opcode[] */
	size_t ahead;			 /* from a frame to one of the batches that come */
	struct record record[SKIM_BATCH];
	struct skim skim[SKIM_BATCH];
};

/* An empty batch. */
void skim_init(struct skim_batch *b, const struct flow_table *t);

/* Looks at `count` Ethernet frames that were put into record[]; their ICRC is verified when it was
 * captured. At least SKIM_HEAD_BYTES have to be readable of each, whatever its length. */
void skim_look(struct skim_batch *b, const struct flow_table *t);

/* Its two steps: the first knows nothing of flows, and may be done by another thread. */
void skim_guess(struct skim_batch *b);
void skim_find(struct skim_batch *b, const struct flow_table *t);

/* Fetches what the frames of a batch need of flows, beside their runs. Part of skim_find(). */
void skim_fetch(const struct skim_batch *b, const struct flow_table *t);

/* Accounts frames from `at` on, of which the first has the number `frame`, at most `max`, up to the
 * first that is not ordinary: of that nothing is accounted. Returns how many they were. */
unsigned int skim_take(struct skim_batch *b, struct flow_table *t, uint64_t frame, uint64_t max);

/* Of a frame without a flow, so far: finds one that was begun in the same batch, or begins one when
 * the frame is an ordinary first packet. Nothing of the frame is accounted. Part of skim_take(). */
void skim_open(struct flow_table *t, const struct record *r, struct skim *k, uint64_t frame);

/* The path MTU of a stream as its run has it. */
static inline uint16_t skim_pmtu(const struct psn_track *psn)
{
	return psn->pmtu <= UINT16_MAX ? (uint16_t)psn->pmtu : 0;
}

/* The frame at `at` went the long way, as p: from now on those that look alike may go the short
 * one.
 */
void skim_begin(const struct skim_batch *b, struct flow_table *t, const struct packet *p);

#endif
