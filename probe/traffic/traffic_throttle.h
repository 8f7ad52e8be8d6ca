/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paced traffic of one end, over all its threads, queue pairs and classes. The bounds, towards one
 * receiver (the peer; of READ this end itself):
 *
 * - in any millisecond at most the share of all paced classes and one message, the largest of them;
 * - under way at most TRAFFIC_FLIGHT_BYTES over all senders: each has its part (spec.senders), and
 *   in it each paced class (class.flight_bytes).
 *
 * Not counted: classes without a rate, which are flat out, control messages, and TCP, which the
 * kernel paces and which has as much under way of its own.
 */
#ifndef PROBE_TRAFFIC_THROTTLE_H
#define PROBE_TRAFFIC_THROTTLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "probe/traffic/traffic.h"
#include "profiles/base/base.h"

/* Pacing, pure: the caller brings the clock, nanoseconds of any that never goes back. A schedule
 * (struct pace) spreads the messages of a class over time, and a window (struct pace_window) counts
 * what was posted in the last millisecond: it has the last word.
 *
 * Time that a sender lost is dropped, never caught up: a schedule that is late by more than
 * `late_ns` goes on from now. Both are told the time after a message was posted and are asked with
 * the time before it, so that a thread that stands still between the two posts later, never
 * more. */

struct pace {
	uint64_t rate_bytes_per_s; /* 0 = no pacing */
	uint64_t late_ns;	   /* so late the schedule stays as it is; more is dropped */
	uint64_t next_ns;	   /* when the next message is due */
	uint64_t rest;		   /* of the division, so that rounding adds up to nothing */
};

void pace_init(struct pace *p, uint64_t rate_bytes_per_s, uint64_t late_ns, uint64_t now_ns);

/* Nanoseconds until the next message may go, 0 = now. */
uint64_t pace_wait_ns(const struct pace *p, uint64_t now_ns);

/* Accounts one message that has just gone. */
void pace_consume(struct pace *p, uint32_t bytes, uint64_t now_ns);

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
void pace_window_consume(struct pace_window *w, uint32_t bytes, uint64_t now_ns);

struct throttle_class {
	struct pace pace;
	uint64_t flight_bytes;
	_Atomic uint64_t under_way; /* bytes; only whoever posts adds, under the lock */
};

struct throttle {
	pthread_mutex_t
		lock; /* its owner's to make; from the question to the post: of pace and window */
	struct pace_window window[2]; /* towards the peer; READ, towards this end */
	struct throttle_class class[TRAFFIC_CLASSES_MAX];
};

/* Before anything is posted; spec as traffic_spec_bound() made it.
 * soft: no hardware, the worker sleeps between two messages. */
void throttle_init(struct throttle *s, const struct traffic_spec *spec, bool soft,
		   uint64_t start_ns);

/* Between two messages of a class with a rate. */
uint64_t throttle_step_ns(const struct traffic_class *c);

/* The schedule of a class may be so late before time is dropped: by a message, or the turn of a
 * worker that polls. On Soft-RoCE, where the kernel takes the processor for longer than that with
 * each message, by 100 ms; the bounds above hold there as well, so that what is late comes by one
 * message more in a millisecond. */
uint64_t throttle_late_ns(const struct traffic_class *c, bool soft);

#define THROTTLE_FULL UINT64_MAX /* until something completes */

/* Nanoseconds until a message of class n may go, 0 = now. An answer of a latency probe goes when it
 * is due by the window alone. The lock is held, also by the next. */
uint64_t throttle_wait_ns(struct throttle *s, const struct traffic_class *c, unsigned int n,
			  bool answers, uint64_t now_ns);
/* It has gone; the bytes under way are told by throttle_flight(). */
void throttle_consume(struct throttle *s, const struct traffic_class *c, unsigned int n,
		      bool answers, uint64_t now_ns);

/* Of one queue pair: so many bytes are under way, and were before. From any thread. */
void throttle_flight(struct throttle *s, unsigned int n, uint64_t before, uint64_t bytes);

#endif
