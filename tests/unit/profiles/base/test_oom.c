/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The score by which the kernel ends processes: set, and given back. Up alone, which needs no
 * right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "profiles/base/oom.h"

static int score(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "r");
	int now;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &now), 1);
	fclose(f);
	return now;
}

static void test_set(void **state)
{
	int before = score();

	(void)state;
	assert_int_equal(oom_set(before + 11), before);
	assert_int_equal(score(), before + 11);
	assert_int_equal(oom_set(before + 7), before + 11);
	assert_int_equal(score(), before + 7);
	assert_int_equal(oom_set(before), before + 7);
	assert_int_equal(score(), before);
	/* Below it is a matter of privilege: the answer is what it was. */
	assert_int_equal(oom_set(OOM_NEVER), before);
	before = score();
	assert_true(before == OOM_NEVER || before >= 0);
	assert_int_equal(oom_set(before), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
