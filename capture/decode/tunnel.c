/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes GRE (RFC 2784, RFC 2890) and ERSPAN (draft-foschiano-erspan): type I has the frame right
 * after GRE, type II 8 bytes between them, type III 12 or 20. A mirror may truncate frames with or
 * without the T bit, so an inner length beyond the end of the outer packet is truncated, not
 * malformed. VXLAN (RFC 7348) has 8 bytes: flags (I: the VNI is valid) and the VNI. A tunnel within
 * a tunnel stays.
 *
 *   ERSPAN II, III
 *   0   4            16  19 21 22          32
 *   +---+------------+---+--+-+------------+
 *   |ver|  VLAN id   |CoS|En|T| session id |
 *   +---+------------+---+--+-+------------+
 *   | II: reserved 12, index 20            |
 *   | III: time stamp 32                   |
 *   +------------------+-+-----+----+-+-+-+
 *   | III: SGT 16      |P|FT 5 |HW 6|D|G|O |   O: 8 more bytes
 *   +------------------+-+-----+----+-+-+-+
 */
#include "capture/decode/tunnel.h"

#include <linux/if_ether.h>
#include <string.h>

#include "capture/decode/bth.h"
#include "capture/decode/bytes.h"

#define GRE_CHECKSUM 0x8000
#define GRE_ROUTING  0x4000
#define GRE_KEY	     0x2000
#define GRE_SEQUENCE 0x1000
#define GRE_VERSION  0x0007
#define GRE_LEN	     4

#define VXLAN_LEN	8
#define VXLAN_VALID_VNI 0x08 /* byte 0 */

#define ERSPAN_TRUNCATED      0x04 /* byte 2 */
#define ERSPAN3_FRAME_TYPE    0x7c /* byte 10; 0 = Ethernet */
#define ERSPAN3_EGRESS	      0x08 /* byte 11 */
#define ERSPAN3_SUBHEADER     0x01 /* byte 11 */
#define ERSPAN3_SUBHEADER_LEN 8

/* The first matching row applies. */
static const struct gre_row {
	uint16_t protocol;
	uint16_t flags; /* that must be set */
	uint8_t kind;
	uint8_t version, header_len; /* of ERSPAN */
	uint16_t ethertype;	     /* of the inner frame; 0 = an Ethernet header */
} gre_rows[] = {
	{ETH_P_ERSPAN, GRE_SEQUENCE, TUNNEL_ERSPAN_II, 1, 8, 0},
	{ETH_P_ERSPAN, 0, TUNNEL_ERSPAN_I, 0, 0, 0},
	{ETH_P_ERSPAN2, 0, TUNNEL_ERSPAN_III, 2, 12, 0},
	{ETH_P_TEB, 0, TUNNEL_GRE, 0, 0, 0},
	{ETH_P_IP, 0, TUNNEL_GRE, 0, 0, ETH_P_IP},
	{ETH_P_IPV6, 0, TUNNEL_GRE, 0, 0, ETH_P_IPV6},
};

static const char *const tunnel_names[] = {
	[TUNNEL_NONE] = "none",		 [TUNNEL_GRE] = "gre",
	[TUNNEL_ERSPAN_I] = "erspan1",	 [TUNNEL_ERSPAN_II] = "erspan2",
	[TUNNEL_ERSPAN_III] = "erspan3", [TUNNEL_VXLAN] = "vxlan",
};

const char *tunnel_text(const struct packet *p)
{
	return tunnel_names[p->tunnel.kind < ARRAY_SIZE(tunnel_names) ? p->tunnel.kind : 0];
}

bool tunnel_has_session(const struct packet *p)
{
	return p->tunnel.kind == TUNNEL_ERSPAN_II || p->tunnel.kind == TUNNEL_ERSPAN_III;
}

static const struct gre_row *tunnel_find_gre_row(uint16_t flags, uint16_t protocol)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(gre_rows); i++)
		if (gre_rows[i].protocol == protocol &&
		    (flags & gre_rows[i].flags) == gre_rows[i].flags)
			return &gre_rows[i];
	return NULL;
}

/* All fields so far belong to the outer frame, also when it has no inner frame. */
static void tunnel_save_outer(enum packet_tunnel kind, struct packet *p)
{
	memset(&p->tunnel, 0, sizeof(p->tunnel));
	p->tunnel.kind = (uint8_t)kind;
	memcpy(p->tunnel.src, p->src, sizeof(p->src));
	memcpy(p->tunnel.dst, p->dst, sizeof(p->dst));
	p->tunnel.dscp = p->dscp;
	p->tunnel.ecn = p->ecn;
}

