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

#include "reports/check_capture.h"

#define PASS VERDICT_PASS
#define FAIL VERDICT_FAIL
#define WARN VERDICT_WARN
#define SKIP VERDICT_SKIP
#define OPEN VERDICT_INCONCLUSIVE

/* What a change works on: two hosts, a flow each way, nothing wrong. */
struct setting {
	struct flow flow[2];
	struct capture_summary summary;
	struct witnesses witnesses;
};

static void good(struct setting *s)
{
	memset(s, 0, sizeof(*s));
	for (unsigned int i = 0; i < 2; i++) {
		struct flow *f = &s->flow[i];

		f->src[15] = (uint8_t)(1 + i);
		f->dst[15] = (uint8_t)(2 - i);
		f->dest_qpn = 0x11 + i;
		f->packets = f->icrc_good = f->dscp[26] = 10;
		f->requests = i ? 0 : 10;
		f->responses = i ? 10 : 0;
		f->paired = !i;
		f->first_frame = 1;
		f->last_frame = 20;
	}
	s->summary.flow = s->flow;
	s->summary.flow_count = 2;
	s->summary.totals.frames = s->summary.totals.roce = 20;
	s->summary.totals.pfc_frames = 1;
	s->summary.drops = DROPS_ZERO;
	s->summary.peer.seen = true;
	s->summary.peer.neighbours = 1;
}

static void mark(struct setting *s, uint32_t events)
{
	struct packet p = {.frame = 7, .kind = PACKET_ROCE, .dest_qpn = 0x11};

	witness_add(&s->witnesses, &p, (struct flow_events){.bits = events});
}

static void lossy(struct setting *s)
{
	s->summary.drops = DROPS_SOME;
	s->summary.dropped = 3;
}

static void unknown(struct setting *s)
{
	s->summary.drops = DROPS_UNKNOWN;
	s->flow[0].paired = false;
}

static void one_way(struct setting *s)
{
	s->summary.flow_count = 1;
	s->flow[0].paired = false;
}

static void answers_only(struct setting *s)
{
	s->flow[0] = s->flow[1];
	s->summary.flow_count = 1;
}

static void nothing(struct setting *s)
{
	s->summary.flow_count = 0;
	s->summary.totals.roce = s->summary.totals.pfc_frames = 0;
	s->summary.peer.seen = false;
}

static void missed(struct setting *s)
{
	s->flow[0].missed_psns = s->flow[0].psn_missing = 2;
}

static void lost(struct setting *s)
{
	s->flow[0].lost_psns = 2;
}

static void missing(struct setting *s)
{
	s->flow[0].psn_missing = 3;
	s->flow[0].missed_psns = 1;
}

static void missing_unknown(struct setting *s)
{
	missing(s);
	s->summary.drops = DROPS_UNKNOWN;
}

static void reordered(struct setting *s)
{
	s->flow[0].reordered = 1;
}

static void again(struct setting *s)
{
	s->flow[0].duplicates = 1;
}

static void timeouts(struct setting *s)
{
	s->flow[0].timeouts = 1;
}

static void not_ready(struct setting *s)
{
	s->flow[1].rnr = 1;
	mark(s, FLOW_RNR);
}

static void fatal(struct setting *s)
{
	s->flow[1].naks_other = 1;
}

static void corrupted(struct setting *s)
{
	s->flow[0].icrc_bad = 1;
	mark(s, FLOW_ICRC_BAD);
}

static void rewritten(struct setting *s)
{
	s->flow[0].icrc_bad = 10;
	s->flow[0].icrc_good = 0;
}

static void cut(struct setting *s)
{
	s->flow[0].icrc_good = s->flow[1].icrc_good = 0;
}

static void fragments(struct setting *s)
{
	mark(s, FLOW_FRAGMENT);
}

static void malformed(struct setting *s)
{
	struct packet p = {.frame = 9, .fault = PACKET_MALFORMED};

	witness_add(&s->witnesses, &p, (struct flow_events){0});
}

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

static void copies(struct setting *s)
{
	s->flow[0].copies = 1;
}

static void two_dscps(struct setting *s)
{
	s->flow[0].dscp[0] = 1;
}

