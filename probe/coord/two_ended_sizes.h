/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep of message sizes: the same class again and again, each time with queue pairs, counters
 * and reports of its own, so that each size can have its own verdict.
 */
#ifndef PROBE_TWO_ENDED_SIZES_H
#define PROBE_TWO_ENDED_SIZES_H

#include "probe/coord/two_ended.h"

#define SIZES_MAX 24u /* the powers of two from 2 to 2^23, and two ends that are none */

/* What one size gave; as the same members of struct two_ended. */
struct two_ended_size {
	uint32_t bytes;
	bool stopped, partial;
	struct traffic_spec spec[SIDES];
	struct observation seen[SIDES];
	bool has_report[SIDES];
	struct traffic_report report[SIDES]; /* owned */
};

/* Its sums, each at most UINT64_MAX: what requesters completed, and of a latency probe what the
 * client did. */
struct two_ended_size_sum {
	uint64_t messages, bytes, duration_ns;
	uint64_t bytes_per_s; /* 0 without a duration */
	uint64_t checked_bytes, mismatches, gaps, losses;
	struct histogram latency;
};

/* Both ends of the range and the powers of two between, in their order; how many. */
unsigned int two_ended_sizes_list(uint32_t from, uint32_t to, uint32_t bytes[SIZES_MAX]);

/* The class with messages of this size. One that has no room for a header goes unchecked. */
void two_ended_size_class(struct traffic_class *class, uint32_t bytes);

void two_ended_size_sum(const struct two_ended_size *s, struct two_ended_size_sum *sum);

/* The record as if size i had been its only traffic; a marking echo belongs to the last size. A
 * borrowed copy: not to be cleared, not to outlive *t. */
void two_ended_size_view(const struct two_ended *t, unsigned int i, struct two_ended *view);

/* The memory of an end's traffic; of a sweep that of the first size. NULL: it told nothing. */
const struct traffic_memory *two_ended_memory(const struct two_ended *t, enum run_side side);

/* The sweep in what has room for one run of traffic: run.pair[] is a pair a size, and the load's
 * readings are from before the first size to after the last. -ENOMEM. */
int two_ended_sizes_gather(struct two_ended *t);

void two_ended_sizes_clear(struct two_ended *t);

/* [{"message_bytes", "partial", "check", "messages", "bytes", "duration_ns",
 * "goodput_bytes_per_s", "checked_bytes", "mismatches", "gaps", "losses", "latency", "ends":
 * [{"role", "spec", "growth", "report"}, ..]}, ..]; null without a sweep. NULL on -ENOMEM. */
json_t *two_ended_sizes_to_json(const struct two_ended *t);

#endif
