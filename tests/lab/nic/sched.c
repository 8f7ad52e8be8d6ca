/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The transmit scheduler (802.1Q 8.6.8, clause 37): a short queue for each priority, of which
 * the link takes the next frame by traffic class. Strict classes go first, the highest number
 * before the others; classes of ETS share what is left by weight (deficit round robin); the
 * vendor's algorithm, a round robin above all others, and ETS classes of 0 %, below all others,
 * are as on mlx5. A class may have a rate limit. No credit-based shaper.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>

#include "labnic.h"

/* How far frames are handed on ahead of the link: it hides timer latency. */
#define AHEAD_NS (2 * NSEC_PER_MSEC)
/* A rate limit makes up for so much: an emulated guest may not run for tens of milliseconds. */
#define LATE_NS (100 * NSEC_PER_MSEC)
/* What a weight of 1 % earns in a round: the smallest weight waits for some rounds. */
#define QUANTUM_BYTES 128
/* The least a queue holds before it stops: frames of the largest MTU. */
#define QUEUE_BYTES (2 * 9216)
/* Preamble, frame check sequence and gap, which the link carries but no skb has. */
#define WIRE_OVERHEAD 24

u64 labnic_wire_ns(u64 bytes)
{
	return div_u64(bytes * NSEC_PER_USEC, labnic_rate());
}

/* What stops a queue: more than the link sends until a timer and the qdisc have run. */
static u32 queue_limit(void)
{
	return max_t(u32, QUEUE_BYTES, labnic_rate() * (2 * AHEAD_NS / NSEC_PER_USEC));
}

bool labnic_sched_room(const struct labnic *nic, int prio)
{
	return nic->running && nic->queue[prio].bytes < queue_limit();
}

void labnic_sched_append(struct labnic *nic, struct sk_buff *skb)
{
	struct labnic_queue *queue = &nic->queue[skb_get_queue_mapping(skb) % LABNIC_PRIOS];

	lockdep_assert_held(&nic->link_lock);
	__skb_queue_tail(&queue->skbs, skb);
	queue->bytes += skb->len;
}

bool labnic_sched_insert(struct labnic *nic, struct sk_buff *skb)
{
	if (!labnic_sched_room(nic, skb_get_queue_mapping(skb)))
		return false;
	labnic_sched_append(nic, skb);
	labnic_sched_run(nic);
	return true;
}

static struct sk_buff *queue_head(struct labnic *nic, int prio)
{
	if (!labnic_may_send(nic, prio))
		return NULL;
	return skb_peek(&nic->queue[prio].skbs);
}

/* The priority of class @tc that is next; -1 if none has a frame that may go. */
static int tc_next_prio(struct labnic *nic, int tc)
{
	int i;

	for (i = 1; i <= LABNIC_PRIOS; i++) {
		int prio = (nic->tc[tc].prio + i) % LABNIC_PRIOS;

		if (nic->plan.prio_tc[prio] == tc && queue_head(nic, prio))
			return prio;
	}
	return -1;
}

static bool tc_waits(const struct labnic *nic, int tc, ktime_t now)
{
	return nic->plan.maxrate_kbps[tc] && ktime_after(nic->tc[tc].free_at, now);
}

static u8 level_of(const struct labnic *nic, int tc)
{
	switch (nic->plan.tsa[tc]) {
	case IEEE_8021QAZ_TSA_VENDOR:
		return LABNIC_LEVEL_VENDOR;
	case IEEE_8021QAZ_TSA_ETS:
		return nic->plan.weight[tc] ? LABNIC_LEVEL_ETS : LABNIC_LEVEL_REST;
	default:
		return LABNIC_LEVEL_STRICT;
	}
}

static u32 quantum_of(const struct labnic *nic, int tc)
{
	u8 weight = level_of(nic, tc) == LABNIC_LEVEL_ETS ? nic->plan.weight[tc] : 100;

	return weight * QUANTUM_BYTES;
}

