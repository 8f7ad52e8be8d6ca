/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reaction point of DCQCN (Zhu et al., SIGCOMM 2015, section 3.1): a CNP cuts the rate of the
 * flow it names by the congestion estimate alpha; a timer and a byte counter bring it back, half
 * way to the target first (fast recovery), then by additive and by hyper increase. Frames of such
 * a flow wait in a list of their own, so that others of their class pass; they keep their socket,
 * by which Soft-RoCE holds its queue pair back. A flow that is back at full rate is forgotten.
 */
#include <linux/math64.h>
#include <net/ipv6.h>

#include "labnic.h"

/* Alpha is in parts of this, and never reaches it. */
#define ALPHA_ONE 1024
#define ALPHA_MAX (ALPHA_ONE - 1)
/* Full rate: this share of the link's, in percent. */
#define FULL_PERCENT 98
/* What a late timer may make up for. */
#define LATE_NS (10 * NSEC_PER_MSEC)
/*
 * No flow is slower, whatever the parameters say: Soft-RoCE hands on up to 64 frames of a queue
 * pair, 256 KiB, and when that is destroyed warns if it does not get them back in 0.8 s.
 */
#define FLOOR_RATE 500000
/* More frames than Soft-RoCE keeps in flight for a queue pair: only others reach it. */
#define HELD_MAX 256
/* A guest that did not run for long catches up with so many periods. */
#define PERIODS_MAX 100

static u64 param_rate(const struct labnic *nic, enum labnic_cc_param param)
{
	return (u64)nic->cc.param[param] * (1000000 / 8);
}

static u64 param_ns(const struct labnic *nic, enum labnic_cc_param param)
{
	return (u64)nic->cc.param[param] * NSEC_PER_USEC;
}

static u64 full_rate(const struct labnic *nic)
{
	u64 link = (u64)labnic_rate() * 1000000;
	u64 most = param_rate(nic, LABNIC_MAX_RATE);

	return most && most < link ? max_t(u64, most, FLOOR_RATE) : link;
}

static struct labnic_flow *flow_find(struct labnic *nic, const struct in6_addr *remote, u32 qpn)
{
	struct labnic_flow *flow;

	list_for_each_entry(flow, &nic->cc.slowed, link)
	{
		if (flow->qpn == qpn && ipv6_addr_equal(&flow->remote, remote))
			return flow;
	}
	return NULL;
}

static void flow_timer_arm(struct labnic *nic)
{
	struct labnic_flow *flow;
	ktime_t first = KTIME_MAX;

	list_for_each_entry(flow, &nic->cc.slowed, link)
	{
		const struct sk_buff *head = skb_peek(&flow->held);

		first = min3(first, flow->alpha_at, flow->time_at);
		if (head && labnic_sched_room(nic, skb_get_queue_mapping(head)))
			first = min(first, flow->free_at);
	}
	if (nic->running && first != KTIME_MAX)
		hrtimer_start(&nic->cc.flow_timer, first, HRTIMER_MODE_ABS_SOFT);
}

/* One more step up; the stages say which. */
static void flow_increase(struct labnic *nic, struct labnic_flow *flow)
{
	u8 threshold = nic->cc.param[LABNIC_THRESHOLD];
	u64 full = full_rate(nic);

	if (min(flow->time_stage, flow->byte_stage) > threshold)
		flow->target += param_rate(nic, LABNIC_HAI_RATE);
	else if (max(flow->time_stage, flow->byte_stage) > threshold)
		flow->target += param_rate(nic, LABNIC_AI_RATE);
	flow->target = min(flow->target, full);
	flow->rate = min(div_u64(flow->rate + flow->target, 2), full);
}

static void stage_next(u8 *stage)
{
	if (*stage < U8_MAX)
		(*stage)++;
}

/* The wire is taken for @bytes of the flow. */
static void flow_charge(struct labnic *nic, struct labnic_flow *flow, u32 bytes, ktime_t now)
{
	ktime_t earliest = ktime_sub_ns(now, LATE_NS);
	u32 reset = nic->cc.param[LABNIC_BYTE_RESET];

	if (ktime_before(flow->free_at, earliest))
		flow->free_at = earliest;
	flow->free_at = ktime_add_ns(flow->free_at,
				     div64_u64((u64)bytes * NSEC_PER_SEC, flow->rate));
	flow->sent_bytes += bytes;
	if (flow->sent_bytes >= reset) {
		flow->sent_bytes = 0;
		stage_next(&flow->byte_stage);
		flow_increase(nic, flow);
	}
}

