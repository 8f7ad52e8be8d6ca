/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link: frames leave at the link's rate, and pause stops the queue of a priority (PFC,
 * 802.1Q clause 36) or all of them (802.3 annex 31B). The rate matters: without it the virtio
 * ring takes a megabyte more after a pause, which no headroom of a switch has. There is no
 * scheduler between the queues: ETS is configuration here, not behaviour.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>

#include "labnic.h"

/* How far the queues may run ahead of the link before they stop: it hides timer latency. */
#define AHEAD_NS (2 * NSEC_PER_MSEC)
/* Preamble, frame check sequence and gap, which the link carries but no skb has. */
#define WIRE_OVERHEAD 24

struct control {
	__be16 opcode;
	__be16 classes; /* pause: the quanta */
	__be16 quanta[LABNIC_PRIOS];
};

static u64 wire_ns(u64 bytes)
{
	return div_u64(bytes * NSEC_PER_USEC, labnic_rate());
}

static bool class_obeyed(const struct labnic *nic, int class)
{
	if (class == LABNIC_LINK)
		return READ_ONCE(nic->rx_pause);
	return READ_ONCE(nic->pfc_enabled) & BIT(class);
}

/* Stop and wake the queues as the state says. */
static void link_apply(struct labnic *nic)
{
	bool all = nic->throttled || !nic->running ||
		   (nic->rx[LABNIC_LINK].on && class_obeyed(nic, LABNIC_LINK));
	int prio;

	lockdep_assert_held(&nic->link_lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		struct netdev_queue *queue = netdev_get_tx_queue(nic->dev, prio);

		if (all || (nic->rx[prio].on && class_obeyed(nic, prio)))
			netif_tx_stop_queue(queue);
		else
			netif_tx_wake_queue(queue);
	}
}

/* Close the books of a pause that is over, or go on until it is. */
static void pause_settle(struct labnic_pause *pause, ktime_t now)
{
	ktime_t end = ktime_before(now, pause->until) ? now : pause->until;

	if (!pause->on)
		return;
	if (ktime_after(end, pause->since))
		pause->past_ns += ktime_to_ns(ktime_sub(end, pause->since));
	pause->since = end;
	pause->on = ktime_before(now, pause->until);
}

static void pause_set(struct labnic_pause *pause, ktime_t now, u16 quanta)
{
	pause_settle(pause, now);
	pause->frames++;
	pause->since = now;
	pause->until = ktime_add_ns(now, wire_ns((u64)quanta * LABNIC_QUANTUM_BYTES));
	pause->on = quanta != 0;
}

