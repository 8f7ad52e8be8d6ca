/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goodput over time. Minimum and maximum over intervals of 100 ms, which an average hides, are
 * exact for any duration; they skip the first interval, in which traffic starts, if there are
 * others. The series has a bounded number of slots: when they are full, neighbors are merged and
 * slots get twice as wide.
 */
#ifndef PROBE_RATE_SERIES_H
#define PROBE_RATE_SERIES_H

#include <jansson.h>

#include "profiles/base/base.h"

#define RATE_INTERVAL_NS  UINT64_C(100000000)
#define RATE_SERIES_SLOTS 512

/* No pointers. Initialize with rate_series_init(). */
struct rate_series {
	uint64_t start_ns; /* of the first slot, any monotonic clock */
	uint64_t end_ns;   /* of the last byte counted, or set by rate_series_stop() */
	uint64_t width_ns; /* of a slot: RATE_INTERVAL_NS times a power of two */
	uint32_t slots;	   /* in use */
	uint64_t bytes[RATE_SERIES_SLOTS];
	/* Complete intervals of RATE_INTERVAL_NS, and the current one. */
	bool exact; /* false: merged after slots became wider; least and most are of slots */
	uint64_t whole, least, most, least_at; /* least_at: index of the first minimum */
	uint64_t under_way;		       /* bytes of the current interval, number `whole` */
};

/* Statistics in bytes per second. */
struct rate_series_stats {
	uint64_t duration_ns;
	uint64_t whole; /* complete intervals; 0: the run was shorter, min and max are the mean */
	uint64_t width_ns;	  /* interval of min and max */
	uint64_t median_width_ns; /* interval of the median: a slot */
	uint64_t min, median, max, mean;
	uint64_t min_at_ns; /* start of the minimum interval, since the start of the run */
};

/* Returns bytes per second, at most UINT64_MAX; 0 if ns is 0. */
uint64_t rate_per_s(uint64_t bytes, uint64_t ns);

void rate_series_init(struct rate_series *v, uint64_t start_ns);

/* Counts bytes at now_ns. A time before the current interval counts in the current one. */
void rate_series_add(struct rate_series *v, uint64_t now_ns, uint64_t bytes);

/* Sets the end, so that time without traffic counts as well. */
void rate_series_stop(struct rate_series *v, uint64_t now_ns);

/* Adds another flow; both must have ended. -EINVAL unless both have the same start_ns. */
int rate_series_merge(struct rate_series *v, const struct rate_series *from);

/* Computes the statistics; ignores the incomplete last interval. Pure. */
void rate_series_stats(const struct rate_series *v, struct rate_series_stats *s);

/* {"start_ns", "end_ns", "width_ns", "bytes": [..], "exact", "whole", "least", "most", "least_at"},
 * after rate_series_stop(). NULL on -ENOMEM. from_json: -EINVAL with the key, *v untouched on
 * failure.
 */
json_t *rate_series_to_json(const struct rate_series *v);
int rate_series_from_json(const json_t *json, struct rate_series *v, struct err *e);

#endif
