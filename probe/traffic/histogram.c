/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Buckets: one per value below 64 ns; above, the six bits after the leading one select the bucket
 * within the power of two.
 */
#include "probe/traffic/histogram.h"

#include <errno.h>
#include <string.h>

#include "profiles/base/json.h"

#define SUBS	  (1u << HISTOGRAM_SUB_BITS)
#define TOP_NS	  (UINT64_C(1) << HISTOGRAM_TOP_BITS)
#define WHOLE	  10000u
#define COUNT_MAX (JSON_UINT_MAX)

static unsigned int histogram_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < SUBS)
		return (unsigned int)ns;
	if (ns >= TOP_NS)
		return HISTOGRAM_BUCKETS - 1;
	shift = 63 - (unsigned int)__builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (unsigned int)(ns >> shift);
}

/* Returns the middle of a bucket; the last one has no upper limit. */
static uint64_t histogram_bucket_middle(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < SUBS)
		return bucket;
	if (bucket == HISTOGRAM_BUCKETS - 1)
		return UINT64_MAX;
	shift = (bucket >> HISTOGRAM_SUB_BITS) - 1;
	return ((uint64_t)((bucket & (SUBS - 1)) + SUBS) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static uint64_t histogram_clamp(const struct histogram *h, uint64_t ns)
{
	if (ns < h->min_ns)
		return h->min_ns;
	return ns < h->max_ns ? ns : h->max_ns;
}

static uint64_t histogram_add_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	if (!h->count || ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->count++;
	h->sum_ns = histogram_add_saturated(h->sum_ns, ns);
	h->bucket[histogram_bucket(ns)]++;
}

void histogram_merge(struct histogram *h, const struct histogram *from)
{
	if (!from->count)
		return;
	if (!h->count || from->min_ns < h->min_ns)
		h->min_ns = from->min_ns;
	if (from->max_ns > h->max_ns)
		h->max_ns = from->max_ns;
	h->count += from->count;
	h->sum_ns = histogram_add_saturated(h->sum_ns, from->sum_ns);
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += from->bucket[i];
}

uint64_t histogram_percentile(const struct histogram *h, unsigned int p)
{
	uint64_t rank, seen = 0;

	if (!h->count || p >= WHOLE)
		return h->max_ns;
	/* ceil(count * p / 10000) without the product, which may not fit. */
	rank = h->count / WHOLE * p + (h->count % WHOLE * p + WHOLE - 1) / WHOLE;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen && seen >= rank)
			return histogram_clamp(h, histogram_bucket_middle(i));
	}
	return h->max_ns;
}

uint64_t histogram_mean(const struct histogram *h)
{
	return h->count ? h->sum_ns / h->count : 0;
}

static json_t *histogram_buckets_to_json(const struct histogram *h)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			list = json_list_add(
				list, json_pack("[I, o]", (json_int_t)i, json_uint(h->bucket[i])));
	return list;
}

json_t *histogram_to_json(const struct histogram *h)
{
	static const struct {
		const char *key;
		unsigned int p;
	} marks[] = {
		{"p50_ns", HISTOGRAM_P50},	{"p90_ns", HISTOGRAM_P90},
		{"p99_ns", HISTOGRAM_P99},	{"p99_9_ns", HISTOGRAM_P99_9},
		{"p99_99_ns", HISTOGRAM_P9999},
	};
	json_t *json = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", json_uint(h->count),
				 "min_ns", json_uint(h->min_ns), "mean_ns",
				 json_uint(histogram_mean(h)), "max_ns", json_uint(h->max_ns),
				 "sum_ns", json_uint(h->sum_ns), "buckets",
				 histogram_buckets_to_json(h));
	int err = json ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(marks) && !err; i++)
		err = json_object_set_new(json, marks[i].key,
					  json_uint(histogram_percentile(h, marks[i].p)));
	if (err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int histogram_read_bucket(const json_t *pair, int64_t last, struct histogram *h,
				 uint64_t *count, struct err *e)
{
	const json_t *at = json_array_get(pair, 0), *n = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_integer(at) || !json_is_integer(n))
		return err_set(e, -EINVAL, "'buckets': not a pair of integers");
	if (json_integer_value(at) <= last || json_integer_value(at) >= HISTOGRAM_BUCKETS)
		return err_set(e, -EINVAL, "'buckets': index %lld is out of order or range",
			       (long long)json_integer_value(at));
	if (json_integer_value(n) < 1 || (uint64_t)json_integer_value(n) > COUNT_MAX - *count)
		return err_set(e, -EINVAL, "'buckets': count %lld is out of range",
			       (long long)json_integer_value(n));
	h->bucket[json_integer_value(at)] = (uint64_t)json_integer_value(n);
	*count += (uint64_t)json_integer_value(n);
	return 0;
}

/* Finds the first and the last non-empty bucket, HISTOGRAM_BUCKETS when there is none. */
static void histogram_find_range(const struct histogram *h, unsigned int *first, unsigned int *last)
{
	*first = *last = HISTOGRAM_BUCKETS;
	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->bucket[i])
			continue;
		if (*first == HISTOGRAM_BUCKETS)
			*first = i;
		*last = i;
	}
}

static int histogram_check(const struct histogram *h, uint64_t count, struct err *e)
{
	unsigned int first, last;

	if (h->count != count)
		return err_set(e, -EINVAL, "'count' is %llu, the buckets hold %llu",
			       (unsigned long long)h->count, (unsigned long long)count);
	if (!count && (h->min_ns || h->max_ns || h->sum_ns))
		return err_set(e, -EINVAL, "'count' is 0, but there are values");
	if (!count)
		return 0;
	histogram_find_range(h, &first, &last);
	if (histogram_bucket(h->min_ns) != first)
		return err_set(e, -EINVAL, "'min_ns' is not in the first bucket");
	if (histogram_bucket(h->max_ns) != last || h->max_ns < h->min_ns)
		return err_set(e, -EINVAL, "'max_ns' is not in the last bucket");
	if (h->sum_ns / count < h->min_ns && h->sum_ns != JSON_UINT_MAX)
		return err_set(e, -EINVAL, "'sum_ns' is less than the values");
	if (h->sum_ns / count > h->max_ns)
		return err_set(e, -EINVAL, "'sum_ns' is more than the values");
	return 0;
}

#define NUMBER(member) JSON_ROW(struct histogram, member, .kind = JSON_NUMBER, .max = JSON_UINT_MAX)

static const struct json_row rows[] = {
	NUMBER(count),
	NUMBER(min_ns),
	NUMBER(max_ns),
	NUMBER(sum_ns),
};

int histogram_from_json(const json_t *json, struct histogram *h, struct err *e)
{
	struct histogram v = {0};
	const json_t *list = NULL;
	uint64_t count = 0;
	int64_t last = -1;
	int err = json_get_array(json, "buckets", HISTOGRAM_BUCKETS, &list, e);

	if (!err)
		err = json_rows_read(json, JSON_ROWS(rows), &v, e);
	for (size_t i = 0; i < json_array_size(list) && !err; i++) {
		err = histogram_read_bucket(json_array_get(list, i), last, &v, &count, e);
		last = json_integer_value(json_array_get(json_array_get(list, i), 0));
	}
	if (!err)
		err = histogram_check(&v, count, e);
	if (err)
		return err;
	*h = v;
	return 0;
}
