/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bounds of paced traffic, over what all threads of an end post.
 */
#include "probe/traffic/traffic_throttle.h"

#include "probe/traffic/traffic_end.h"

#define TURN_NS	 20000u			/* of a worker that polls: it comes round so late */
#define SLEEP_NS (100 * PACE_WINDOW_NS) /* of Soft-RoCE: one processor moves the packets, too */

static unsigned int window_of(const struct traffic_class *c)
{
	return c->verb == TRAFFIC_READ;
}

uint64_t throttle_step_ns(const struct traffic_class *c)
{
	return pace_step_ns(c->rate_bytes_per_s, class_bytes(c));
}

uint64_t throttle_late_ns(const struct traffic_class *c, bool soft)
{
	uint64_t least_ns = soft ? SLEEP_NS : TURN_NS, step_ns = throttle_step_ns(c);

	return step_ns > least_ns ? step_ns : least_ns;
}

void throttle_init(struct throttle *s)
{
	pthread_mutex_init(&s->lock, NULL);
}

void throttle_begin(struct throttle *s, const struct traffic_spec *spec, bool soft,
		    uint64_t start_ns)
{
	uint64_t rate[2] = {0};
	uint32_t largest[2] = {0};

	for (unsigned int i = 0; i < spec->class_count; i++) {
		const struct traffic_class *c = &spec->class[i];
		uint32_t bytes = class_bytes(c);
		unsigned int at = window_of(c);

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

void throttle_clear(struct throttle *s)
{
	pthread_mutex_destroy(&s->lock);
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
	return pace_window_wait_ns(&s->window[window_of(c)], bytes, now_ns);
}

void throttle_take(struct throttle *s, const struct traffic_class *c, unsigned int n, bool answers,
		   uint64_t now_ns)
{
	uint32_t bytes = class_bytes(c);

	if (!answers)
		pace_take(&s->class[n].pace, bytes, now_ns);
	pace_window_take(&s->window[window_of(c)], bytes, now_ns);
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
