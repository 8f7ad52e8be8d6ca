/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCEv2 packets, as far as congestion control looks into them: addresses, UDP source port, BTH
 * (IBTA vol 1, 9.2 and annex A17), and the invariant CRC. No RoCEv1, no IPv6 extension headers.
 */
#include <linux/crc32.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "labnic.h"

#define ROCE_PORT  4791
#define BTH_BYTES  12
#define ICRC_BYTES 4

/* RC and XRC: READ responses, ACK, ATOMIC ACK. */
static bool is_response(u8 opcode)
{
	u8 class = opcode >> 5;
	u8 operation = opcode & 0x1f;

	return (class == 0 || class == 5) && operation >= 0x0d && operation <= 0x12;
}

static int parse_v4(const struct sk_buff *skb, struct labnic_roce *roce)
{
	struct iphdr buffer;
	const struct iphdr *ip = skb_header_pointer(skb, roce->l3, sizeof(buffer), &buffer);

	if (!ip || ip->version != 4 || ip->ihl < 5 || ip->protocol != IPPROTO_UDP ||
	    (ip->frag_off & htons(IP_MF | IP_OFFSET)))
		return 0;
	ipv6_addr_set_v4mapped(ip->saddr, &roce->src);
	ipv6_addr_set_v4mapped(ip->daddr, &roce->dst);
	roce->ecn = ip->tos & 3;
	roce->bytes = ntohs(ip->tot_len);
	return ip->ihl * 4;
}

static int parse_v6(const struct sk_buff *skb, struct labnic_roce *roce)
{
	struct ipv6hdr buffer;
	const struct ipv6hdr *ip = skb_header_pointer(skb, roce->l3, sizeof(buffer), &buffer);

	if (!ip || ip->version != 6 || ip->nexthdr != IPPROTO_UDP)
		return 0;
	roce->src = ip->saddr;
	roce->dst = ip->daddr;
	roce->ecn = ipv6_get_dsfield(ip) & 3;
	roce->bytes = sizeof(*ip) + ntohs(ip->payload_len);
	roce->v6 = true;
	return sizeof(*ip);
}

bool labnic_roce_parse(const struct sk_buff *skb, int l3, __be16 proto, struct labnic_roce *roce)
{
	struct {
		struct udphdr udp;
		u8 bth[BTH_BYTES];
	} buffer;
	const u8 *p;
	int header;

	*roce = (struct labnic_roce){.l3 = l3};
	if (eth_type_vlan(proto)) {
		struct vlan_hdr tag;
		const struct vlan_hdr *vlan = skb_header_pointer(skb, l3, sizeof(tag), &tag);

		if (!vlan)
			return false;
		proto = vlan->h_vlan_encapsulated_proto;
		roce->l3 += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP))
		header = parse_v4(skb, roce);
	else if (proto == htons(ETH_P_IPV6))
		header = parse_v6(skb, roce);
	else
		return false;
	if (!header || roce->bytes < header + (int)sizeof(buffer) + ICRC_BYTES)
		return false;
	p = skb_header_pointer(skb, roce->l3 + header, sizeof(buffer), &buffer);
	if (!p || ((const struct udphdr *)p)->dest != htons(ROCE_PORT))
		return false;
	roce->sport = ((const struct udphdr *)p)->source;
	p += sizeof(struct udphdr);
	roce->opcode = p[0];
	roce->response = is_response(roce->opcode);
	roce->qpn = p[5] << 16 | p[6] << 8 | p[7];
	roce->psn = p[9] << 16 | p[10] << 8 | p[11];
	return true;
}

/*
 * IBTA vol 1, annex A17.3.3: CRC-32 of eight bytes of ones, which stand for the LRH that is not
 * there, and of the packet, in which what routers may change counts as ones.
 */
u32 labnic_icrc(u8 *packet, int bytes, bool v6)
{
	static const u8 lrh[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	u8 *udp = packet + (v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr));

	if (v6) {
		struct ipv6hdr *ip = (struct ipv6hdr *)packet;

		ip6_flow_hdr(ip, 0xff, htonl(0xfffff));
		ip->hop_limit = 0xff;
	} else {
		struct iphdr *ip = (struct iphdr *)packet;

		ip->tos = 0xff;
		ip->ttl = 0xff;
		ip->check = (__force __sum16)0xffff;
	}
	memset(udp + offsetof(struct udphdr, check), 0xff, sizeof(__sum16));
	udp[sizeof(struct udphdr) + 4] = 0xff; /* FECN, BECN, reserved */
	return ~crc32_le(crc32_le(~0U, lrh, sizeof(lrh)), packet, bytes);
}
