/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions of the inventory: which findings they cover, until which day, and what that does to
 * exit code, counts and causes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>

#include "reports/engine/allow.h"
#include "reports/engine/claim.h"
#include "tests/unit/fixture/fabric_run.h"

static void pfc_off(struct fabric_run *f)
{
	f->before[1].qos.pfc_enabled = f->after[1].qos.pfc_enabled = 0;
}

static void lost(struct fabric_run *f)
{
	grow(f, 1, METRIC_OUT_OF_SEQUENCE, 0, 3);
}

static void unreached(struct fabric_run *f)
{
	f->host[1].reached = f->host[1].has_before = f->host[1].has_after = false;
	f->run.pair_count = 0;
	f->run.traffic = false;
}

static void nothing_wrong(struct fabric_run *f)
{
	(void)f;
}

/* PFC-004 and PFC-010 are inconclusive on both hosts of a good run. */
#define BOTH_OPEN                                                                                  \
	{"RC-PFC-004", "", "2026-12-31"},                                                          \
	{                                                                                          \
		"RC-PFC-010", "", "2026-12-31"                                                     \
	}

static const struct {
	const char *name;
	void (*change)(struct fabric_run *f);
	struct {
		const char *rule, *hosts, *until;
	} allow[4];
	int exit;
	size_t allowed;
} cases[] = {
	{"nothing allowed", nothing_wrong, {{NULL, NULL, NULL}}, 4, 0},
	{"missing evidence", nothing_wrong, {BOTH_OPEN}, 0, 4},
	{"on one of two hosts",
	 nothing_wrong,
	 {{"RC-PFC-004", "h2", "2026-12-31"}, {"RC-PFC-010", "", "2026-12-31"}},
	 4,
	 3},
	{"a set of hosts",
	 nothing_wrong,
	 {{"RC-PFC-004", "h[1-2]", "2026-12-31"}, {"RC-PFC-010", "h[2-9]", "2026-12-31"}},
	 4,
	 3},
	{"the last day", nothing_wrong, {{"RC-PFC-004", "", "2026-11-26"}, BOTH_OPEN}, 0, 4},
	{"the day after",
	 nothing_wrong,
	 {{"RC-PFC-004", "", "2026-11-25"}, {"RC-PFC-010", "", "2026-12-31"}},
	 4,
	 2},
	{"another year",
	 nothing_wrong,
	 {{"RC-PFC-004", "", "2025-12-31"}, {"RC-PFC-010", "", "2026-12-31"}},
	 4,
	 2},
	{"a violation", lost, {BOTH_OPEN, {"RC-TRN-001", "h2", "2026-12-31"}}, 0, 5},
	{"a violation of another host",
	 lost,
	 {BOTH_OPEN, {"RC-TRN-001", "h1", "2026-12-31"}},
	 1,
	 4},
	{"a missing host",
	 unreached,
	 {{"RC-META-007", "h2", "2026-12-31"}, {"RC-PFC-004", "", "2026-12-31"}},
	 4, /* comparisons of hosts have only one */
	 2},
};

static void test_exit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct fabric_run f;
		struct findings all;
		int got;

		good_run(&f);
		add_marking(&f, MARKING_KINDS);
		cases[i].change(&f);
		for (size_t k = 0; k < 4 && cases[i].allow[k].rule; k++)
			add_exception(&f, cases[i].allow[k].rule, cases[i].allow[k].hosts,
				      cases[i].allow[k].until);
		assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
		got = findings_exit(&all, SEVERITY_ERROR, NULL, 0);
		if (got != cases[i].exit || allow_count(&all, NULL) != cases[i].allowed)
			fail_msg("%s: exit %d with %zu allowed, want %d with %zu", cases[i].name,
				 got, allow_count(&all, NULL), cases[i].exit, cases[i].allowed);
		findings_clear(&all);
	}
}

