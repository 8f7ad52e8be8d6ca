/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules about the evidence (RC-META) and about what kind of port it is; and whole runs: a good one,
 * one over plain netdevs, guests and iWARP.
 */
#include "tests/unit/reports/rules/rule_cases.h"

static void blind(struct fabric_run *f)
{
	for (unsigned int m = 0; m < METRIC_COUNT; m++)
		lose_metric(f, m);
	for (unsigned int i = 0; i < 2; i++) {
		f->port[i].has_capture = false;
		f->before[i].qos.has = f->after[i].qos.has = 0;
	}
}

static void no_ecn_counters(struct fabric_run *f)
{
	lose_metric(f, METRIC_ECN_MARKED_RX);
	lose_metric(f, METRIC_CNP_TX);
}

static void no_capture(struct fabric_run *f)
{
	f->fabric.capture = CAPTURE_OFF;
	f->port[1].has_capture = false;
}

static void no_readings(struct fabric_run *f)
{
	f->port[1].has = 0;
}

static void too_slow(struct fabric_run *f)
{
	f->pair[1].asked_bytes_per_s = 50000000;
}

/* So much that a percentage of it is beyond 64 bits. */
static void much_asked(struct fabric_run *f)
{
	f->pair[1].asked_bytes_per_s = UINT64_MAX / 80 + 1;
}

/* Both verbs failed alike. */
static void failed_twice(struct fabric_run *f)
{
	f->pair[1] = f->pair[0];
	f->pair[0].ran = f->pair[1].ran = false;
	snprintf(f->pair[0].error, sizeof(f->pair[0].error), "h2: no GID");
	snprintf(f->pair[1].error, sizeof(f->pair[1].error), "h2: no GID");
}

static void failed_pair(struct fabric_run *f)
{
	f->pair[1].server.cause = CAUSE_TIMEOUT;
}

/* 34 MB of TCP from h1 to h2, and as much back. */
static void tcp_beside(struct fabric_run *f)
{
	for (unsigned int i = 0; i < 2; i++) {
		f->tcp[i] = (struct run_tcp){.asked = {.streams = 4}};
		f->tcp[i].client.retransmits = 12;
		f->tcp[i].server.arrived_bytes = 34000000;
		f->pair[i].tcp = &f->tcp[i];
		f->pair[i].tcp_count = 1;
	}
}

static void tcp_silent(struct fabric_run *f)
{
	tcp_beside(f);
	f->tcp[0].server.arrived_bytes = 0;
}

static void tcp_broken(struct fabric_run *f)
{
	tcp_beside(f);
	f->tcp[0].client.broken = 3;
	strcpy(f->tcp[0].client.detail, "Connection reset by peer after 1.0 s");
}

/* That is said of the pair. */
static void tcp_of_failed_pair(struct fabric_run *f)
{
	tcp_silent(f);
	f->pair[0].server.cause = CAUSE_TIMEOUT;
}

static void no_pairs(struct fabric_run *f)
{
	f->run.pair_count = 0;
}

static void reset_counter(struct fabric_run *f)
{
	f->port[1].reading[READ_LOAD_AFTER].value[METRIC_RX_CRC_ERRORS][0] = 0;
}

static void dropped(struct fabric_run *f)
{
	f->port[1].capture.drops = DROPS_SOME;
	f->port[1].capture.dropped = 7;
}

static void evicted(struct fabric_run *f)
{
	f->port[1].capture.totals.evicted_flows = 2;
}

static void drops_untold(struct fabric_run *f)
{
	f->port[1].capture.drops = DROPS_UNKNOWN;
}

static void offloaded(struct fabric_run *f)
{
	f->port[1].capture.totals.roce = 0;
	f->port[1].capture.flow_count = 0;
}

static void foreign(struct fabric_run *f)
{
	for (unsigned int r = READ_QUIET_AFTER; r < READ_COUNT; r++)
		f->port[1].reading[r].value[METRIC_RX_BYTES][0] += 100000000;
}

/* Of the load of 5 MB/s, since the link's speed is unknown. */
static void foreign_by_load(struct fabric_run *f)
{
	f->before[1].speed_mbps = 0;
	for (unsigned int r = READ_QUIET_AFTER; r < READ_COUNT; r++)
		f->port[1].reading[r].value[METRIC_RX_BYTES][0] += 60000;
}

