/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A schedule in time, whose debts are dropped (the generic cell rate algorithm, ITU-T I.371), and a
 * sliding window of slots. Pure.
 */
#include "probe/traffic/traffic_pace.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t late_ns, uint64_t now_ns)
{
	*p = (struct pace){
		.rate_bytes_per_s = rate_bytes_per_s, .late_ns = late_ns, .next_ns = now_ns};
}

uint64_t pace_step_ns(uint64_t rate_bytes_per_s, uint32_t bytes)
{
	return bytes * NS_PER_S / rate_bytes_per_s;
}

uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns)
{
	if (!p->rate_bytes_per_s || p->next_ns <= now_ns)
		return 0;
	return p->next_ns - now_ns;
}

void pace_take(struct pace *p, uint32_t bytes, uint64_t now_ns)
{
	uint64_t cost;

	if (!p->rate_bytes_per_s)
		return;
	if (p->next_ns + p->late_ns < now_ns) {
		p->next_ns = now_ns - p->late_ns;
		p->rest = 0;
	}
	cost = bytes * NS_PER_S + p->rest;
	p->next_ns += cost / p->rate_bytes_per_s;
	p->rest = cost % p->rate_bytes_per_s;
}

/* Two times whose slots are PACE_SLOTS_KEPT apart are at least one slot less than that apart. */
_Static_assert(((uint64_t)PACE_SLOTS_KEPT - 1) << PACE_SLOT_BITS >= PACE_WINDOW_NS,
	       "a slot is kept for the whole window");
_Static_assert(PACE_SLOTS > PACE_SLOTS_KEPT, "the newest slot is not one that is kept");

void pace_window_init(struct pace_window *w, uint64_t rate_bytes_per_s, uint32_t message_bytes,
		      uint64_t now_ns)
{
	memset(w, 0, sizeof(*w));
	w->most_bytes = rate_bytes_per_s / (NS_PER_S / PACE_WINDOW_NS) + message_bytes;
	w->at = now_ns >> PACE_SLOT_BITS;
}

static uint64_t *slot_of(struct pace_window *w, uint64_t at)
{
	return &w->slot[at % PACE_SLOTS];
}

/* To the slot of now; what is too old leaves. */
static void advance(struct pace_window *w, uint64_t now_ns)
{
	uint64_t to = now_ns >> PACE_SLOT_BITS;

	if (to <= w->at)
		return;
	if (!w->bytes || to - w->at >= PACE_SLOTS_KEPT) {
		memset(w->slot, 0, sizeof(w->slot));
		w->bytes = 0;
		w->at = to;
		return;
	}
	while (w->at < to) {
		uint64_t *oldest = slot_of(w, ++w->at - PACE_SLOTS_KEPT);

		w->bytes -= *oldest;
		*oldest = 0;
	}
}

uint64_t pace_window_wait_ns(struct pace_window *w, uint32_t bytes, uint64_t now_ns)
{
	uint64_t left, at;

	advance(w, now_ns);
	left = w->bytes;
	at = w->at - PACE_SLOTS_KEPT + 1;
	while (left && left + bytes > w->most_bytes)
		left -= *slot_of(w, at++);
	if (left == w->bytes)
		return 0;
	return ((at - 1 + PACE_SLOTS_KEPT) << PACE_SLOT_BITS) - now_ns;
}

void pace_window_take(struct pace_window *w, uint32_t bytes, uint64_t now_ns)
{
	advance(w, now_ns);
	*slot_of(w, w->at) += bytes;
	w->bytes += bytes;
}