/* RC-PFC-001 on h2 causes RC-PFC-002, -003 and RC-QOS-005 there: without it they stand alone. */
static void test_consequences(void **state)
{
	static struct fabric_run f;
	const struct finding *cause, *effect;
	struct findings all;
	size_t violations;

	(void)state;
	good_run(&f);
	pfc_off(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_int_equal(leading_count(&all), 1);
	violations = verdict_count(&all, VERDICT_FAIL);
	findings_clear(&all);
	add_exception(&f, "RC-PFC-001", "h2", "2026-12-31");
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	cause = finding_of(&all, "RC-PFC-001", "h2");
	effect = finding_of(&all, "RC-PFC-002", "h2");
	assert_ptr_equal(cause->allowed, &f.allow[0]);
	assert_int_equal(cause->verdict, VERDICT_FAIL);
	assert_int_equal(cause->caused_by, -1);
	assert_false(finding_violated(cause));
	assert_true(finding_violated(effect));
	assert_int_equal(effect->caused_by, -1);
	assert_int_equal(verdict_count(&all, VERDICT_FAIL), violations - 1);
	assert_int_equal(leading_count(&all), 1);
	assert_int_equal(findings_exit(&all, SEVERITY_ERROR, NULL, 0), 1);
	findings_clear(&all);
}

/* PASS and SKIP need no exception; findings of the whole fabric have no host. */
static void test_covered(void **state)
{
	static struct fabric_run f;
	struct findings all;

	(void)state;
	good_run(&f);
	f.before[1].qos.mtu = f.after[1].qos.mtu = 1500;
	add_exception(&f, "RC-PFC-002", "", "2026-12-31");
	add_exception(&f, "RC-PFC-003", "h[1-2]", "2026-12-31");
	f.host[1].has_before = false;
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_int_equal(finding_of(&all, "RC-PFC-003", "")->verdict, VERDICT_INCONCLUSIVE);
	assert_null(finding_of(&all, "RC-PFC-003", "")->allowed);
	assert_int_equal(allow_count(&all, NULL), 0);
	findings_clear(&all);
	f.allow[1].hosts[0] = '\0';
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_ptr_equal(finding_of(&all, "RC-PFC-003", "")->allowed, &f.allow[1]);
	assert_int_equal(allow_count(&all, &f.allow[0]), 0);
	assert_int_equal(allow_count(&all, &f.allow[1]), 1);
	findings_clear(&all);
}

/* An accepted gap is no proof. */
static void test_claim(void **state)
{
	static struct fabric_run f;
	struct findings all;
	struct claim claim;

	(void)state;
	good_run(&f);
	f.run.maintenance = 1 << 3;
	add_exception(&f, "RC-PFC-010", "", "2026-12-31");
	grow(&f, 1, METRIC_PFC_TX_FRAMES, 3, 5);
	lost(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	assert_non_null(finding_of(&all, "RC-PFC-010", "h2")->allowed);
	claim_make(&f.run, &all, &claim);
	assert_false(claim_is_lossless(&claim));
	assert_int_equal(claim.unproven, 1 << 3);
	findings_clear(&all);
}

static void test_rules(void **state)
{
	static struct fabric_run f;
	struct err e;

	(void)state;
	good_run(&f);
	assert_int_equal(allow_check(&f.fabric, &e), 0);
	add_exception(&f, "RC-PFC-004", "", "2026-12-31");
	assert_int_equal(allow_check(&f.fabric, &e), 0);
	add_exception(&f, "RC-PFC-999", "", "2026-12-31");
	assert_int_equal(allow_check(&f.fabric, &e), -EINVAL);
	assert_string_equal(e.text, "fabric.yaml, line 41: allow: unknown rule 'RC-PFC-999'");
	strcpy(f.allow[1].rule, "RC-META-010");
	assert_int_equal(allow_check(&f.fabric, &e), -EINVAL);
	assert_string_equal(e.text, "fabric.yaml, line 41: allow: RC-META-010 cannot be allowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit),	cmocka_unit_test(test_consequences),
		cmocka_unit_test(test_covered), cmocka_unit_test(test_claim),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
