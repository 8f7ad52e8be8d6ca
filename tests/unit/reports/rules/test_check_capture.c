/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a capture alone, over summaries from literals: each row passes, is violated, and has
 * no evidence where that can be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/rules/check_capture.h"
#include "tests/unit/reports/rules/capture_faults.h"

#define MS UINT64_C(1000000)

static void marked(struct setting *s)
{
	s->flow[0].ecn[3] = 4;
	mark(s, FLOW_CE);
}

static void marked_one_way(struct setting *s)
{
	marked(s);
	one_way(s);
}

static void notified(struct setting *s)
{
	marked(s);
	s->summary.totals.cnp = 1;
}

static void both_pauses(struct setting *s)
{
	s->summary.totals.pause_frames = 1;
}

static void cnp_dscp(struct setting *s)
{
	s->flow[1].dscp[48] = s->flow[1].cnp = 1;
}

/* 10 ms, and a pause of priority 3 in them. */
static void paused(struct setting *s, uint64_t ns)
{
	struct pause_totals *t = &s->summary.totals.pause;

	s->flow[0].first_ns = s->flow[1].first_ns = 1000 * MS;
	s->flow[0].last_ns = s->flow[1].last_ns = t->last_ns = 1000 * MS + 10 * MS;
	t->first_ns = 1001 * MS;
	t->pauses[3] = 2;
	t->ns[3] = t->most_ns[3] = t->longest[3].ns = ns;
	t->longest[3].first_frame = 3;
	t->longest[3].last_frame = 9;
}

static void paused_little(struct setting *s)
{
	paused(s, MS - 1);
}

static void paused_tenth(struct setting *s)
{
	paused(s, MS);
}

static void paused_long(struct setting *s)
{
	paused(s, MS + 1);
}

static void paused_short_capture(struct setting *s)
{
	paused(s, MS - 1);
	s->flow[0].last_ns = s->flow[1].last_ns = s->summary.totals.pause.last_ns = 1002 * MS;
}

/* 5 ms of 100, which begin with the time 0. */
static void paused_since_zero(struct setting *s)
{
	paused(s, 5 * MS);
	s->flow[0].first_ns = 0;
	s->flow[0].last_ns = 100 * MS;
	s->flow[1].first_ns = s->summary.totals.pause.first_ns = 90 * MS;
	s->flow[1].last_ns = s->summary.totals.pause.last_ns = 100 * MS;
}

static void nearly_storm(struct setting *s)
{
	paused(s, 100 * MS - 1);
}

static void storm(struct setting *s)
{
	paused(s, 100 * MS);
	s->summary.totals.pause.last_ns = 1200 * MS;
	s->flow[0].held = 1;
	s->flow[0].held_ns = 100 * MS;
}

static void ran_out(struct setting *s)
{
	paused(s, MS);
	s->summary.totals.pause.ran_out[3] = 1;
}

static void held(struct setting *s)
{
	s->flow[0].held = 2;
	s->flow[0].held_ns = 5000;
	mark(s, FLOW_HELD);
}

static void held_unknown(struct setting *s)
{
	s->flow[0].held_unknown = 1;
}

static void held_and_unknown(struct setting *s)
{
	held(s);
	held_unknown(s);
}

static void spaced(struct setting *s)
{
	s->flow[1].cnp = 2;
	s->flow[1].cnp_min_ns = 4000;
}

static void spaced_little(struct setting *s)
{
	spaced(s);
	s->flow[1].cnp_min_ns = 1000;
	s->flow[1].cnp_close = 1;
	mark(s, FLOW_CNP_CLOSE);
}

/* Of a QP that gets none, while another one does. */
static void marks_of_one(struct setting *s, uint64_t n)
{
	s->flow[0].ecn[3] = n;
	s->flow[0].reverse_qpn = 0x12;
	s->summary.totals.cnp = 1;
}

static void few_unanswered(struct setting *s)
{
	marks_of_one(s, 999);
}

static void many_unanswered(struct setting *s)
{
	marks_of_one(s, 1000);
}

