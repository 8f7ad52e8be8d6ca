/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mirror lost on its way to the capture: GRE and ERSPAN may number their packets (RFC 2890),
 * and a number that is missing is a loss of the mirror, not of the network that it shows.
 */
#ifndef CAPTURE_ERSPAN_SEQ_H
#define CAPTURE_ERSPAN_SEQ_H

#include "capture/decode/packet.h"

#define ERSPAN_SESSIONS 8 /* tunnels and sessions; what comes by more of them is not judged */

struct erspan_session {
	uint8_t src[16], dst[16];
	uint8_t kind;
	uint16_t session;
	uint32_t next; /* the number that is expected */
	uint64_t seen; /* of the numbers before it, bit 0 is the last one */
};

/* No pointers. All zero: nothing was seen. */
struct erspan_seq {
	struct erspan_session session[ERSPAN_SESSIONS];
	unsigned int count;
};

struct erspan_seq_totals {
	uint64_t packets;  /* that were numbered, and judged */
	uint64_t gaps;	   /* jumps ahead */
	uint64_t missing;  /* numbers that never came */
	uint64_t restarts; /* jumps that no loss explains: not judged */
};

/* Takes a packet out of a tunnel. True when numbers are missing just before it. */
bool erspan_seq_add(struct erspan_seq *t, const struct packet *p, struct erspan_seq_totals *sum);

#endif
