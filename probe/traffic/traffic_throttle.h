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
#include "probe/traffic/traffic_pace.h"

struct throttle_class {
	struct pace pace;
	uint64_t flight_bytes;
	_Atomic uint64_t under_way; /* bytes; only whoever posts adds, under the lock */
};

struct throttle {
	pthread_mutex_t lock;	      /* from the question to the post: of pace and window */
	struct pace_window window[2]; /* towards the peer; READ, towards this end */
	struct throttle_class class[TRAFFIC_CLASSES_MAX];
};

/* Before anything is posted; spec as traffic_spec_bound() made it. init once, begin at the start.
 * soft: no hardware, the worker sleeps between two messages. */
void throttle_init(struct throttle *s);
void throttle_begin(struct throttle *s, const struct traffic_spec *spec, bool soft,
		    uint64_t start_ns);
void throttle_clear(struct throttle *s);

/* Between two messages of a class. */
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
void throttle_take(struct throttle *s, const struct traffic_class *c, unsigned int n, bool answers,
		   uint64_t now_ns);

/* Of one queue pair: so many bytes are under way, and were before. From any thread. */
void throttle_flight(struct throttle *s, unsigned int n, uint64_t before, uint64_t bytes);

#endif