static void many_answered(struct setting *s)
{
	marks_of_one(s, 1000);
	s->flow[1].cnp = 1;
}

static void many_lossy(struct setting *s)
{
	marks_of_one(s, 1000);
	lossy(s);
}

static void half_marked(struct setting *s)
{
	s->flow[0].packets = 100;
	s->flow[0].ecn[3] = 50;
}

static void over_half_marked(struct setting *s)
{
	s->flow[0].packets = 100;
	s->flow[0].ecn[3] = 51;
}

static void forgotten_notified(struct setting *s)
{
	forgotten(s);
	notified(s);
}

static void forgotten_marked(struct setting *s)
{
	forgotten(s);
	marked(s);
}

static void forgotten_unanswered(struct setting *s)
{
	forgotten(s);
	marks_of_one(s, 1000);
}

static void forgotten_spaced(struct setting *s)
{
	forgotten(s);
	spaced(s);
}

static void forgotten_half_marked(struct setting *s)
{
	forgotten(s);
	half_marked(s);
}

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define WARN VERDICT_WARN
#define SKIP VERDICT_SKIP
#define OPEN VERDICT_INCONCLUSIVE

static const struct {
	const char *rule;
	void (*change)(struct setting *s);
	enum verdict want;
} cases[] = {
	{"RC-CAP-001", NULL, PASS},
	{"RC-CAP-001", lossy, WARN},
	{"RC-CAP-001", missed, WARN},
	{"RC-CAP-001", missing_unknown, WARN},
	{"RC-CAP-001", unknown, OPEN},
	{"RC-CAP-002", NULL, PASS},
	{"RC-CAP-002", nothing, FAIL},
	{"RC-CAP-003", NULL, PASS},
	{"RC-CAP-003", one_way, WARN},
	{"RC-CAP-003", answers_only, WARN},
	{"RC-CAP-003", datagrams, SKIP},
	{"RC-CAP-003", answers_and_datagrams, WARN},
	{"RC-CAP-003", nothing, SKIP},
	{"RC-CAP-004", NULL, PASS},
	{"RC-CAP-004", lost, FAIL},
	{"RC-CAP-004", lost_behind, FAIL},
	{"RC-CAP-004", lost_and_reordered, FAIL},
	{"RC-CAP-004", lost_for_good, FAIL},
	{"RC-CAP-004", refused_reordered, OPEN},
	{"RC-CAP-004", refused_late, OPEN},
	{"RC-CAP-004", reordered, PASS},
	{"RC-CAP-004", refusals_alone, FAIL},
	{"RC-CAP-004", refusals_not_ready, OPEN},
	{"RC-CAP-004", refusals_unknown, FAIL},
	{"RC-CAP-004", refusals_unknown_not_ready, OPEN},
	{"RC-CAP-004", refusals_and_not_ready, FAIL},
	{"RC-CAP-004", refused_corrupted, PASS},
	{"RC-CAP-004", lost_answers, FAIL},
	{"RC-CAP-004", late_answers, PASS},
	{"RC-CAP-004", reordered_answers, PASS},
	{"RC-CAP-004", forgotten, OPEN},
	{"RC-CAP-007", forgotten, OPEN},
	{"RC-CAP-011", forgotten, OPEN},
	{"RC-CAP-004", missed, PASS},
	{"RC-CAP-004", lossy, OPEN},
	{"RC-CAP-004", one_way, OPEN},
	{"RC-CAP-004", datagrams, SKIP},
	{"RC-CAP-010", datagrams, SKIP},
	{"RC-CAP-004", answers_and_datagrams, OPEN},
	{"RC-CAP-008", answers_and_datagrams, OPEN},
	{"RC-CAP-009", answers_and_datagrams, OPEN},
	{"RC-CAP-010", answers_and_datagrams, OPEN},
	{"RC-CAP-008", answers_only, OPEN},
	{"RC-CAP-005", NULL, PASS},
	{"RC-CAP-005", missing, WARN},
	{"RC-CAP-005", missed, PASS},
	{"RC-CAP-005", missing_unknown, OPEN},
	{"RC-CAP-005", missing_response, WARN},
	{"RC-CAP-006", NULL, PASS},
	{"RC-CAP-006", reordered, WARN},
	{"RC-CAP-006", reordered_answers, WARN},
	{"RC-CAP-006", lossy, OPEN},
	{"RC-CAP-007", NULL, PASS},
	{"RC-CAP-007", again, WARN},
	{"RC-CAP-007", one_way, PASS},
	{"RC-CAP-007", lossy, OPEN},
	{"RC-CAP-008", NULL, PASS},
	{"RC-CAP-008", timeouts, WARN},
	{"RC-CAP-008", one_way, OPEN},
	{"RC-CAP-009", NULL, PASS},
	{"RC-CAP-009", not_ready, WARN},
	{"RC-CAP-009", one_way, OPEN},
	{"RC-CAP-010", NULL, PASS},
	{"RC-CAP-010", fatal, FAIL},
	{"RC-CAP-010", one_way, OPEN},
	{"RC-CAP-011", NULL, PASS},
	{"RC-CAP-011", corrupted, FAIL},
	{"RC-CAP-011", rewritten, OPEN},
	{"RC-CAP-011", cut, OPEN},
	{"RC-CAP-012", NULL, PASS},
	{"RC-CAP-012", fragments, FAIL},
	{"RC-CAP-013", NULL, PASS},
	{"RC-CAP-013", malformed, WARN},
	{"RC-CAP-014", NULL, PASS},
	{"RC-CAP-014", marked, WARN},
	{"RC-CAP-014", lossy, OPEN},
	{"RC-CAP-015", NULL, SKIP},
	{"RC-CAP-015", notified, PASS},
	{"RC-CAP-015", marked, WARN},
	{"RC-CAP-015", marked_one_way, OPEN},
	{"RC-CAP-016", NULL, PASS},
	{"RC-CAP-016", both_pauses, WARN},
	{"RC-CAP-016", nothing, SKIP},
	{"RC-CAP-017", NULL, PASS},
	{"RC-CAP-017", copies, WARN},
	{"RC-CAP-017", lossy, OPEN},
	{"RC-CAP-018", NULL, PASS},
	{"RC-CAP-018", two_dscps, WARN},
	{"RC-CAP-018", cnp_dscp, PASS},
	{"RC-CAP-019", NULL, PASS},
	{"RC-CAP-019", neighbours, WARN},
	{"RC-CAP-019", nothing, SKIP},
	{"RC-CAP-004", mirror_lossy, OPEN},
	{"RC-CAP-005", missing_mirror, OPEN},
	{"RC-CAP-015", few_unanswered, PASS},
	{"RC-CAP-015", many_unanswered, WARN},
	{"RC-CAP-015", many_answered, PASS},
	{"RC-CAP-015", many_lossy, PASS},
	{"RC-CAP-020", NULL, PASS},
	{"RC-CAP-020", nothing, SKIP},
	{"RC-CAP-020", paused_little, PASS},
	{"RC-CAP-020", paused_tenth, PASS},
	{"RC-CAP-020", paused_long, WARN},
	{"RC-CAP-020", paused_short_capture, PASS},
	{"RC-CAP-020", paused_since_zero, PASS},
	{"RC-CAP-021", NULL, PASS},
	{"RC-CAP-021", nothing, SKIP},
	{"RC-CAP-021", nearly_storm, PASS},
	{"RC-CAP-021", storm, FAIL},
	{"RC-CAP-022", paused_tenth, PASS},
	{"RC-CAP-022", NULL, PASS},
	{"RC-CAP-022", ran_out, WARN},
	{"RC-CAP-022", nothing, SKIP},
	{"RC-CAP-023", NULL, PASS},
	{"RC-CAP-023", nothing, SKIP},
	{"RC-CAP-023", held, WARN},
	{"RC-CAP-023", held_unknown, OPEN},
	{"RC-CAP-023", held_and_unknown, WARN},
	{"RC-CAP-024", NULL, SKIP},
	{"RC-CAP-024", spaced, PASS},
	{"RC-CAP-024", spaced_little, WARN},
	{"RC-CAP-025", NULL, SKIP},
	{"RC-CAP-025", half_marked, PASS},
	{"RC-CAP-025", over_half_marked, WARN},
	{"RC-CAP-026", NULL, SKIP},
	{"RC-CAP-026", mirrored, PASS},
	{"RC-CAP-026", mirror_lossy, WARN},
	{"RC-CAP-026", mirror_anew, OPEN},
	{"RC-CAP-001", forgotten, PASS},
	{"RC-CAP-001", untold, PASS},
	{"RC-CAP-001", forgotten_untold, OPEN},
	{"RC-CAP-003", forgotten, OPEN},
	{"RC-CAP-015", forgotten_notified, OPEN},
	{"RC-CAP-015", forgotten_marked, OPEN},
	{"RC-CAP-015", forgotten_unanswered, OPEN},
	{"RC-CAP-018", forgotten, OPEN},
	{"RC-CAP-023", forgotten, OPEN},
	{"RC-CAP-024", forgotten_spaced, OPEN},
	{"RC-CAP-025", forgotten_half_marked, OPEN},
};

