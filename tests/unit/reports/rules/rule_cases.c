/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rule_cases.h declares.
 */
#include "tests/unit/reports/rules/rule_cases.h"

void check_case(const struct rule_case *c)
{
	static struct fabric_run f;
	const struct finding *got;
	struct findings all;

	good_run(&f);
	if (c->change)
		c->change(&f);
	assert_int_equal(rules_run(&f.fabric, &f.run, &all), 0);
	got = finding_of(&all, c->rule, c->host);
	if (!got)
		fail_msg("%s: nothing about '%s'", c->rule, c->host);
	if (got->verdict != c->want || (c->says && !strstr(got->text, c->says)))
		fail_msg("%s on '%s': want %s (%s), got %s: %s", c->rule, c->host,
			 verdict_word(c->want), c->says ? c->says : "", verdict_word(got->verdict),
			 got->text);
	for (size_t i = 0; i < all.count; i++) {
		const struct finding *one = &all.list[i];

		if (!one->text || !one->text[0])
			fail_msg("%s on '%s': no text", one->rule->id, one->host);
		if (one->verdict == VERDICT_PASS && !one->evidence_count)
			fail_msg("%s on '%s' passes on no evidence", one->rule->id, one->host);
	}
	findings_clear(&all);
}

static bool case_for(const struct rule_case *cases, size_t count, const char *rule, enum verdict v)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(cases[i].rule, rule) && cases[i].want == v)
			return true;
	return false;
}

bool listed(const char *const *list, const char *id)
{
	for (; list && *list; list++)
		if (!strncmp(*list, id, strlen(*list)))
			return true;
	return false;
}

void check_coverage(const struct rule_case *cases, size_t count, const char *const *groups,
		    const char *const *never_open)
{
	static const char *const states_only[] = {"RC-ENV-001", "RC-META-001", NULL};

	for (unsigned int i = 0; i < rule_count; i++) {
		const char *id = rule_table[i].id;

		/* test_check_host has those of one host, test_traffic_verdict those of probes,
		 * test_check_job those of jobs */
		if (!listed(groups, id) || rule_table[i].scope == SCOPE_HOST ||
		    rule_table[i].scope == SCOPE_PROBE || rule_table[i].needs & NEED_JOB)
			continue;
		if (!case_for(cases, count, id, VERDICT_PASS))
			fail_msg("%s has no case that passes", id);
		if (!case_for(cases, count, id, VERDICT_FAIL) &&
		    !case_for(cases, count, id, VERDICT_WARN) && !listed(states_only, id))
			fail_msg("%s has no case that is violated", id);
		if (!case_for(cases, count, id, VERDICT_INCONCLUSIVE) && !listed(never_open, id))
			fail_msg("%s has no case without evidence", id);
	}
}
