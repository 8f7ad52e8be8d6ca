/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goodput over time. The least of all intervals of 100 ms is what an average hides; it and the most
 * are exact however long a run is. The first one, in which traffic begins, is left out of both when
 * there are others. The course of the run is kept in a bounded number of slots: when they are full,
 * neighbours are merged and a slot is twice as wide.
 */
#ifndef PROBE_RATE_SERIES_H
#define PROBE_RATE_SERIES_H

#include <jansson.h>

#include "profiles/base/base.h"

#define RATE_INTERVAL_NS  UINT64_C(100000000)
#define RATE_SERIES_SLOTS 512

/* No pointers. rate_series_init() makes it. */
struct rate_series {
	uint64_t start_ns; /* of the first slot, any monotonic clock */
	uint64_t end_ns;   /* of the last byte counted, or what rate_series_stop() said */
	uint64_t width_ns; /* of a slot: RATE_INTERVAL_NS times a power of two */
	uint32_t slots;	   /* begun */
	uint64_t bytes[RATE_SERIES_SLOTS];
	/* Whole intervals of RATE_INTERVAL_NS, and the one under way. */
	bool exact; /* false: merged after slots became wider, least and most are those of slots */
	uint64_t whole, least, most, least_at; /* least_at: index of the first one */
	uint64_t under_way;		       /* bytes of interval number `whole` */
};

/* What it says, bytes per second. */
struct rate_series_stats {
	uint64_t duration_ns;
	uint64_t whole;	   /* intervals judged; 0: the run was shorter than one, all are the mean */
	uint64_t width_ns; /* of the intervals behind min and max */
	uint64_t median_width_ns; /* of those behind the median: those of the slots */
	uint64_t min, median, max, mean;
	uint64_t min_at_ns; /* where the least interval begins, since the start */
};

/* So many bytes in that time, as bytes per second, at most UINT64_MAX; 0 when there was no time. */
uint64_t rate_per_s(uint64_t bytes, uint64_t ns);

void rate_series_init(struct rate_series *v, uint64_t start_ns);

/* Counts bytes that were done now. A clock that stands before the interval under way counts there.
 */
void rate_series_add(struct rate_series *v, uint64_t now_ns, uint64_t bytes);

/* The run is over, or now is: what passed without traffic counts as well. */
void rate_series_stop(struct rate_series *v, uint64_t now_ns);

/* Adds another flow that began at the same start_ns; both have ended. -EINVAL when it did not. */
int rate_series_merge(struct rate_series *v, const struct rate_series *from);

/* Pure. The interval cut by the end of the run is not judged. */
void rate_series_stats(const struct rate_series *v, struct rate_series_stats *s);

/* {"start_ns", "end_ns", "width_ns", "bytes": [..], "exact", "whole", "least", "most", "least_at"},
 * after rate_series_stop(). NULL on -ENOMEM. from_json: -EINVAL with the key, *v untouched on
 * failure.
 */
json_t *rate_series_to_json(const struct rate_series *v);
int rate_series_from_json(const json_t *json, struct rate_series *v, struct err *e);

#endif
