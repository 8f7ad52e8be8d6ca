/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing by a token bucket in time: each message moves the moment of the next one by size / rate. A
 * sender that fell behind catches up by at most `burst`, so that a stall is not followed by a
 * flood.
 */
#ifndef PROBE_TRAFFIC_PACE_H
#define PROBE_TRAFFIC_PACE_H

#include "profiles/base.h"

struct pace {
	uint64_t rate_bytes_per_s; /* 0 = no pacing */
	uint64_t burst_ns;	   /* how far the sender may lag and still catch up */
	uint64_t next_ns;	   /* when the next message is due */
	uint64_t rest;		   /* of the division, so that rounding adds up to nothing */
};

/* burst_bytes: what a late sender may send at once, at most 1 s of the rate is useful. */
void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t burst_bytes, uint64_t now_ns);

/* Nanoseconds until the next message may go, 0 = now. */
uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns);

/* Accounts one message that goes now. */
void pace_take(struct pace *p, uint32_t bytes, uint64_t now_ns);

#endif
