/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over traffic with a TCP background beside it: what TCP can have brought is not RoCE's.
 */
#include "tests/unit/reports/rules/traffic_faults.h"

/* TCP with each pair, on priority prio, towards its server; its headers are counted. */
static void tcp_on(struct fabric_run *f, unsigned int prio, uint8_t tos, uint64_t bytes)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->tcp[i] = (struct run_tcp){.asked = {.tos = tos, .streams = 4}};
		f->tcp[i].client.wire_bytes = f->tcp[i].client.sent_bytes = bytes;
		f->tcp[i].client.mss = 4148;
		f->tcp[i].server.arrived_bytes = bytes;
		f->pair[i].tcp = &f->tcp[i];
		f->pair[i].tcp_count = 1;
		grow(f, i, METRIC_PRIO_RX_BYTES, prio, bytes + bytes / 64);
	}
}

static void tcp_beside(struct fabric_run *f)
{
	f->before[0].qos.dscp_prio[0] = f->before[1].qos.dscp_prio[0] = 0;
	tcp_on(f, 0, 0, 40000000);
}

static void tcp_beside_discarded(struct fabric_run *f)
{
	tcp_beside(f);
	grow(f, 1, METRIC_PRIO_RX_DISCARDS, 0, 8);
}

static void tcp_beside_and_discards(struct fabric_run *f)
{
	tcp_beside(f);
	discards(f);
}

/* RoCE goes where TCP is. */
static void tcp_beside_arrives_there(struct fabric_run *f)
{
	tcp_beside(f);
	arrives_elsewhere(f);
	grow(f, 1, METRIC_PRIO_RX_BYTES, 0, 16000000);
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][5] = 100;
}

/* The port counts TCP by priority, and no RoCE. */
static void tcp_beside_counted_alone(struct fabric_run *f)
{
	tcp_beside(f);
	arrives_unseen(f);
}

static void tcp_shares(struct fabric_run *f)
{
	tcp_on(f, 3, 104, 40000000);
}

static void tcp_shares_and_discards(struct fabric_run *f)
{
	tcp_shares(f);
	discards(f);
}

static void tcp_shares_and_no_buffer(struct fabric_run *f)
{
	tcp_shares(f);
	grow(f, 1, METRIC_OUT_OF_BUFFER, 0, 8);
}

/* More than TCP can have brought. */
static void tcp_shares_little(struct fabric_run *f)
{
	tcp_on(f, 3, 104, 10000000);
}

/* All that priority 3 counted can be TCP's. */
static void tcp_shares_counted_alone(struct fabric_run *f)
{
	tcp_shares(f);
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_PRIO_RX_BYTES][3] -= 16000000;
	grow(f, 1, METRIC_PRIO_RX_BYTES, 0, 2000);
}

static void tcp_shares_arrives_elsewhere(struct fabric_run *f)
{
	tcp_shares_counted_alone(f);
	grow(f, 1, METRIC_PRIO_RX_BYTES, 5, 16000000);
}

/* A map that nobody knows. */
static void tcp_anywhere(struct fabric_run *f)
{
	tcp_on(f, 0, 0, 40000000);
	f->before[0].qos.has &= ~QOS_BIT(QOS_DSCP_PRIO);
	discards(f);
}

/* clang-format off */
static const struct rule_case cases[] = {
	{ "RC-QOS-011", tcp_beside, "h2", VERDICT_PASS, "priority 3" },
	{ "RC-QOS-011", tcp_beside_arrives_there, "h2", VERDICT_FAIL, "priority 0, wanted 3" },
	{ "RC-QOS-011", tcp_beside_counted_alone, "h2", VERDICT_INCONCLUSIVE, "did not count" },
	{ "RC-QOS-011", tcp_shares_little, "h2", VERDICT_PASS, "priority 3" },
	{ "RC-QOS-011", tcp_shares_counted_alone, "h2", VERDICT_INCONCLUSIVE, "byte counter cannot" },
	{ "RC-QOS-011", tcp_shares_arrives_elsewhere, "h2", VERDICT_FAIL, "priority 5, wanted 3" },
	{ "RC-TRN-007", tcp_beside_discarded, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-007", tcp_beside_and_discards, "h2", VERDICT_FAIL, "8 RoCE packets" },
	{ "RC-TRN-007", tcp_shares_and_discards, "h2", VERDICT_WARN, "the counters cannot" },
	{ "RC-TRN-007", tcp_shares_and_no_buffer, "h2", VERDICT_PASS, NULL },
	{ "RC-TRN-007", tcp_anywhere, "h2", VERDICT_WARN, "the counters cannot" },
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
