/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reception. Frames go straight to the host, unless the parameter drain says at which rate the
 * host empties the receive buffer: then they wait in the buffer their priority is mapped to
 * (DCB_ATTR_DCB_BUFFER). A buffer past its threshold pauses the sender, by priority where PFC is
 * enabled and by link pause where no priority has it; one that is full discards. That is how a
 * slow receiver looks from the wire.
 */
#include <linux/etherdevice.h>
#include <linux/pkt_sched.h>

#include "labnic.h"

/*
 * Pause starts at a sixth of a buffer. The rest has to hold what arrives until an emulated
 * sender obeys, some 10 ms.
 */
#define XOFF_SHARE    6
#define XOFF_QUANTA   0xffff
#define CONTROL_BYTES 60

/* What to tell the sender: classes to pause and to resume. */
struct xoff {
	u16 stop;
	u16 go;
};

static u8 buffer_classes(const struct labnic *nic, int buffer)
{
	u8 classes = 0;
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (READ_ONCE(nic->buffer.prio2buffer[prio]) == buffer)
			classes |= BIT(prio);
	}
	return classes & READ_ONCE(nic->pfc_enabled);
}

static ktime_t xoff_time(void)
{
	return ns_to_ktime((u64)XOFF_QUANTA * LABNIC_QUANTUM_BYTES * NSEC_PER_USEC / labnic_rate());
}

/*
 * Compare each buffer with its thresholds: above the higher one its classes are paused, below the
 * lower one they go on, between the two nothing changes. A pause is repeated before it ends.
 */
static struct xoff xoff_update(struct labnic *nic)
{
	u16 link = !READ_ONCE(nic->pfc_enabled) && READ_ONCE(nic->tx_pause) ? BIT(LABNIC_LINK) : 0;
	u16 sent = nic->xoff_sent;
	ktime_t now = ktime_get();
	struct xoff xoff = {};
	u16 above = 0;
	u16 between = 0;
	int i;

	for (i = 0; i < LABNIC_PRIOS; i++) {
		u32 high = READ_ONCE(nic->buffer.buffer_size[i]) / XOFF_SHARE;
		u16 classes = buffer_classes(nic, i) | link;

		if (nic->filled[i] > high)
			above |= classes;
		else if (nic->filled[i] > high / 2)
			between |= classes;
	}
	nic->xoff_sent = above | (between & sent);
	xoff.go = sent & ~nic->xoff_sent;
	if ((above & ~sent) ||
	    (nic->xoff_sent && ktime_after(now, ktime_sub(nic->xoff_until, xoff_time() / 2)))) {
		xoff.stop = nic->xoff_sent;
		nic->xoff_until = ktime_add(now, xoff_time());
	}
	return xoff;
}

static void control_fill(u8 *frame, const struct labnic *nic, struct xoff xoff)
{
	static const u8 group[ETH_ALEN] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
	__be16 *field = (__be16 *)(frame + ETH_HLEN);
	int prio;

	ether_addr_copy(frame, group);
	ether_addr_copy(frame + ETH_ALEN, nic->dev->dev_addr);
	*(__be16 *)(frame + 2 * ETH_ALEN) = htons(ETH_P_PAUSE);
	if ((xoff.stop | xoff.go) & BIT(LABNIC_LINK)) {
		field[0] = htons(LABNIC_OP_PAUSE);
		field[1] = xoff.stop ? htons(XOFF_QUANTA) : 0;
		return;
	}
	field[0] = htons(LABNIC_OP_PFC);
	field[1] = htons(xoff.stop | xoff.go);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		field[2 + prio] = xoff.stop & BIT(prio) ? htons(XOFF_QUANTA) : 0;
}

/* Control frames do not wait in the queues of this netdev: no pause holds them. */
static void control_send(struct labnic *nic, struct xoff xoff)
{
	struct net_device *low;
	struct sk_buff *skb;

	if (!xoff.stop && !xoff.go)
		return;
	skb = alloc_skb(LL_MAX_HEADER + CONTROL_BYTES, GFP_ATOMIC);
	if (!skb)
		return;
	skb_reserve(skb, LL_MAX_HEADER);
	control_fill(skb_put_zero(skb, CONTROL_BYTES), nic, xoff);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = htons(ETH_P_PAUSE);
	skb->priority = TC_PRIO_CONTROL;
	labnic_control_sent(nic, skb);
	rcu_read_lock();
	low = rcu_dereference(nic->low);
	skb->dev = low;
	if (low)
		(void)dev_queue_xmit(skb); /* lost like on a wire: the next one repeats it */
	else
		kfree_skb(skb);
	rcu_read_unlock();
}

/* Link pause and PFC are frames of their own. */
static void xoff_send(struct labnic *nic, struct xoff xoff)
{
	u16 link = BIT(LABNIC_LINK);

	control_send(nic, (struct xoff){xoff.stop & link, xoff.go & link});
	control_send(nic, (struct xoff){xoff.stop & ~link, xoff.go & ~link});
}

/* A frame that waits: where, and what it takes there. The mapping may change meanwhile. */
struct held {
	u8 buffer;
	u32 bytes;
};

