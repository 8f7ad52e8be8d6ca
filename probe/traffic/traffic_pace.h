/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing, pure: the caller brings the clock, nanoseconds of any that never goes back. A schedule
 * (struct pace) spreads the messages of a class over time, and a window (struct pace_window) counts
 * what was posted in the last millisecond: it has the last word.
 *
 * Time that a sender lost is dropped, never caught up: a schedule that is late by more than
 * `late_ns` goes on from now. Both are told the time after a message was posted and are asked with
 * the time before it, so that a thread that stands still between the two posts later, never more.
 */
#ifndef PROBE_TRAFFIC_PACE_H
#define PROBE_TRAFFIC_PACE_H

#include "profiles/base/base.h"

struct pace {
	uint64_t rate_bytes_per_s; /* 0 = no pacing */
	uint64_t late_ns;	   /* so late the schedule stays as it is; more is dropped */
	uint64_t next_ns;	   /* when the next message is due */
	uint64_t rest;		   /* of the division, so that rounding adds up to nothing */
};

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t late_ns, uint64_t now_ns);

/* Nanoseconds between two messages of that size at that rate, which is not 0. */
uint64_t pace_step_ns(uint64_t rate_bytes_per_s, uint32_t bytes);

/* Nanoseconds until the next message may go, 0 = now. */
uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns);

/* Accounts one message that has just gone. */
void pace_take(struct pace *p, uint32_t bytes, uint64_t now_ns);

#define PACE_WINDOW_NS	UINT64_C(1000000)
#define PACE_SLOT_BITS	12  /* slots of 4.096 us: the window may be so much longer, never shorter */
#define PACE_SLOTS	256 /* a power of two, more than are kept */
#define PACE_SLOTS_KEPT 246u

struct pace_window {
	uint64_t most_bytes; /* in any PACE_WINDOW_NS */
	uint64_t bytes;	     /* of the slots that are kept */
	uint64_t at;	     /* the newest slot: time >> PACE_SLOT_BITS */
	uint64_t slot[PACE_SLOTS];
};

/* The share of any millisecond at that rate, and one message. */
void pace_window_init(struct pace_window *w, uint64_t rate_bytes_per_s, uint32_t message_bytes,
		      uint64_t now_ns);

/* Nanoseconds until so many bytes fit, 0 = now. Into an empty window anything does. */
uint64_t pace_window_wait_ns(struct pace_window *w, uint32_t bytes, uint64_t now_ns);

/* Accounts what has just gone. */
void pace_window_take(struct pace_window *w, uint32_t bytes, uint64_t now_ns);

#endif
