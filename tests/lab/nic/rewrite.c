/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rewriting on transmission (linux 6.3, DCB_ATTR_DCB_REWR_TABLE): a frame leaves with the DSCP
 * and, if it has a tag, with the PCP that its priority is mapped to. The priority itself is what
 * the frame came with: rewriting is the last thing before the wire. An untagged frame stays so.
 */
#include <linux/if_vlan.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>

#include "labnic.h"

/* DEI and PCP are numbered DEI * 8 + PCP. */
static u16 tci_mark(u16 tci, u8 pcp)
{
	return (tci & VLAN_VID_MASK) | (pcp & 7) << VLAN_PRIO_SHIFT | (pcp & 8 ? VLAN_CFI_MASK : 0);
}

static bool pcp_rewrite(struct sk_buff *skb, u8 pcp)
{
	struct vlan_ethhdr *header;

	if (skb_vlan_tag_present(skb)) {
		skb->vlan_tci = tci_mark(skb->vlan_tci, pcp);
		return true;
	}
	if (skb->len < VLAN_ETH_HLEN || !eth_type_vlan(((const struct ethhdr *)skb->data)->h_proto))
		return true;
	if (skb_ensure_writable(skb, VLAN_ETH_HLEN))
		return false;
	header = (struct vlan_ethhdr *)skb->data;
	header->h_vlan_TCI = htons(tci_mark(ntohs(header->h_vlan_TCI), pcp));
	return true;
}

/* ECN stays. The checksums of IPv4 change with the header, those above know nothing of it. */
static bool dscp_rewrite(struct sk_buff *skb, u8 dscp)
{
	__be16 proto = ((const struct ethhdr *)skb->data)->h_proto;
	int offset = ETH_HLEN;
	int length;

	if (eth_type_vlan(proto)) {
		if (!pskb_may_pull(skb, VLAN_ETH_HLEN))
			return true;
		proto = ((const struct vlan_ethhdr *)skb->data)->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (proto != htons(ETH_P_IP) && proto != htons(ETH_P_IPV6))
		return true;
	length = offset +
		 (proto == htons(ETH_P_IP) ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	if (skb->len < length)
		return true;
	if (skb_ensure_writable(skb, length))
		return false;
	if (proto == htons(ETH_P_IP))
		ipv4_change_dsfield((struct iphdr *)(skb->data + offset), INET_ECN_MASK, dscp << 2);
	else
		ipv6_change_dsfield((struct ipv6hdr *)(skb->data + offset), INET_ECN_MASK,
				    dscp << 2);
	return true;
}

bool labnic_rewrite(const struct labnic *nic, struct sk_buff *skb, u8 prio)
{
	u8 pcp = READ_ONCE(nic->rewrite_pcp[prio]);
	u8 dscp = READ_ONCE(nic->rewrite_dscp[prio]);

	if (skb->len < ETH_HLEN)
		return true;
	return (!pcp || pcp_rewrite(skb, pcp - 1)) && (!dscp || dscp_rewrite(skb, dscp - 1));
}
