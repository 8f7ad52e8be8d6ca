/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latency histogram against sorted arrays: every percentile is the exact one or at most 1/64
 * above it, and the tail is all there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/traffic/histogram.h"

#define VALUES 20000u

static const unsigned int percents[] = {1, 100, 2500, 5000, 7500, 9000, 9900, 9990, 9999, 10000};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 20;
}

static uint64_t low_spread(uint64_t r, unsigned int i)
{
	(void)i;
	return r % 200;
}

static uint64_t wide_spread(uint64_t r, unsigned int i)
{
	return r >> (3 + i % 40);
}

static uint64_t two_humps(uint64_t r, unsigned int i)
{
	return i % 1000 ? 2000 + r % 300 : 74000000 + r % 9000000;
}

static uint64_t all_same(uint64_t r, unsigned int i)
{
	(void)r;
	(void)i;
	return 291000;
}

static const struct shape {
	const char *name;
	uint64_t (*make)(uint64_t r, unsigned int i);
	unsigned int count;
} shapes[] = {
	{"below the first power", low_spread, VALUES},
	{"nanoseconds to an hour", wide_spread, VALUES},
	{"a few retransmissions", two_humps, VALUES},
	{"one value", all_same, VALUES},
	{"one sample", wide_spread, 1},
	{"three samples", wide_spread, 3},
};

static void compare(const struct shape *shape, const struct histogram *h, const uint64_t *sorted)
{
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		uint64_t rank = ((uint64_t)shape->count * percents[i] + 9999) / 10000;
		uint64_t want = sorted[rank - 1];
		uint64_t got = histogram_percentile(h, percents[i]);

		if (got < want - want / 128 || got > want + want / 128)
			fail_msg("%s: p%u is %llu, must be %llu", shape->name, percents[i],
				 (unsigned long long)got, (unsigned long long)want);
	}
	assert_int_equal(h->min_ns, sorted[0]);
	assert_int_equal(h->max_ns, sorted[shape->count - 1]);
	assert_int_equal(h->count, shape->count);
}

static void test_against_sorted(void **state)
{
	uint64_t *sorted = calloc(VALUES, sizeof(*sorted));

	(void)state;
	assert_non_null(sorted);
	for (size_t s = 0; s < ARRAY_SIZE(shapes); s++) {
		struct histogram h = {0};
		uint64_t seed = 7 + s, sum = 0;

		for (unsigned int i = 0; i < shapes[s].count; i++) {
			sorted[i] = shapes[s].make(next_random(&seed), i);
			sum += sorted[i];
			histogram_add(&h, sorted[i]);
		}
		qsort(sorted, shapes[s].count, sizeof(*sorted), by_size);
		compare(&shapes[s], &h, sorted);
		assert_int_equal(histogram_mean(&h), sum / shapes[s].count);
	}
	free(sorted);
}

/* Each edge of a power of two, of a bucket, and the end of the scale. */
static void test_edges(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 64; bit++) {
		for (int off = -1; off <= 1; off++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)off;
			struct histogram h = {0};

			histogram_add(&h, value);
			assert_int_equal(histogram_percentile(&h, HISTOGRAM_P50), value);
			histogram_add(&h, UINT64_MAX);
			assert_true(histogram_percentile(&h, HISTOGRAM_P50) >= value);
			if (bit < HISTOGRAM_TOP_BITS - 1)
				assert_true(histogram_percentile(&h, HISTOGRAM_P50) <=
					    value + value / 128);
			assert_int_equal(histogram_percentile(&h, 10000), UINT64_MAX);
		}
	}
}

static void test_tail_is_kept(void **state)
{
	struct histogram h = {0};

	(void)state;
	assert_int_equal(histogram_percentile(&h, HISTOGRAM_P99), 0);
	assert_int_equal(histogram_mean(&h), 0);
	for (unsigned int i = 0; i < 9999; i++)
		histogram_add(&h, 300000);
	histogram_add(&h, UINT64_C(7200000000000)); /* two hours: beyond the buckets */
	assert_true(histogram_percentile(&h, HISTOGRAM_P9999) < 305000);
	assert_int_equal(h.max_ns, UINT64_C(7200000000000));
	histogram_add(&h, UINT64_C(7200000000000));
	assert_int_equal(histogram_percentile(&h, HISTOGRAM_P9999), UINT64_C(7200000000000));
}

static void test_merge(void **state)
{
	struct histogram a = {0}, b = {0}, all = {0}, empty = {0};
	uint64_t seed = 99;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t value = wide_spread(next_random(&seed), i);

		histogram_add(i % 3 ? &a : &b, value);
		histogram_add(&all, value);
	}
	histogram_merge(&a, &empty);
	histogram_merge(&empty, &b);
	histogram_merge(&a, &empty);
	assert_memory_equal(&a, &all, sizeof(a));
}

static void test_json_round_trip(void **state)
{
	struct histogram h = {0}, back;
	uint64_t seed = 3;
	struct err e;
	json_t *json;

	(void)state;
	for (unsigned int i = 0; i < 3000; i++) {
		json = histogram_to_json(&h);
		assert_non_null(json);
		memset(&back, 0xaa, sizeof(back));
		if (i % 1000 == 0) {
			assert_int_equal(histogram_from_json(json, &back, &e), 0);
			assert_memory_equal(&h, &back, sizeof(h));
			assert_int_equal(json_integer_value(json_object_get(json, "p99_99_ns")),
					 histogram_percentile(&h, HISTOGRAM_P9999));
		}
		json_decref(json);
		histogram_add(&h, wide_spread(next_random(&seed), i));
	}
}

static void test_json_hostile(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"[]", "buckets"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5}", "buckets"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[5]]}", "pair"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[\"5\",1]]}",
		 "pair"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[-1,1]]}",
		 "index"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[2368,1]]}",
		 "index"},
		{"{\"count\":2,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":9,\"buckets\":[[5,1],[5,1]]}",
		 "index"},
		{"{\"count\":0,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[5,0]]}",
		 "count 0"},
		{"{\"count\":1,\"min_ns\":1,\"max_ns\":5,\"sum_ns\":5,\"buckets\":"
		 "[[5,9223372036854775807],[6,1]]}",
		 "count 1"},
		{"{\"count\":2,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[5,1]]}",
		 "'count'"},
		{"{\"count\":0,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[]}", "'count'"},
		{"{\"count\":1,\"min_ns\":4,\"max_ns\":5,\"sum_ns\":5,\"buckets\":[[5,1]]}",
		 "min_ns"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":6,\"sum_ns\":5,\"buckets\":[[5,1]]}",
		 "max_ns"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":4,\"buckets\":[[5,1]]}",
		 "sum_ns"},
		{"{\"count\":1,\"min_ns\":5,\"max_ns\":5,\"sum_ns\":6,\"buckets\":[[5,1]]}",
		 "sum_ns"},
		{"{\"count\":1,\"min_ns\":-5,\"max_ns\":5,\"sum_ns\":6,\"buckets\":[[5,1]]}",
		 "min_ns"},
	};
	struct histogram h;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = json_loads(cases[i].text, 0, NULL);
		struct err e = {0};

		assert_non_null(json);
		memset(&h, 0xaa, sizeof(h));
		if (histogram_from_json(json, &h, &e) != -EINVAL || !strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].text, e.text);
		assert_int_equal(h.count, UINT64_C(0xaaaaaaaaaaaaaaaa));
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_sorted),	cmocka_unit_test(test_edges),
		cmocka_unit_test(test_tail_is_kept),	cmocka_unit_test(test_merge),
		cmocka_unit_test(test_json_round_trip), cmocka_unit_test(test_json_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