static void speedless(struct fabric_run *f)
{
	f->before[1].speed_mbps = 0;
	f->pair[0].asked_bytes_per_s = f->pair[1].asked_bytes_per_s = 0;
}

static void unreached(struct fabric_run *f)
{
	f->host[1].reached = f->host[1].has_before = f->host[1].has_after = false;
	snprintf(f->host[1].error, sizeof(f->host[1].error), "connection refused");
}

static void lost(struct fabric_run *f)
{
	snprintf(f->host[1].error, sizeof(f->host[1].error), "the agent ended");
}

static void other_agent(struct fabric_run *f)
{
	snprintf(f->host[1].agent_version, sizeof(f->host[1].agent_version), "0.0.9");
}

static void not_in_run(struct fabric_run *f)
{
	f->run.host_count = 1;
	f->run.pair_count = 0;
}

static void changed(struct fabric_run *f)
{
	f->after[1].qos.pfc_enabled = 0;
}

static void no_after(struct fabric_run *f)
{
	f->host[1].has_after = false;
}

static void no_load(struct fabric_run *f)
{
	no_pairs(f);
	f->run.traffic = false;
}

static void nobody(struct fabric_run *f)
{
	unreached(f);
	f->host[0].has_before = false;
}

static void kind_of(struct fabric_run *f, enum port_kind kind)
{
	f->before[1].kind = f->after[1].kind = (uint8_t)kind;
}

static void guest(struct fabric_run *f)
{
	kind_of(f, PORT_GUEST);
}

static void vf(struct fabric_run *f)
{
	kind_of(f, PORT_ROCE_VF);
}

static void iwarp(struct fabric_run *f)
{
	kind_of(f, PORT_IWARP);
}

static void absent_port(struct fabric_run *f)
{
	snprintf(f->before[1].netdev, sizeof(f->before[1].netdev), "eth7");
}

static void no_rdma(struct fabric_run *f)
{
	kind_of(f, PORT_ETHERNET);
	f->before[1].ibdev[0] = '\0';
}

static void other_rdma(struct fabric_run *f)
{
	snprintf(f->before[1].ibdev, sizeof(f->before[1].ibdev), "rxe9");
	snprintf(f->fabric.host[1].port[0].rdma, sizeof(f->fabric.host[1].port[0].rdma), "rxe0");
}

static void down(struct fabric_run *f)
{
	f->before[1].up = false;
}

static void excepted(struct fabric_run *f)
{
	add_exception(f, "RC-PFC-004", "h[1-2]", "2026-11-26");
}

static void expired(struct fabric_run *f)
{
	add_exception(f, "RC-PFC-004", "", "2026-11-25");
}

