/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes from the link header to the BTH, and MAC control frames. Lengths come from the IP header
 * or the GRH, never from the frame: Ethernet pads short frames, and captures may have a trailer.
 * IBTA vol 1, annexes A16 (RoCE) and A17 (RoCEv2); 802.3 annex 31B (PAUSE), 31D (PFC). tunnel.c
 * removes tunnels.
 */
#include "capture/decode/packet.h"

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <pcap/dlt.h>
#include <stddef.h>
#include <string.h>

#include "capture/decode/bth.h"
#include "capture/decode/bytes.h"
#include "capture/decode/tunnel.h"

#define MAC_CONTROL_PAUSE 0x0001
#define MAC_CONTROL_PFC	  0x0101

#define IPV6_OPTIONS_MAX  4
#define GRH_NEXT_BTH	  0x1b
#define ROCE_V2_PORT	  4791
#define UDP_LEN		  8
#define IPV4_LEN	  20
#define IPV6_LEN	  40
#define IPV6_FRAGMENT_LEN 8
#define VLAN_TAGS_MAX	  8

static void packet_decode_ethernet(const uint8_t *data, uint32_t at, struct packet *p);
static void packet_decode_ethertype(const uint8_t *data, uint32_t at, uint16_t ethertype,
				    struct packet *p);

static void packet_set_tclass(uint8_t tclass, struct packet *p)
{
	p->dscp = tclass >> 2;
	p->ecn = tclass & 3;
}

/* Recurses at most once: a tunnel within a tunnel is not decoded. */
static void packet_decode_vxlan(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p)
{
	struct tunnel_inner inner;

	if (tunnel_decap_vxlan(data, at, end, p, &inner))
		packet_decode_ethernet(data, inner.at, p);
}

/* end: end of the IP packet according to its header. */
static inline void packet_decode_udp(const uint8_t *data, uint32_t at, uint32_t end,
				     bool verifiable, enum packet_encap encap, struct packet *p)
{
	const uint8_t *h = data + at;
	uint16_t udp_len;

	if (!packet_reaches(p, at + UDP_LEN, "UDP header"))
		return;
	if (be16_at(h + 2) == VXLAN_PORT)
		packet_decode_vxlan(data, at + UDP_LEN, end, p);
	if (be16_at(h + 2) != ROCE_V2_PORT)
		return;
	p->kind = PACKET_ROCE;
	p->encap = (uint8_t)encap;
	p->sport = be16_at(h);
	p->bth_offset = at + UDP_LEN;
	udp_len = be16_at(h + 4);
	if (p->fragment)
		end = at + udp_len;
	else if (end > p->wire_end)
		packet_fault(p, PACKET_MALFORMED, "IP length %u exceeds the frame",
			     end - p->l3_offset);
	else if (at + udp_len != end)
		packet_fault(p, PACKET_MALFORMED, "UDP length %u, but IP has %d bytes", udp_len,
			     (int)end - (int)at);
	bth_decode(data, end, verifiable && !p->fragment, p);
}

/* Recurses at most once: a tunnel within a tunnel is not decoded. */
static void packet_decode_gre(const uint8_t *data, uint32_t at, uint32_t end, struct packet *p)
{
	struct tunnel_inner inner;

	if (!tunnel_decap_gre(data, at, end, p, &inner))
		return;
	if (inner.ethertype)
		packet_decode_ethertype(data, inner.at, inner.ethertype, p);
	else
		packet_decode_ethernet(data, inner.at, p);
}

static void packet_decode_ipv4(const uint8_t *data, struct packet *p)
{
	const uint8_t *h = data + p->l3_offset;
	uint32_t header_len, end;
	uint16_t fragment;

	if (!packet_reaches(p, p->l3_offset + IPV4_LEN, "IPv4 header"))
		return;
	header_len = (h[0] & 0xfU) * 4;
	if (h[0] >> 4 != 4 || header_len < IPV4_LEN) {
		packet_fault(p, PACKET_MALFORMED, "IPv4 header begins with 0x%02x", h[0]);
		return;
	}
	packet_set_tclass(h[1], p);
	p->ttl = h[8];
	ipv4_to_gid(h + 12, p->src);
	ipv4_to_gid(h + 16, p->dst);
	fragment = be16_at(h + 6) & 0x3fff;
	p->fragment = fragment != 0;
	if (fragment & 0x1fff)
		return;
	end = p->l3_offset + be16_at(h + 2);
	if (h[9] == IPPROTO_UDP)
		packet_decode_udp(data, p->l3_offset + header_len, end, header_len == IPV4_LEN,
				  ENCAP_ROCE_V2_IPV4, p);
	else if (h[9] == IPPROTO_GRE)
		packet_decode_gre(data, p->l3_offset + header_len, end, p);
}

/* The GRH of RoCEv1 has the layout of an IPv6 header. */
static void packet_decode_grh(const uint8_t *h, struct packet *p)
{
	packet_set_tclass((uint8_t)(be16_at(h) >> 4), p);
	p->ttl = h[7];
	memcpy(p->src, h + 8, 16);
	memcpy(p->dst, h + 24, 16);
}

