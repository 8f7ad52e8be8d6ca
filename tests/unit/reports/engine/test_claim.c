/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Claims about loss under congestion: which findings prove a priority, and what is said of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "reports/engine/claim.h"

/* RC-PFC-010 proves, RC-ECN-006 does not, RC-TRN-001 is of a lower level. */
static const struct {
	const char *name;
	struct {
		const char *rule;
		enum verdict verdict;
		uint8_t prios;
	} given[4];
	enum fabric_level level;
	uint8_t maintenance;
	bool lossless;
	const char *text; /* behind "lossless under congestion: " */
} cases[] = {
	{"standard",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3}},
	 LEVEL_STANDARD,
	 0,
	 false,
	 "not tested"},
	{"proven",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3}, {"RC-PFC-010", VERDICT_PASS, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 true,
	 "proven on priority 3"},
	{"nothing was found",
	 {{NULL, 0, 0}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 false,
	 "not proven on priority 3"},
	{"skipped only",
	 {{"RC-PFC-010", VERDICT_SKIP, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 false,
	 "not proven on priority 3"},
	{"one port was not stressed",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3}, {"RC-PFC-010", VERDICT_INCONCLUSIVE, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 false,
	 "not proven on priority 3"},
	{"a guest's port does not count",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3}, {"RC-PFC-012", VERDICT_SKIP, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 true,
	 "proven on priority 3"},
	{"marks are no proof",
	 {{"RC-ECN-006", VERDICT_PASS, 1 << 3}, {"RC-TRN-001", VERDICT_PASS, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 false,
	 "not proven on priority 3"},
	{"a lower level changes nothing",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3}, {"RC-TRN-001", VERDICT_INCONCLUSIVE, 1 << 3}},
	 LEVEL_MAINTENANCE,
	 1 << 3,
	 true,
	 "proven on priority 3"},
	{"each priority by itself",
	 {{"RC-PFC-010", VERDICT_PASS, 1 << 3},
	  {"RC-PFC-010", VERDICT_FAIL, 1 << 4},
	  {"RC-PFC-010", VERDICT_PASS, 1 << 4},
	  {"RC-PFC-010", VERDICT_INCONCLUSIVE, 1 << 5}},
	 LEVEL_MAINTENANCE,
	 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6,
	 false,
	 "proven on priority 3; failed on priority 4; not proven on priorities 5,6"},
	{"a finding without priority is of all",
	 {{"RC-PFC-010", VERDICT_PASS, 0}},
	 LEVEL_MAINTENANCE,
	 1 << 3 | 1 << 4,
	 true,
	 "proven on priorities 3,4"},
};

static void test_claims(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run run = {.traffic = true,
				  .level = cases[i].level,
				  .maintenance = cases[i].maintenance};
		struct findings all = {0};
		struct claim claim;
		char text[160];

		for (size_t k = 0; k < 4 && cases[i].given[k].rule; k++) {
			finding_begin(&all, rule_find(cases[i].given[k].rule), "h1", "roce0",
				      cases[i].given[k].prios);
			finding_set(&all, cases[i].given[k].verdict, "text");
		}
		claim_make(&run, &all, &claim);
		claim_text(&claim, text, sizeof(text));
		if (strcmp(text + strlen("lossless under congestion: "), cases[i].text) ||
		    claim_is_lossless(&claim) != cases[i].lossless)
			fail_msg("%s: %s, lossless %d", cases[i].name, text,
				 claim_is_lossless(&claim));
		run.traffic = false;
		claim_make(&run, &all, &claim);
		assert_false(claim_is_lossless(&claim));
		findings_clear(&all);
	}
}

static void test_next_step(void **state)
{
	struct fabric f = {.profile.qos = {.pfc_enabled = 1 << 3 | 1 << 4}};
	struct claim none = {0}, open = {.unproven = 1 << 3};
	char text[400];

	(void)state;
	claim_next_step(&none, &f, text, sizeof(text));
	assert_string_equal(text, "rocecheck validate FABRIC.yaml --maintenance 3,4");
	snprintf(f.path, sizeof(f.path), "a/f.yaml");
	claim_next_step(&none, &f, text, sizeof(text));
	assert_string_equal(text, "rocecheck validate a/f.yaml --maintenance 3,4");
	claim_next_step(&open, &f, text, sizeof(text));
	assert_non_null(strstr(text, "inconclusive"));
	f.profile.qos.pfc_enabled = 0;
	claim_next_step(&none, &f, text, sizeof(text));
	assert_non_null(strstr(text, "set pfc.enabled"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_next_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
