/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts packets that a mirror lost on its way to the capture: GRE and ERSPAN may number packets
 * (RFC 2890). A missing number is a loss of the mirror, not of the mirrored network.
 */
#ifndef CAPTURE_ERSPAN_SEQ_H
#define CAPTURE_ERSPAN_SEQ_H

#include "capture/decode/packet.h"

#define ERSPAN_SESSIONS 8 /* tunnels and sessions; further ones are not checked */

struct erspan_session {
	uint8_t src[16], dst[16];
	uint8_t kind;
	uint16_t session;
	uint32_t next; /* the expected number */
	uint64_t seen; /* bit n = number next - 1 - n was seen */
};

/* No pointers. All zero: no packet yet. */
struct erspan_seq {
	struct erspan_session session[ERSPAN_SESSIONS];
	unsigned int count;
};

struct erspan_seq_totals {
	uint64_t packets;  /* numbered packets */
	uint64_t gaps;	   /* jumps ahead */
	uint64_t missing;  /* missing numbers */
	uint64_t restarts; /* jumps too large for a loss */
};

/* Accounts a packet from a tunnel. True when numbers are missing just before it. */
bool erspan_seq_add(struct erspan_seq *t, const struct packet *p, struct erspan_seq_totals *sum);

#endif
