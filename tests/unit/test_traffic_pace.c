/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pacing with a clock of our own: the rate is kept within 1 %, a stall is caught up by the burst
 * alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/traffic_pace.h"

#define SECOND UINT64_C(1000000000)

/* Messages that go in `span`, looked at every `step` nanoseconds. */
static uint64_t messages_in(struct pace *p, uint32_t bytes, uint64_t from, uint64_t span,
			    uint64_t step)
{
	uint64_t sent = 0;

	for (uint64_t now = from; now < from + span; now += step) {
		while (!pace_wait_ns(p, now)) {
			pace_take(p, bytes, now);
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

		pace_init(&p, cases[i].rate, 2 * cases[i].bytes + cases[i].rate / 50, 5 * SECOND);
		got = messages_in(&p, cases[i].bytes, 5 * SECOND, 10 * SECOND, 100000) *
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
	pace_init(&p, 1000000, 4000, SECOND);
	while (!pace_wait_ns(&p, 9 * SECOND)) { /* 8 s late */
		pace_take(&p, 1000, 9 * SECOND);
		sent++;
	}
	assert_int_equal(sent, 5); /* the burst and the one that is due */
}

static void test_unpaced(void **state)
{
	struct pace p;

	(void)state;
	pace_init(&p, 0, 1000, SECOND);
	for (unsigned int i = 0; i < 1000; i++) {
		assert_int_equal(pace_wait_ns(&p, SECOND), 0);
		pace_take(&p, UINT32_MAX, SECOND);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_stall_is_capped),
		cmocka_unit_test(test_unpaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
