/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes tunnels around a frame: GRE, the ERSPAN headers in it with which switches send mirrored
 * frames, and VXLAN.
 */
#ifndef CAPTURE_TUNNEL_H
#define CAPTURE_TUNNEL_H

#include "capture/decode/packet.h"

/* Start of the inner frame: an Ethernet header, or a packet of the ethertype. */
struct tunnel_inner {
	uint32_t at;
	uint16_t ethertype; /* 0 = an Ethernet header */
};

/*
 * Removes a GRE tunnel: `at` is its header, end the end of the outer IP packet by its header. True
 * with an inner frame: p->tunnel describes the outer frame, all else in p is cleared for the inner
 * one, and p->cap_end and p->wire_end limit it. False without one: another protocol, a tunnel
 * within a tunnel, or as p->fault states.
 */
bool tunnel_decap_gre(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
		      struct tunnel_inner *inner);

/* The same for VXLAN, which always carries Ethernet: `at` is its header, after UDP. */
#define VXLAN_PORT 4789
bool tunnel_decap_vxlan(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
			struct tunnel_inner *inner);

/* "gre", "erspan1"; "none" without a tunnel. */
const char *tunnel_text(const struct packet *p);

/* True when the tunnel has a session and a VLAN: ERSPAN II and III. */
bool tunnel_has_session(const struct packet *p);

#endif
