/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notification point: a packet that comes with CE is answered with a CNP (IBTA vol 1, annex
 * A17.9.3), at most one an interval and flow; and the CNPs that come are handed to the reaction
 * point. A packet names its destination's QPN only, so that each point lacks one: the sender's
 * for the CNP, the remote's that a CNP's flow goes to. Packets of the other direction name it,
 * ACKs at the least; and both directions of a connection have the same UDP source port
 * (rdma_get_udp_sport(): a function of both QPNs, or of the flow label the two ends share), or
 * else PSNs near each other.
 * Left out: what is never answered (UC to a host that sends nothing back) and UD, whose rate
 * belongs to no connection.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <rdma/ib_verbs.h>

#include "labnic.h"

#define ECN_CE	 3
#define ECN_ECT0 2
#define HOPS	 64
/* Some time after its last packet a pair of QPNs may belong to others. */
#define PAIR_NS	 (30LL * NSEC_PER_SEC)
#define CLASS_UD 3
#define PSN_MASK 0xffffff
#define PSN_NONE U32_MAX
/* More than a Soft-RoCE queue pair has in flight. */
#define PSN_NEAR 256
/* The QPNs of management, whose UD packets teach nothing. */
#define QPN_GSI 1

static struct labnic_pair *pair_set(struct labnic *nic, const struct in6_addr *remote, __be16 sport)
{
	u32 hash = jhash(remote, sizeof(*remote), (__force u16)sport);

	return &nic->cc.pair[hash % (LABNIC_PAIRS / LABNIC_PAIR_WAYS) * LABNIC_PAIR_WAYS];
}

static bool pair_lives(const struct labnic_pair *pair, ktime_t now)
{
	return pair->qpn && ktime_before(now, ktime_add_ns(pair->seen, PAIR_NS));
}

/* The pair of these three, which is made if there is none: in place of the oldest of its set. */
static struct labnic_pair *pair_get(struct labnic *nic, const struct in6_addr *remote, __be16 sport,
				    u32 qpn)
{
	struct labnic_pair *set = pair_set(nic, remote, sport);
	struct labnic_pair *oldest = set;
	int i;

	for (i = 0; i < LABNIC_PAIR_WAYS; i++) {
		struct labnic_pair *pair = &set[i];

		if (pair->qpn == qpn && pair->sport == sport &&
		    ipv6_addr_equal(&pair->remote, remote))
			return pair;
		if (!pair->qpn || (oldest->qpn && ktime_before(pair->seen, oldest->seen)))
			oldest = pair;
	}
	*oldest = (struct labnic_pair){
		.remote = *remote, .sport = sport, .qpn = qpn, .psn = {PSN_NONE, PSN_NONE}};
	return oldest;
}

void labnic_pair_learn(struct labnic *nic, const struct labnic_roce *roce, u8 prio)
{
	struct labnic_pair *pair;

	lockdep_assert_held(&nic->link_lock);
	if (roce->qpn <= QPN_GSI || roce->opcode >> 5 == CLASS_UD || roce->opcode == LABNIC_CNP)
		return;
	pair = pair_get(nic, &roce->dst, roce->sport, roce->qpn);
	pair->seen = ktime_get();
	pair->prio = prio;
	pair->psn[roce->response] = roce->psn;
}

static bool psn_near(u32 a, u32 b)
{
	return ((a - b + PSN_NEAR) & PSN_MASK) < 2 * PSN_NEAR;
}

/*
 * Where the two directions have ports of their own (each end chose a flow label): requests that
 * come and responses that go, or the other way round, have PSNs of one sequence, and each
 * sequence started at random. A pair that is found so is noted under the port of what comes.
 */
static struct labnic_pair *pair_of_psn(struct labnic *nic, const struct labnic_roce *roce,
				       ktime_t now)
{
	struct labnic_pair *found = NULL;
	struct labnic_pair *noted;
	struct labnic_pair copy;
	int i;

	for (i = 0; i < LABNIC_PAIRS; i++) {
		struct labnic_pair *pair = &nic->cc.pair[i];
		u32 psn = pair->psn[!roce->response];

		if (psn == PSN_NONE || !psn_near(roce->psn, psn) || !pair_lives(pair, now) ||
		    !ipv6_addr_equal(&pair->remote, &roce->src))
			continue;
		if (found)
			return NULL; /* of two, none */
		found = pair;
	}
	if (!found)
		return NULL;
	copy = *found; /* which the next line may replace */
	noted = pair_get(nic, &copy.remote, roce->sport, copy.qpn);
	noted->prio = copy.prio;
	return noted;
}

