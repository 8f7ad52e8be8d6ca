/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules over an incast, its negative control and its canary: lossless is claimed only where a pause
 * was seen and nothing was lost.
 */
#include "tests/unit/reports/rules/rule_cases.h"

/* What the incast and the control leave: both hosts were paused and lost nothing, then a lossy
 * priority lost packets. */
static void add_pair(struct fabric_run *f, unsigned int from, enum run_phase phase, uint8_t prio)
{
	struct run_pair *p = &f->pair[f->run.pair_count++];

	*p = f->pair[from];
	p->phase = phase;
	p->prio = prio;
	p->asked_bytes_per_s = 0;
}

static void after_load(struct fabric_run *f, unsigned int host, enum run_reading from,
		       enum metric m, unsigned int prio, uint64_t by)
{
	for (unsigned int r = from; r < READ_COUNT; r++)
		f->port[host].reading[r].value[m][prio] += by;
}

static void incast(struct fabric_run *f)
{
	f->run.level = LEVEL_MAINTENANCE;
	f->run.maintenance = 1 << 3;
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int r = READ_INCAST_BEFORE; r < READ_COUNT; r++)
			f->port[i].reading[r] = f->port[i].reading[READ_LOAD_AFTER];
		add_pair(f, i, PHASE_INCAST, 3);
		add_pair(f, i, PHASE_CONTROL, 0);
		f->pair[f->run.pair_count - 1].losses = 40;
		after_load(f, i, READ_INCAST_AFTER, METRIC_PFC_RX_FRAMES, 3, 500);
	}
}

static void unpaused(struct fabric_run *f)
{
	incast(f);
	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int r = READ_INCAST_AFTER; r < READ_COUNT; r++)
			f->port[i].reading[r].value[METRIC_PFC_RX_FRAMES][3] -= 500;
}

static void ecn_alone(struct fabric_run *f)
{
	unpaused(f);
	after_load(f, 1, READ_INCAST_AFTER, METRIC_ECN_MARKED_RX, 0, 70);
}

/* h1 was not paused, and its packets to h2 are lost. */
static void lost(struct fabric_run *f)
{
	unpaused(f);
	f->pair[2].losses = 7;
}

static void pauses_uncounted(struct fabric_run *f)
{
	incast(f);
	lose_metric(f, METRIC_PFC_RX_FRAMES);
}

static void no_incast_to_h2(struct fabric_run *f)
{
	incast(f);
	f->pair[2].ran = false;
	snprintf(f->pair[2].error, sizeof(f->pair[2].error), "h1: the agent ended");
}

/* The others were paused and lost nothing, but one sender ended early, or sent nothing. */
static void incast_cut(struct fabric_run *f)
{
	incast(f);
	f->pair[2].client.cause = CAUSE_REMOTE_GONE;
	snprintf(f->pair[2].client.detail, sizeof(f->pair[2].client.detail), "h2 is silent");
}

static void incast_empty(struct fabric_run *f)
{
	incast(f);
	f->pair[2].server.bytes = 0;
}

static void control_full(struct fabric_run *f)
{
	incast(f);
	f->pair[3].losses = f->pair[5].losses = 0;
}

static void control_marked(struct fabric_run *f)
{
	control_full(f);
	after_load(f, 1, READ_CONTROL_AFTER, METRIC_ECN_MARKED_RX, 0, 70);
}

static void control_paused(struct fabric_run *f)
{
	control_full(f);
	after_load(f, 0, READ_CONTROL_AFTER, METRIC_PFC_RX_FRAMES, 0, 9);
}

static void control_failed(struct fabric_run *f)
{
	control_full(f);
	f->pair[3].ran = false;
	snprintf(f->pair[3].error, sizeof(f->pair[3].error), "h1: the agent ended");
}

static void canary(struct fabric_run *f)
{
	incast(f);
	add_pair(f, 0, PHASE_CANARY, 0);
	f->pair[6].p50_ns = 20000;
	add_pair(f, 0, PHASE_CANARY_BESIDE, 0);
	f->pair[7].p50_ns = 60000;
}

static void canary_held(struct fabric_run *f)
{
	canary(f);
	f->pair[7].p50_ns = 90000000;
}