/* | next header 8 | length in 8 bytes, without the first 8 | ... |: hop by hop, routing,
 * destination options. Moves *at and *next after them; false when the frame ends before. */
static bool packet_skip_ipv6_options(const uint8_t *data, uint32_t *at, uint8_t *next,
				     struct packet *p)
{
	unsigned int i;

	for (i = 0; i < IPV6_OPTIONS_MAX; i++) {
		const uint8_t *h = data + *at;

		if (*next != IPPROTO_HOPOPTS && *next != IPPROTO_ROUTING &&
		    *next != IPPROTO_DSTOPTS)
			return true;
		if (!packet_reaches(p, *at + 8, "IPv6 extension header"))
			return false;
		*next = h[0];
		*at += (h[1] + 1U) * 8;
	}
	return true;
}

static void packet_decode_ipv6(const uint8_t *data, struct packet *p)
{
	const uint8_t *h = data + p->l3_offset;
	uint32_t at = p->l3_offset + IPV6_LEN;
	uint32_t end;
	uint8_t next;
	bool plain;

	if (!packet_reaches(p, at, "IPv6 header"))
		return;
	if (h[0] >> 4 != 6) {
		packet_fault(p, PACKET_MALFORMED, "IPv6 header begins with 0x%02x", h[0]);
		return;
	}
	packet_decode_grh(h, p);
	end = at + be16_at(h + 4);
	next = h[6];
	plain = next == IPPROTO_UDP;
	if (!packet_skip_ipv6_options(data, &at, &next, p))
		return;
	if (next == IPPROTO_FRAGMENT) {
		if (!packet_reaches(p, at + IPV6_FRAGMENT_LEN, "IPv6 fragment header"))
			return;
		p->fragment = true;
		next = data[at];
		if (be16_at(data + at + 2) & 0xfff8)
			return;
		at += IPV6_FRAGMENT_LEN;
	}
	if (next == IPPROTO_UDP)
		packet_decode_udp(data, at, end, plain, ENCAP_ROCE_V2_IPV6, p);
	else if (next == IPPROTO_GRE)
		packet_decode_gre(data, at, end, p);
}

static void packet_decode_roce_v1(const uint8_t *data, struct packet *p)
{
	const uint8_t *h = data + p->l3_offset;
	uint32_t end;

	p->kind = PACKET_ROCE;
	p->encap = ENCAP_ROCE_V1;
	if (!packet_reaches(p, p->l3_offset + IPV6_LEN, "GRH"))
		return;
	if (h[0] >> 4 != 6 || h[6] != GRH_NEXT_BTH) {
		packet_fault(p, PACKET_MALFORMED, "GRH version %u, next header 0x%02x", h[0] >> 4,
			     h[6]);
		return;
	}
	packet_decode_grh(h, p);
	p->bth_offset = p->l3_offset + IPV6_LEN;
	end = p->bth_offset + be16_at(h + 4);
	if (end > p->wire_end)
		packet_fault(p, PACKET_MALFORMED, "GRH length %u exceeds the frame",
			     be16_at(h + 4));
	bth_decode(data, end, true, p);
}

/*
 *   | opcode 16 | PFC: class enable 16 | 8 x quanta 16, class 0 first |
 *   | opcode 16 | PAUSE: quanta 16     |
 */
static void packet_decode_mac_control(const uint8_t *data, struct packet *p)
{
	const uint8_t *h = data + p->l3_offset;
	unsigned int i;
	uint16_t opcode;

	p->pfc_enable = 0;
	memset(p->pfc_quanta, 0, sizeof(p->pfc_quanta));
	if (!packet_reaches(p, p->l3_offset + 4, "MAC control"))
		return;
	opcode = be16_at(h);
	if (opcode == MAC_CONTROL_PAUSE) {
		p->kind = PACKET_PAUSE;
		p->pfc_quanta[0] = be16_at(h + 2);
	}
	if (opcode != MAC_CONTROL_PFC)
		return;
	p->kind = PACKET_PFC;
	if (!packet_reaches(p, p->l3_offset + 20, "PFC"))
		return;
	p->pfc_enable = h[3];
	for (i = 0; i < ARRAY_SIZE(p->pfc_quanta); i++)
		p->pfc_quanta[i] = be16_at(h + 4 + 2 * i);
}

static void packet_decode_lldp(const uint8_t *data, struct packet *p)
{
	(void)data;
	p->kind = PACKET_LLDP;
}

static const struct {
	uint16_t ethertype;
	void (*decode)(const uint8_t *data, struct packet *p);
} ethertypes[] = {
	{ETH_P_IP, packet_decode_ipv4},	     {ETH_P_IPV6, packet_decode_ipv6},
	{ETH_P_IBOE, packet_decode_roce_v1}, {ETH_P_PAUSE, packet_decode_mac_control},
	{ETH_P_LLDP, packet_decode_lldp},
};