/* Acknowledgements are no load. They may not pass READ responses of their own queue pair, though.
 */
static bool is_ack(u8 opcode)
{
	u8 operation = opcode & 0x1f;

	return opcode >> 5 != LABNIC_CNP >> 5 && (operation == 0x11 || operation == 0x12);
}

bool labnic_flow_hold(struct labnic *nic, struct sk_buff *skb, const struct labnic_roce *roce)
{
	struct labnic_flow *flow = flow_find(nic, &roce->dst, roce->qpn);
	ktime_t now;

	lockdep_assert_held(&nic->link_lock);
	if (!flow)
		return false;
	if (skb_queue_empty(&flow->held)) {
		if (is_ack(roce->opcode))
			return false;
		now = ktime_get();
		if (!ktime_after(flow->free_at, now)) {
			flow_charge(nic, flow, skb->len, now);
			return false;
		}
	}
	__skb_queue_tail(&flow->held, skb);
	flow_timer_arm(nic);
	return true;
}

void labnic_flow_release(struct labnic *nic, ktime_t now)
{
	struct labnic_flow *flow;
	bool held = false;

	list_for_each_entry(flow, &nic->cc.slowed, link)
	{
		struct sk_buff *skb;

		while ((skb = skb_peek(&flow->held)) != NULL) {
			if (ktime_after(flow->free_at, now) ||
			    !labnic_sched_room(nic, skb_get_queue_mapping(skb)))
				break;
			__skb_unlink(skb, &flow->held);
			flow_charge(nic, flow, skb->len, now);
			labnic_sched_append(nic, skb);
		}
		held = held || skb;
	}
	if (held)
		flow_timer_arm(nic);
}

bool labnic_flow_full(const struct labnic *nic, int prio)
{
	const struct labnic_flow *flow;

	list_for_each_entry(flow, &nic->cc.slowed, link)
	{
		if (skb_queue_len(&flow->held) >= HELD_MAX &&
		    skb_get_queue_mapping(skb_peek(&flow->held)) == prio)
			return true;
	}
	return false;
}

static void flow_forget(struct labnic *nic, struct labnic_flow *flow)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&flow->held)) != NULL)
		labnic_sched_append(nic, skb);
	list_move(&flow->link, &nic->cc.idle);
}

void labnic_flow_forget_all(struct labnic *nic)
{
	struct labnic_flow *flow;
	struct labnic_flow *next;

	lockdep_assert_held(&nic->link_lock);
	list_for_each_entry_safe(flow, next, &nic->cc.slowed, link) flow_forget(nic, flow);
}

/* How many periods of @period_ns have passed at @at, which moves past @now. */
static int periods_passed(ktime_t *at, u64 period_ns, ktime_t now)
{
	int n = 0;

	while (!ktime_after(*at, now) && n < PERIODS_MAX) {
		*at = ktime_add_ns(*at, period_ns);
		n++;
	}
	if (!ktime_after(*at, now))
		*at = ktime_add_ns(now, period_ns);
	return n;
}

static void flow_advance(struct labnic *nic, struct labnic_flow *flow, ktime_t now)
{
	u32 g = nic->cc.param[LABNIC_TCP_G];
	int n;

	for (n = periods_passed(&flow->alpha_at, param_ns(nic, LABNIC_TCP_RTT), now); n; n--) {
		flow->alpha =
			(g * flow->alpha + (flow->noticed ? (ALPHA_ONE - g) * ALPHA_MAX : 0)) /
			ALPHA_ONE;
		flow->noticed = false;
	}
	for (n = periods_passed(&flow->time_at, param_ns(nic, LABNIC_TIME_RESET), now); n; n--) {
		stage_next(&flow->time_stage);
		flow_increase(nic, flow);
	}
}

static bool flow_recovered(const struct labnic *nic, const struct labnic_flow *flow)
{
	return flow->rate >= div_u64(full_rate(nic) * FULL_PERCENT, 100);
}

static enum hrtimer_restart flow_timer_fired(struct hrtimer *timer)
{
	struct labnic *nic = container_of(timer, struct labnic, cc.flow_timer);
	ktime_t now = ktime_get();
	struct labnic_flow *flow;
	struct labnic_flow *next;

