/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tunnels around a frame: GRE, the ERSPAN headers in it with which switches send mirrored frames to
 * an analyser, and VXLAN.
 */
#ifndef CAPTURE_TUNNEL_H
#define CAPTURE_TUNNEL_H

#include "capture/decode/packet.h"

/* Where the inner frame begins: with an Ethernet header, or as what the ethertype says. */
struct tunnel_inner {
	uint32_t at;
	uint16_t ethertype; /* 0 = an Ethernet header */
};

/*
 * Takes a GRE tunnel off: `at` is its header, end the end of the outer IP packet by its own header.
 * True when there is an inner frame to decode: p->tunnel tells the outer one, everything else in p
 * is blank for the inner one, and p->cap_end and p->wire_end are its limits. False when there is
 * none: the protocol is another one, it is a tunnel within a tunnel, or p->fault says why.
 */
bool tunnel_decap_gre(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
		      struct tunnel_inner *inner);

/* The same of VXLAN, which is Ethernet always: `at` is its header, behind UDP. */
#define VXLAN_PORT 4789
bool tunnel_decap_vxlan(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
			struct tunnel_inner *inner);

/* "gre", "erspan1"; "none" without a tunnel. */
const char *tunnel_text(const struct packet *p);

/* Whether the tunnel names a session and the VLAN: ERSPAN II and III. */
bool tunnel_has_session(const struct packet *p);

#endif