static void run_rules(struct setting *s, struct findings *out)
{
	struct capture_case one = {"t.pcap", &s->summary, &s->witnesses};
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	struct run *run = calloc(1, sizeof(*run));

	assert_true(fabric && run);
	assert_int_equal(rules_run_capture(fabric, run, &one, out), 0);
	free(fabric);
	free(run);
}

static const struct finding *finding_of(const struct findings *all, const char *id)
{
	for (size_t i = 0; i < all->count; i++)
		if (!strcmp(all->list[i].rule->id, id))
			return &all->list[i];
	return NULL;
}

static size_t count_rows(void)
{
	size_t rows = 0;

	for (unsigned int i = 0; i < rule_count; i++)
		rows += rule_table[i].scope == SCOPE_CAPTURE;
	return rows;
}

static void test_cases(void **state)
{
	static struct setting s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct findings all;
		const struct finding *f;

		good(&s);
		if (cases[i].change)
			cases[i].change(&s);
		run_rules(&s, &all);
		assert_int_equal(all.count, count_rows()); /* each speaks once */
		f = finding_of(&all, cases[i].rule);
		if (!f || f->verdict != cases[i].want)
			fail_msg("case %zu, %s: %s, %s", i, cases[i].rule,
				 f ? verdict_word(f->verdict) : "no finding", f ? f->text : "");
		assert_non_null(f->text);
		assert_string_equal(f->host, "t.pcap");
		findings_clear(&all);
	}
}

