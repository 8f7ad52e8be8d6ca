/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows: what one direction towards one QP did, and the totals of a capture. PSN gaps are judged only
 * for requests of RC and UC (capture semantics: IBTA vol 1, 9.7); responses carry the requester's PSNs.
 */
#ifndef CAPTURE_FLOW_H
#define CAPTURE_FLOW_H

#include <jansson.h>

#include "capture/packet.h"

struct flow {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn;
	uint16_t sport;          /* of the first packet */
	uint8_t encap;
	uint64_t packets, payload_bytes;
	uint64_t requests, responses; /* packets with request and response opcodes */
	uint64_t acks, naks_seq, naks_other, rnr, cnp;
	uint64_t psn_gaps;       /* gap events among requests */
	uint64_t psn_missing;    /* PSNs inside gaps that never came */
	uint64_t duplicates;     /* request PSNs seen again: retransmission */
	uint64_t icrc_good, icrc_bad, icrc_unverifiable;
	uint64_t ecn[4];         /* packets by ECN codepoint: Not-ECT, ECT(1), ECT(0), CE */
	uint64_t dscp[64];       /* packets by DSCP */
	uint32_t max_payload;
	uint64_t first_ns, last_ns;
	uint64_t first_frame, last_frame;
};

struct capture_totals {
	uint64_t frames, roce, cnp, lldp, other, truncated, malformed;
	uint64_t pfc_frames, pause_frames;
	uint64_t pfc_by_prio[8];
	uint64_t evicted_flows;  /* beyond the limit, oldest idle first */
};

struct flow_table; /* opaque */

/* max_flows bounds memory (default 65536 when 0). NULL on -ENOMEM. */
struct flow_table *flow_table_new(unsigned int max_flows);
void flow_table_free(struct flow_table *t);

/* Accounts one packet. -ENOMEM. */
int flow_table_add(struct flow_table *t, const struct packet *p);

const struct capture_totals *flow_table_totals(const struct flow_table *t);
unsigned int flow_table_count(const struct flow_table *t);

/* Copies flow i (in order of first packet), 0 <= i < count. */
void flow_table_get(const struct flow_table *t, unsigned int i, struct flow *f);

#endif
