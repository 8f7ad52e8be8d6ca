/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connections set up by the connection manager: REQ and REP name both QPs, the starting PSNs, the
 * path MTU and the timeout. IBTA vol 1, 12.6. Bounded: a new entry replaces the oldest of its set.
 */
#ifndef CAPTURE_PAIRING_CM_H
#define CAPTURE_PAIRING_CM_H

#include "capture/decode/packet.h"

struct pairing_cm; /* opaque */

/* One direction. No pointers. */
struct connection {
	uint8_t src[16], dst[16];
	uint32_t dest_qpn, reverse_qpn; /* of the reverse direction */
	uint32_t starting_psn, path_mtu;
	uint32_t req_id, rep_id; /* local ids of the REQ and the REP */
	uint64_t timeout_ns;	 /* 0 = never */
	uint64_t time_ns;	 /* of the REP */
};

/* NULL on -ENOMEM. */
struct pairing_cm *pairing_cm_new(uint64_t seed);
void pairing_cm_free(struct pairing_cm *t);

/*
 * Accounts a CM message. True for a REP that completes a new connection: *forward begins at the
 * sender of the REQ, *reverse at the sender of the REP; borrowed until the next call.
 */
bool pairing_cm_add(struct pairing_cm *t, const struct packet *p, const struct connection **forward,
		    const struct connection **reverse);

/* Returns the connection of requests in this direction, or NULL. Borrowed until the next
 * pairing_cm_add(). */
const struct connection *pairing_cm_find(const struct pairing_cm *t, const uint8_t src[16],
					 const uint8_t dst[16], uint32_t dest_qpn);

#endif
