/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over a run around a job: the priorities of its RDMA by each kind of counter, its result,
 * and the rules over rocecheck's own load, of which those over counters alone hold.
 */
#include "tests/unit/reports/rules/rule_cases.h"

#define VOLUME 50000000

static void job(struct fabric_run *f)
{
	static const enum metric moved[] = {METRIC_RDMA_TX_BYTES, METRIC_RDMA_RX_BYTES,
					    METRIC_RDMA_TX_PACKETS, METRIC_RDMA_RX_PACKETS};

	f->run.traffic = false;
	f->run.level = LEVEL_STANDARD;
	f->run.pair_count = 0;
	f->run.has_job = true;
	snprintf(f->run.job.command, sizeof(f->run.job.command), "mpirun job");
	for (unsigned int i = 0; i < 2; i++) {
		f->port[i].has_capture = false;
		f->port[i].has = 1u << READ_LOAD_BEFORE | 1u << READ_LOAD_AFTER;
		f->port[i].user_count = 1;
		snprintf(f->port[i].user[0], sizeof(f->port[i].user[0]),
			 "2 queue pairs of python3 (pid 812, user alice)");
		for (unsigned int m = 0; m < ARRAY_SIZE(moved); m++)
			grow(f, i, moved[m], 0, m < 2 ? VOLUME : VOLUME / 4096);
		grow(f, i, METRIC_PRIO_TX_BYTES, 3, VOLUME);
		grow(f, i, METRIC_PRIO_RX_BYTES, 3, VOLUME - 16000000);
	}
}

static void move(struct fabric_run *f, unsigned int host, enum metric m, unsigned int to)
{
	struct counters *now = &f->port[host].reading[READ_LOAD_AFTER];

	now->value[m][3] -= VOLUME;
	now->value[m][to] += VOLUME;
}

static void sends_dscp_0(struct fabric_run *f)
{
	job(f);
	move(f, 0, METRIC_PRIO_TX_BYTES, 0);
	move(f, 1, METRIC_PRIO_RX_BYTES, 0);
}

/* Both hosts send, and each counter by priority is of another place. */
static void all_over(struct fabric_run *f)
{
	job(f);
	move(f, 0, METRIC_PRIO_TX_BYTES, 0);
	move(f, 0, METRIC_PRIO_RX_BYTES, 5);
}

static void both_ways(struct fabric_run *f)
{
	sends_dscp_0(f);
	move(f, 0, METRIC_PRIO_RX_BYTES, 0);
}

/* rdma_cm's default is wrong: the root cause. */
static void cm_default(struct fabric_run *f)
{
	sends_dscp_0(f);
	f->before[0].qos.cm_tos = 0;
}

/* A tenth of the job, and TCP beside it on another priority. */
static void tenth(struct fabric_run *f)
{
	job(f);
	f->port[0].reading[READ_LOAD_AFTER].value[METRIC_PRIO_TX_BYTES][3] -= VOLUME / 10;
	grow(f, 0, METRIC_PRIO_TX_BYTES, 5, VOLUME / 10);
	grow(f, 0, METRIC_PRIO_TX_BYTES, 0, VOLUME);
}

static void tcp_beside(struct fabric_run *f)
{
	job(f);
	grow(f, 0, METRIC_PRIO_TX_BYTES, 0, 10 * (uint64_t)VOLUME);
}

/* CNPs of an incast on priority 6. */
static void cnps(struct fabric_run *f)
{
	job(f);
	grow(f, 0, METRIC_CNP_TX, 0, 20000);
	grow(f, 0, METRIC_RDMA_TX_BYTES, 0, 20000 * 90);
	grow(f, 0, METRIC_PRIO_TX_BYTES, 6, 20000 * 90);
}

static void no_bytes(struct fabric_run *f)
{
	lose_metric(f, METRIC_RDMA_TX_BYTES);
	lose_metric(f, METRIC_RDMA_RX_BYTES);
	lose_metric(f, METRIC_PRIO_TX_BYTES);
	lose_metric(f, METRIC_PRIO_RX_BYTES);
}