/* clang-format off */
static const struct rule_case cases[] = {
	{ "RC-META-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-001", no_ecn_counters, "h2", VERDICT_INCONCLUSIVE, "2 of 8" },
	{ "RC-META-002", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-002", too_slow, "h2", VERDICT_WARN, "of 50.0 MB/s asked" },
	{ "RC-META-002", much_asked, "h2", VERDICT_WARN, NULL },
	{ "RC-META-002", failed_pair, "h1", VERDICT_WARN, "timeout" },
	{ "RC-META-002", tcp_beside, "h1", VERDICT_PASS, "2 of 2 directions" },
	{ "RC-META-002", tcp_silent, "h2", VERDICT_WARN, "h1 -> h2: no data of TCP background 0 arrived" },
	{ "RC-META-002", tcp_broken, "h1", VERDICT_WARN, "3 of 4 streams of TCP background 0 broke: Connection reset" },
	{ "RC-META-002", tcp_of_failed_pair, "h1", VERDICT_WARN, "timeout" },
	{ "RC-META-002", no_pairs, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-003", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-003", reset_counter, "h2", VERDICT_WARN, "1 counter reset" },
	{ "RC-META-003", no_readings, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-004", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-004", dropped, "h2", VERDICT_WARN, "7 packets" },
	{ "RC-META-004", evicted, "h2", VERDICT_WARN, NULL },
	{ "RC-META-004", drops_untold, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-004", no_capture, "h2", VERDICT_INCONCLUSIVE, "turned captures off" },
	{ "RC-META-005", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-005", offloaded, "h2", VERDICT_WARN, "bypasses" },
	{ "RC-META-005", no_capture, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-006", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-006", foreign, "h2", VERDICT_WARN, "100000000 bytes/s" },
	{ "RC-META-006", foreign_by_load, "h2", VERDICT_WARN, NULL },
	{ "RC-META-006", speedless, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-007", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-007", unreached, "h2", VERDICT_FAIL, "connection refused" },
	{ "RC-META-007", lost, "h2", VERDICT_FAIL, "lost during the run" },
	{ "RC-META-007", other_agent, "h2", VERDICT_FAIL, "0.0.9" },
	{ "RC-META-007", not_in_run, "h2", VERDICT_FAIL, "no data of this host" },
	{ "RC-META-009", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-META-009", changed, "h2", VERDICT_FAIL, "1 setting changed" },
	{ "RC-META-009", no_after, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-META-010", NULL, "", VERDICT_PASS, "2 ports" },
	{ "RC-META-010", nobody, "", VERDICT_FAIL, "nothing was checked" },
	{ "RC-META-010", no_pairs, "", VERDICT_FAIL, "no two ports form a pair" },
	{ "RC-META-010", no_load, "", VERDICT_PASS, "2 ports" },
	{ "RC-META-011", excepted, "", VERDICT_PASS, "RC-PFC-004 on h[1-2] is allowed until 2026-11-26" },
	{ "RC-META-011", expired, "", VERDICT_WARN, "RC-PFC-004 on all hosts has expired: it ended on 2026-11-25" },
	{ "RC-ENV-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-ENV-001", guest, "h2", VERDICT_WARN, "guest" },
	{ "RC-ENV-001", vf, "h2", VERDICT_WARN, "virtual function" },
	{ "RC-ENV-005", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-ENV-005", iwarp, "h2", VERDICT_WARN, "iWARP" },
	{ "RC-HST-008", NULL, "h2", VERDICT_PASS, "rxe0" },
	{ "RC-HST-008", absent_port, "h2", VERDICT_FAIL, "has no port" },
	{ "RC-HST-008", no_rdma, "h2", VERDICT_FAIL, "no RDMA device" },
	{ "RC-HST-008", other_rdma, "h2", VERDICT_FAIL, "the inventory says rxe0" },
	{ "RC-LNK-001", NULL, "h2", VERDICT_PASS, NULL },
	{ "RC-LNK-001", down, "h2", VERDICT_FAIL, "netdev down" },
 /* Weak evidence: a PASS that stands on it is none. */
	{ "RC-TRN-001", reset_counter, "h2", VERDICT_INCONCLUSIVE, "RC-META-003" },
	{ "RC-QOS-008", dropped, "h2", VERDICT_INCONCLUSIVE, "RC-META-004" },
	{ "RC-QOS-006", offloaded, "h2", VERDICT_INCONCLUSIVE, NULL },
	{ "RC-TRN-001", foreign, "h2", VERDICT_PASS, "unreliable: foreign traffic"},
	{ "RC-TRN-001", foreign, "h1", VERDICT_PASS, "no retransmission" },
 /* Ports whose settings are not their own, or do not matter. */
	{ "RC-PFC-002", guest, "h2", VERDICT_SKIP, "outside the guest" },
	{ "RC-ETS-002", vf, "h2", VERDICT_SKIP, "on the PF" },
	{ "RC-TRN-001", guest, "h2", VERDICT_PASS, NULL },
	{ "RC-PFC-002", iwarp, "h2", VERDICT_SKIP, "iWARP" },
	{ "RC-QOS-006", iwarp, "h2", VERDICT_SKIP, "iWARP" },
	{ "RC-PFC-003", iwarp, "", VERDICT_INCONCLUSIVE, "nothing to compare" },
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

static void test_coverage(void **state)
{
	static const char *const groups[] = {"RC-META", "RC-ENV", "RC-HST", "RC-LNK-001", NULL};
	static const char *const never_open[] = {
		"RC-META-007", "RC-META-010", "RC-META-011", "RC-ENV", "RC-HST", "RC-LNK", NULL};

	(void)state;
	check_coverage(cases, ARRAY_SIZE(cases), groups, never_open);
}

/* In a good run all pass but these: nothing was congested or marked, there was no incast, no
 * LLDP was captured, and there is no switch. */
static void test_good_run(void **state)
{
	static const char *const allow[] = {"RC-PFC-004", "RC-PFC-010"};
	static const char *const not_passing[] = {
		"RC-ECN-005", "RC-ECN-006", "RC-ECN-011", "RC-ECN-012", "RC-ETS-007",
		"RC-PFC-004", "RC-PFC-010", "RC-PFC-011", "RC-PFC-015", "RC-PFC-016",
		"RC-PFC-018", "RC-TOP-001", NULL};
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	add_marking(&f, MARKING_KINDS);
	excepted(&f);
	strcpy(f.allow[0].rule, "RC-PFC-013"); /* which passes */
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	for (size_t i = 0; i < all.count; i++) {
		bool expected = !listed(not_passing, all.list[i].rule->id);

		if ((all.list[i].verdict == VERDICT_PASS) != expected)
			fail_msg("%s: %s", all.list[i].rule->id, all.list[i].text);
	}
	for (unsigned int i = 0; i < rule_count; i++)
		if (rule_table[i].scope != SCOPE_HOST && rule_table[i].scope != SCOPE_CAPTURE &&
		    rule_table[i].scope != SCOPE_PROBE && !(rule_table[i].needs & NEED_JOB) &&
		    !finding_of(&all, rule_table[i].id, "h1") &&
		    !finding_of(&all, rule_table[i].id, ""))
			fail_msg("%s said nothing", rule_table[i].id);
	assert_int_equal(findings_exit(&all, SEVERITY_WARN, NULL, 0), 4);
	assert_int_equal(findings_exit(&all, SEVERITY_INFO, allow, 2), 0);
	findings_clear(&all);
}

/* What is not known is not told as 0, and what two verbs met alike is told once. */
static void test_evidence_words(void **state)
{
	static struct fabric_run f;
	const struct finding *one;
	struct findings all;

	(void)state;
	good_run(&f);
	failed_twice(&f);
	f.before[1].speed_mbps = 0;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	one = finding_of(&all, "RC-LNK-001", "h2");
	assert_non_null(strstr(one->evidence[0].text, "speed unknown"));
	assert_int_equal(finding_of(&all, "RC-META-002", "h2")->evidence_count, 1);
	findings_clear(&all);
}

/* Over netdevs that tell nothing, no rule about settings or counters may pass; contents of
 * rocecheck's own traffic are evidence (RC-TRN-006). */
static void test_blind_run(void **state)
{
	static const char *const may_pass[] = {
		"RC-META-002", "RC-META-007", "RC-META-010", "RC-ENV",	   "RC-GID",
		"RC-HST",      "RC-LNK",      "RC-MTU-002",  "RC-MTU-003", "RC-TRN-006",
		"RC-TRN-012",  "RC-TRN-013",  "RC-TRN-014",  NULL};
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	blind(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	for (size_t i = 0; i < all.count; i++) {
		assert_false(finding_violated(&all.list[i]));
		if (all.list[i].verdict == VERDICT_PASS && !listed(may_pass, all.list[i].rule->id))
			fail_msg("%s passes: %s", all.list[i].rule->id, all.list[i].text);
	}
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 4);
	findings_clear(&all);
}

/* Snapshots alone, without inventory: ports are those of the snapshots. */
static void test_offline(void **state)
{
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	f.run.traffic = false;
	f.run.pair_count = 0;
	for (unsigned int i = 0; i < 2; i++) {
		f.host[i].port_count = 0;
		f.host[i].has_after = false;
	}
	f.fabric.host_count = 0;
	f.before[1].qos.pfc_enabled = 0;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_int_equal(finding_of(&all, "RC-PFC-001", "h2")->verdict, VERDICT_FAIL);
	assert_int_equal(finding_of(&all, "RC-PFC-001", "h1")->verdict, VERDICT_PASS);
	assert_int_equal(finding_of(&all, "RC-QOS-006", "")->verdict, VERDICT_SKIP);
	assert_int_equal(finding_of(&all, "RC-META-009", "h1")->verdict, VERDICT_SKIP);
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 1);
	findings_clear(&all);
}

static void test_missing_host(void **state)
{
	static const char *const allow[] = {"RC-PFC-004", "RC-PFC-010", "RC-PFC-003", "RC-QOS-004",
					    "RC-GID-002", "RC-MTU-001", "RC-QOS-007", "RC-QOS-008"};
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	unreached(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_null(finding_of(&all, "RC-PFC-002", "h2"));
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, allow, ARRAY_SIZE(allow)), 4);
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	     cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_good_run),     cmocka_unit_test(test_evidence_words),
		cmocka_unit_test(test_blind_run),    cmocka_unit_test(test_offline),
		cmocka_unit_test(test_missing_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
