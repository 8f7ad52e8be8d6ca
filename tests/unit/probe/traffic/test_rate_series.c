/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goodput by interval: against plain arrays of 100 ms each, for short and long runs, with stalls,
 * merged and read back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/traffic/rate_series.h"

#define MS    UINT64_C(1000000)
#define START (UINT64_C(77) * MS)

/* 64 KiB each ms, `stall_ms` of silence at stall_at_ms. */
static void feed(struct rate_series *v, uint64_t ms, uint64_t stall_at_ms, uint64_t stall_ms)
{
	rate_series_init(v, START);
	for (uint64_t t = 0; t < ms; t++) {
		if (t < stall_at_ms || t >= stall_at_ms + stall_ms)
			rate_series_add(v, START + t * MS, 65536);
	}
	rate_series_stop(v, START + ms * MS);
}

static void test_stats(void **state)
{
	static const struct {
		const char *name;
		uint64_t ms, stall_at_ms, stall_ms;
		uint64_t whole, min, median, max, min_at_ms, width_ms;
	} cases[] = {
		{"shorter than one", 50, 0, 0, 0, 65536000, 65536000, 65536000, 0, 100},
		{"steady", 1000, 0, 0, 10, 65536000, 65536000, 65536000, 100, 100},
		{"cut", 1070, 0, 0, 10, 65536000, 65536000, 65536000, 100, 100},
		{"half an interval", 1000, 500, 50, 10, 32768000, 65536000, 65536000, 500, 100},
		{"silent interval", 1000, 600, 100, 10, 0, 65536000, 65536000, 600, 100},
		{"slow start", 1000, 0, 60, 10, 65536000, 65536000, 65536000, 100, 100},
		{"one interval alone", 150, 0, 60, 1, 26214400, 26214400, 26214400, 0, 100},
		{"long silence", 1000, 240, 500, 10, 0, 32768000, 65536000, 300, 100},
		{"silent end", 1000, 800, 200, 10, 0, 65536000, 65536000, 800, 100},
		{"slots are full", 51200, 700, 100, 512, 0, 65536000, 65536000, 700, 200},
		{"merged once", 51300, 700, 60, 513, 26214400, 65536000, 65536000, 700, 200},
		{"merged often", 900000, 333300, 99, 9000, 655360, 65536000, 65536000, 333300,
		 3200},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rate_series_stats s;
		struct rate_series v;

		feed(&v, cases[i].ms, cases[i].stall_at_ms, cases[i].stall_ms);
		rate_series_stats(&v, &s);
		if (s.whole != cases[i].whole || s.min != cases[i].min ||
		    s.median != cases[i].median || s.max != cases[i].max ||
		    s.min_at_ns != cases[i].min_at_ms * MS ||
		    s.median_width_ns != cases[i].width_ms * MS)
			fail_msg("%s: %llu whole, %llu/%llu/%llu at %llu ms, %llu ms",
				 cases[i].name, (unsigned long long)s.whole,
				 (unsigned long long)s.min, (unsigned long long)s.median,
				 (unsigned long long)s.max, (unsigned long long)(s.min_at_ns / MS),
				 (unsigned long long)(s.median_width_ns / MS));
		assert_int_equal(s.duration_ns, cases[i].ms * MS);
		assert_int_equal(s.width_ns, RATE_INTERVAL_NS);
		assert_int_equal(s.mean,
				 (cases[i].ms - cases[i].stall_ms) * 65536 * 1000 / cases[i].ms);
	}
}

/* A clock that jumps far, or back, stays within the slots. */
static void test_clock(void **state)
{
	struct rate_series_stats s;
	struct rate_series v;

	(void)state;
	rate_series_init(&v, START);
	rate_series_add(&v, START + 250 * MS, 10);
	rate_series_add(&v, START + 50 * MS, 10);
	rate_series_add(&v, 0, 10);
	rate_series_stop(&v, START + 300 * MS);
	rate_series_stats(&v, &s);
	assert_int_equal(s.max, 300);
	assert_int_equal(v.bytes[2], 30);
	rate_series_add(&v, UINT64_MAX, 10);
	rate_series_stats(&v, &s);
	assert_int_equal(s.min, 0);
	assert_true(v.slots <= RATE_SERIES_SLOTS);
}

static void test_merge(void **state)
{
	struct rate_series a, b;
	struct rate_series_stats s;

	(void)state;
	feed(&a, 1000, 500, 100);
	feed(&b, 1300, 200, 100);
	assert_int_equal(rate_series_merge(&a, &b), 0);
	rate_series_stats(&a, &s);
	assert_int_equal(s.whole, 13);
	assert_int_equal(s.min, 65536000);
	assert_int_equal(s.max, 131072000);
	assert_int_equal(s.median, 131072000);
	assert_int_equal(s.min_at_ns, 200 * MS);
	assert_true(a.exact);

	feed(&b, 102400, 700, 100); /* slots of 200 or 400 ms: no longer exact */
	assert_int_equal(rate_series_merge(&a, &b), 0);
	rate_series_stats(&a, &s);
	assert_false(a.exact);
	assert_int_equal(s.width_ns, s.median_width_ns);
	assert_int_equal(s.median, 65536000);

	rate_series_init(&b, START + 1);
	assert_int_equal(rate_series_merge(&a, &b), -EINVAL);
}

static void test_json_round_trip(void **state)
{
	static const uint64_t durations[] = {0, 1, 50, 100, 1070, 60000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		struct rate_series_stats s, t;
		struct rate_series v, back;
		struct err e = {0};
		json_t *json;

		feed(&v, durations[i], 300, 100);
		json = rate_series_to_json(&v);
		assert_non_null(json);
		if (rate_series_from_json(json, &back, &e))
			fail_msg("%llu ms: %s", (unsigned long long)durations[i], e.text);
		rate_series_stats(&v, &s);
		rate_series_stats(&back, &t);
		assert_memory_equal(&s, &t, sizeof(s));
		json_decref(json);
	}
}

static void test_json_hostile(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
		{"bytes", "[1, -1]"},
		{"bytes", "[1, \"x\"]"},
		{"bytes", "[9223372036854775807, 9223372036854775807]"},
		{"bytes", "[1, 2, 3, 4, 5]"},
		{"bytes", "null"},
		{"width_ns", "0"},
		{"width_ns", "300000000"},
		{"width_ns", "100000001"},
		{"end_ns", "5"},
		{"end_ns", "9223372036854775807"},
		{"whole", "3"},
		{"least_at", "2"},
		{"least", "4000000000"},
		{"exact", "1"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rate_series v, back = {.slots = 4711};
		struct err e = {0};
		json_t *json;

		feed(&v, 200, 0, 0);
		json = rate_series_to_json(&v);
		json_object_set_new(json, cases[i].key,
				    json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		if (rate_series_from_json(json, &back, &e) != -EINVAL)
			fail_msg("%s: %s is taken", cases[i].key, cases[i].value);
		assert_int_equal(back.slots, 4711);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stats),	     cmocka_unit_test(test_clock),
		cmocka_unit_test(test_merge),	     cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_json_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
