/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd/top/top_sampler.c without a machine: a sample without ports needs none. What is tested is the
 * thread: turns, a change of the interval while it waits, and its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "cmd/top/top_sampler.h"

static struct top_sample sample;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits up to 2 s for reading `number`; returns how long it took, or -1. */
static double wait_for(struct top_sampler *sampler, uint64_t number)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	double start = now_s();

	while (now_s() - start < 2) {
		(void)top_sampler_get(sampler, &sample);
		if (sample.number >= number)
			return now_s() - start;
		nanosleep(&pause, NULL);
	}
	return -1;
}

static void test_turns(void **state)
{
	static const struct top_sample none;
	struct top_sampler *sampler;
	struct err e;
	double took;

	(void)state;
	sample = none;
	assert_int_equal(top_sampler_start(NULL, &none, 100, &sampler, &e), 0);
	assert_true(wait_for(sampler, 1) >= 0);
	took = wait_for(sampler, 4);
	assert_true(took > 0.2);
	assert_false(top_sampler_get(sampler, &sample));
	top_sampler_stop(sampler);
	top_sampler_stop(NULL);
}

/* A shorter interval does not wait for the end of the long one. */
static void test_shorter_interval(void **state)
{
	static const struct top_sample none;
	struct top_sampler *sampler;
	struct err e;
	double start;

	(void)state;
	sample = none;
	assert_int_equal(top_sampler_start(NULL, &none, 3600000, &sampler, &e), 0);
	assert_true(wait_for(sampler, 1) >= 0);
	top_sampler_interval(sampler, 200);
	assert_true(wait_for(sampler, 3) >= 0);
	top_sampler_interval(sampler, 3600000);
	start = now_s();
	top_sampler_stop(sampler);
	assert_true(now_s() - start < 0.5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_shorter_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