static void canary_silent(struct fabric_run *f)
{
	canary(f);
	f->pair[7].p50_ns = 0;
}

static void canary_paused(struct fabric_run *f)
{
	canary(f);
	after_load(f, 0, READ_INCAST_AFTER, METRIC_PFC_RX_FRAMES, 0, 30);
}

static void canary_failed(struct fabric_run *f)
{
	canary(f);
	f->pair[7].ran = false;
	snprintf(f->pair[7].error, sizeof(f->pair[7].error), "h1: the agent ended");
}

static void marked(struct fabric_run *f)
{
	incast(f);
	after_load(f, 1, READ_INCAST_AFTER, METRIC_ECN_MARKED_RX, 0, 70);
	after_load(f, 1, READ_INCAST_AFTER, METRIC_CNP_TX, 0, 50);
}

static void unanswered(struct fabric_run *f)
{
	incast(f);
	after_load(f, 1, READ_INCAST_AFTER, METRIC_ECN_MARKED_RX, 0, 70);
}

/* h1 sends to h2, whose CNPs reach it. */
static void cut(struct fabric_run *f)
{
	marked(f);
	after_load(f, 0, READ_INCAST_AFTER, METRIC_CNP_RX, 0, 5);
	f->port[0].late = (struct run_late){true, 20, 4};
}

static void not_cut(struct fabric_run *f)
{
	cut(f);
	f->port[0].late.pauses = 240;
}

/* The same pauses, and CNPs all the time: bursts. */
static void bursts(struct fabric_run *f)
{
	not_cut(f);
	f->port[0].late.cnps = 1000;
}

static void late_unknown(struct fabric_run *f)
{
	cut(f);
	f->port[0].late.known = false;
}

/* RP is off at h1: RC-ECN-007 tells that. */
static void cnps_ignored(struct fabric_run *f)
{
	marked(f);
	for (unsigned int r = 0; r < READ_COUNT; r++)
		f->port[0].reading[r].has[METRIC_CNP_IGNORED] = 1;
	after_load(f, 0, READ_INCAST_AFTER, METRIC_CNP_IGNORED, 0, 40);
}

static void cnps_uncounted(struct fabric_run *f)
{
	cut(f);
	lose_metric(f, METRIC_CNP_RX);
}

static void marks_uncounted(struct fabric_run *f)
{
	incast(f);
	lose_metric(f, METRIC_ECN_MARKED_RX);
}

static void without_ecn(struct fabric_run *f)
{
	incast(f);
	f->fabric.profile.qos.cm_tos = 104;
}

/* RDMA and TCP to h2 at these rates in MB/s, of a link on which RDMA alone reaches 4. */
static void shares_of(struct fabric_run *f, uint64_t rdma, uint64_t tcp, uint64_t retransmits)
{
	struct run_pair *p;

	incast(f);
	f->pair[2].server.bytes = 4000000;
	f->pair[2].server.duration_ns = 1000000000;
	add_pair(f, 0, PHASE_SHARES, 3);
	p = &f->pair[f->run.pair_count - 1];
	p->server.bytes = rdma * 1000000;
	p->server.duration_ns = 1000000000;
	f->tcp[0] = (struct run_tcp){.asked = {.streams = 4}};
	f->tcp[0].server.arrived_bytes = tcp * 1000000;
	f->tcp[0].server.duration_ns = 1000000000;
	f->tcp[0].client.retransmits = retransmits;
	p->tcp = f->tcp;
	p->tcp_count = 1;
}

static void shares(struct fabric_run *f)
{
	shares_of(f, 2, 2, 9);
}

static void shares_rdma_short(struct fabric_run *f)
{
	shares_of(f, 1, 3, 9);
}

static void shares_tcp_short(struct fabric_run *f)
{
	shares_of(f, 4, 1, 9);
}

static void shares_not_full(struct fabric_run *f)
{
	shares_of(f, 1, 3, 0);
}

static void shares_rdma_slow(struct fabric_run *f)
{
	shares_of(f, 1, 9, 9);
}

static void shares_strict(struct fabric_run *f)
{
	shares(f);
	f->fabric.profile.qos.tc_tsa[3] = QOS_TSA_STRICT;
}

