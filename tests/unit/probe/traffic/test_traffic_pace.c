/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing with a clock of our own: the rate is kept within 1 %, lost time is dropped, and no
 * millisecond has more than its share and one message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "probe/traffic/traffic_throttle.h"

#define SECOND	UINT64_C(1000000000)
#define NS_LATE UINT64_C(1000000) /* a message of 1,000 bytes at 1 MB/s */

/* Messages that go in `span`, looked at every `step` nanoseconds. */
static uint64_t messages_in(struct pace *p, uint32_t bytes, uint64_t from, uint64_t span,
			    uint64_t step)
{
	uint64_t sent = 0;

	for (uint64_t now = from; now < from + span; now += step) {
		while (!pace_wait_ns(p, now)) {
			pace_consume(p, bytes, now);
			sent++;
		}
	}
	return sent;
}

static void test_rate(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t bytes;
	} cases[] = {
		{625000, 65536},	{7000000, 4096}, {1250000000, 65536},
		{12500000000, 8388608}, {3333333, 64},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pace p;
		uint64_t want = 10 * cases[i].rate;
		uint64_t got;

		pace_init(&p, cases[i].rate, 20000, 5 * SECOND);
		got = messages_in(&p, cases[i].bytes, 5 * SECOND, 10 * SECOND, 10000) *
		      cases[i].bytes;
		assert_in_range(got, want - want / 100 - 2 * cases[i].bytes,
				want + want / 100 + 2 * cases[i].bytes);
	}
}

static void test_stall_is_capped(void **state)
{
	struct pace p;
	uint64_t sent = 0;

	(void)state;
	pace_init(&p, 1000000, NS_LATE, SECOND);
	while (!pace_wait_ns(&p, 9 * SECOND)) { /* 8 s late */
		pace_consume(&p, 1000, 9 * SECOND);
		sent++;
	}
	assert_int_equal(sent, 2); /* the one that is due and the one that is late */
	assert_int_equal(pace_wait_ns(&p, 9 * SECOND), NS_LATE);
}

/* Messages of 1 ms come to be sent up to 8 ms late, each by another time. Those that are late by
 * less than one message lose nothing; the rest is dropped. */
static void test_lateness(void **state)
{
	static const struct {
		uint64_t late_ns;
		uint64_t least, most; /* of 1,000 messages */
	} cases[] = {
		{0, 1000, 1001},
		{100000, 1000, 1001},
		{900000, 999, 1001},
		{8000000, 200, 400},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t now = SECOND, sent = 0, dice = 1;
		struct pace p;

		pace_init(&p, 1000000, NS_LATE, now);
		while (now < 2 * SECOND) {
			dice = dice * 6364136223846793005u + 1442695040888963407u;
			now += pace_wait_ns(&p, now);
			now += cases[i].late_ns ? (dice >> 33) % cases[i].late_ns : 0;
			pace_consume(&p, 1000, now);
			sent++;
		}
		if (sent < cases[i].least || sent > cases[i].most)
			fail_msg("case %zu: %llu messages", i, (unsigned long long)sent);
	}
}

struct posts {
	uint64_t when_ns[1u << 16];
	uint32_t bytes[1u << 16];
	unsigned int count;
};

static void check_windows(const struct posts *p, uint64_t most)
{
	uint64_t sum = 0;

	for (unsigned int i = 0, from = 0; i < p->count; i++) {
		sum += p->bytes[i];
		while (p->when_ns[i] - p->when_ns[from] >= PACE_WINDOW_NS)
			sum -= p->bytes[from++];
		if (sum > most)
			fail_msg("message %u: %llu bytes, at most %llu", i, (unsigned long long)sum,
				 (unsigned long long)most);
	}
}

/* A sender that posts as soon as the window lets it, at times that jump: the window is never fuller
 * than it may be, and has room again as soon as it should. */
static void test_window(void **state)
{
	static const struct {
		uint64_t rate;
		uint32_t bytes, other; /* every third message is of the other size */
		uint64_t jump_ns;      /* at most, between two looks */
	} cases[] = {
		{2500000000, 65536, 65536, 3000},  {2500000000, 65536, 4096, 3000},
		{625000000, 4096, 4096, 100},	   {40000000, 65536, 64, 70000},
		{10000000, 65536, 65536, 5000000}, {5000000, 1024, 1000, 2000000},
	};
	struct posts *posts = malloc(sizeof(*posts));

	(void)state;
	assert_non_null(posts);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t begin = 77 * SECOND + 12345, now = begin, dice = 7, sum = 0;
		uint64_t most = cases[i].rate / 1000 + cases[i].bytes;
		struct pace_window w;

		pace_window_init(&w, cases[i].rate, cases[i].bytes, now);
		posts->count = 0;
		while (now < begin + SECOND && posts->count < ARRAY_SIZE(posts->bytes)) {
			bool third = posts->count % 3 == 2;
			uint32_t bytes = third ? cases[i].other : cases[i].bytes;
			uint64_t wait = pace_window_wait_ns(&w, bytes, now);

			assert_in_range(wait, 0, 2 * PACE_WINDOW_NS);
			dice = dice * 6364136223846793005u + 1442695040888963407u;
			now += wait;
			if (wait)
				assert_int_equal(pace_window_wait_ns(&w, bytes, now), 0);
			posts->when_ns[posts->count] = now;
			posts->bytes[posts->count++] = bytes;
			now += (dice >> 33) % (cases[i].jump_ns / 4);
			pace_window_consume(&w, bytes, now);
			sum += bytes;
			if (!((dice >> 50) % 64))
				now += (dice >> 40) % cases[i].jump_ns;
		}
		check_windows(posts, most);
		/* In 1.01 ms at least what fits, less one message. */
		assert_true(cases[i].jump_ns > 1000000 ||
			    sum / ((now - begin) / 1010000) + 2 * cases[i].bytes >= most);
	}
	free(posts);
}

/* The clock goes far ahead, as after a host stood still: what was posted is forgotten, nothing is
 * owed. */
static void test_window_jump(void **state)
{
	struct pace_window w;

	(void)state;
	pace_window_init(&w, 1000000, 1000, 0);
	pace_window_consume(&w, 1000, 0);
	assert_int_equal(pace_window_wait_ns(&w, 1000, 1), 0);
	pace_window_consume(&w, 1000, 1);
	assert_in_range(pace_window_wait_ns(&w, 1000, 1), PACE_WINDOW_NS, PACE_WINDOW_NS + 8192);
	assert_int_equal(pace_window_wait_ns(&w, 1000, UINT64_MAX / 2), 0);
	assert_int_equal(w.bytes, 0);
	pace_window_consume(&w, 5000, UINT64_MAX / 2); /* larger than all it holds: alone */
	assert_true(pace_window_wait_ns(&w, 1, UINT64_MAX / 2) >= PACE_WINDOW_NS);
}

static void test_unpaced(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 0, 1000, SECOND);
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(pace_wait_ns(&p, SECOND), 0);
		pace_consume(&p, UINT32_MAX, SECOND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),	cmocka_unit_test(test_stall_is_capped),
		cmocka_unit_test(test_unpaced), cmocka_unit_test(test_lateness),
		cmocka_unit_test(test_window),	cmocka_unit_test(test_window_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
