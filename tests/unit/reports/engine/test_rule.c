/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the rule table: ids, texts and causes of every row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "reports/engine/rule.h"

static void check_id(const char *id)
{
	const char *dash = strrchr(id, '-');
	const char *group = id + 3;

	assert_int_equal(strncmp(id, "RC-", 3), 0);
	assert_true(dash > group);
	for (const char *c = group; c < dash; c++)
		assert_true(isupper((unsigned char)*c));
	assert_int_equal(strlen(dash), 4);
	for (const char *c = dash + 1; *c; c++)
		assert_true(isdigit((unsigned char)*c));
}

static void check_text(const char *text, size_t longest)
{
	assert_non_null(text);
	assert_true(text[0]);
	assert_true(strlen(text) <= longest);
	for (const char *c = text; *c; c++)
		assert_true(*c == '\n' || ((unsigned char)*c >= 0x20 && (unsigned char)*c < 0x7f));
}

static void test_rows(void **state)
{
	(void)state;
	assert_true(rule_count >= 85);
	for (unsigned int i = 0; i < rule_count; i++) {
		const struct rule *r = &rule_table[i];

		check_id(r->id);
		if (i)
			assert_true(strcmp(rule_table[i - 1].id, r->id) < 0);
		check_text(r->title, 80);
		check_text(r->reason, 200);
		check_text(r->advice, 120);
		check_text(r->source, 80);
		if (r->obtain)
			check_text(r->obtain, 370);
		check_text(r->evidence, 4);
		assert_int_equal(strspn(r->evidence, "HXLCKT"), strlen(r->evidence));
		if (r->scope == SCOPE_PROBE)
			assert_true(!r->check && !r->check_port);
		else
			assert_true(!r->check != !r->check_port);
		assert_true(r->severity >= SEVERITY_INFO && r->severity <= SEVERITY_ERROR);
		assert_ptr_equal(rule_find(r->id), r);
		assert_true(r->level <= LEVEL_MAINTENANCE);
		/* Settings of one host and captures are checked at every level. */
		if (r->scope != SCOPE_FABRIC)
			assert_int_equal(r->level, LEVEL_QUICK);
	}
	assert_null(rule_find("RC-PFC-999"));
	assert_null(rule_find("RC-PFC-00"));
}

/* Longest chain of causes below a rule; a ring runs out of depth. */
static void walk_causes(const struct rule *r, unsigned int depth)
{
	assert_true(depth < rule_count);
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && r->causes[i]; i++) {
		const struct rule *effect = rule_find(r->causes[i]);

		if (!effect)
			fail_msg("%s causes %s, which is no rule", r->id, r->causes[i]);
		walk_causes(effect, depth + 1);
	}
}

static void test_causes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < rule_count; i++) {
		assert_null(rule_table[i].causes[RULE_CAUSES_MAX - 1]);
		walk_causes(&rule_table[i], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