/* As Soft-RoCE on a NIC that counts packets by priority. */
static void in_packets(struct fabric_run *f)
{
	job(f);
	for (unsigned int i = 0; i < 2; i++) {
		grow(f, i, METRIC_PRIO_TX_PACKETS, 3, VOLUME / 4096);
		grow(f, i, METRIC_PRIO_RX_PACKETS, 3, VOLUME / 4096);
	}
	no_bytes(f);
}

static void packets_on_0(struct fabric_run *f)
{
	in_packets(f);
	f->port[0].reading[READ_LOAD_AFTER].value[METRIC_PRIO_TX_PACKETS][3] = 100;
	grow(f, 0, METRIC_PRIO_TX_PACKETS, 0, VOLUME / 4096);
}

static void no_rdma_counters(struct fabric_run *f)
{
	lose_metric(f, METRIC_RDMA_TX_BYTES);
	lose_metric(f, METRIC_RDMA_RX_BYTES);
	lose_metric(f, METRIC_RDMA_TX_PACKETS);
	lose_metric(f, METRIC_RDMA_RX_PACKETS);
}

static void mixed(struct fabric_run *f)
{
	job(f);
	no_rdma_counters(f);
}

static void mixed_on_0(struct fabric_run *f)
{
	sends_dscp_0(f);
	no_rdma_counters(f);
}

static void mixed_on_0_unowned(struct fabric_run *f)
{
	mixed_on_0(f);
	f->port[0].user_count = f->port[1].user_count = 0;
}

static void mixed_both(struct fabric_run *f)
{
	tcp_beside(f);
	no_rdma_counters(f);
}

static void mixed_idle(struct fabric_run *f)
{
	mixed(f);
	f->port[0].reading[READ_LOAD_AFTER] = f->port[0].reading[READ_LOAD_BEFORE];
}

static void no_prio_counters(struct fabric_run *f)
{
	job(f);
	no_bytes(f);
	lose_metric(f, METRIC_PRIO_TX_PACKETS);
	lose_metric(f, METRIC_PRIO_RX_PACKETS);
}

/* A port of a bond: the RDMA device counts both ports, the netdev one. */
static void half_counted(struct fabric_run *f)
{
	job(f);
	f->port[0].reading[READ_LOAD_AFTER].value[METRIC_PRIO_TX_BYTES][3] -= VOLUME / 20;
}

static void not_read(struct fabric_run *f)
{
	job(f);
	f->port[0].has = 1u << READ_LOAD_BEFORE;
}

static void idle(struct fabric_run *f, unsigned int host)
{
	f->port[host].reading[READ_LOAD_AFTER] = f->port[host].reading[READ_LOAD_BEFORE];
	grow(f, host, METRIC_RDMA_TX_PACKETS, 0, 999);
	grow(f, host, METRIC_PRIO_TX_BYTES, 0, VOLUME);
}

static void one_idle(struct fabric_run *f)
{
	job(f);
	idle(f, 0);
}

static void all_idle(struct fabric_run *f)
{
	one_idle(f);
	idle(f, 1);
}

static void lossy_intent(struct fabric_run *f)
{
	sends_dscp_0(f);
	f->fabric.profile.intent = INTENT_LOSSY;
}

static void failed(struct fabric_run *f)
{
	job(f);
	f->run.job.exit_code = 3;
}

static void stopped(struct fabric_run *f)
{
	job(f);
	f->run.job.stopped = true;
}

static void loses(struct fabric_run *f)
{
	job(f);
	grow(f, 0, METRIC_OUT_OF_SEQUENCE, 0, 7);
}

static void loses_on_lossy(struct fabric_run *f)
{
	sends_dscp_0(f);
	grow(f, 0, METRIC_SEQ_NAK_RX, 0, 7);
}

static void marks(struct fabric_run *f)
{
	job(f);
	grow(f, 0, METRIC_ECN_MARKED_RX, 0, 7);
}

