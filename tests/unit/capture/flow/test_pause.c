/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses: how long they last, which run out, which flows they hold, and the spacing of CNPs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/opcode.h"
#include "capture/flow/flow.h"

#define US UINT64_C(1000)

static void pfc(struct flow_table *t, uint8_t sender, unsigned int prio, uint16_t quanta,
		uint64_t time_ns)
{
	struct packet p = {.kind = PACKET_PFC, .time_ns = 1000000000 + time_ns};

	p.smac[5] = sender;
	p.pfc_enable = (uint8_t)(1U << prio);
	p.pfc_quanta[prio] = quanta;
	assert_int_equal(flow_table_add(t, &p), 0);
}

static void roce(struct flow_table *t, uint8_t opcode, uint8_t smac, uint32_t qpn, uint8_t pcp,
		 uint32_t psn, uint64_t time_ns)
{
	struct packet p = {
		.kind = PACKET_ROCE,
		.bth = true,
		.icrc = ICRC_GOOD,
		.opcode = opcode,
		.headers = opcode_info(opcode)->headers,
		.dest_qpn = qpn,
		.psn = psn,
		.vlan_count = 1,
		.pcp = pcp,
		.time_ns = 1000000000 + time_ns,
	};

	p.smac[5] = smac;
	assert_int_equal(flow_table_add(t, &p), 0);
}

struct frame {
	uint8_t sender;
	uint16_t quanta;
	uint64_t us;
};

static const struct {
	const char *name;
	struct frame frame[6];
	unsigned int count;
	uint64_t pauses, ran_out, us;
} rows[] = {
	{"off and on", {{1, 0xffff, 1}, {1, 0, 31}}, 2, 1, 0, 30},
	{"renewed", {{1, 0xffff, 1}, {1, 0xffff, 2001}, {1, 0, 4001}}, 3, 1, 0, 4000},
	{"ran out", {{1, 100, 1}, {1, 0, 500}}, 2, 1, 1, 0},
	{"ran out, and again", {{1, 100, 1}, {1, 100, 500}, {1, 0, 503}}, 3, 2, 1, 3},
	{"not ended yet", {{1, 100, 1}}, 1, 1, 0, 0},
	{"nothing to end", {{1, 0, 1}, {1, 0, 2}}, 2, 0, 0, 0},
	{"two senders", {{1, 0xffff, 1}, {2, 0xffff, 5}, {1, 0, 11}, {2, 0, 25}}, 4, 2, 0, 30},
	{"five senders: the first is forgotten",
	 {{1, 0xffff, 1}, {2, 0, 2}, {3, 0, 3}, {4, 0, 4}, {5, 0, 5}, {1, 0, 6}},
	 6,
	 1,
	 0,
	 0},
};

static void lengths(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_table *t = flow_table_new(0);
		const struct pause_totals *sum = &flow_table_totals(t)->pause;

		for (unsigned int k = 0; k < rows[i].count; k++)
			pfc(t, rows[i].frame[k].sender, 3, rows[i].frame[k].quanta,
			    rows[i].frame[k].us * US);
		if (sum->pauses[3] != rows[i].pauses || sum->ran_out[3] != rows[i].ran_out ||
		    sum->ns[3] != rows[i].us * US || sum->pauses[4])
			fail_msg("%s: %llu pauses, %llu ran out, %llu ns", rows[i].name,
				 (unsigned long long)sum->pauses[3],
				 (unsigned long long)sum->ran_out[3],
				 (unsigned long long)sum->ns[3]);
		flow_table_free(t);
	}
}

