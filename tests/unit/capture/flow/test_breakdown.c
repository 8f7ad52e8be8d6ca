/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts by opcode, DSCP and time: slots that widen lose nothing, whatever times a file claims.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/flow/breakdown.h"

static void test_timeline(void **state)
{
	static const uint64_t times[] = {1000, 1000 + 63000000, 1000 + 64000000, 5, UINT64_MAX};
	static const uint64_t widths[] = {1000000, 1000000, 2000000, 2000000};
	struct packet p = {.kind = PACKET_ROCE, .bth = true, .opcode = 4, .dscp = 26};
	static struct breakdown v;
	uint64_t sum = 0;

	(void)state;
	p.wire_len = 100;
	for (unsigned int i = 0; i < 5; i++) {
		p.time_ns = times[i];
		breakdown_add(&v, &p, (struct flow_events){.bits = FLOW_CE});
		if (i < 4)
			assert_int_equal(v.slot_ns, widths[i]);
	}
	for (unsigned int i = 0; i < BREAKDOWN_SLOTS; i++)
		sum += v.slot[i].packets;
	assert_int_equal(sum, 5);
	assert_int_equal(v.slot[0].packets, 4);
	assert_int_equal(v.opcode[4].bytes, 500);
	assert_int_equal(v.dscp[26].ce, 5);
	p.kind = PACKET_PFC;
	breakdown_add(&v, &p, (struct flow_events){0});
	assert_int_equal(v.opcode[4].packets, 5);
}

/* Packets that were left out do not move the time at which the timeline begins. */
static void test_begin(void **state)
{
	struct packet p = {.kind = PACKET_ROCE, .bth = true, .time_ns = 5000000};
	static struct breakdown v;

	(void)state;
	breakdown_begin(&v, 1000000);
	breakdown_add(&v, &p, (struct flow_events){0});
	assert_int_equal(v.slot[4].packets, 1);
}

/* Sorted by address, each with its own; what is beyond the bound is one row, and none is lost. */
static void test_hosts(void **state)
{
	struct packet p = {.kind = PACKET_ROCE, .bth = true, .wire_len = 100};
	struct breakdown_hosts h = {0};

	(void)state;
	for (uint32_t i = 0; i < BREAKDOWN_HOSTS_MAX + 10; i++) {
		uint32_t n = (i * 7919) & 0xfffff;

		p.src[13] = (uint8_t)(n >> 16);
		p.src[14] = (uint8_t)(n >> 8);
		p.src[15] = (uint8_t)n;
		assert_int_equal(breakdown_hosts_add(&h, &p, (struct flow_events){0}), 0);
		if (i < 100)
			assert_int_equal(
				breakdown_hosts_add(&h, &p, (struct flow_events){.bits = FLOW_CE}),
				0);
	}
	p.kind = PACKET_PFC;
	assert_int_equal(breakdown_hosts_add(&h, &p, (struct flow_events){0}), 0);
	assert_int_equal(h.count, BREAKDOWN_HOSTS_MAX);
	assert_int_equal(h.others.packets, 10);
	assert_int_equal(h.others.bytes, 1000);
	breakdown_hosts_sort(&h);
	for (uint32_t i = 0, ce = 0; i < h.count; i++) {
		ce += h.host[i].row.ce == 1;
		assert_int_equal(h.host[i].row.packets, 1 + h.host[i].row.ce);
		if (i)
			assert_true(memcmp(h.host[i - 1].address, h.host[i].address, 16) < 0);
		if (i + 1 == h.count)
			assert_int_equal(ce, 100);
	}
	breakdown_hosts_clear(&h);
	breakdown_hosts_clear(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_begin),
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