static const struct rule_case cases[] = {
	{"RC-QOS-020", job, "h1", VERDICT_PASS, "RDMA leaves and arrives on lossless"},
	{"RC-QOS-020", sends_dscp_0, "h1", VERDICT_FAIL,
	 "RDMA leaves on lossy priority 0, expected 3; the default"},
	{"RC-QOS-020", sends_dscp_0, "h2", VERDICT_FAIL,
	 "RDMA arrives on lossy priority 0, expected 3"},
	{"RC-QOS-020", both_ways, "h1", VERDICT_FAIL, "leaves and arrives on lossy priority 0"},
	{"RC-QOS-020", all_over, "h1", VERDICT_FAIL,
	 "leaves on lossy priority 0 and arrives on lossy priority 5"},
	{"RC-QOS-020", tenth, "h1", VERDICT_FAIL, "leaves on lossy priority 5"},
	{"RC-QOS-020", tcp_beside, "h1", VERDICT_PASS, NULL},
	{"RC-QOS-020", cnps, "h1", VERDICT_PASS, NULL},
	{"RC-QOS-020", in_packets, "h1", VERDICT_PASS, NULL},
	{"RC-QOS-020", packets_on_0, "h1", VERDICT_FAIL, "leaves on lossy priority 0"},
	{"RC-QOS-020", mixed, "h1", VERDICT_PASS, NULL},
	{"RC-QOS-020", mixed_on_0, "h1", VERDICT_FAIL, "leaves on lossy priority 0"},
	{"RC-QOS-020", mixed_on_0_unowned, "h1", VERDICT_INCONCLUSIVE, "does not count RDMA apart"},
	{"RC-QOS-020", mixed_both, "h1", VERDICT_INCONCLUSIVE, "does not count RDMA apart"},
	{"RC-QOS-020", mixed_idle, "h1", VERDICT_SKIP, "hardly any traffic"},
	{"RC-QOS-020", no_prio_counters, "h1", VERDICT_INCONCLUSIVE, "counts no bytes by priority"},
	{"RC-QOS-020", half_counted, "h1", VERDICT_INCONCLUSIVE, "do not count all of its RDMA"},
	{"RC-QOS-020", not_read, "h1", VERDICT_INCONCLUSIVE,
	 "counters around the job were not read"},
	{"RC-QOS-020", one_idle, "h1", VERDICT_SKIP, "hardly any RDMA"},
	{"RC-QOS-020", lossy_intent, "h1", VERDICT_SKIP, "intent is lossy"},
	{"RC-META-012", job, "", VERDICT_PASS, NULL},
	{"RC-META-012", failed, "", VERDICT_FAIL, "failed with exit code 3"},
	{"RC-META-012", stopped, "", VERDICT_FAIL, "was stopped"},
	{"RC-META-012", one_idle, "", VERDICT_PASS, NULL},
	{"RC-META-012", all_idle, "", VERDICT_FAIL, "no port of the inventory had RDMA"},
	{"RC-META-012", mixed, "", VERDICT_PASS, NULL},
	{"RC-META-012", mixed_on_0_unowned, "", VERDICT_INCONCLUSIVE, "2 ports cannot tell"},
	{"RC-TRN-001", job, "h1", VERDICT_PASS, NULL},
	{"RC-TRN-001", loses, "h1", VERDICT_FAIL, "7 sequence gaps"},
	{"RC-TRN-001", one_idle, "h1", VERDICT_SKIP, "hardly any RDMA"},
	{"RC-TRN-007", job, "h1", VERDICT_PASS, NULL},
	{"RC-PFC-010", loses, "h1", VERDICT_FAIL, NULL},
	{"RC-PFC-010", job, "h1", VERDICT_SKIP, "nothing was lost, but no congestion"},
	{"RC-PFC-012", job, "h1", VERDICT_PASS, NULL},
	{"RC-ECN-006", marks, "h1", VERDICT_FAIL, NULL},
	{"RC-META-003", job, "h1", VERDICT_PASS, NULL},
	{"RC-META-002", job, "", VERDICT_SKIP, NULL},
	{"RC-META-006", job, "", VERDICT_SKIP, "no traffic of rocecheck in this run"},
	{"RC-QOS-006", job, "", VERDICT_SKIP, "no traffic of rocecheck in this run"},
	{"RC-QOS-007", job, "", VERDICT_SKIP, "no traffic of rocecheck in this run"},
	{"RC-QOS-011", job, "h1", VERDICT_SKIP, NULL},
	{"RC-MTU-003", job, "", VERDICT_SKIP, "no traffic of rocecheck in this run"},
	{"RC-TRN-006", job, "", VERDICT_SKIP, "no traffic of rocecheck in this run"},
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static bool has_evidence(const struct finding *f, const char *part)
{
	for (unsigned int i = 0; i < f->evidence_count; i++)
		if (strstr(f->evidence[i].text, part))
			return true;
	return false;
}

/* The finding names both counters, the process, and what it has to set. */
static void test_evidence(void **state)
{
	static const char *const parts[] = {
		"rdma_tx_bytes +50000000",
		"prio_tx_bytes prio 3 +0",
		"prio_tx_bytes prio 0 +50000000",
		"2 queue pairs of python3 (pid 812, user alice)",
		"and 4 more with queue pairs",
		"NCCL_IB_TC=106, UCX_IB_TRAFFIC_CLASS=106, NVSHMEM_IB_TRAFFIC_CLASS=106",
		"rdma.cm_default_tos is ",
	};
	static struct fabric_run f;
	const struct finding *got;
	struct findings all;

	(void)state;
	good_run(&f);
	sends_dscp_0(&f);
	f.port[0].users_left = 4;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	got = finding_of(&all, "RC-QOS-020", "h1");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!has_evidence(got, parts[i]))
			fail_msg("no evidence '%s'", parts[i]);
	assert_int_equal(got->prio_set, 1 << 0);
	assert_true(got->expected_line > 0);
	findings_clear(&all);
}