/*
 * The pair of a packet that came. Several may share address and port, (17, 18) and (18, 17) for
 * example: the one counts whose QPNs give the port, then one that has been found so before, then
 * the one that was used last.
 */
static struct labnic_pair *pair_of_received(struct labnic *nic, const struct labnic_roce *roce,
					    ktime_t now)
{
	struct labnic_pair *set = pair_set(nic, &roce->src, roce->sport);
	struct labnic_pair *found = NULL;
	int i;

	for (i = 0; i < LABNIC_PAIR_WAYS; i++) {
		struct labnic_pair *pair = &set[i];

		if (pair->sport != roce->sport || !pair_lives(pair, now) ||
		    !ipv6_addr_equal(&pair->remote, &roce->src))
			continue;
		if (rdma_get_udp_sport(0, roce->qpn, pair->qpn) == ntohs(roce->sport)) {
			found = pair;
			break;
		}
		if (!found || pair->local == roce->qpn ||
		    (found->local != roce->qpn && ktime_after(pair->seen, found->seen)))
			found = pair;
	}
	if (!found && roce->qpn > QPN_GSI && roce->opcode >> 5 != CLASS_UD)
		found = pair_of_psn(nic, roce, now);
	if (found) {
		found->local = roce->qpn;
		found->seen = now;
	}
	return found;
}

/*
 * The flow that @qpn of this host sends to @remote, or NULL; the last one if the QPN was another's
 * before. CNPs are few: all are looked at.
 */
static struct labnic_pair *pair_of_local(struct labnic *nic, const struct in6_addr *remote, u32 qpn)
{
	struct labnic_pair *found = NULL;
	ktime_t now = ktime_get();
	int i;

	for (i = 0; i < LABNIC_PAIRS; i++) {
		struct labnic_pair *pair = &nic->cc.pair[i];

		if (pair->local == qpn && pair_lives(pair, now) &&
		    ipv6_addr_equal(&pair->remote, remote) &&
		    (!found || ktime_after(pair->seen, found->seen)))
			found = pair;
	}
	return found;
}

static void fill_v4(struct iphdr *ip, const struct labnic_roce *roce, u8 tos)
{
	*ip = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*ip) / 4,
		.tos = tos,
		.tot_len = htons(LABNIC_CNP_BYTES(false)),
		.frag_off = htons(IP_DF),
		.ttl = HOPS,
		.protocol = IPPROTO_UDP,
		.saddr = roce->dst.s6_addr32[3],
		.daddr = roce->src.s6_addr32[3],
	};
	ip_send_check(ip);
}