/* Clears all fields for the inner frame. */
static void tunnel_clear_inner(struct packet *p)
{
	memset(p->dmac, 0, sizeof(p->dmac));
	memset(p->smac, 0, sizeof(p->smac));
	memset(p->src, 0, sizeof(p->src));
	memset(p->dst, 0, sizeof(p->dst));
	p->dscp = p->ecn = p->ttl = 0;
	p->vlan_count = p->pcp = 0;
	p->vid = 0;
	p->l3_offset = 0;
	p->fragment = false;
}

/* | flags 16 | protocol 16 | checksum, reserved 32 | key 32 | sequence 32 |, the last three only
 * if their flag is set. 0 when the frame is too short. */
static uint32_t tunnel_gre_header_end(const uint8_t *data, uint32_t at, uint16_t flags,
				      struct packet *p)
{
	uint32_t end = at + GRE_LEN;

	end += flags & GRE_CHECKSUM ? 4 : 0;
	end += flags & GRE_KEY ? 4 : 0;
	end += flags & GRE_SEQUENCE ? 4 : 0;
	if (!packet_reaches(p, end, "GRE header"))
		return 0;
	if (flags & GRE_SEQUENCE) {
		p->tunnel.sequenced = true;
		p->tunnel.sequence = be32_at(data + end - 4);
	}
	return end;
}

/* Length of the header between GRE and the mirrored frame; 0 = no frame to decode. */
static uint32_t tunnel_erspan_header_end(const uint8_t *data, uint32_t at,
					 const struct gre_row *row, struct packet *p)
{
	const uint8_t *h = data + at;
	uint32_t end = at + row->header_len;

	if (!row->header_len)
		return end;
	if (!packet_reaches(p, end, "ERSPAN header"))
		return 0;
	if (h[0] >> 4 != row->version) {
		packet_fault(p, PACKET_MALFORMED, "ERSPAN version %u, type %s has %u", h[0] >> 4,
			     row->version == 1 ? "II" : "III", row->version);
		return 0;
	}
	p->tunnel.vid = be16_at(h) & 0xfff;
	p->tunnel.cos = h[2] >> 5;
	p->tunnel.session = be16_at(h + 2) & 0x3ff;
	p->tunnel.truncated = h[2] & ERSPAN_TRUNCATED;
	if (row->kind != TUNNEL_ERSPAN_III)
		return end;
	p->tunnel.egress = h[11] & ERSPAN3_EGRESS;
	if (h[11] & ERSPAN3_SUBHEADER)
		end += ERSPAN3_SUBHEADER_LEN;
	if (!packet_reaches(p, end, "ERSPAN subheader") || h[10] & ERSPAN3_FRAME_TYPE)
		return 0;
	return end;
}

/* Bytes beyond the outer IP packet are no part of the inner frame. */
static void tunnel_limit_to(uint32_t end, struct packet *p)
{
	if (end < p->cap_end)
		p->cap_end = end;
	if (end < p->wire_end && !p->fragment)
		p->wire_end = end;
}

bool tunnel_decap_vxlan(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
			struct tunnel_inner *inner)
{
	if (p->tunnel.kind != TUNNEL_NONE)
		return false;
	tunnel_limit_to(end, p);
	if (!packet_reaches(p, at + VXLAN_LEN, "VXLAN header") || !(data[at] & VXLAN_VALID_VNI))
		return false;
	tunnel_save_outer(TUNNEL_VXLAN, p);
	p->tunnel.vni = be24_at(data + at + 4);
	if (p->fragment)
		p->wire_end = UINT32_MAX;
	inner->at = at + VXLAN_LEN;
	inner->ethertype = 0;
	tunnel_clear_inner(p);
	return true;
}

bool tunnel_decap_gre(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p,
		      struct tunnel_inner *inner)
{
	const struct gre_row *row;
	uint16_t flags;
	bool whole = !p->fragment;

	if (p->tunnel.kind != TUNNEL_NONE)
		return false;
	tunnel_limit_to(end, p);
	if (!packet_reaches(p, at + GRE_LEN, "GRE header"))
		return false;
	flags = be16_at(data + at);
	row = tunnel_find_gre_row(flags, be16_at(data + at + 2));
	if (!row || flags & (GRE_ROUTING | GRE_VERSION))
		return false;
	tunnel_save_outer((enum packet_tunnel)row->kind, p);
	at = tunnel_gre_header_end(data, at, flags, p);
	if (at)
		at = tunnel_erspan_header_end(data, at, row, p);
	if (!at)
		return false;
	if (row->kind != TUNNEL_GRE || !whole)
		p->wire_end = UINT32_MAX;
	inner->at = at;
	inner->ethertype = row->ethertype;
	tunnel_clear_inner(p);
	return true;
}