static bool has_case(const char *rule, bool violated)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (!strcmp(cases[i].rule, rule) &&
		    (violated ? cases[i].want >= WARN : cases[i].want == PASS))
			return true;
	return false;
}

/* Each rule of a capture speaks, and has a case that passes and one that is violated; no
 * other rule speaks. */
static void test_rows(void **state)
{
	static struct setting s;
	struct findings all;

	(void)state;
	good(&s);
	run_rules(&s, &all);
	for (unsigned int i = 0; i < rule_count; i++) {
		if (rule_table[i].scope != SCOPE_CAPTURE)
			continue;
		if (!finding_of(&all, rule_table[i].id) || !has_case(rule_table[i].id, true) ||
		    !has_case(rule_table[i].id, false))
			fail_msg("%s", rule_table[i].id);
	}
	assert_int_equal(findings_exit(&all, SEVERITY_WARN, NULL, 0), 0);
	findings_clear(&all);
}

static void test_exit(void **state)
{
	static struct setting s;
	struct findings all;

	(void)state;
	good(&s);
	nothing(&s);
	run_rules(&s, &all);
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 4);
	assert_true(finding_of(&all, "RC-CAP-002")->evidence_count >= 4);
	findings_clear(&all);
	good(&s);
	lost(&s);
	again(&s);
	run_rules(&s, &all);
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 1);
	assert_true(finding_of(&all, "RC-CAP-007")->caused_by >= 0);
	findings_clear(&all);
}