static struct held *skb_held(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct held) > sizeof(skb->cb));
	return (struct held *)skb->cb;
}

static void drain_arm(struct labnic *nic)
{
	if (!skb_queue_empty(&nic->drain) && nic->draining)
		hrtimer_start(&nic->drain_timer, nic->drain_at, HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart drain_timer_fired(struct hrtimer *timer)
{
	struct labnic *nic = container_of(timer, struct labnic, drain_timer);
	u32 rate = labnic_drain_rate();
	ktime_t now = ktime_get();
	struct sk_buff *skb;
	struct xoff xoff;

	spin_lock(&nic->drain_lock);
	while (!rate || !ktime_after(nic->drain_at, now)) {
		skb = __skb_dequeue(&nic->drain);
		if (!skb)
			break;
		nic->filled[skb_held(skb)->buffer] -= skb_held(skb)->bytes;
		if (rate)
			nic->drain_at = ktime_add_ns(nic->drain_at, (u64)skb_held(skb)->bytes *
									    NSEC_PER_USEC / rate);
		memset(skb->cb, 0, sizeof(struct held));
		netif_rx(skb);
	}
	drain_arm(nic);
	xoff = xoff_update(nic);
	spin_unlock(&nic->drain_lock);
	xoff_send(nic, xoff);
	return HRTIMER_NORESTART;
}

/* True: the frame is taken, into the buffer or as discarded. */
static bool drain_take(struct labnic *nic, struct sk_buff *skb, u8 prio)
{
	u8 buffer = READ_ONCE(nic->buffer.prio2buffer[prio]);
	u32 bytes = skb->len + ETH_HLEN;
	struct xoff xoff = {};
	ktime_t now = ktime_get();
	bool fits;

	spin_lock_bh(&nic->drain_lock);
	if (!nic->draining || (!labnic_drain_rate() && skb_queue_empty(&nic->drain))) {
		spin_unlock_bh(&nic->drain_lock);
		return false;
	}
	fits = nic->filled[buffer] + bytes <= READ_ONCE(nic->buffer.buffer_size[buffer]);
	if (fits) {
		*skb_held(skb) = (struct held){buffer, bytes};
		nic->filled[buffer] += bytes;
		if (skb_queue_empty(&nic->drain) && ktime_before(nic->drain_at, now))
			nic->drain_at = now;
		__skb_queue_tail(&nic->drain, skb);
		drain_arm(nic);
	}
	xoff = xoff_update(nic);
	spin_unlock_bh(&nic->drain_lock);
	if (!fits) {
		labnic_add(nic, prio, LABNIC_RX_DISCARDS, 1);
		kfree_skb(skb);
	}
	xoff_send(nic, xoff);
	return true;
}

rx_handler_result_t labnic_receive(struct sk_buff **pskb)
{
	struct labnic *nic = rcu_dereference((*pskb)->dev->rx_handler_data);
	struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);
	u8 prio;

	if (!skb)
		return RX_HANDLER_CONSUMED;
	*pskb = skb;
	if (skb->protocol == htons(ETH_P_PAUSE))
		labnic_control_received(nic, skb);
	if (skb->protocol == htons(ETH_P_PAUSE) || !netif_running(nic->dev)) {
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	prio = labnic_rx_prio(nic, skb);
	labnic_add(nic, prio, LABNIC_RX_PACKETS, 1);
	labnic_add(nic, prio, LABNIC_RX_BYTES, skb->len + ETH_HLEN);
	skb->dev = nic->dev;
	if (skb->pkt_type == PACKET_HOST || skb->pkt_type == PACKET_OTHERHOST)
		skb->pkt_type = ether_addr_equal(eth_hdr(skb)->h_dest, nic->dev->dev_addr)
					? PACKET_HOST
					: PACKET_OTHERHOST;
	if (skb->pkt_type == PACKET_HOST && labnic_cc_receive(nic, skb, prio)) {
		kfree_skb(skb);
		return RX_HANDLER_CONSUMED;
	}
	return drain_take(nic, skb, prio) ? RX_HANDLER_CONSUMED : RX_HANDLER_ANOTHER;
}

void labnic_drain_init(struct labnic *nic)
{
	spin_lock_init(&nic->drain_lock);
	__skb_queue_head_init(&nic->drain);
	hrtimer_init(&nic->drain_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->drain_timer.function = drain_timer_fired;
}

void labnic_drain_start(struct labnic *nic)
{
	spin_lock_bh(&nic->drain_lock);
	nic->draining = true;
	spin_unlock_bh(&nic->drain_lock);
}

/* No frame is taken once draining is false, so that the timer stays off after the cancel. */
void labnic_drain_stop(struct labnic *nic)
{
	spin_lock_bh(&nic->drain_lock);
	nic->draining = false;
	spin_unlock_bh(&nic->drain_lock);
	hrtimer_cancel(&nic->drain_timer);
	spin_lock_bh(&nic->drain_lock);
	__skb_queue_purge(&nic->drain);
	memset(nic->filled, 0, sizeof(nic->filled));
	nic->xoff_sent = 0;
	spin_unlock_bh(&nic->drain_lock);
}
