/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLDP with IEEE DCBX TLVs (802.1Q annex D: OUI 00-80-C2, subtypes 9 to 12) into struct lldp_peer.
 * CEE and CIN (OUI 00-1B-21) are recognised by name so that a wrong dialect can be told.
 */
#ifndef CAPTURE_LLDP_H
#define CAPTURE_LLDP_H

#include "capture/summary.h"

/* Parses an LLDP frame from its Ethernet header on (VLAN tags allowed). Adds to *peer what it says; a
 * second chassis id raises peer->neighbours. -EINVAL with the broken TLV in e: *peer is untouched. */
int lldp_decode(const uint8_t *frame, uint32_t len, struct lldp_peer *peer, struct err *e);

/* The same for raw TLVs without Ethernet header, as lldpad returns them. */
int lldp_decode_tlvs(const uint8_t *tlvs, uint32_t len, struct lldp_peer *peer, struct err *e);

#endif
