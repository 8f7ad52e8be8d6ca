/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way for ordinary packets of known flows, which nearly all packets are. It decides
 * nothing about the protocol: a frame that begins with the same bytes as one that was decoded in
 * full has the same headers, and where the flow machine would only count and go on to the next PSN,
 * that is done here. Everything else goes the long way: packet_decode() and flow_table_add().
 */
#ifndef CAPTURE_SKIM_H
#define CAPTURE_SKIM_H

#include "capture/flow_entry.h"
#include "capture/record_file.h"

/* What a frame looks like, to be believed only with the head of a decoded one beside it. */
struct skim {
	uint64_t hash; /* of the flow */
	uint32_t psn;
	uint16_t payload_len;
	uint8_t opcode, kind; /* enum flow_run_kind */
	uint8_t needs;	      /* enum flow_run_takes, 0 = the frame is not ordinary */
	uint8_t layout;	      /* of the head */
	uint8_t tclass, icrc;
};

struct skim_opcode {
	uint8_t needs, ackreq; /* enum flow_run_takes */
	uint8_t kind, ext_len, flags;
	bool aeth; /* comes first */
};

/* What is looked up for each packet, put together once. */
struct skimmer {
	uint64_t seed;
	struct skim_opcode opcode[256];
};

void skim_init(struct skimmer *s, const struct flow_table *t);

/* Looks at an Ethernet frame; its ICRC is verified when it was captured. Pure. At least
 * SKIM_HEAD_BYTES have to be readable at r->data, whatever the frame's length. */
void skim_look(const struct skimmer *s, const struct record *r, struct skim *k);

/* Fetch what skim_take() will need from memory, first the one, then the other. */
void skim_fetch_slot(const struct flow_table *t, const struct skim *k);
void skim_fetch_run(const struct flow_table *t, const struct skim *k);

/* Accounts the frame when it is ordinary; false: nothing was done, it has to go the long way. */
bool skim_take(struct flow_table *t, const struct record *r, const struct skim *k, uint64_t frame);

/* The frame went the long way, as p: from now on those that look alike may go the short one. */
void skim_begin(struct flow_table *t, const struct record *r, const struct skim *k,
		const struct packet *p);

#endif