static void fill_v6(struct ipv6hdr *ip, const struct labnic_roce *roce, u8 tos)
{
	ip6_flow_hdr(ip, tos, 0);
	ip->payload_len = htons(LABNIC_CNP_BYTES(true) - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = HOPS;
	ip->saddr = roce->dst;
	ip->daddr = roce->src;
}

/*
 * A CNP from the IP header on, all bytes of it zero so far. ECT(0) and BECN are as in a CNP of a
 * ConnectX-4; MigReq, pad, PSN and the 16 bytes of payload are 0.
 */
static void cnp_fill(u8 *packet, const struct labnic_roce *roce, u32 qpn, u8 dscp)
{
	int header = roce->v6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	int covered = LABNIC_CNP_BYTES(roce->v6) - sizeof(__le32);
	struct udphdr *udp = (struct udphdr *)(packet + header);
	u8 *bth = (u8 *)(udp + 1);
	u8 copy[LABNIC_CNP_BYTES(true)];
	u8 tos = dscp << 2 | ECN_ECT0;
	__le32 icrc;

	if (roce->v6)
		fill_v6((struct ipv6hdr *)packet, roce, tos);
	else
		fill_v4((struct iphdr *)packet, roce, tos);
	udp->source = roce->sport;
	udp->dest = htons(ROCE_V2_UDP_DPORT);
	udp->len = htons(LABNIC_CNP_BYTES(roce->v6) - header);
	bth[0] = LABNIC_CNP;
	bth[2] = 0xff; /* the default P_Key */
	bth[3] = 0xff;
	bth[4] = 0x40; /* BECN */
	bth[5] = qpn >> 16;
	bth[6] = qpn >> 8;
	bth[7] = qpn;
	memcpy(copy, packet, covered);
	icrc = cpu_to_le32(labnic_icrc(copy, covered, roce->v6));
	memcpy(packet + covered, &icrc, sizeof(icrc));
}

static struct sk_buff *cnp_make(struct labnic *nic, const struct sk_buff *marked,
				const struct labnic_roce *roce, u32 qpn)
{
	u8 prio = nic->cc.param[LABNIC_CNP_PRIO];
	int bytes = LABNIC_CNP_BYTES(roce->v6);
	struct sk_buff *skb = alloc_skb(LL_MAX_HEADER + ETH_HLEN + bytes, GFP_ATOMIC);
	struct ethhdr *eth;

	if (!skb)
		return NULL;
	skb_reserve(skb, LL_MAX_HEADER);
	skb_reset_mac_header(skb);
	eth = skb_put(skb, sizeof(*eth));
	ether_addr_copy(eth->h_dest, eth_hdr(marked)->h_source);
	ether_addr_copy(eth->h_source, nic->dev->dev_addr);
	eth->h_proto = htons(roce->v6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_set_network_header(skb, sizeof(*eth));
	cnp_fill(skb_put_zero(skb, bytes), roce, qpn, nic->cc.param[LABNIC_CNP_DSCP]);
	skb->dev = nic->dev;
	skb->protocol = eth->h_proto;
	skb->priority = prio;
	skb_set_queue_mapping(skb, prio);
	if (skb_vlan_tag_present(marked))
		__vlan_hwaccel_put_tag(skb, marked->vlan_proto,
				       skb_vlan_tag_get_id(marked) | prio << VLAN_PRIO_SHIFT);
	return skb;
}

/* Under link_lock. */
static void answer(struct labnic *nic, const struct sk_buff *marked, const struct labnic_roce *roce,
		   struct labnic_pair *pair, ktime_t now)
{
	u64 interval_ns = (u64)nic->cc.param[LABNIC_CNP_INTERVAL] * NSEC_PER_USEC;
	struct sk_buff *skb;

	if (pair->cnp_at && ktime_before(now, ktime_add_ns(pair->cnp_at, interval_ns)))
		return;
	skb = cnp_make(nic, marked, roce, pair->qpn);
	if (!skb || !labnic_sched_insert(nic, skb)) {
		kfree_skb(skb);
		return;
	}
	pair->cnp_at = now;
	atomic64_inc(&nic->cc_count[LABNIC_CNP_SENT]);
}

static bool cnp_intact(const struct sk_buff *skb, const struct labnic_roce *roce)
{
	int bytes = LABNIC_CNP_BYTES(roce->v6);
	u8 copy[LABNIC_CNP_BYTES(true)];
	__le32 icrc;

	if (roce->bytes != bytes || skb_copy_bits(skb, roce->l3, copy, bytes))
		return false;
	memcpy(&icrc, copy + bytes - sizeof(icrc), sizeof(icrc));
	return le32_to_cpu(icrc) == labnic_icrc(copy, bytes - sizeof(icrc), roce->v6);
}

/* Of the host's own flows only: nobody can fill the table with others. True: it is used up. */
static bool cnp_received(struct labnic *nic, const struct sk_buff *skb,
			 const struct labnic_roce *roce)
{
	bool intact = cnp_intact(skb, roce);
	struct labnic_pair *pair;
	bool handled;
	bool on;

	spin_lock_bh(&nic->link_lock);
	pair = intact ? pair_of_local(nic, &roce->src, roce->qpn) : NULL;
	on = pair ? nic->cc.param[LABNIC_RP_ENABLE] & BIT(pair->prio)
		  : nic->cc.param[LABNIC_RP_ENABLE];
	handled = on && pair && labnic_flow_cnp(nic, &pair->remote, pair->qpn);
	spin_unlock_bh(&nic->link_lock);
	atomic64_inc(&nic->cc_count[handled ? LABNIC_CNP_HANDLED : LABNIC_CNP_IGNORED]);
	return on;
}

bool labnic_cc_receive(struct labnic *nic, struct sk_buff *skb, u8 prio)
{
	struct labnic_pair *pair;
	struct labnic_roce roce;
	bool marked;
	ktime_t now;

	if (!labnic_roce_parse(skb, 0, skb->protocol, &roce))
		return false;
	if (roce.opcode == LABNIC_CNP)
		return cnp_received(nic, skb, &roce);
	marked = roce.ecn == ECN_CE;
	if (marked)
		atomic64_inc(&nic->cc_count[LABNIC_CE_RECEIVED]);
	now = ktime_get();
	spin_lock_bh(&nic->link_lock);
	pair = pair_of_received(nic, &roce, now);
	if (marked && pair && nic->cc.param[LABNIC_NP_ENABLE] & BIT(prio))
		answer(nic, skb, &roce, pair, now);
	spin_unlock_bh(&nic->link_lock);
	return false;
}
