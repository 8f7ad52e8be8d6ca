/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The priority of a frame. Trust follows the DCB APP table as on mlx5: as soon as it has a DSCP
 * entry, IP frames go by their DSCP; without one, and for other frames, by the VLAN tag's PCP,
 * and untagged ones by skb->priority (receive: 0). An order of trust that was asked for (linux
 * 6.2, DCB_ATTR_DCB_APP_TRUST_TABLE) replaces that: the first field of it that says anything
 * decides, a DSCP says something if the APP table has it, a PCP always.
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

static const struct labnic_trust trusts[] = {
	{0},
	{1, {IEEE_8021QAZ_APP_SEL_DSCP}},
	{1, {LABNIC_SEL_PCP}},
	{2, {IEEE_8021QAZ_APP_SEL_DSCP, LABNIC_SEL_PCP}},
	{2, {LABNIC_SEL_PCP, IEEE_8021QAZ_APP_SEL_DSCP}},
};

const struct labnic_trust *labnic_trust_find(const u8 *selectors, int count)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(trusts); i++) {
		if (trusts[i].count == count && !memcmp(trusts[i].selectors, selectors, count))
			return &trusts[i];
	}
	return NULL;
}

/* What a frame has to go by: its DSCP, and DEI and PCP; -1 where it has none. */
struct fields {
	int dscp;
	int pcp;
};

/* The frame's type @proto stands in front of @offset; a tag that is still in line is skipped. */
static struct fields fields_read(const struct sk_buff *skb, int offset, __be16 proto)
{
	struct fields fields = {-1, -1};
	int tci = -1;

	if (skb_vlan_tag_present(skb)) {
		tci = skb_vlan_tag_get(skb);
	} else if (eth_type_vlan(proto)) {
		struct vlan_hdr tag;
		const struct vlan_hdr *p = skb_header_pointer(skb, offset, sizeof(tag), &tag);

		if (!p)
			return fields;
		tci = ntohs(p->h_vlan_TCI);
		proto = p->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (tci >= 0)
		fields.pcp = tci >> VLAN_PRIO_SHIFT | (tci & VLAN_CFI_MASK ? 8 : 0);
	fields.dscp = ip_dscp(skb, offset, proto);
	return fields;
}

static u8 prio_by_app(const struct labnic *nic, struct fields fields, u8 untagged)
{
	if (READ_ONCE(nic->trust_dscp) && fields.dscp >= 0)
		return READ_ONCE(nic->dscp_prio[fields.dscp]);
	return fields.pcp < 0 ? untagged : READ_ONCE(nic->pcp_prio[fields.pcp]);
}

static u8 prio_by_trust(const struct labnic *nic, const struct labnic_trust *trust,
			struct fields fields, u8 untagged)
{
	int i;

	for (i = 0; i < trust->count; i++) {
		bool dscp = trust->selectors[i] == IEEE_8021QAZ_APP_SEL_DSCP;

		if (dscp && fields.dscp >= 0 && test_bit(fields.dscp, nic->dscp_mapped))
			return READ_ONCE(nic->dscp_prio[fields.dscp]);
		if (!dscp && fields.pcp >= 0)
			return READ_ONCE(nic->pcp_prio[fields.pcp]);
	}
	return untagged;
}

static u8 classify(const struct labnic *nic, const struct sk_buff *skb, int offset, __be16 proto,
		   u8 untagged)
{
	const struct labnic_trust *trust = READ_ONCE(nic->trust);
	struct fields fields = fields_read(skb, offset, proto);

	return trust ? prio_by_trust(nic, trust, fields, untagged)
		     : prio_by_app(nic, fields, untagged);
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
