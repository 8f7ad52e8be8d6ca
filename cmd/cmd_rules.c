/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck rules: lists the rule table, and after it the input errors (RC-INP), because `explain`
 * knows both.
 */
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/glossary.h"
#include "reports/engine/rule.h"

static json_t *rules_causes_json(const struct rule *rule)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < RULE_CAUSES_MAX && rule->causes[i]; i++)
		json_array_append_new(list, json_string(rule->causes[i]));
	return list;
}

json_t *cmd_rule_json(const struct rule *rule)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "id", rule->id,
			 "severity", severity_word(rule->severity), "level",
			 fabric_level_words[rule->level].word, "evidence", rule->evidence, "title",
			 rule->title, "reason", rule->reason, "advice", rule->advice, "source",
			 rule->source, "causes", rules_causes_json(rule));
}

json_t *cmd_input_rule_json(const struct diag_rule *d)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", d->id, "severity", "error", "evidence",
			 "", "title", d->title, "reason", d->explain);
}

static int rules_print_json(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < rule_count; i++)
		json_array_append_new(list, cmd_rule_json(&rule_table[i]));
	for (const struct diag_rule *d = diag_rules; d->id; d++)
		json_array_append_new(list, cmd_input_rule_json(d));
	return cmd_print_json(
		json_pack("{s:s, s:o}", "schema", "rocecheck.rules/1", "rules", list));
}

static void rules_print_table(void)
{
	printf("%-12s %-6s %-4s %s\n", "RULE", "SEV", "EVID", "TITLE");
	for (unsigned int i = 0; i < rule_count; i++)
		printf("%-12s %-6s %-4s %s\n", rule_table[i].id,
		       severity_word(rule_table[i].severity), rule_table[i].evidence,
		       rule_table[i].title);
	for (const struct diag_rule *d = diag_rules; d->id; d++)
		printf("%-12s %-6s %-4s %s\n", d->id, "input", "-", d->title);
	if (globals->quiet)
		return;
	for (const struct evidence_word *w = evidence_words; w->meaning; w++)
		printf("%s%c %s", w == evidence_words ? "\nEvidence: " : ", ", w->kind, w->meaning);
	fputs(".\nNext: rocecheck explain RULE, or one of these words of probe:", stdout);
	for (const struct glossary_word *w = glossary; w->word; w++)
		printf("%s%s", (w - glossary) % 10 ? " " : "\n  ", w->word);
	putchar('\n');
}

static int run_rules(int argc, char **argv)
{
	if (argc)
		return cmd_usage(&cmd_rules, "unexpected argument '%s'", argv[0]);
	if (globals->json)
		return rules_print_json();
	rules_print_table();
	return EXIT_OK;
}

const struct command cmd_rules = {
	.name = "rules",
	.args = "",
	.help = "list the rules of validate, doctor, capture check and probe",
	.run = run_rules,
};
