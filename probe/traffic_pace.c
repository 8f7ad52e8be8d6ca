/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Token bucket, pure: the caller brings the clock. Times are nanoseconds of any monotonic clock.
 */
#include "probe/traffic_pace.h"

#define NS_PER_S UINT64_C(1000000000)

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t burst_bytes, uint64_t now_ns)
{
	p->rate_bytes_per_s = rate_bytes_per_s;
	p->next_ns = now_ns;
	p->rest = 0;
	p->burst_ns = rate_bytes_per_s ? burst_bytes * NS_PER_S / rate_bytes_per_s : 0;
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
	if (p->next_ns + p->burst_ns < now_ns)
		p->next_ns = now_ns - p->burst_ns;
	cost = bytes * NS_PER_S + p->rest;
	p->next_ns += cost / p->rate_bytes_per_s;
	p->rest = cost % p->rate_bytes_per_s;
}