/* 65535 quanta are 3.36 ms at 10 Gbit/s, 134 us at 250, 335 ms at 100 Mbit/s. */
static void link_speeds(void **state)
{
	static const struct {
		uint32_t mbps;
		uint64_t us, ran_out;
	} speeds[] = {
		{0, 3355, 0},	  {0, 3356, 1},	    {10000, 3355, 0}, {10000, 3356, 1},
		{250000, 134, 0}, {250000, 135, 1}, {100, 335539, 0}, {100, 335540, 1},
		{10000000, 3, 0}, {10000000, 4, 1},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(speeds); i++) {
		struct flow_table *t = flow_table_new(0);

		if (speeds[i].mbps)
			flow_table_set_link_speed(t, speeds[i].mbps, PAUSE_SPEED_GIVEN);
		pfc(t, 1, 3, 0xffff, 0);
		pfc(t, 1, 3, 0, speeds[i].us * US);
		assert_int_equal(flow_table_totals(t)->pause.ran_out[3], speeds[i].ran_out);
		flow_table_free(t);
	}
}

/* Which sender, which pause, and by which frames. */
static void longest_pauses(void **state)
{
	static const struct {
		uint8_t sender;
		uint16_t quanta;
		uint64_t us;
	} frames[] = {
		{1, 0xffff, 1},	   {2, 0xffff, 5}, {1, 0, 11},	  {2, 0xffff, 1005}, {2, 0, 1505},
		{1, 0xffff, 2000}, {1, 0, 2010},   {1, 10, 3000}, {2, 0xffff, 4000}, {1, 0, 4100},
	};
	struct flow_table *t = flow_table_new(0);
	const struct pause_totals *sum = &flow_table_totals(t)->pause;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(frames); i++) {
		struct packet p = {.kind = PACKET_PFC,
				   .frame = i + 1,
				   .time_ns = 1000000000 + frames[i].us * US,
				   .pfc_enable = 1 << 5};

		p.smac[5] = frames[i].sender;
		p.pfc_quanta[5] = frames[i].quanta;
		assert_int_equal(flow_table_add(t, &p), 0);
	}
	assert_int_equal(sum->first_ns, 1000000000 + US);
	assert_int_equal(sum->last_ns, 1000000000 + 4100 * US);
	assert_int_equal(sum->longest[5].ns, 1500 * US);
	assert_int_equal(sum->longest[5].first_frame, 2);
	assert_int_equal(sum->longest[5].last_frame, 5);
	assert_int_equal(sum->most_ns[5], 1500 * US);
	assert_int_equal(sum->most_smac[5][5], 2);
	assert_int_equal(sum->ran_out[5], 1);
	assert_int_equal(sum->first_ran_out[5].first_frame, 8);
	assert_int_equal(sum->first_ran_out[5].last_frame, 10);
	assert_int_equal(sum->longest[3].ns, 0);
	flow_table_free(t);
}

/* A pause that is told again from before it began, and one that ends there. */
static void times_go_back(void **state)
{
	struct flow_table *t = flow_table_new(0);
	const struct pause_totals *sum = &flow_table_totals(t)->pause;
	struct flow f;

	(void)state;
	pfc(t, 9, 3, 0xffff, 100 * US);
	pfc(t, 9, 3, 0xffff, 10 * US);
	pfc(t, 9, 3, 0, 20 * US);
	assert_int_equal(sum->last_ns - sum->first_ns, 90 * US);
	assert_int_equal(sum->pauses[3], 1);
	assert_int_equal(sum->ns[3], 10 * US);
	assert_int_equal(sum->longest[3].ns, 10 * US);

	roce(t, 0x04, 1, 0x11, 3, 5, 998 * US);
	pfc(t, 9, 3, 0xffff, 1000 * US);
	pfc(t, 9, 3, 0, 999 * US);
	roce(t, 0x04, 1, 0x11, 3, 6, 1002 * US);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.held_ns, 0);
	assert_int_equal(sum->longest[3].ns, 10 * US);
	flow_table_free(t);
}

