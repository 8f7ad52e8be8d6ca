/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pause of the link: what a peer asks for holds a priority back (PFC, 802.1Q clause 36) or all
 * of them (802.3 annex 31B), and both directions are counted. Frames leave at the link's rate
 * (sched.c). The rate matters: without it the virtio ring takes a megabyte more after a pause,
 * which no headroom of a switch has.
 */
#include <linux/if_ether.h>
#include <linux/math64.h>

#include "labnic.h"

struct control {
	__be16 opcode;
	__be16 classes; /* pause: the quanta */
	__be16 quanta[LABNIC_PRIOS];
};

static bool class_obeyed(const struct labnic *nic, int class)
{
	if (class == LABNIC_LINK)
		return READ_ONCE(nic->rx_pause);
	return READ_ONCE(nic->pfc_enabled) & BIT(class);
}

bool labnic_may_send(const struct labnic *nic, int prio)
{
	return !(nic->rx[LABNIC_LINK].on && class_obeyed(nic, LABNIC_LINK)) &&
	       !(nic->rx[prio].on && class_obeyed(nic, prio));
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
	pause->transitions += !pause->on;
}

static void pause_set(struct labnic_pause *pause, ktime_t now, u16 quanta)
{
	pause_settle(pause, now);
	pause->frames++;
	pause->resumes += !quanta;
	pause->since = now;
	pause->until = ktime_add_ns(now, labnic_wire_ns((u64)quanta * LABNIC_QUANTUM_BYTES));
	pause->transitions += pause->on != (quanta != 0);
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
	labnic_sched_run(nic);
	pause_timer_arm(nic);
	spin_unlock(&nic->link_lock);
	return HRTIMER_NORESTART;
}

/* Under the lock: the scheduler asks more than once and relies on the same answer. */
void labnic_pfc_obey(struct labnic *nic, u8 enabled)
{
	spin_lock_bh(&nic->link_lock);
	WRITE_ONCE(nic->pfc_enabled, enabled);
	labnic_sched_run(nic);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_pause_obey(struct labnic *nic, bool obey)
{
	spin_lock_bh(&nic->link_lock);
	WRITE_ONCE(nic->rx_pause, obey);
	labnic_sched_run(nic);
	spin_unlock_bh(&nic->link_lock);
}

struct labnic_pause labnic_pause_read(struct labnic *nic, const struct labnic_pause *pause)
{
	struct labnic_pause copy;

	spin_lock_bh(&nic->link_lock);
	copy = *pause;
	spin_unlock_bh(&nic->link_lock);
	pause_settle(&copy, ktime_get());
	return copy;
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
	labnic_sched_run(nic);
	pause_timer_arm(nic);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_control_sent(struct labnic *nic, struct sk_buff *skb)
{
	spin_lock_bh(&nic->link_lock);
	control_account(nic->tx, skb, ETH_HLEN);
	spin_unlock_bh(&nic->link_lock);
}

void labnic_link_init(struct labnic *nic)
{
	spin_lock_init(&nic->link_lock);
	labnic_sched_init(nic);
	hrtimer_init(&nic->pause_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nic->pause_timer.function = pause_timer_fired;
}

void labnic_link_start(struct labnic *nic)
{
	spin_lock_bh(&nic->link_lock);
	nic->running = true;
	nic->throttled = false;
	labnic_sched_run(nic);
	pause_timer_arm(nic);
	spin_unlock_bh(&nic->link_lock);
}

/* No timer starts once running is false, so that none is left after the cancels. */
void labnic_link_stop(struct labnic *nic)
{
	spin_lock_bh(&nic->link_lock);
	nic->running = false;
	labnic_sched_run(nic);
	spin_unlock_bh(&nic->link_lock);
	hrtimer_cancel(&nic->pause_timer);
	labnic_sched_stop(nic);
}