/* The next of the classes @ready by deficit round robin. There is one, and each round earns. */
static int round_robin(struct labnic *nic, enum labnic_level level, u8 ready)
{
	int tc = nic->turn[level];

	for (;;) {
		struct labnic_tc *state = &nic->tc[tc];

		if (ready & BIT(tc)) {
			struct sk_buff *skb = queue_head(nic, tc_next_prio(nic, tc));

			if (state->deficit >= skb->len + WIRE_OVERHEAD)
				break;
		}
		do {
			tc = (tc + 1) % LABNIC_PRIOS;
		} while (!(ready & BIT(tc)));
		nic->tc[tc].deficit += quantum_of(nic, tc);
	}
	nic->turn[level] = tc;
	return tc;
}

/* The class that is next, or -1. @later: when one that waits for its rate may go on. */
static int pick_tc(struct labnic *nic, ktime_t now, ktime_t *later)
{
	u8 ready[LABNIC_LEVELS] = {};
	int level;
	int tc;

	*later = KTIME_MAX;
	for (tc = 0; tc < LABNIC_PRIOS; tc++) {
		if (tc_next_prio(nic, tc) < 0)
			continue;
		if (!tc_waits(nic, tc, now))
			ready[level_of(nic, tc)] |= BIT(tc);
		else if (ktime_before(nic->tc[tc].free_at, *later))
			*later = nic->tc[tc].free_at;
	}
	for (level = 0; level < LABNIC_LEVELS; level++) {
		if (ready[level] && level == LABNIC_LEVEL_STRICT)
			return fls(ready[level]) - 1;
		if (ready[level])
			return round_robin(nic, level, ready[level]);
	}
	return -1;
}

/* Onto the wire's netdev, which counts as sent. */
static void frame_send(struct labnic *nic, struct sk_buff *skb, int prio)
{
	struct net_device *low = rcu_dereference(nic->low);
	unsigned int bytes = skb->len;
	int verdict = NET_XMIT_DROP;

	if (low) {
		skb->dev = low;
		verdict = dev_queue_xmit(skb);
	} else {
		kfree_skb(skb);
	}
	if (verdict == NET_XMIT_SUCCESS || verdict == NET_XMIT_CN) {
		labnic_add(nic, prio, LABNIC_TX_PACKETS, 1);
		labnic_add(nic, prio, LABNIC_TX_BYTES, bytes);
	} else {
		atomic64_inc(&nic->tx_dropped);
	}
}

static bool tc_empty(const struct labnic *nic, int tc)
{
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (nic->plan.prio_tc[prio] == tc && !skb_queue_empty(&nic->queue[prio].skbs))
			return false;
	}
	return true;
}

/* Take the next frame of class @tc and account what it occupies: link, rate limit, deficit. */
static void tc_send(struct labnic *nic, int tc, ktime_t now)
{
	struct labnic_tc *state = &nic->tc[tc];
	int prio = tc_next_prio(nic, tc);
	struct sk_buff *skb = __skb_dequeue(&nic->queue[prio].skbs);
	u32 bytes = skb->len + WIRE_OVERHEAD;
	u64 kbps = nic->plan.maxrate_kbps[tc];

	nic->queue[prio].bytes -= skb->len;
	state->prio = prio;
	state->deficit = tc_empty(nic, tc) || state->deficit < bytes ? 0 : state->deficit - bytes;
	if (kbps) {
		ktime_t earliest = ktime_sub_ns(now, LATE_NS);

		if (ktime_before(state->free_at, earliest))
			state->free_at = earliest;
		state->free_at = ktime_add_ns(state->free_at,
					      div64_u64(bytes * 8ULL * NSEC_PER_MSEC, kbps));
	}
	if (ktime_before(nic->busy_until, now))
		nic->busy_until = now;
	nic->busy_until = ktime_add_ns(nic->busy_until, labnic_wire_ns(bytes));
	frame_send(nic, skb, prio);
}

/* Stop the queues that are full, wake those that have room again. */
static void queues_apply(struct labnic *nic)
{
	u32 limit = queue_limit();
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		struct netdev_queue *queue = netdev_get_tx_queue(nic->dev, prio);

		if (!nic->running || nic->queue[prio].bytes >= limit || labnic_flow_full(nic, prio))
			netif_tx_stop_queue(queue);
		else if (nic->queue[prio].bytes <= limit / 2)
			netif_tx_wake_queue(queue);
	}
}