static void held_flows(void **state)
{
	static const struct {
		const char *name;
		uint8_t smac, pcp;
		uint64_t before_us, after_us, held_us;
	} flows[] = {
		{"held", 9, 3, 990, 1060, 50},
		{"of another priority", 9, 4, 990, 1060, 0},
		{"idle long before", 9, 3, 500, 1060, 0},
		{"goes on in between", 9, 3, 1010, 1060, 0},
		{"of the sender of the pause", 1, 3, 990, 1060, 0},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(flows); i++) {
		struct flow_table *t = flow_table_new(0);
		struct flow f;

		if (flows[i].before_us < 1000)
			roce(t, 0x04, flows[i].smac, 17, flows[i].pcp, 1, flows[i].before_us * US);
		pfc(t, 1, 3, 0xffff, 1000 * US);
		if (flows[i].before_us > 1000)
			roce(t, 0x04, flows[i].smac, 17, flows[i].pcp, 1, flows[i].before_us * US);
		pfc(t, 1, 3, 0, 1050 * US);
		roce(t, 0x04, flows[i].smac, 17, flows[i].pcp, 2, flows[i].after_us * US);
		assert_int_equal(!!(flow_table_events(t).bits & FLOW_HELD), flows[i].held_us != 0);
		roce(t, 0x04, flows[i].smac, 17, flows[i].pcp, 3, flows[i].after_us * US + 100);
		flow_table_get(t, 0, &f);
		if (f.held_ns != flows[i].held_us * US || f.held != (flows[i].held_us != 0))
			fail_msg("%s: %llu times, %llu ns", flows[i].name,
				 (unsigned long long)f.held, (unsigned long long)f.held_ns);
		flow_table_free(t);
	}
}

/* Without a tag no priority is known. */
static void untagged(void **state)
{
	struct packet p = {.kind = PACKET_ROCE,
			   .bth = true,
			   .icrc = ICRC_GOOD,
			   .opcode = 0x04,
			   .time_ns = 1000000000 + 990 * US};
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	(void)state;
	assert_int_equal(flow_table_add(t, &p), 0);
	pfc(t, 1, 0, 0xffff, 1000 * US);
	pfc(t, 1, 0, 0, 1050 * US);
	p.psn = 1;
	p.time_ns += 70 * US;
	assert_int_equal(flow_table_add(t, &p), 0);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.held, 0);
	assert_int_equal(f.held_unknown, 1);
	flow_table_free(t);
}

static void cnp_spacing(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	(void)state;
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 100 * US);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.cnp_min_ns, 0);
	assert_int_equal(f.cnp_span_ns, 0);
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 150 * US);
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 154 * US);
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 204 * US);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.cnp, 4);
	assert_int_equal(f.cnp_min_ns, 4 * US);
	assert_int_equal(f.cnp_span_ns, 104 * US);
	assert_int_equal(f.cnp_close, 0);
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 207 * US);
	assert_false(flow_table_events(t).bits & FLOW_CNP_CLOSE);
	roce(t, OPCODE_CNP, 9, 17, 6, 0, 209 * US);
	assert_true(flow_table_events(t).bits & FLOW_CNP_CLOSE);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.cnp_close, 1);
	flow_table_free(t);
}

/* The NIC makes CNPs by itself: they look otherwise than the answers around them. */
static void cnp_among_answers(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		roce(t, 0x11, 9, 17, 6, i, 10 * i * US);
		roce(t, OPCODE_CNP, 8, 17, 6, 0, (10 * i + 5) * US);
		assert_int_equal(flow_table_events(t).bits, FLOW_CNP);
	}
	roce(t, OPCODE_CNP, 7, 17, 6, 0, 96 * US); /* the last one, seen elsewhere */
	assert_int_equal(flow_table_events(t).bits, FLOW_CNP | FLOW_MIRROR_DUP);
	flow_table_get(t, 0, &f);
	assert_int_equal(f.copies, 1);
	assert_int_equal(f.cnp_min_ns, 10 * US);
	flow_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),	  cmocka_unit_test(link_speeds),
		cmocka_unit_test(longest_pauses), cmocka_unit_test(times_go_back),
		cmocka_unit_test(held_flows),	  cmocka_unit_test(untagged),
		cmocka_unit_test(cnp_spacing),	  cmocka_unit_test(cnp_among_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