static void cnp_dscp(struct setting *s)
{
	s->flow[1].dscp[48] = s->flow[1].cnp = 1;
}

static void neighbours(struct setting *s)
{
	s->summary.peer.neighbours = 2;
}

#define MS UINT64_C(1000000)

/* 10 ms, and a pause of priority 3 in them. */
static void paused(struct setting *s, uint64_t ns)
{
	struct pause_totals *t = &s->summary.totals.pause;

	s->flow[0].first_ns = 1000 * MS;
	s->flow[0].last_ns = t->last_ns = 1000 * MS + 10 * MS;
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
	s->flow[0].last_ns = s->summary.totals.pause.last_ns = 1002 * MS;
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
	s->flow[0].peer_qpn = 0x12;
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

static void mirrored(struct setting *s)
{
	s->summary.totals.mirror.packets = 20;
}

static void mirror_lossy(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.gaps = 1;
	s->summary.totals.mirror.missing = 3;
	mark(s, FLOW_MIRROR_GAP);
}

static void mirror_anew(struct setting *s)
{
	mirrored(s);
	s->summary.totals.mirror.restarts = 1;
}

/* What the mirror lost is no loss of the network. */
static void missing_mirror(struct setting *s)
{
	missing(s);
	mirror_lossy(s);
}

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
	{"RC-CAP-003", nothing, SKIP},
	{"RC-CAP-004", NULL, PASS},
	{"RC-CAP-004", lost, FAIL},
	{"RC-CAP-004", missed, PASS},
	{"RC-CAP-004", lossy, OPEN},
	{"RC-CAP-004", one_way, OPEN},
	{"RC-CAP-005", NULL, PASS},
	{"RC-CAP-005", missing, WARN},
	{"RC-CAP-005", missed, PASS},
	{"RC-CAP-005", missing_unknown, OPEN},
	{"RC-CAP-006", NULL, PASS},
	{"RC-CAP-006", reordered, WARN},
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
		snprintf(qpn, sizeof(qpn), "qpn 0x%06x: held 1 time,", want[i]);
		assert_non_null(strstr(f->evidence[i].text, qpn));
	}
	findings_clear(&all);
}

/* One of something is told as one. */
static void test_numbers(void **state)
{
	static const struct {
		void (*change)(struct setting *s);
		const char *rule, *text;
	} rows[] = {
		{corrupted, "RC-CAP-011", "1 bad ICRC beside 20 good ones"},
		{again, "RC-CAP-007", "1 packet sent again in 1 of 2 flows"},
		{lost, "RC-CAP-004", "2 PSNs lost and sent again in 1 of 2 flows"},
		{not_ready, "RC-CAP-009", "1 RNR NAK in 1 of 2 flows"},
		{malformed, "RC-CAP-013", "1 malformed frame"},
		{one_way, "RC-CAP-003", "nothing came back in 1 of 1 flow: "},
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

/* The first frames of the first flows are kept, and all are counted. */
static void test_witness(void **state)
{
	static struct witnesses w;
	const struct witness *k = &w.kind[witness_kind_of(FLOW_CE)];

	(void)state;
	for (uint32_t i = 0; i < 60; i++) {
		struct packet p = {.frame = i + 1, .kind = PACKET_ROCE, .dest_qpn = i % 6};

		witness_add(&w, &p, (struct flow_events){.bits = FLOW_CE});
	}
	assert_int_equal(k->count, 60);
	assert_int_equal(k->flow_count, WITNESS_FLOWS_MAX);
	for (unsigned int i = 0; i < WITNESS_FLOWS_MAX; i++) {
		assert_int_equal(k->flow[i].count, 10);
		assert_int_equal(k->flow[i].dest_qpn, i);
		for (unsigned int n = 0; n < WITNESS_FRAMES_MAX; n++)
			assert_int_equal(k->flow[i].frame[n], i + 1 + 6 * n);
	}
	assert_int_equal(w.kind[witness_kind_of(FLOW_CNP)].count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	cmocka_unit_test(test_rows),
		cmocka_unit_test(test_exit),	cmocka_unit_test(test_storm),
		cmocka_unit_test(test_held),	cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_witness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