void labnic_sched_run(struct labnic *nic)
{
	ktime_t now = ktime_get();
	ktime_t later = KTIME_MAX;

	lockdep_assert_held(&nic->link_lock);
	labnic_flow_release(nic, now);
	rcu_read_lock();
	while (nic->running && !nic->throttled) {
		int tc = pick_tc(nic, now, &later);

		if (tc < 0)
			break;
		tc_send(nic, tc, now);
		if (ktime_to_ns(ktime_sub(nic->busy_until, now)) > AHEAD_NS) {
			nic->throttled = true;
			later = ktime_sub_ns(nic->busy_until, AHEAD_NS / 2);
		}
	}
	rcu_read_unlock();
	queues_apply(nic);
	if (nic->running && later != KTIME_MAX)
		hrtimer_start(&nic->pace_timer, later, HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart pace_timer_fired(struct hrtimer *timer)
{
	struct labnic *nic = container_of(timer, struct labnic, pace_timer);

	spin_lock(&nic->link_lock);
	nic->throttled = false;
	labnic_sched_run(nic);
	spin_unlock(&nic->link_lock);
	return HRTIMER_NORESTART;
}

/* To its queue, or to wait for the rate of its flow. */
static void frame_take(struct labnic *nic, struct sk_buff *skb)
{
	__be16 proto = eth_hdr(skb)->h_proto;
	struct labnic_roce roce;

	if (labnic_roce_parse(skb, ETH_HLEN, proto, &roce)) {
		labnic_pair_learn(nic, &roce, skb_get_queue_mapping(skb) % LABNIC_PRIOS);
		if (labnic_flow_hold(nic, skb, &roce))
			return;
	}
	labnic_sched_append(nic, skb);
}

netdev_tx_t labnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct labnic *nic = netdev_priv(dev);
	u8 prio = skb_get_queue_mapping(skb) % LABNIC_PRIOS;

	if (eth_hdr(skb)->h_proto == htons(ETH_P_PAUSE))
		labnic_control_sent(nic, skb);
	if (!labnic_rewrite(nic, skb, prio)) {
		atomic64_inc(&nic->tx_dropped);
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	spin_lock_bh(&nic->link_lock);
	if (nic->running) {
		frame_take(nic, skb);
		labnic_sched_run(nic);
		skb = NULL;
	}
	spin_unlock_bh(&nic->link_lock);
	if (skb) {
		atomic64_inc(&nic->tx_dropped);
		kfree_skb(skb);
	}
	return NETDEV_TX_OK;
}

void labnic_sched_plan(struct labnic *nic, const struct ieee_ets *ets,
		       const struct ieee_maxrate *maxrate)
{
	struct labnic_plan plan;

	memcpy(plan.prio_tc, ets->prio_tc, sizeof(plan.prio_tc));
	memcpy(plan.tsa, ets->tc_tsa, sizeof(plan.tsa));
	memcpy(plan.weight, ets->tc_tx_bw, sizeof(plan.weight));
	memcpy(plan.maxrate_kbps, maxrate->tc_maxrate, sizeof(plan.maxrate_kbps));
	spin_lock_bh(&nic->link_lock);
	nic->plan = plan;
	memset(nic->tc, 0, sizeof(nic->tc));
	labnic_sched_run(nic);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_sched_init(struct labnic *nic)
{
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		__skb_queue_head_init(&nic->queue[prio].skbs);
	hrtimer_init(&nic->pace_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->pace_timer.function = pace_timer_fired;
	labnic_flow_init(nic);
}

/* Nothing is queued and no timer starts once running is false. */
void labnic_sched_stop(struct labnic *nic)
{
	int prio;

	hrtimer_cancel(&nic->pace_timer);
	labnic_flow_stop(nic);
	spin_lock_bh(&nic->link_lock);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		atomic64_add(skb_queue_len(&nic->queue[prio].skbs), &nic->tx_dropped);
		__skb_queue_purge(&nic->queue[prio].skbs);
		nic->queue[prio].bytes = 0;
	}
	spin_unlock_bh(&nic->link_lock);
}
