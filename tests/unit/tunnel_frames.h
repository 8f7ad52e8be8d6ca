/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the tunnels of switch mirrors around a frame, for tests: an outer Ethernet header with a
 * VLAN tag, IPv4 or IPv6, GRE and what is between GRE and the frame.
 */
#ifndef TESTS_UNIT_TUNNEL_FRAMES_H
#define TESTS_UNIT_TUNNEL_FRAMES_H

#include "tests/unit/roce_frames.h"

struct tunnel_spec {
	const char *name; /* as it is printed */
	uint16_t gre_flags, gre_protocol;
	uint8_t header[20]; /* of ERSPAN */
	uint8_t header_len;
	bool ip; /* the inner frame without its Ethernet header */
	bool named;
};

/* VLAN 100, CoS 3, T as below, session 5. */
static const struct tunnel_spec tunnel_specs[] = {
	{"gre", 0, 0x6558, {0}, 0, false, false},
	{"gre", 0xb000, 0x6558, {0}, 0, false, false},
	{"gre", 0, 0x0800, {0}, 0, true, false},
	{"erspan1", 0, 0x88be, {0}, 0, false, false},
	{"erspan2", 0x1000, 0x88be, {0x10, 0x64, 0x78, 0x05, 0, 0, 0, 9}, 8, false, true},
	{"erspan2", 0x3000, 0x88be, {0x10, 0x64, 0x78, 0x05, 0, 0, 0, 9}, 8, false, true},
	{"erspan3",
	 0x1000,
	 0x22eb,
	 {0x20, 0x64, 0x78, 0x05, 1, 2, 3, 4, 0, 0, 0, 0x08},
	 12,
	 false,
	 true},
	{"erspan3",
	 0x1000,
	 0x22eb,
	 {0x20, 0x64, 0x78, 0x05, 1, 2, 3, 4, 0, 0, 0, 0x09},
	 20,
	 false,
	 true},
};

#define TUNNEL_SPECS (sizeof(tunnel_specs) / sizeof(tunnel_specs[0]))

/* keep: bytes of the inner frame that the mirror leaves. l3 and bth of out are those of the inner
 * frame. */
static inline void tunnel_build(const struct tunnel_spec *t, bool ipv6, const struct frame *inner,
				uint32_t keep, struct frame *out)
{
	uint32_t skip = t->ip ? 14 : 0, gre = 4, len;

	gre += t->gre_flags & 0x8000 ? 4 : 0;
	gre += t->gre_flags & 0x2000 ? 4 : 0;
	gre += t->gre_flags & 0x1000 ? 4 : 0;
	len = gre + t->header_len + keep - skip;
	memset(out, 0, sizeof(*out));
	frame_put(out, 0x020000000099, 6);
	frame_put(out, 0x020000000098, 6);
	frame_put(out, 0x81000007, 4);
	frame_put(out, ipv6 ? 0x86dd : 0x0800, 2);
	if (ipv6) {
		frame_put(out, 0x60000000, 4);
		frame_put(out, len, 2);
		frame_put(out, 0x2f40, 2);
		frame_put(out, 0xfd00000000000000, 8);
		frame_put(out, 1, 8);
		frame_put(out, 0xfd00000000000000, 8);
		frame_put(out, 2, 8);
	} else {
		frame_put(out, 0x4520, 2); /* DSCP 8 */
		frame_put(out, 20 + len, 2);
		frame_put(out, 0x00010000, 4);
		frame_put(out, 0x402f0000, 4);
		frame_put(out, 0x0a000001, 4); /* 10.0.0.1 */
		frame_put(out, 0x0a000002, 4);
	}
	frame_put(out, t->gre_flags, 2);
	frame_put(out, t->gre_protocol, 2);
	if (t->gre_flags & 0x8000)
		frame_put(out, 0x12340000, 4);
	if (t->gre_flags & 0x2000)
		frame_put(out, 0x77, 4);
	if (t->gre_flags & 0x1000)
		frame_put(out, 0x00010203, 4);
	memcpy(out->bytes + out->len, t->header, t->header_len);
	out->len += t->header_len;
	out->l3 = out->len + inner->l3 - skip;
	out->bth = out->len + inner->bth - skip;
	memcpy(out->bytes + out->len, inner->bytes + skip, keep - skip);
	out->len += keep - skip;
}

/* VXLAN over IPv4, VNI 0x123456; flags as usual 8: the VNI is valid. */
static inline void vxlan_build(uint8_t flags, const struct frame *inner, struct frame *out)
{
	uint32_t len = 16 + inner->len;

	memset(out, 0, sizeof(*out));
	frame_put(out, 0x020000000099, 6);
	frame_put(out, 0x020000000098, 6);
	frame_put(out, 0x0800, 2);
	frame_put(out, 0x4520, 2); /* DSCP 8 */
	frame_put(out, 20 + len, 2);
	frame_put(out, 0x00010000, 4);
	frame_put(out, 0x40110000, 4);
	frame_put(out, 0x0a000001, 4); /* 10.0.0.1 */
	frame_put(out, 0x0a000002, 4);
	frame_put(out, 0xc00012b5, 4); /* port 4789 */
	frame_put(out, len << 16, 4);
	frame_put(out, (uint64_t)flags << 24, 4);
	frame_put(out, 0x12345600, 4);
	out->l3 = out->len + inner->l3;
	out->bth = out->len + inner->bth;
	memcpy(out->bytes + out->len, inner->bytes, inner->len);
	out->len += inner->len;
}

#endif
