/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts by opcode, DSCP and time: slots that widen lose nothing, whatever times a file claims.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/views.h"

static void test_timeline(void **state)
{
	static const uint64_t times[] = {1000, 1000 + 63000000, 1000 + 64000000, 5, UINT64_MAX};
	static const uint64_t widths[] = {1000000, 1000000, 2000000, 2000000};
	struct packet p = {.kind = PACKET_ROCE, .bth = true, .opcode = 4, .dscp = 26};
	static struct capture_views v;
	uint64_t sum = 0;

	(void)state;
	p.wire_len = 100;
	for (unsigned int i = 0; i < 5; i++) {
		p.time_ns = times[i];
		capture_views_add(&v, &p, (struct flow_events){.bits = FLOW_CE});
		if (i < 4)
			assert_int_equal(v.slot_ns, widths[i]);
	}
	for (unsigned int i = 0; i < VIEW_SLOTS; i++)
		sum += v.slot[i].packets;
	assert_int_equal(sum, 5);
	assert_int_equal(v.slot[0].packets, 4);
	assert_int_equal(v.opcode[4].bytes, 500);
	assert_int_equal(v.dscp[26].ce, 5);
	p.kind = PACKET_PFC;
	capture_views_add(&v, &p, (struct flow_events){0});
	assert_int_equal(v.opcode[4].packets, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_timeline)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
