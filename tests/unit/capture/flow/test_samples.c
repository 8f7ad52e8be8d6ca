/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which frames of a capture are kept as evidence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/flow/samples.h"

/* The first frames of the first flows are kept, and all are counted. */
static void test_witness(void **state)
{
	static struct samples w;
	const struct sample_set *k = &w.kind[__builtin_ctz(FLOW_CE)];

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		struct packet p = {.frame = i + 1, .kind = PACKET_ROCE, .dest_qpn = i % 6};

		samples_add(&w, &p, (struct flow_events){.bits = FLOW_CE});
	}
	assert_int_equal(k->count, 60);
	assert_int_equal(k->flow_count, SAMPLE_FLOWS_MAX);
	for (unsigned int i = 0; i < SAMPLE_FLOWS_MAX; i++) {
		assert_int_equal(k->flow[i].count, 10);
		assert_int_equal(k->flow[i].dest_qpn, i);
		for (unsigned int n = 0; n < SAMPLE_FRAMES_MAX; n++)
			assert_int_equal(k->flow[i].frame[n], i + 1 + 6 * n);
	}
	assert_int_equal(w.kind[__builtin_ctz(FLOW_CNP)].count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_witness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
