/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies that trail behind their requests, by others in between, and senders that go back, whose
 * requests only look like such copies. Requests of one PSN, and READs of many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/flow/flow.h"
#include "tests/unit/capture/flow/good_packet.h"

#define WRITE_FIRST 0x06
#define PATH_MTU    1024

static const struct kind {
	const char *name;
	uint8_t opcode;
	uint32_t span; /* PSNs that each takes */
} kinds[] = {
	{"SENDs", 0x04, 1},	    {"READs of one packet", 0x0c, 1}, {"READs", 0x0c, 16},
	{"long READs", 0x0c, 1024}, {"READs of XRC", 0xac, 16},
};

static struct packet request(uint8_t opcode, uint32_t psn, uint64_t time_ns)
{
	struct packet p = good_packet(opcode, 7, psn);

	p.time_ns = time_ns;
	return p;
}

/* The i-th of a kind. */
static void add(struct flow_table *t, const struct kind *kind, uint32_t i, uint64_t time_ns)
{
	struct packet p = request(kind->opcode, 0xffffd0 + i * kind->span, time_ns);

	p.reth.dma_len = kind->span * PATH_MTU;
	p.reth.va = (uint64_t)i * p.reth.dma_len;
	assert_int_equal(flow_table_add(t, &p), 0);
}

/* With a request that tells the path MTU. */
static struct flow_table *begin(void)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p = request(WRITE_FIRST, 0xffffd0 - 1, 1000000);

	assert_non_null(t);
	p.payload_len = PATH_MTU;
	assert_int_equal(flow_table_add(t, &p), 0);
	return t;
}

static void check_flow(const struct flow_table *t, const char *name, const struct flow *want)
{
	struct flow f;

	assert_int_equal(flow_table_count(t), 1);
	flow_table_get(t, 0, &f);
	if (f.packets != want->packets || f.copies != want->copies ||
	    f.duplicates != want->duplicates || f.unexplained != want->unexplained)
		fail_msg("%s: packets %llu copies %llu duplicates %llu unexplained %llu", name,
			 (unsigned long long)f.packets, (unsigned long long)f.copies,
			 (unsigned long long)f.duplicates, (unsigned long long)f.unexplained);
	assert_int_equal(f.psn_missing, 0);
}

/* A mirror of two ports, whose second copies come `lag` requests later: no retransmission. */
static void copies_that_trail(void **state)
{
	const struct flow want = {.packets = 201, .copies = 100};

	(void)state;
	for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (uint32_t lag = 1; lag <= 4; lag++) {
			struct flow_table *t = begin();
			uint64_t now_ns = 1000000;

			for (uint32_t i = 0; i < 100 + lag; i++) {
				now_ns += 2000;
				if (i < 100)
					add(t, &kinds[k], i, now_ns);
				if (i >= lag)
					add(t, &kinds[k], i - lag, now_ns + 1500);
			}
			check_flow(t, kinds[k].name, &want);
			flow_table_free(t);
		}
	}
}

/* All from the third on again, with nothing new between, again and again: a sender that goes back.
 */
static void restarts_are_no_trail(void **state)
{
	const struct flow want = {.packets = 81, .duplicates = 8 * 4, .unexplained = 8};

	(void)state;
	for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct flow_table *t = begin();

		for (uint32_t i = 0; i < 8 * 10; i++) {
			/* 0 1 2 3 4 5, and 2 to 5 again */
			uint32_t at = i % 10 < 6 ? i % 10 : i % 10 - 4;

			add(t, &kinds[k], i / 10 * 6 + at, 1002000 + 2000 * i);
		}
		check_flow(t, kinds[k].name, &want);
		flow_table_free(t);
	}
}

/* Two senders of one QP, of which the second comes another way; `lag` datagrams later all come once
 * more by a third way. */
static void datagrams(void **state)
{
	const struct flow want = {.packets = 80, .copies = 40};

	(void)state;
	for (unsigned int lag = 0; lag < 4; lag++) {
		struct flow_table *t = flow_table_new(0);

		for (uint32_t i = 0; i < 40 + lag; i++) {
			for (uint32_t late = 0; late < 2; late++) {
				uint32_t n = i - lag * late;
				struct packet p = request(0x64, n / 2 + n % 2 * 1000,
							  1000000 + i * 2000 + late * 500);

				if (n >= 40)
					continue;
				p.deth.src_qpn = 20 + n % 2;
				p.ttl = (uint8_t)(late ? 62 : 64 - n % 2);
				assert_int_equal(flow_table_add(t, &p), 0);
				assert_int_equal(flow_table_events(t).bits,
						 late ? FLOW_MIRROR_DUP : 0);
			}
		}
		check_flow(t, "datagrams", &want);
		flow_table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_that_trail),
		cmocka_unit_test(restarts_are_no_trail),
		cmocka_unit_test(datagrams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
