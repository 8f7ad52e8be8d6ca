/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Schedules: every ordered pair exactly once, no host twice in a round, as few rounds as there can
 * be.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/schedule.h"

static void check_schedule(unsigned int n)
{
	unsigned int seats = n + n % 2;
	struct schedule s;
	uint8_t *met, *busy;

	assert_int_equal(schedule_make(n, &s), 0);
	assert_int_equal(s.pair_count, n * (n - 1));
	assert_int_equal(s.round_count, n < 2 ? 0 : 2 * (seats - 1));
	met = calloc((size_t)n * n + 1, 1);
	busy = calloc((size_t)n * (s.round_count + 1) + 1, 1);
	assert_non_null(met);
	assert_non_null(busy);
	for (unsigned int i = 0; i < s.pair_count; i++) {
		const struct schedule_pair *p = &s.pair[i];

		assert_true(p->server < n && p->client < n && p->server != p->client);
		assert_true(p->round < s.round_count);
		assert_true(!i || p->round >= s.pair[i - 1].round);
		assert_int_equal(met[p->server * n + p->client]++, 0);
		assert_int_equal(busy[p->round * n + p->server]++, 0);
		assert_int_equal(busy[p->round * n + p->client]++, 0);
	}
	free(met);
	free(busy);
	schedule_clear(&s);
}

static void test_every_pair_once(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 33; n++)
		check_schedule(n);
	check_schedule(100);
	check_schedule(101);
}

static void test_small(void **state)
{
	struct schedule s;

	(void)state;
	for (unsigned int n = 0; n < 2; n++) {
		assert_int_equal(schedule_make(n, &s), 0);
		assert_int_equal(s.pair_count, 0);
		schedule_clear(&s);
	}
	assert_int_equal(schedule_make(SCHEDULE_HOSTS_MAX + 1, &s), -ERANGE);
}

static void test_text(void **state)
{
	static const struct {
		unsigned int n;
		const char *want;
	} cases[] = {
		{0, ""},
		{2, "1,0\n0,1\n"},
		{3, "2,1\n1,2\n1,0\n0,1\n2,0\n0,2\n"},
		{4, "3,0;2,1\n0,3;1,2\n1,0;3,2\n0,1;2,3\n2,0;1,3\n0,2;3,1\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct schedule s;
		char *text;

		assert_int_equal(schedule_make(cases[i].n, &s), 0);
		text = schedule_text(&s, NULL);
		assert_non_null(text);
		assert_string_equal(text, cases[i].want);
		free(text);
		schedule_clear(&s);
	}
}

static void test_names(void **state)
{
	static const char *const names[] = {"h1", "node-2.example"};
	struct schedule s;
	char *text;

	(void)state;
	assert_int_equal(schedule_make(2, &s), 0);
	text = schedule_text(&s, names);
	assert_non_null(text);
	assert_string_equal(text, "node-2.example,h1\nh1,node-2.example\n");
	free(text);
	schedule_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pair_once),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
