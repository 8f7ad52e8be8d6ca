/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enforces the limits of paced traffic over the posts of all threads of a host.
 */
#include "probe/traffic/traffic_throttle.h"

#include <string.h>

#include "probe/traffic/traffic_worker.h"

/* Schedule without debts (generic cell rate algorithm, ITU-T I.371), and a sliding window of slots.
 * Pure. */

#define NS_PER_S UINT64_C(1000000000)

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t late_ns, uint64_t now_ns)
{
	*p = (struct pace){
		.rate_bytes_per_s = rate_bytes_per_s, .late_ns = late_ns, .next_ns = now_ns};
}

uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns)
{
	if (!p->rate_bytes_per_s || p->next_ns <= now_ns)
		return 0;
	return p->next_ns - now_ns;
}

void pace_consume(struct pace *p, uint32_t bytes, uint64_t now_ns)
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

static uint64_t *throttle_slot(struct pace_window *w, uint64_t at)
{
	return &w->slot[at % PACE_SLOTS];
}

/* Advances to the slot of now; removes old slots. */
static void throttle_advance(struct pace_window *w, uint64_t now_ns)
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
		uint64_t *oldest = throttle_slot(w, ++w->at - PACE_SLOTS_KEPT);

		w->bytes -= *oldest;
		*oldest = 0;
	}
}

uint64_t pace_window_wait_ns(struct pace_window *w, uint32_t bytes, uint64_t now_ns)
{
	uint64_t left, at;

	throttle_advance(w, now_ns);
	left = w->bytes;
	at = w->at - PACE_SLOTS_KEPT + 1;
	while (left && left + bytes > w->most_bytes)
		left -= *throttle_slot(w, at++);
	if (left == w->bytes)
		return 0;
	return ((at - 1 + PACE_SLOTS_KEPT) << PACE_SLOT_BITS) - now_ns;
}

void pace_window_consume(struct pace_window *w, uint32_t bytes, uint64_t now_ns)
{
	throttle_advance(w, now_ns);
	*throttle_slot(w, w->at) += bytes;
	w->bytes += bytes;
}

#define TURN_NS	 20000u			/* longest turn of a polling worker */
#define SLEEP_NS (100 * PACE_WINDOW_NS) /* Soft-RoCE: the CPU also moves the packets */

static unsigned int throttle_window(const struct traffic_class *c)
{
	return c->verb == TRAFFIC_READ;
}

uint64_t throttle_step_ns(const struct traffic_class *c)
{
	return class_bytes(c) * NS_PER_S / c->rate_bytes_per_s;
}

uint64_t throttle_late_ns(const struct traffic_class *c, bool soft)
{
	uint64_t least_ns = soft ? SLEEP_NS : TURN_NS, step_ns = throttle_step_ns(c);

	return step_ns > least_ns ? step_ns : least_ns;
}

void throttle_init(struct throttle *s, const struct traffic_spec *spec, bool soft,
		   uint64_t start_ns)
{
	uint64_t rate[2] = {0};
	uint32_t largest[2] = {0};

	for (unsigned int i = 0; i < spec->class_count; i++) {
		const struct traffic_class *c = &spec->class[i];
		uint32_t bytes = class_bytes(c);
		unsigned int at = throttle_window(c);

		if (!c->rate_bytes_per_s || !class_requests(c, spec->role))
			continue;
		pace_init(&s->class[i].pace, c->rate_bytes_per_s, throttle_late_ns(c, soft),
			  start_ns);
		s->class[i].flight_bytes = c->flight_bytes;
		atomic_init(&s->class[i].under_way, 0);
		rate[at] += c->rate_bytes_per_s;
		largest[at] = bytes > largest[at] ? bytes : largest[at];
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(rate); i++)
		pace_window_init(&s->window[i], rate[i], largest[i], start_ns);
}

uint64_t throttle_wait_ns(struct throttle *s, const struct traffic_class *c, unsigned int n,
			  bool answers, uint64_t now_ns)
{
	struct throttle_class *k = &s->class[n];
	uint32_t bytes = class_bytes(c);
	uint64_t due = answers ? 0 : pace_wait_ns(&k->pace, now_ns);

	if (due)
		return due;
	if (atomic_load_explicit(&k->under_way, memory_order_relaxed) + bytes > k->flight_bytes)
		return THROTTLE_FULL;
	return pace_window_wait_ns(&s->window[throttle_window(c)], bytes, now_ns);
}

void throttle_consume(struct throttle *s, const struct traffic_class *c, unsigned int n,
		      bool answers, uint64_t now_ns)
{
	uint32_t bytes = class_bytes(c);

	if (!answers)
		pace_consume(&s->class[n].pace, bytes, now_ns);
	pace_window_consume(&s->window[throttle_window(c)], bytes, now_ns);
}

void throttle_flight(struct throttle *s, unsigned int n, uint64_t before, uint64_t bytes)
{
	if (bytes > before)
		atomic_fetch_add_explicit(&s->class[n].under_way, bytes - before,
					  memory_order_relaxed);
	else if (before > bytes)
		atomic_fetch_sub_explicit(&s->class[n].under_way, before - bytes,
					  memory_order_relaxed);
}
