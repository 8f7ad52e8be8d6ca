/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the senders of an incast counted in the second half of a load. PFC has to act at the start,
 * before the first CNP is back; pauses that go on show that CNPs do not cut the rate far enough.
 */
#ifndef PROBE_HALF_H
#define PROBE_HALF_H

#include "probe/coord/session.h"

struct half {
	struct session *s;
	const struct run_pair *const *pair; /* borrowed */
	unsigned int pairs;
	struct loop_timer *timer;
	struct agent_call *middle, *end; /* owned; of each host of the run */
};

/* Will ask the hosts that send the incast of these pairs, in the middle of duration_ms. Not when
 * half of it is too short for their counters. -ENOMEM. The caller calls half_stop() in any case. */
int half_start(struct half *x, struct session *s, const struct run_pair *const *pair,
	       unsigned int pairs, unsigned int duration_ms);

/* After the load: asks again, and adds the difference to run_port.late of each sender. */
void half_stop(struct half *x);

/* Adds what a port counted between two readings: pauses of one priority, and CNPs; nothing unless
 * it counts both. Pure. */
void half_add(const struct counters *half, const struct counters *end, unsigned int prio,
	      struct run_late *late);

#endif
