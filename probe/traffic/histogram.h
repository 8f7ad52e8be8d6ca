/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latencies as a log-linear histogram: 64 buckets for each power of two, so that a value read back
 * is at most 1/128 off, too high as often as too low. Bounded memory, no pointers; minimum and
 * maximum are exact, and what is beyond the last bucket is kept in it: the tail is never trimmed.
 */
#ifndef PROBE_HISTOGRAM_H
#define PROBE_HISTOGRAM_H

#include <jansson.h>

#include "profiles/base/base.h"

#define HISTOGRAM_SUB_BITS 6  /* 64 buckets a power of two */
#define HISTOGRAM_TOP_BITS 42 /* buckets end at 2^42 ns, 73 minutes */
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_TOP_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* Zero is an empty histogram. */
struct histogram {
	uint64_t count;
	uint64_t min_ns, max_ns; /* both 0 while it is empty */
	uint64_t sum_ns;	 /* stays at the largest number when it would overflow */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Percentiles are asked for in hundredths of a percent. */
#define HISTOGRAM_P50	5000u
#define HISTOGRAM_P90	9000u
#define HISTOGRAM_P99	9900u
#define HISTOGRAM_P99_9 9990u
#define HISTOGRAM_P9999 9999u

void histogram_add(struct histogram *h, uint64_t ns);

/* Adds all values of from. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/*
 * The nearest-rank percentile: the least value that at least p/10000 of all values do not exceed,
 * as the middle of its bucket, within min_ns and max_ns; 10000 and above is max_ns, an empty
 * histogram answers 0.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned int p);

/* Rounded down; 0 when empty. */
uint64_t histogram_mean(const struct histogram *h);

/*
 * {"count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns",
 * "sum_ns", "buckets": [[index, count], ..]} with the buckets that hold something. A new reference,
 * NULL on -ENOMEM. from_json takes count, min, max, sum and buckets, checks that they fit each
 * other, and makes the rest anew; -EINVAL names the key, *h is untouched on failure.
 */
json_t *histogram_to_json(const struct histogram *h);
int histogram_from_json(const json_t *json, struct histogram *h, struct err *e);

#endif
