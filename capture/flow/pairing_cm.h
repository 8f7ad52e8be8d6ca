/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections as the connection manager makes them: a REQ and the REP to it name both QPs, the PSNs
 * that each side is to begin with, the path MTU and the timeout. IBTA vol 1, 12.6. Bounded: of
 * those that fall together the oldest makes room.
 */
#ifndef CAPTURE_PAIRING_CM_H
#define CAPTURE_PAIRING_CM_H

#include "capture/decode/packet.h"

struct pairing_cm; /* opaque */

/* One direction. No pointers. */
struct connection {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn, reverse_qpn; /* of the way back */
	uint32_t starting_psn, path_mtu;
	uint32_t req_id, rep_id; /* of the REQ and the REP: a number of their senders */
	uint64_t timeout_ns;	 /* 0 = never */
	uint64_t time_ns;	 /* of the REP */
};

/* NULL on -ENOMEM. */
struct pairing_cm *pairing_cm_new(uint64_t seed);
void pairing_cm_free(struct pairing_cm *t);

/*
 * Takes a CM message. True when it is a REP that completes a connection which is not known yet:
 * *there begins at the sender of the REQ, *back at the sender of the REP; borrowed until the next
 * call.
 */
bool pairing_cm_add(struct pairing_cm *t, const struct packet *p, const struct connection **there,
		    const struct connection **back);

/* The connection whose requests go this way; NULL = none is known. Borrowed until the next take. */
const struct connection *pairing_cm_find(const struct pairing_cm *t, const uint8_t src[16],
					 const uint8_t dst[16], uint32_t dest_qpn);

#endif
