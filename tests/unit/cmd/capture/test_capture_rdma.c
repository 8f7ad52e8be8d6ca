/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether packets went past the kernel, by what the RDMA device counted and what was recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cmd/capture/capture_rdma.h"

static void test_bypassed(void **state)
{
	static const struct {
		uint64_t counted, recorded, lost;
		bool want;
	} rows[] = {
		{0, 0, 0, false},
		{64, 0, 0, false}, /* too few to tell */
		{65, 0, 0, true},
		{1000, 1000, 0, false}, /* all of them */
		{2000, 1000, 0, false}, /* a device whose counters overlap */
		{2001, 1000, 0, true},
		{1000, 4, 0, true},	 /* the messages of the connection manager alone */
		{1000, 4, 600, false},	 /* the recording lost the others */
		{1000, 90000, 0, false}, /* a mirror shows those of others too */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rdma_watch_bypassed(rows[i].counted, rows[i].recorded, rows[i].lost) !=
		    rows[i].want)
			fail_msg("row %zu", i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bypassed)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