static void shares_failed(struct fabric_run *f)
{
	shares(f);
	f->pair[6].ran = false;
	snprintf(f->pair[6].error, sizeof(f->pair[6].error), "h1: the agent ended");
}

static void breaker(struct fabric_run *f)
{
	incast(f);
	snprintf(f->port[1].breaker, sizeof(f->port[1].breaker), "its link went down");
}

/* clang-format off */
static const struct rule_case cases[] = {
	{ "RC-ECN-005", NULL, "h2", VERDICT_SKIP, "received nothing" },
	{ "RC-ECN-005", without_ecn, "h2", VERDICT_SKIP, "without ECN" },
	{ "RC-ECN-005", marked, "h2", VERDICT_PASS, "70 times" },
	{ "RC-ECN-005", incast, "h2", VERDICT_WARN, "paused the senders 500 times and ECN marked no" },
	{ "RC-ECN-005", unpaused, "h2", VERDICT_INCONCLUSIVE, "neither paused senders nor marked" },
	{ "RC-ECN-005", marks_uncounted, "h2", VERDICT_INCONCLUSIVE, "does not count CE" },
	{ "RC-ECN-006", marked, "h2", VERDICT_PASS, "70 CE packets were answered with 50 CNPs" },
	{ "RC-ECN-006", unanswered, "h2", VERDICT_FAIL, "no CNP was sent" },
	{ "RC-ECN-011", NULL, "h1", VERDICT_SKIP, "sent nothing in an incast" },
	{ "RC-ECN-011", cut, "h1", VERDICT_PASS, "20 of its 500 pauses, and 4 CNPs, came" },
	{ "RC-ECN-011", bursts, "h1", VERDICT_PASS, "240 of its 500 pauses, and 1000 CNPs" },
	{ "RC-ECN-011", not_cut, "h1", VERDICT_WARN, "5 CNPs in incasts, but 240 of its 500 pauses" },
	{ "RC-ECN-011", late_unknown, "h1", VERDICT_INCONCLUSIVE, "too short" },
	{ "RC-ECN-011", cnps_uncounted, "h1", VERDICT_SKIP, "counts no CNPs" },
	{ "RC-ECN-011", marked, "h1", VERDICT_SKIP, "received no CNP" },
	{ "RC-ECN-012", incast, "h2", VERDICT_SKIP, "sent no CNPs" },
	{ "RC-ECN-012", cut, "h2", VERDICT_PASS, "reach its senders" },
	{ "RC-ECN-012", marked, "h2", VERDICT_FAIL, "sent 50 CNPs in an incast, and none of its 1" },
	{ "RC-ECN-012", cnps_ignored, "h2", VERDICT_PASS, "reach its senders" },
	{ "RC-ECN-012", cnps_uncounted, "h2", VERDICT_INCONCLUSIVE, "no sender to this port counts" },
	{ "RC-PFC-012", control_paused, "h1", VERDICT_FAIL, "priority 0, which is lossy" },
	{ "RC-ETS-007", incast, "h2", VERDICT_SKIP, "no incast with TCP" },
	{ "RC-ETS-007", shares_strict, "h2", VERDICT_SKIP, "no ETS shares" },
	{ "RC-ETS-007", shares, "h2", VERDICT_PASS, "RDMA took 50 %" },
	{ "RC-ETS-007", shares_rdma_short, "h2", VERDICT_WARN, "RDMA took 25 % of the full link, the" },
	{ "RC-ETS-007", shares_tcp_short, "h2", VERDICT_PASS, "RDMA took 80 %" },
	{ "RC-ETS-007", shares_not_full, "h2", VERDICT_INCONCLUSIVE, "the link was not full" },
	{ "RC-ETS-007", shares_rdma_slow, "h2", VERDICT_INCONCLUSIVE, "alone it reaches no more" },
	{ "RC-ETS-007", shares_failed, "h2", VERDICT_INCONCLUSIVE, "did not run: h1" },
	{ "RC-PFC-010", incast, "h2", VERDICT_PASS, "priority 3 is lossless" },
	{ "RC-PFC-010", unpaused, "h2", VERDICT_INCONCLUSIVE, "no sender was paused" },
	{ "RC-PFC-010", ecn_alone, "h2", VERDICT_INCONCLUSIVE, "ECN (70 marks)" },
	{ "RC-PFC-010", lost, "h2", VERDICT_FAIL, "7 packets to this port were lost" },
	{ "RC-PFC-010", pauses_uncounted, "h2", VERDICT_INCONCLUSIVE, "no sender counts pauses" },
	{ "RC-PFC-010", no_incast_to_h2, "h2", VERDICT_INCONCLUSIVE, "did not run: h1: the agent" },
	{ "RC-PFC-010", incast_cut, "h2", VERDICT_INCONCLUSIVE, "did not run: h2 is silent" },
	{ "RC-PFC-010", incast_empty, "h2", VERDICT_INCONCLUSIVE, "did not run: nothing arrived" },
	{ "RC-PFC-011", NULL, "h1", VERDICT_SKIP, "sent nothing in an incast" },
	{ "RC-PFC-011", incast, "h1", VERDICT_PASS, "paused this port 500 times" },
	{ "RC-PFC-011", lost, "h1", VERDICT_FAIL, "PFC is off on its switch port" },
	{ "RC-PFC-011", lost, "h2", VERDICT_INCONCLUSIVE, "was not paused" },
	{ "RC-PFC-011", pauses_uncounted, "h1", VERDICT_INCONCLUSIVE, "does not count" },
	{ "RC-PFC-015", NULL, "h2", VERDICT_SKIP, "no negative control" },
	{ "RC-PFC-015", incast, "h2", VERDICT_PASS, "lossy priority 0 lost 40 packets" },
	{ "RC-PFC-015", control_marked, "h2", VERDICT_PASS, "70 CE marks" },
	{ "RC-PFC-015", control_full, "h2", VERDICT_INCONCLUSIVE, "does not fill this link" },
	{ "RC-PFC-015", control_paused, "h2", VERDICT_FAIL, "paused on lossy priority 0" },
	{ "RC-PFC-015", control_failed, "h2", VERDICT_INCONCLUSIVE, "did not run: h1" },
	{ "RC-PFC-016", incast, "h1", VERDICT_SKIP, "no canary" },
	{ "RC-PFC-016", canary, "h1", VERDICT_PASS, "holds up no other class" },
	{ "RC-PFC-016", canary_held, "h1", VERDICT_WARN, "holds up the canary from h1 to h2" },
	{ "RC-PFC-016", canary_silent, "h1", VERDICT_WARN, "holds up the canary" },
	{ "RC-PFC-016", canary_paused, "h1", VERDICT_WARN, "one class blocks the other" },
	{ "RC-PFC-018", incast, "h2", VERDICT_SKIP, "no incast was stopped" },
	{ "RC-PFC-018", breaker, "h2", VERDICT_FAIL, "took no part in the incast, but its link" },
	{ "RC-PFC-016", canary_failed, "h1", VERDICT_INCONCLUSIVE, "did not run: h1" },
};
/* clang-format on */

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_case(&cases[i]);
}

/* The rules of the load do not see the pairs of other phases. */
static void test_load_alone(void **state)
{
	static const char *const same[] = {"RC-META-002", "RC-TRN-001", "RC-QOS-011", "RC-MTU-003"};
	struct findings alone = {0}, beside = {0};
	struct fabric_run f, g;

	(void)state;
	good_run(&f);
	good_run(&g);
	canary(&g);
	assert_int_equal(rules_run(&f.fabric, &f.run, &alone), 0);
	assert_int_equal(rules_run(&g.fabric, &g.run, &beside), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(same); i++)
		assert_string_equal(finding_of(&alone, same[i], "h2")->text,
				    finding_of(&beside, same[i], "h2")->text);
	findings_clear(&alone);
	findings_clear(&beside);
}

static void test_coverage(void **state)
{
	static const char *const groups[] = {"RC-ECN-005", "RC-ECN-011", "RC-ECN-012",
					     "RC-ETS-007", "RC-PFC-010", "RC-PFC-011",
					     "RC-PFC-015", "RC-PFC-016", NULL};

	(void)state;
	check_coverage(cases, ARRAY_SIZE(cases), groups, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_load_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
