/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/json.h: integers of JSON end where 63 bits do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "profiles/base/base.h"
#include "profiles/base/json.h"

static void test_cut(void **state)
{
	static const struct {
		uint64_t in;
		json_int_t want;
	} rows[] = {
		{0, 0},
		{1, 1},
		{UINT32_MAX, UINT32_MAX},
		{INT64_MAX - 1, INT64_MAX - 1},
		{INT64_MAX, INT64_MAX},
		{(uint64_t)INT64_MAX + 1, INT64_MAX},
		{UINT64_MAX, INT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *v = json_uint(rows[i].in);

		assert_true(json_integer_value(v) == rows[i].want);
		json_decref(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
