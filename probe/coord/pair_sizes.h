/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sweep of message sizes: the same class again and again, each time with queue pairs, counters
 * and reports of its own, so that each size can have its own verdict.
 */
#ifndef PROBE_PAIR_SIZES_H
#define PROBE_PAIR_SIZES_H

#include "probe/coord/pair.h"

#define SIZES_MAX 24u /* the powers of two from 2 to 2^23, and two ends that are none */

/* Sums of one size, each at most UINT64_MAX: what requesters completed, and of a latency probe what
 * the client did. */
struct pair_size_sum {
	uint64_t messages, bytes, duration_ns;
	uint64_t bytes_per_s; /* 0 without a duration */
	uint64_t checked_bytes, mismatches, gaps, losses;
	struct histogram latency;
};

/* Both ends of the range and the powers of two between, in their order; how many. */
unsigned int pair_sizes_list(uint32_t from, uint32_t to, uint32_t bytes[SIZES_MAX]);

/* The class with messages of this size. One that has no room for a header goes unchecked. */
void pair_size_class(struct traffic_class *class, uint32_t bytes);

void pair_size_sum(const struct run_pair *p, struct pair_size_sum *sum);

/* The memory of an end's traffic; of a sweep that of the first size. NULL: it told nothing. */
const struct traffic_memory *pair_memory(const struct pair *t, enum run_side side);

/* Ends a sweep: drops the pair of a size that did not run, and sets the readings of the load of
 * both ports to those before the first size and after the last. */
void pair_sizes_span(struct pair *t);

/* [{"message_bytes", "partial", "check", "messages", "bytes", "duration_ns",
 * "goodput_bytes_per_s", "checked_bytes", "mismatches", "gaps", "losses", "latency", "ends":
 * [{"role", "spec", "growth", "report"}, ..]}, ..]; null without a sweep. NULL on -ENOMEM. */
json_t *pair_sizes_to_json(const struct pair *t);

#endif
