/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sender counted in the second half of a load is added up over loads, and only where the
 * port counts both pauses and CNPs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "probe/coord/half.h"

static struct counters reading(uint64_t pauses, uint64_t cnps)
{
	struct counters c = {0};

	c.has[METRIC_PFC_RX_FRAMES] = 1 << 3 | 1 << 4;
	c.value[METRIC_PFC_RX_FRAMES][3] = pauses;
	c.value[METRIC_PFC_RX_FRAMES][4] = 9 * pauses;
	c.has[METRIC_CNP_RX] = 1;
	c.value[METRIC_CNP_RX][0] = cnps;
	return c;
}

static void test_add(void **state)
{
	struct counters half = reading(100, 7), end = reading(130, 9);
	struct run_late late = {0};

	(void)state;
	half_add(&half, &end, 3, &late);
	half_add(&half, &end, 3, &late);
	assert_true(late.known);
	assert_int_equal(late.pauses, 60);
	assert_int_equal(late.cnps, 4);
}

static void test_uncounted(void **state)
{
	struct counters half = reading(100, 7), end = reading(130, 9);
	struct run_late late = {0};

	(void)state;
	half_add(&half, &end, 5, &late);
	end.has[METRIC_CNP_RX] = 0;
	half_add(&half, &end, 3, &late);
	assert_false(late.known);
	assert_int_equal(late.pauses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_uncounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
