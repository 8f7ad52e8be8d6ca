/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear latency histogram: 64 buckets per power of two, so the error of a value is at most
 * 1/128, without bias. Bounded memory, no pointers. Minimum and maximum are exact; larger values
 * count in the last bucket, so the tail is never trimmed.
 */
#ifndef PROBE_HISTOGRAM_H
#define PROBE_HISTOGRAM_H

#include <jansson.h>

#include "profiles/base/base.h"

#define HISTOGRAM_SUB_BITS 6  /* 64 buckets per power of two */
#define HISTOGRAM_TOP_BITS 42 /* buckets end at 2^42 ns, 73 minutes */
#define HISTOGRAM_BUCKETS  ((HISTOGRAM_TOP_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

/* All zero is an empty histogram. */
struct histogram {
	uint64_t count;
	uint64_t min_ns, max_ns; /* both 0 while it is empty */
	uint64_t sum_ns;	 /* saturates at UINT64_MAX */
	uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Percentiles, in hundredths of a percent. */
#define HISTOGRAM_P50	5000u
#define HISTOGRAM_P90	9000u
#define HISTOGRAM_P99	9900u
#define HISTOGRAM_P99_9 9990u
#define HISTOGRAM_P9999 9999u

void histogram_add(struct histogram *h, uint64_t ns);

/* Adds all values of from. */
void histogram_merge(struct histogram *h, const struct histogram *from);

/*
 * Returns the nearest-rank percentile: the smallest value that at least p/10000 of all values do
 * not exceed, as the middle of its bucket, within min_ns and max_ns. 10000 and above: max_ns.
 * Empty: 0.
 */
uint64_t histogram_percentile(const struct histogram *h, unsigned int p);

/* Returns the mean, rounded down; 0 when empty. */
uint64_t histogram_mean(const struct histogram *h);

/*
 * {"count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns",
 * "sum_ns", "buckets": [[index, count], ..]} without empty buckets. New reference, NULL on -ENOMEM.
 * from_json reads count, min, max, sum and buckets and checks that they are consistent; -EINVAL
 * names the key, *h is untouched on failure.
 */
json_t *histogram_to_json(const struct histogram *h);
int histogram_from_json(const json_t *json, struct histogram *h, struct err *e);

#endif
