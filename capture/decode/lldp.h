/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes LLDP with IEEE DCBX TLVs (802.1Q annex D: OUI 00-80-C2, subtypes 9 to 12) into struct
 * lldp_peer. Recognises CEE and CIN (OUI 00-1B-21) by name, to report a wrong dialect.
 */
#ifndef CAPTURE_LLDP_H
#define CAPTURE_LLDP_H

#include "capture/decode/packet.h"
#include "profiles/qos.h"

#define LLDP_HEARD_MAX 8

struct lldp_peer {
	bool seen;
	char chassis[64], system[64], port[64];
	char dialect[8];	/* "ieee", "cee", "cin" or "" */
	struct qos qos;		/* ETS, PFC, APP, willing as advertised */
	struct qos recommended; /* ETS recommended to us */
	uint32_t max_frame;	/* 802.3 maximum frame size TLV, 0 = not sent */
	uint16_t ttl_s;
	unsigned int neighbours;	/* different chassis IDs seen: more than 1 is a finding */
	uint32_t heard[LLDP_HEARD_MAX]; /* hashes of their chassis IDs; not in JSON */
};

/* Parses an LLDP frame from its Ethernet header on (VLAN tags allowed). A newer frame of the same
 * chassis replaces an older one. A second chassis ID increments peer->neighbours and is otherwise
 * ignored: a port has one neighbour. A value out of range leaves its field unknown. -EINVAL with
 * the broken TLV in e: *peer is untouched. */
int lldp_decode(const uint8_t *frame, uint32_t len, struct lldp_peer *peer, struct err *e);

/* The same for a decoded packet of kind PACKET_LLDP and its frame, whatever its link type. */
int lldp_decode_packet(const struct packet *p, const uint8_t *data, struct lldp_peer *peer,
		       struct err *e);

/* The same for raw TLVs without Ethernet header, as from lldpad: the end TLV may be missing, and
 * without a chassis ID the TLVs add to *peer. */
int lldp_decode_tlvs(const uint8_t *tlvs, uint32_t len, struct lldp_peer *peer, struct err *e);

#endif