static void pause_timer_arm(struct labnic *nic)
{
	ktime_t first = KTIME_MAX;
	int class;

	for (class = 0; class < LABNIC_CLASSES; class ++) {
		if (nic->rx[class].on && ktime_before(nic->rx[class].until, first))
			first = nic->rx[class].until;
	}
	if (nic->running && first != KTIME_MAX)
		hrtimer_start(&nic->pause_timer, first, HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart pause_timer_fired(struct hrtimer *timer)
{
	struct labnic *nic = container_of(timer, struct labnic, pause_timer);
	int class;

	spin_lock(&nic->link_lock);
	for (class = 0; class < LABNIC_CLASSES; class ++)
		pause_settle(&nic->rx[class], ktime_get());
	link_apply(nic);
	pause_timer_arm(nic);
	spin_unlock(&nic->link_lock);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart pace_timer_fired(struct hrtimer *timer)
{
	struct labnic *nic = container_of(timer, struct labnic, pace_timer);

	spin_lock(&nic->link_lock);
	nic->throttled = false;
	link_apply(nic);
	spin_unlock(&nic->link_lock);
	return HRTIMER_NORESTART;
}

void labnic_pause_recheck(struct labnic *nic)
{
	spin_lock_bh(&nic->link_lock);
	link_apply(nic);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_pause_read(struct labnic *nic, const struct labnic_pause *pause, u64 *frames,
		       u64 *duration_us)
{
	struct labnic_pause copy;

	spin_lock_bh(&nic->link_lock);
	copy = *pause;
	spin_unlock_bh(&nic->link_lock);
	pause_settle(&copy, ktime_get());
	*frames = copy.frames;
	*duration_us = div_u64(copy.past_ns, NSEC_PER_USEC);
}

/* Account a MAC control frame, at @offset of @skb, to one direction. */
static void control_account(struct labnic_pause *pauses, const struct sk_buff *skb, int offset)
{
	struct control buffer;
	const struct control *control;
	ktime_t now = ktime_get();
	int prio;

	control = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	if (!control)
		return;
	if (control->opcode == htons(LABNIC_OP_PAUSE))
		pause_set(&pauses[LABNIC_LINK], now, ntohs(control->classes));
	if (control->opcode != htons(LABNIC_OP_PFC))
		return;
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (ntohs(control->classes) & BIT(prio))
			pause_set(&pauses[prio], now, ntohs(control->quanta[prio]));
	}
}

void labnic_control_received(struct labnic *nic, struct sk_buff *skb)
{
	spin_lock_bh(&nic->link_lock);
	control_account(nic->rx, skb, 0);
	link_apply(nic);
	pause_timer_arm(nic);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_control_sent(struct labnic *nic, struct sk_buff *skb)
{
	spin_lock_bh(&nic->link_lock);
	control_account(nic->tx, skb, ETH_HLEN);
	spin_unlock_bh(&nic->link_lock);
}

/* The link is busy with @bytes more; too far ahead of it the queues stop. */
static void link_occupy(struct labnic *nic, unsigned int bytes)
{
	ktime_t now = ktime_get();

	spin_lock_bh(&nic->link_lock);
	if (ktime_before(nic->busy_until, now))
		nic->busy_until = now;
	nic->busy_until = ktime_add_ns(nic->busy_until, wire_ns(bytes + WIRE_OVERHEAD));
	if (!nic->throttled && nic->running &&
	    ktime_to_ns(ktime_sub(nic->busy_until, now)) > AHEAD_NS) {
		nic->throttled = true;
		link_apply(nic);
		hrtimer_start(&nic->pace_timer, ktime_sub_ns(nic->busy_until, AHEAD_NS / 2),
			      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock_bh(&nic->link_lock);
}

netdev_tx_t labnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);
	u8 prio = skb_get_queue_mapping(skb) % LABNIC_PRIOS;
	unsigned int bytes = skb->len;
	struct net_device *low;
	int verdict = NET_XMIT_DROP;

	if (eth_hdr(skb)->h_proto == htons(ETH_P_PAUSE))
		labnic_control_sent(nic, skb);
	rcu_read_lock();
	low = rcu_dereference(nic->low);
	if (low) {
		skb->dev = low;
		verdict = dev_queue_xmit(skb);
	} else {
		kfree_skb(skb);
	}
	rcu_read_unlock();
	if (verdict == NET_XMIT_SUCCESS || verdict == NET_XMIT_CN) {
		labnic_add(nic, prio, LABNIC_TX_PACKETS, 1);
		labnic_add(nic, prio, LABNIC_TX_BYTES, bytes);
	} else {
		atomic64_inc(&nic->tx_dropped);
	}
	link_occupy(nic, bytes);
	return NETDEV_TX_OK;
}

void labnic_link_init(struct labnic *nic)
{
	spin_lock_init(&nic->link_lock);
	hrtimer_init(&nic->pace_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->pace_timer.function = pace_timer_fired;
	hrtimer_init(&nic->pause_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->pause_timer.function = pause_timer_fired;
}

void labnic_link_start(struct labnic *nic)
{
	spin_lock_bh(&nic->link_lock);
	nic->running = true;
	nic->throttled = false;
	link_apply(nic);
	pause_timer_arm(nic);
	spin_unlock_bh(&nic->link_lock);
}

/* No timer starts once running is false, so that none is left after the cancels. */
void labnic_link_stop(struct labnic *nic)
{
	spin_lock_bh(&nic->link_lock);
	nic->running = false;
	link_apply(nic);
	spin_unlock_bh(&nic->link_lock);
	hrtimer_cancel(&nic->pace_timer);
	hrtimer_cancel(&nic->pause_timer);
}