static bool packet_is_vlan_type(uint16_t ethertype)
{
	return ethertype == ETH_P_8021Q || ethertype == ETH_P_8021AD || ethertype == ETH_P_QINQ1;
}

/* at: after an ethertype field. Skips VLAN tags, then decodes by ethertype. */
static void packet_decode_ethertype(const uint8_t *data, uint32_t at, uint16_t ethertype,
				    struct packet *p)
{
	unsigned int i;

	while (packet_is_vlan_type(ethertype)) {
		if (p->vlan_count == VLAN_TAGS_MAX) {
			packet_fault(p, PACKET_MALFORMED, "more than %d VLAN tags", VLAN_TAGS_MAX);
			return;
		}
		if (!packet_reaches(p, at + 4, "VLAN tag"))
			return;
		p->vlan_count++;
		p->pcp = data[at] >> 5;
		p->vid = be16_at(data + at) & 0xfff;
		ethertype = be16_at(data + at + 2);
		at += 4;
	}
	p->l3_offset = at;
	for (i = 0; i < ARRAY_SIZE(ethertypes); i++) {
		if (ethertypes[i].ethertype == ethertype) {
			ethertypes[i].decode(data, p);
			return;
		}
	}
}

static void packet_decode_ethernet(const uint8_t *data, uint32_t at, struct packet *p)
{
	const uint8_t *h = data + at;

	if (!packet_reaches(p, at + 14, "Ethernet header"))
		return;
	memcpy(p->dmac, h, 6);
	memcpy(p->smac, h + 6, 6);
	packet_decode_ethertype(data, at + 14, be16_at(h + 12), p);
}

/* Linux "cooked" headers of captures on all interfaces; they have only the sender's address. */
static void packet_decode_sll(const uint8_t *data, uint32_t at, struct packet *p)
{
	if (!packet_reaches(p, at + 16, "SLL header"))
		return;
	memcpy(p->smac, data + at + 6, 6);
	packet_decode_ethertype(data, at + 16, be16_at(data + at + 14), p);
}

static void packet_decode_sll2(const uint8_t *data, uint32_t at, struct packet *p)
{
	if (!packet_reaches(p, at + 20, "SLL2 header"))
		return;
	memcpy(p->smac, data + at + 12, 6);
	packet_decode_ethertype(data, at + 20, be16_at(data + at), p);
}

static void packet_decode_raw(const uint8_t *data, uint32_t at, struct packet *p)
{
	if (!packet_reaches(p, at + 1, "IP header"))
		return;
	packet_decode_ethertype(data, at, data[at] >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP, p);
}

/* LINKTYPE_RAW of files is 101, which libpcap turns into the platform's DLT_RAW. */
static const struct {
	int dlt;
	void (*decode)(const uint8_t *data, uint32_t at, struct packet *p);
} links[] = {
	{DLT_EN10MB, packet_decode_ethernet},
	{DLT_LINUX_SLL, packet_decode_sll},
	{DLT_LINUX_SLL2, packet_decode_sll2},
	{DLT_RAW, packet_decode_raw},
	{101, packet_decode_raw},
	{DLT_IPV4, packet_decode_raw},
	{DLT_IPV6, packet_decode_raw},
};

static int packet_find_dlt(int dlt)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(links); i++)
		if (links[i].dlt == dlt)
			return (int)i;
	return -1;
}

bool packet_dlt_is_supported(int dlt)
{
	return packet_find_dlt(dlt) >= 0;
}

void packet_decode(int dlt, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
		   uint64_t frame, uint64_t time_ns, struct packet *p)
{
	int link = packet_find_dlt(dlt);

	/* In two pieces: compilers make slow code for more. */
	memset(p->src, 0, sizeof(p->src) + sizeof(p->dst));
	memset(&p->kind, 0, offsetof(struct packet, reth) - offsetof(struct packet, kind));
	p->note[0] = '\0';
	p->tunnel.kind = TUNNEL_NONE;
	p->cm.message = CM_NONE;
	p->frame = frame;
	p->time_ns = time_ns;
	p->cap_len = cap_len;
	p->wire_len = wire_len < cap_len ? cap_len : wire_len;
	p->cap_end = p->cap_len;
	p->wire_end = p->wire_len;
	if (link >= 0)
		links[link].decode(data, 0, p);
	else
		packet_fault(p, PACKET_MALFORMED, "unsupported link type %d", dlt);
}

uint32_t packet_rnr_us(const struct packet *p)
{
	static const uint32_t us[32] = {
		655360, 10,    20,    30,    40,    60,	    80,	    120,    160,    240,    320,
		480,	640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
		20480,	30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
	};

	return us[p->aeth.syndrome & 0x1f];
}

int packet_credits(const struct packet *p)
{
	unsigned int value = p->aeth.syndrome & 0x1f;

	if (value == 31)
		return -1;
	if (value < 5)
		return (int)value;
	/* 6, 8, 12, 16 and so on */
	return (value & 1 ? 3 : 4) << (value - 3) / 2;
}
