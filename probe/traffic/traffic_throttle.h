/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paces the traffic of one host, over all threads, queue pairs and classes. Limits per receiver
 * (the peer; for READ this host itself):
 *
 * - in any millisecond at most the share of all paced classes plus one message, the largest one;
 * - at most TRAFFIC_FLIGHT_BYTES in flight over all senders, divided among them (spec.senders), and
 *   within a sender among its paced classes (class.flight_bytes).
 *
 * Not counted: classes without a rate, control messages, and TCP, which the kernel paces and which
 * has its own limit of the same size.
 */
#ifndef PROBE_TRAFFIC_THROTTLE_H
#define PROBE_TRAFFIC_THROTTLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"
#include "profiles/base/base.h"

/* Pacing, pure: the caller passes the time, in ns of any monotonic clock. A schedule (struct pace)
 * spreads the messages of a class over time; a window (struct pace_window) limits the bytes posted
 * in the last millisecond, whatever the schedule allows.
 *
 * A sender does not make up lost time: a schedule that is late by more than `late_ns` continues
 * from now. Waiting times are computed with the time before a post, and the post is accounted with
 * the time after it: a thread that is preempted between the two posts later, never more. */

struct pace {
	uint64_t rate_bytes_per_s; /* 0 = no pacing */
	uint64_t late_ns;	   /* lateness that is made up; more is dropped */
	uint64_t next_ns;	   /* when the next message is due */
	uint64_t rest;		   /* remainder of the division, so that rounding does not add up */
};

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t late_ns, uint64_t now_ns);

/* Returns the ns until the next message may be posted, 0 = now. */
uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns);

/* Accounts one posted message. */
void pace_consume(struct pace *p, uint32_t bytes, uint64_t now_ns);

#define PACE_WINDOW_NS	UINT64_C(1000000)
#define PACE_SLOT_BITS	12  /* slots of 4.096 us: the window may be that much longer, not shorter */
#define PACE_SLOTS	256 /* a power of two above PACE_SLOTS_KEPT */
#define PACE_SLOTS_KEPT 246u

struct pace_window {
	uint64_t most_bytes; /* in any PACE_WINDOW_NS */
	uint64_t bytes;	     /* in the slots that are kept */
	uint64_t at;	     /* the newest slot: time >> PACE_SLOT_BITS */
	uint64_t slot[PACE_SLOTS];
};

/* Sets the limit: one millisecond at the rate, plus one message. */
void pace_window_init(struct pace_window *w, uint64_t rate_bytes_per_s, uint32_t message_bytes,
		      uint64_t now_ns);

/* Returns the ns until the bytes fit, 0 = now. Any size fits into an empty window. */
uint64_t pace_window_wait_ns(struct pace_window *w, uint32_t bytes, uint64_t now_ns);

/* Accounts posted bytes. */
void pace_window_consume(struct pace_window *w, uint32_t bytes, uint64_t now_ns);

struct throttle_class {
	struct pace pace;
	uint64_t flight_bytes;
	_Atomic uint64_t under_way; /* bytes in flight; increased only under the lock */
};

struct throttle {
	pthread_mutex_t
		lock; /* protects pace and window from the wait check to the post; owner inits it */
	struct pace_window window[2]; /* to the peer; READ: to this host */
	struct throttle_class class[TRAFFIC_CLASSES_MAX];
};

/* Call before the first post, with a spec from traffic_spec_bound(). soft: Soft-RoCE, where the
 * worker sleeps between two messages. */
void throttle_init(struct throttle *s, const struct traffic_spec *spec, bool soft,
		   uint64_t start_ns);

/* Returns the time between two messages of a class with a rate. */
uint64_t throttle_step_ns(const struct traffic_class *c);

/* Returns the lateness of a class that is made up: one message, or one turn of a polling worker. On
 * Soft-RoCE, where the kernel uses the CPU longer than that per message, 100 ms; the limits above
 * hold there too, so late messages are made up one per millisecond. */
uint64_t throttle_late_ns(const struct traffic_class *c, bool soft);

#define THROTTLE_FULL UINT64_MAX /* wait for a completion */

/* Returns the ns until a message of class n may be posted, 0 = now. Only the window limits a reply
 * of a latency probe. The caller holds the lock, also for throttle_consume(). */
uint64_t throttle_wait_ns(struct throttle *s, const struct traffic_class *c, unsigned int n,
			  bool answers, uint64_t now_ns);
/* Accounts a posted message; throttle_flight() sets the bytes in flight. */
void throttle_consume(struct throttle *s, const struct traffic_class *c, unsigned int n,
		      bool answers, uint64_t now_ns);

/* Updates the bytes in flight of one queue pair, from `before` to `bytes`. Any thread. */
void throttle_flight(struct throttle *s, unsigned int n, uint64_t before, uint64_t bytes);

#endif