	spin_lock(&nic->link_lock);
	list_for_each_entry_safe(flow, next, &nic->cc.slowed, link)
	{
		flow_advance(nic, flow, now);
		if (flow_recovered(nic, flow))
			flow_forget(nic, flow);
	}
	labnic_sched_run(nic);
	flow_timer_arm(nic);
	spin_unlock(&nic->link_lock);
	return HRTIMER_NORESTART;
}

/* A flow that is slowed from now on; it comes from full rate. NULL if there are too many. */
static struct labnic_flow *flow_new(struct labnic *nic, const struct in6_addr *remote, u32 qpn,
				    ktime_t now)
{
	struct labnic_flow *flow = list_first_entry_or_null(&nic->cc.idle, struct labnic_flow,
							    link);

	if (!flow)
		return NULL;
	list_move(&flow->link, &nic->cc.slowed);
	flow->remote = *remote;
	flow->qpn = qpn;
	flow->rate = full_rate(nic);
	flow->target = flow->rate;
	flow->alpha = nic->cc.param[LABNIC_INITIAL_ALPHA];
	flow->alpha_at = ktime_add_ns(now, param_ns(nic, LABNIC_TCP_RTT));
	flow->free_at = now;
	flow->cut_at = 0;
	flow->byte_stage = 1; /* so that the target is taken from the rate */
	return flow;
}

static void flow_cut(struct labnic *nic, struct labnic_flow *flow, ktime_t now)
{
	const u32 *param = nic->cc.param;
	u64 first = param_rate(nic, LABNIC_FIRST_RATE);
	u64 least = max(param_rate(nic, LABNIC_MIN_RATE),
			div_u64(flow->rate * param[LABNIC_MIN_DEC_FAC], 100));
	u64 cut = (flow->rate * flow->alpha) >> param[LABNIC_GD];

	if (param[LABNIC_CLAMP_TARGET] || flow->byte_stage ||
	    (flow->time_stage && param[LABNIC_CLAMP_TARGET_TIME]))
		flow->target = flow->rate;
	if (!flow->cut_at && first)
		flow->rate = min(first, flow->rate);
	else
		flow->rate = min(flow->rate, max(least, flow->rate - min(cut, flow->rate)));
	flow->rate = max_t(u64, flow->rate, FLOOR_RATE);
	flow->cut_at = now;
	flow->time_stage = 0;
	flow->byte_stage = 0;
	flow->sent_bytes = 0;
	flow->time_at = ktime_add_ns(now, param_ns(nic, LABNIC_TIME_RESET));
}

bool labnic_flow_cnp(struct labnic *nic, const struct in6_addr *remote, u32 qpn)
{
	u64 period_ns = param_ns(nic, LABNIC_REDUCE_PERIOD);
	struct labnic_flow *flow = flow_find(nic, remote, qpn);
	ktime_t now = ktime_get();

	lockdep_assert_held(&nic->link_lock);
	if (!flow)
		flow = flow_new(nic, remote, qpn, now);
	if (!flow)
		return false;
	flow->noticed = true;
	if (!flow->cut_at || !ktime_before(now, ktime_add_ns(flow->cut_at, period_ns)))
		flow_cut(nic, flow, now);
	flow_timer_arm(nic);
	return true;
}

void labnic_flow_init(struct labnic *nic)
{
	int i;

	INIT_LIST_HEAD(&nic->cc.slowed);
	INIT_LIST_HEAD(&nic->cc.idle);
	for (i = 0; i < LABNIC_FLOWS; i++) {
		__skb_queue_head_init(&nic->cc.flow[i].held);
		list_add_tail(&nic->cc.flow[i].link, &nic->cc.idle);
	}
	hrtimer_init(&nic->cc.flow_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->cc.flow_timer.function = flow_timer_fired;
}

void labnic_flow_stop(struct labnic *nic)
{
	struct labnic_flow *flow;
	struct labnic_flow *next;

	hrtimer_cancel(&nic->cc.flow_timer);
	spin_lock_bh(&nic->link_lock);
	list_for_each_entry_safe(flow, next, &nic->cc.slowed, link)
	{
		atomic64_add(skb_queue_len(&flow->held), &nic->tx_dropped);
		__skb_queue_purge(&flow->held);
		list_move(&flow->link, &nic->cc.idle);
	}
	spin_unlock_bh(&nic->link_lock);
}
