/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/units.c: what is a value and what is not, at and beyond every limit.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "profiles/base/units.h"

struct value_case {
	const char *in;
	int want; /* 0 or -errno */
	uint64_t value;
};

typedef int parse_fn(const char *text, uint64_t min, uint64_t max, uint64_t *value, struct err *e);

/* Errors name the text and say what is accepted; the output stays as it was. */
static void check_case(parse_fn *parse, const struct value_case *c, uint64_t min, uint64_t max)
{
	uint64_t value = 4242;
	struct err e = {0};

	if (parse(c->in, min, max, &value, &e) != c->want)
		fail_msg("'%s': %s", c->in, e.text);
	assert_int_equal(value, c->want ? 4242 : c->value);
	if (!c->want)
		return;
	assert_int_equal(e.code, c->want);
	assert_non_null(strstr(e.text, c->in));
	assert_true(e.hint[0]);
}

/* clang-format off */

static void test_number(void **state)
{
	static const struct value_case cases[] = {
		{"0", 0, 0},
		{"7", 0, 7},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"010", -EINVAL, 0},
		{"00", -EINVAL, 0},
		{"0x1a", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
		{"1.0", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"no", -EINVAL, 0},
		{"\xd9\xa1", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(units_number, &cases[i], 0, UINT64_MAX);
}

static void test_limits(void **state)
{
	static const struct value_case cases[] = {
		{"67", -ERANGE, 0},
		{"68", 0, 68},
		{"9000", 0, 9000},
		{"9001", -ERANGE, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(units_number, &cases[i], 68, 9000);
}

static void test_bytes(void **state)
{
	static const struct value_case cases[] = {
		{"9000", 0, 9000},
		{"9kB", 0, 9000},
		{"64KiB", 0, 65536},
		{"1MiB", 0, 1 << 20},
		{"1MB", 0, 1000000},
		{"2GiB", 0, UINT64_C(2) << 30},
		{"1GB", 0, 1000000000},
		{"17179869184GiB", -ERANGE, 0},
		{"64KB", -EINVAL, 0},
		{"64kiB", -EINVAL, 0},
		{"64 KiB", -EINVAL, 0},
		{"64B", -EINVAL, 0},
		{"1.5KiB", -EINVAL, 0},
		{"KiB", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(units_bytes, &cases[i], 0, UINT64_MAX);
}

static void test_rate(void **state)
{
	static const struct value_case cases[] = {
		{"100", 0, 100},
		{"500k", 0, 500},
		{"100M", 0, 100000},
		{"25G", 0, 25000000},
		{"400G", 0, 400000000},
		{"1T", 0, 1000000000},
		{"18446744073710T", -ERANGE, 0},
		{"25g", -EINVAL, 0},
		{"2.5G", -EINVAL, 0},
		{"25Gbit", -EINVAL, 0},
		{"G", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(units_rate, &cases[i], 0, UINT64_MAX);
}

static void test_duration(void **state)
{
	static const struct value_case cases[] = {
		{"10ms", 0, 10},
		{"3s", 0, 3000},
		{"2m", 0, 120000},
		{"1h", 0, 3600000},
		{"0s", 0, 0},
		{"5124095576031h", -ERANGE, 0},
		{"3", -EINVAL, 0},
		{"3 s", -EINVAL, 0},
		{"3S", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"-3s", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(units_duration, &cases[i], 0, UINT64_MAX);
}

static void test_range(void **state)
{
	static const struct {
		const char *in;
		int want;
		unsigned int first, last;
	} cases[] = {
		{"26", 0, 26, 26},
		{"24-31", 0, 24, 31},
		{"0-63", 0, 0, 63},
		{"64", -ERANGE, 0, 0},
		{"0-64", -ERANGE, 0, 0},
		{"31-24", -EINVAL, 0, 0},
		{"24-31-", -EINVAL, 0, 0},
		{"24,31", -EINVAL, 0, 0},
		{"", -EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int first = 0, last = 0;
		struct err e = {0};

		if (units_range(cases[i].in, 63, &first, &last, &e) != cases[i].want)
			fail_msg("'%s': %s", cases[i].in, e.text);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(last, cases[i].last);
	}
}

/* clang-format on */

/* The error may be of no interest. */
static void test_null_error(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(units_number("x", 0, 7, &value, NULL), -EINVAL);
	assert_int_equal(units_number("9", 0, 7, &value, NULL), -ERANGE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number),	   cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bytes),	   cmocka_unit_test(test_rate),
		cmocka_unit_test(test_duration),   cmocka_unit_test(test_range),
		cmocka_unit_test(test_null_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
