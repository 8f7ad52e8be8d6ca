/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The priority of a frame. Trust follows the DCB APP table as on mlx5: as soon as it has a DSCP
 * entry, IP frames go by their DSCP; without one, and for other frames, by the VLAN tag's PCP,
 * and untagged ones by skb->priority (receive: 0).
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include "labnic.h"

/* Both address families have the DS field within the first two bytes. */
static int ip_dscp(const struct sk_buff *skb, int offset, __be16 proto)
{
	u8 bytes[2];
	const u8 *p;

	if (proto != htons(ETH_P_IP) && proto != htons(ETH_P_IPV6))
		return -1;
	p = skb_header_pointer(skb, offset, sizeof(bytes), bytes);
	if (!p)
		return -1;
	if (proto == htons(ETH_P_IP))
		return p[1] >> 2;
	return ((p[0] & 0x0f) << 4 | p[1] >> 4) >> 2;
}

/* The frame's type @proto stands in front of @offset; a tag that is still in line is skipped. */
static u8 classify(const struct labnic *nic, const struct sk_buff *skb, int offset, __be16 proto,
		   u8 untagged)
{
	u8 prio = untagged;
	int dscp;

	if (skb_vlan_tag_present(skb)) {
		prio = skb_vlan_tag_get_prio(skb);
	} else if (eth_type_vlan(proto)) {
		struct vlan_hdr tag;
		const struct vlan_hdr *p = skb_header_pointer(skb, offset, sizeof(tag), &tag);

		if (!p)
			return prio;
		prio = ntohs(p->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		proto = p->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (!READ_ONCE(nic->trust_dscp))
		return prio;
	dscp = ip_dscp(skb, offset, proto);
	return dscp < 0 ? prio : READ_ONCE(nic->dscp_prio[dscp]);
}

u8 labnic_tx_prio(const struct labnic *nic, const struct sk_buff *skb)
{
	u8 untagged = skb->priority < LABNIC_PRIOS ? skb->priority : 0;
	__be16 proto;
	const __be16 *p = skb_header_pointer(skb, ETH_HLEN - sizeof(proto), sizeof(proto), &proto);

	return p ? classify(nic, skb, ETH_HLEN, *p, untagged) : untagged;
}

u8 labnic_rx_prio(const struct labnic *nic, const struct sk_buff *skb)
{
	return classify(nic, skb, 0, skb->protocol, 0);
}
