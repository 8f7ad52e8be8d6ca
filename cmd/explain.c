/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck explain RULE: prints reason, evidence, advice, causes and consequences of a rule. Also
 * explains the ids of input errors and the words of `probe`.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/glossary.h"
#include "reports/engine/rule.h"

static void explain_evidence(const char *letters)
{
	const char *separator = "evidence: ";

	for (const struct evidence_word *w = evidence_words; w->meaning; w++) {
		if (!strchr(letters, w->kind))
			continue;
		printf("%s[%c] %s", separator, w->kind, w->meaning);
		separator = ", ";
	}
	putchar('\n');
}

static void explain_causes(const struct rule *rule)
{
	const char *title = "can cause:\n";

	for (unsigned int i = 0; i < RULE_CAUSES_MAX && rule->causes[i]; i++) {
		printf("%s  -> %s %s\n", title, rule->causes[i], rule_find(rule->causes[i])->title);
		title = "";
	}
}

static void explain_caused_by(const struct rule *rule)
{
	const char *title = "can be caused by:\n";

	for (unsigned int i = 0; i < rule_count; i++)
		for (unsigned int k = 0; k < RULE_CAUSES_MAX && rule_table[i].causes[k]; k++) {
			if (strcmp(rule_table[i].causes[k], rule->id))
				continue;
			printf("%s  <- %s %s\n", title, rule_table[i].id, rule_table[i].title);
			title = "";
		}
}

static void explain_rule(const struct rule *rule)
{
	printf("%s (%s): %s\n\n%s\n\n", rule->id, severity_word(rule->severity), rule->title,
	       rule->reason);
	explain_evidence(rule->evidence);
	printf("advice:   %s\nsource:   %s\n", rule->advice, rule->source);
	explain_causes(rule);
	explain_caused_by(rule);
}

/* Returns the rule id most similar to `typed`, in any case; NULL when none is similar. */
static const char *explain_nearest_id(const char *typed)
{
	const char **ids = calloc(rule_count + 1, sizeof(*ids));
	char upper[32];
	const char *found;
	size_t i;

	if (!ids)
		return NULL;
	for (i = 0; i < rule_count; i++)
		ids[i] = rule_table[i].id;
	for (i = 0; typed[i] && i < sizeof(upper) - 1; i++)
		upper[i] = (char)toupper((unsigned char)typed[i]);
	upper[i] = '\0';
	found = diag_nearest(upper, ids);
	free(ids);
	return found;
}

static int explain_word(const char *word)
{
	const char *meaning = glossary_meaning(word);

	if (globals->json)
		return cmd_print_json(json_pack("{s:s, s:s, s:s}", "schema", "rocecheck.word/1",
						"word", word, "meaning", meaning));
	printf("%s (probe): %s.\n", word, meaning);
	return EXIT_OK;
}

static int run_explain(int argc, char **argv)
{
	const struct diag_rule *input;
	const struct rule *rule;
	struct err e = {0};

	if (argc != 1)
		return cmd_usage(&cmd_explain, "expected one RULE");
	rule = rule_find(argv[0]);
	input = diag_rule_find(argv[0]);
	if (globals->json && (rule || input))
		return cmd_print_json(
			json_pack("{s:s, s:o}", "schema", "rocecheck.rule/1", "rule",
				  rule ? cmd_rule_json(rule) : cmd_input_rule_json(input)));
	if (rule) {
		explain_rule(rule);
		return EXIT_OK;
	}
	if (input) {
		printf("%s (input): %s\n\n%s\n", input->id, input->title, input->explain);
		return EXIT_OK;
	}
	if (glossary_meaning(argv[0]))
		return explain_word(argv[0]);
	err_set(&e, -ENOENT, "unknown rule '%s'", argv[0]);
	if (explain_nearest_id(argv[0]))
		err_hint(&e, "did you mean %s?", explain_nearest_id(argv[0]));
	else
		err_hint(&e, "'rocecheck rules' lists all rules");
	return cmd_fail(EXIT_USAGE, &e);
}

const struct command cmd_explain = {
	.name = "explain",
	.args = "RULE",
	.help = "explain a rule, an input error or a word of probe",
	.run = run_explain,
};
