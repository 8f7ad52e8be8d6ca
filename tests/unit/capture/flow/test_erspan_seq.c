/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the numbers of a mirror's tunnel say: gaps, late packets, copies, a mirror that began anew,
 * fields that count nothing, tunnels side by side.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/flow/flow.h"

static bool take(struct erspan_seq *t, struct erspan_seq_totals *sum, uint32_t sequence,
		 uint8_t from, uint16_t session)
{
	struct packet p = {.frame = 1};

	p.tunnel.kind = TUNNEL_ERSPAN_II;
	p.tunnel.src[15] = from;
	p.tunnel.session = session;
	p.tunnel.sequenced = true;
	p.tunnel.sequence = sequence;
	return erspan_seq_add(t, &p, sum);
}

static const struct {
	const char *name;
	uint32_t sequence[6];
	unsigned int count;
	uint64_t gaps, missing, restarts;
} rows[] = {
	{"in order", {7, 8, 9}, 3, 0, 0, 0},
	{"three are missing", {7, 11, 12}, 3, 1, 3, 0},
	{"two gaps", {7, 9, 11}, 3, 2, 2, 0},
	{"one came late", {7, 9, 8, 10}, 4, 1, 0, 0},
	{"late, and captured twice", {7, 9, 8, 8, 9}, 5, 1, 0, 0},
	{"late, and one still missing", {7, 10, 8, 11}, 4, 1, 1, 0},
	{"late behind a wide gap", {7, 70, 69, 8}, 4, 1, 60, 0},
	{"wider than what is remembered", {7, 108, 107, 9}, 4, 1, 99, 0},
	{"before the capture", {7, 6, 8}, 3, 0, 0, 0},
	{"always the same", {0, 0, 0, 0}, 4, 0, 0, 0},
	{"wraps", {0xffffffff, 0, 2}, 3, 1, 1, 0},
	{"begins anew", {500000, 500001, 1, 2}, 4, 0, 0, 1},
	{"jumps ahead", {1, 70000, 70001, 70003}, 4, 1, 1, 1},
};

static void numbers(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct erspan_seq t = {0};
		struct erspan_seq_totals sum = {0};
		uint64_t told = 0;

		for (unsigned int k = 0; k < rows[i].count; k++)
			told += take(&t, &sum, rows[i].sequence[k], 1, 5);
		if (sum.gaps != rows[i].gaps || sum.missing != rows[i].missing ||
		    sum.restarts != rows[i].restarts || sum.packets != rows[i].count ||
		    told != rows[i].gaps)
			fail_msg("%s: %llu gaps, %llu missing, %llu restarts", rows[i].name,
				 (unsigned long long)sum.gaps, (unsigned long long)sum.missing,
				 (unsigned long long)sum.restarts);
	}
}

/* Each tunnel and session has numbers of its own; more than there is room for are not judged. */
static void side_by_side(void **state)
{
	struct erspan_seq t = {0};
	struct erspan_seq_totals sum = {0};

	(void)state;
	for (uint32_t n = 0; n < 10; n++) {
		assert_false(take(&t, &sum, n, 1, 5));
		assert_false(take(&t, &sum, 1000 + n, 1, 6));
		assert_false(take(&t, &sum, 50 + n, 2, 5));
	}
	for (uint16_t session = 100; session < 200; session++)
		(void)take(&t, &sum, 1, 9, session);
	assert_int_equal(t.count, ERSPAN_SESSIONS);
	assert_int_equal(sum.missing, 0);
	assert_int_equal(sum.packets, 30 + ERSPAN_SESSIONS - 3);
}

/* Also of frames that are no RoCE; without a number nothing is said. */
static void of_any_frame(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p = {.kind = PACKET_OTHER};

	(void)state;
	p.tunnel.kind = TUNNEL_GRE;
	assert_int_equal(flow_table_add(t, &p), 0);
	assert_int_equal(flow_table_totals(t)->mirror.packets, 0);
	p.tunnel.sequenced = true;
	for (p.tunnel.sequence = 3; p.tunnel.sequence < 10; p.tunnel.sequence += 2)
		assert_int_equal(flow_table_add(t, &p), 0);
	assert_int_equal(flow_table_totals(t)->mirror.packets, 4);
	assert_int_equal(flow_table_totals(t)->mirror.missing, 3);
	assert_int_equal(flow_table_events(t).bits, FLOW_MIRROR_GAP);
	flow_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(of_any_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