static int code_of(void (*change)(struct fabric_run *f), struct findings *all)
{
	static const char *const allow[] = {"RC-PFC-004"};
	static struct fabric_run f;

	good_run(&f);
	if (change)
		change(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, all), 0);
	return findings_exit(all, SEVERITY_ERROR, allow, 1);
}

static void test_exit_codes(void **state)
{
	static const struct {
		void (*change)(struct fabric_run *f);
		int code;
	} codes[] = {
		{job, 0},      {sends_dscp_0, 1},     {failed, 4},   {stopped, 4},
		{all_idle, 4}, {no_prio_counters, 4}, {not_read, 4}, {loses, 1},
	};
	struct findings all;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		int code = code_of(codes[i].change, &all);

		if (code != codes[i].code)
			fail_msg("case %zu: exit code %d, want %d", i, code, codes[i].code);
		findings_clear(&all);
	}
}

/* Settings explain the priority of the job, and that explains its losses. */
static void test_causes(void **state)
{
	struct findings all;
	const struct finding *lossy, *lost;

	(void)state;
	(void)code_of(cm_default, &all);
	lossy = finding_of(&all, "RC-QOS-020", "h1");
	assert_string_equal(all.list[lossy->caused_by].rule->id, "RC-QOS-013");
	assert_null(strstr(lossy->text, "the default of rdma_cm is right"));
	findings_clear(&all);
	(void)code_of(loses_on_lossy, &all);
	lost = finding_of(&all, "RC-TRN-001", "h1");
	assert_int_equal(lost->verdict, VERDICT_FAIL);
	assert_string_equal(all.list[lost->caused_by].rule->id, "RC-QOS-020");
	findings_clear(&all);
}

/* A run without a job has no word of one. */
static void test_silent(void **state)
{
	struct findings all;

	(void)state;
	(void)code_of(NULL, &all);
	assert_null(finding_of(&all, "RC-QOS-020", "h1"));
	assert_null(finding_of(&all, "RC-META-012", ""));
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	   cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_exit_codes), cmocka_unit_test(test_causes),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