static bool has_evidence(const struct finding *f, const char *text)
{
	for (unsigned int i = 0; i < f->evidence_count; i++)
		if (strstr(f->evidence[i].text, text))
			return true;
	return false;
}

/* Who says by which speed pauses were judged. */
static void test_link(void **state)
{
	static const struct {
		uint64_t mbps;
		enum pause_speed_source of;
		const char *want;
	} rows[] = {
		{100000, PAUSE_SPEED_GIVEN, ", at 100 Gbit/s, as given"},
		{2500, PAUSE_SPEED_FILE, ", at 2.5 Gbit/s, from the file"},
	};
	static struct setting s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct findings all;

		good(&s);
		s.summary.totals.pause.link_mbps = rows[i].mbps;
		s.summary.totals.pause.speed_source = rows[i].of;
		run_rules(&s, &all);
		assert_non_null(strstr(finding_of(&all, "RC-CAP-021")->text, rows[i].want));
		assert_non_null(strstr(finding_of(&all, "RC-CAP-022")->text, rows[i].want));
		findings_clear(&all);
	}
}

/* Frames of the longest pause, and a storm that explains what comes of it. */
static void test_storm(void **state)
{
	static struct setting s;
	struct findings all;
	const struct finding *f;

	(void)state;
	good(&s);
	storm(&s);
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-021");
	assert_int_equal(f->prio_set, 1 << 3);
	assert_true(has_evidence(f, "frames 3-9"));
	assert_non_null(strstr(f->text, ", at 10 Gbit/s, assumed: see --link-speed"));
	assert_int_equal(finding_of(&all, "RC-CAP-020")->caused_by, f - all.list);
	assert_int_equal(finding_of(&all, "RC-CAP-023")->caused_by, f - all.list);
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 1);
	findings_clear(&all);
}

/* Most first, those that were held alike one behind the other, four at most. */
static void test_held(void **state)
{
	static const uint64_t held_ns[] = {10, 30, 30, 0, 5, 20};
	static const uint32_t want[] = {1, 2, 5, 0};
	static struct setting s;
	struct flow flows[ARRAY_SIZE(held_ns)] = {0};
	struct findings all;
	const struct finding *f;
	char qpn[32];

	(void)state;
	good(&s);
	for (unsigned int i = 0; i < ARRAY_SIZE(flows); i++) {
		flows[i].dest_qpn = i;
		flows[i].held_ns = held_ns[i];
		flows[i].held = 1;
	}
	s.summary.flow = flows;
	s.summary.flow_count = ARRAY_SIZE(flows);
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-023");
	assert_int_equal(f->evidence_count, ARRAY_SIZE(want));
	for (unsigned int i = 0; i < ARRAY_SIZE(want); i++) {
		snprintf(qpn, sizeof(qpn), "QP 0x%06x: held 1 time,", want[i]);
		assert_non_null(strstr(f->evidence[i].text, qpn));
	}
	assert_non_null(strstr(f->evidence[0].text, " 30 ns in all"));
	findings_clear(&all);
	s.summary.totals.time_step_ns = 1000; /* such a clock cannot tell that */
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-023");
	assert_non_null(strstr(f->evidence[0].text, " less than 1 us in all"));
	findings_clear(&all);
}

