/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of a pool are apart from each other, come back after they were given back, and go with it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/flow/flow_pool.h"

#define BLOCKS 1000

static void blocks_are_apart(void **state)
{
	static const size_t sizes[] = {8, 96, 1344, 60000};
	uint8_t *block[BLOCKS];
	struct flow_pool p;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		flow_pool_init(&p, sizes[i]);
		for (unsigned int k = 0; k < BLOCKS; k++) {
			block[k] = flow_pool_take(&p);
			assert_non_null(block[k]);
			memset(block[k], (int)(k % 251), sizes[i]);
		}
		for (unsigned int k = 0; k < BLOCKS; k++)
			for (size_t at = 0; at < sizes[i]; at++)
				assert_true(block[k][at] == k % 251);
		flow_pool_clear(&p);
	}
}

static void given_blocks_come_again(void **state)
{
	struct flow_pool p;
	void *a, *b;

	(void)state;
	flow_pool_init(&p, 64);
	a = flow_pool_take(&p);
	b = flow_pool_take(&p);
	flow_pool_give(&p, NULL);
	flow_pool_give(&p, a);
	flow_pool_give(&p, b);
	assert_ptr_equal(flow_pool_take(&p), b);
	assert_ptr_equal(flow_pool_take(&p), a);
	assert_ptr_not_equal(flow_pool_take(&p), a);
	flow_pool_clear(&p);
	assert_non_null(flow_pool_take(&p));
	flow_pool_clear(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_apart),
		cmocka_unit_test(given_blocks_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
