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

static const struct {
	const char *rule;
	void (*change)(struct setting *s);
	enum verdict want;
} cases[] = {
	{"RC-CAP-001", NULL, PASS},	      {"RC-CAP-001", lossy, WARN},
	{"RC-CAP-001", missed, WARN},	      {"RC-CAP-001", missing_unknown, WARN},
	{"RC-CAP-001", unknown, OPEN},	      {"RC-CAP-002", NULL, PASS},
	{"RC-CAP-002", nothing, FAIL},	      {"RC-CAP-003", NULL, PASS},
	{"RC-CAP-003", one_way, WARN},	      {"RC-CAP-003", answers_only, WARN},
	{"RC-CAP-003", nothing, SKIP},	      {"RC-CAP-004", NULL, PASS},
	{"RC-CAP-004", lost, FAIL},	      {"RC-CAP-004", missed, PASS},
	{"RC-CAP-004", lossy, OPEN},	      {"RC-CAP-004", one_way, OPEN},
	{"RC-CAP-005", NULL, PASS},	      {"RC-CAP-005", missing, WARN},
	{"RC-CAP-005", missed, PASS},	      {"RC-CAP-005", missing_unknown, OPEN},
	{"RC-CAP-006", NULL, PASS},	      {"RC-CAP-006", reordered, WARN},
	{"RC-CAP-006", lossy, OPEN},	      {"RC-CAP-007", NULL, PASS},
	{"RC-CAP-007", again, WARN},	      {"RC-CAP-007", one_way, PASS},
	{"RC-CAP-007", lossy, OPEN},	      {"RC-CAP-008", NULL, PASS},
	{"RC-CAP-008", timeouts, WARN},	      {"RC-CAP-008", one_way, OPEN},
	{"RC-CAP-009", NULL, PASS},	      {"RC-CAP-009", not_ready, WARN},
	{"RC-CAP-009", one_way, OPEN},	      {"RC-CAP-010", NULL, PASS},
	{"RC-CAP-010", fatal, FAIL},	      {"RC-CAP-010", one_way, OPEN},
	{"RC-CAP-011", NULL, PASS},	      {"RC-CAP-011", corrupted, FAIL},
	{"RC-CAP-011", rewritten, OPEN},      {"RC-CAP-011", cut, OPEN},
	{"RC-CAP-012", NULL, PASS},	      {"RC-CAP-012", fragments, FAIL},
	{"RC-CAP-013", NULL, PASS},	      {"RC-CAP-013", malformed, WARN},
	{"RC-CAP-014", NULL, PASS},	      {"RC-CAP-014", marked, WARN},
	{"RC-CAP-014", lossy, OPEN},	      {"RC-CAP-015", NULL, SKIP},
	{"RC-CAP-015", notified, PASS},	      {"RC-CAP-015", marked, WARN},
	{"RC-CAP-015", marked_one_way, OPEN}, {"RC-CAP-016", NULL, PASS},
	{"RC-CAP-016", both_pauses, WARN},    {"RC-CAP-016", nothing, SKIP},
	{"RC-CAP-017", NULL, PASS},	      {"RC-CAP-017", copies, WARN},
	{"RC-CAP-017", lossy, OPEN},	      {"RC-CAP-018", NULL, PASS},
	{"RC-CAP-018", two_dscps, WARN},      {"RC-CAP-018", cnp_dscp, PASS},
	{"RC-CAP-019", NULL, PASS},	      {"RC-CAP-019", neighbours, WARN},
	{"RC-CAP-019", nothing, SKIP},
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

/* Each rule of a capture speaks once, and has a case that passes and one that is violated; no
 * other rule speaks. */
static void test_rows(void **state)
{
	static struct setting s;
	struct findings all;
	size_t rows = 0;

	(void)state;
	good(&s);
	run_rules(&s, &all);
	for (unsigned int i = 0; i < rule_count; i++) {
		if (rule_table[i].scope != SCOPE_CAPTURE)
			continue;
		rows++;
		if (!finding_of(&all, rule_table[i].id) || !has_case(rule_table[i].id, true) ||
		    !has_case(rule_table[i].id, false))
			fail_msg("%s", rule_table[i].id);
	}
	assert_int_equal(rows, all.count);
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
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_witness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