/* One of something is told as one. */
static void test_numbers(void **state)
{
	static const struct {
		void (*change)(struct setting *s);
		const char *rule, *text;
	} rows[] = {
		{corrupted, "RC-CAP-011", "1 bad ICRC, 20 good ones"},
		{again, "RC-CAP-007", "1 retransmitted packet in 1 of 2 flows"},
		{lost, "RC-CAP-004", "2 PSNs lost and retransmitted in 1 of 2 flows"},
		{lost_behind, "RC-CAP-004",
		 "1 sequence NAK for a packet lost after the capture point in 1 of 2 flows"},
		{lost_answers, "RC-CAP-004",
		 "1 READ restarted after a lost response in 1 of 2 flows"},
		{refusals_alone, "RC-CAP-004",
		 "2 sequence NAKs without their requests in the capture in 1 of 1 flow"},
		{lost_and_reordered, "RC-CAP-004",
		 "1 sequence NAK for a packet lost after the capture point in 1 of 2 flows"},
		{refused_reordered, "RC-CAP-004",
		 "no certain loss: "
		 "2 sequence NAKs, possibly because of reordering (see RC-CAP-006)"},
		{refusals_unknown, "RC-CAP-004",
		 "1 sequence NAK without its request in the capture in 1 of 2 flows"},
		{refusals_not_ready, "RC-CAP-004",
		 "no certain loss: "
		 "2 sequence NAKs, possibly because a receiver was not ready (see RC-CAP-009)"},
		{refusals_and_not_ready, "RC-CAP-004",
		 "1 sequence NAK without its request in the capture in 1 of 1 flow"},
		{not_ready, "RC-CAP-009", "1 RNR NAK in 1 of 2 flows"},
		{malformed, "RC-CAP-013", "1 malformed frame"},
		{one_way, "RC-CAP-003", "no packet in the reverse direction in 1 of 1 RC/XRC"},
	};
	static struct setting s;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct findings all;
		const struct finding *f;

		good(&s);
		rows[i].change(&s);
		run_rules(&s, &all);
		f = finding_of(&all, rows[i].rule);
		if (strncmp(f->text, rows[i].text, strlen(rows[i].text)) != 0)
			fail_msg("%s: %s", rows[i].rule, f->text);
		findings_clear(&all);
	}
}

/* The worst flow is the one with most of what counts, not of what is explained. */
static void test_worst(void **state)
{
	static struct setting s;
	struct findings all;

	(void)state;
	good(&s);
	s.flow[0].read_retries = s.flow[0].timeouts = 5;
	s.flow[1].read_retries = 3;
	s.flow[1].timeouts = 1;
	run_rules(&s, &all);
	assert_true(has_evidence(finding_of(&all, "RC-CAP-004"),
				 "highest count: from ::2 to ::1 QP 0x000012, frames 1-20: "
				 "2 READs restarted after lost responses of 10 packets"));
	findings_clear(&all);
}

/* What is missing is told of the flow that lacks most, without what was acknowledged; of what none
 * lacks nothing. */
static void test_missing(void **state)
{
	static struct setting s;
	struct findings all;
	const struct finding *f;

	(void)state;
	good(&s);
	missing(&s);
	s.flow[1].psn_missing = 4;
	s.flow[1].missed_psns = 3;
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-005");
	assert_int_equal(f->evidence_count, 1);
	assert_true(has_evidence(f, "QP 0x000011, frames 1-20: 2 PSNs missing of 10 packets"));
	findings_clear(&all);
	good(&s);
	missing_response(&s);
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-005");
	assert_int_equal(f->evidence_count, 2);
	assert_true(has_evidence(f, "QP 0x000012, frames 1-20: 2 READ responses missing of 10"));
	assert_true(has_evidence(f, "frame 7"));
	findings_clear(&all);
}

/* A frame that ends before its BTH names hosts and no QP. */
static void test_no_qpn_without_bth(void **state)
{
	struct packet p = {.frame = 9, .kind = PACKET_ROCE, .fault = PACKET_MALFORMED};
	struct findings all = {0};
	const struct finding *f;
	struct setting s;

	(void)state;
	good(&s);
	p.src[15] = 1;
	p.dst[15] = 2;
	samples_add(&s.witnesses, &p, (struct flow_events){0});
	p.bth = true;
	p.frame = 10;
	samples_add(&s.witnesses, &p, (struct flow_events){0});
	run_rules(&s, &all);
	f = finding_of(&all, "RC-CAP-013");
	assert_int_equal(f->evidence_count, 2);
	assert_string_equal(f->evidence[0].text, "from ::1 to ::2: frame 9");
	assert_string_equal(f->evidence[1].text, "from ::1 to ::2 QP 0x000000: frame 10");
	findings_clear(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	cmocka_unit_test(test_rows),
		cmocka_unit_test(test_exit),	cmocka_unit_test(test_storm),
		cmocka_unit_test(test_link),	cmocka_unit_test(test_held),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_worst),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_no_qpn_without_bth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
