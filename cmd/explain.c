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
#include "cmd/output.h"
#include "reports/engine/rule.h"

/* Prints words from a column on, and goes on at `indent` on the next line. Ends the line. */
static void explain_print(const char *text, unsigned int column, unsigned int indent)
{
	output_wrap(stdout, text, column, indent, OUTPUT_COLUMNS);
	putchar('\n');
}

/* Prints each part of the text on a line of its own, with its end, from a column on. */
static void explain_parts(const char *text, const char *separator, const char *end,
			  unsigned int column, unsigned int indent)
{
	while (*text) {
		const char *next = strstr(text, separator);
		int length = next ? (int)(next - text) : (int)strlen(text);
		char part[512];

		snprintf(part, sizeof(part), "%.*s%s", length, text, end);
		explain_print(part, column, indent);
		text += length + (next ? strlen(separator) : 0);
		column = (unsigned int)printf("%*s", *text ? (int)indent : 0, "");
	}
}

static void explain_member(const char *label, const char *text)
{
	explain_parts(text, "\n", "", (unsigned int)printf("%-17s", label), 17);
}

static void explain_evidence(const char *letters)
{
	const char *separator = "evidence:        ";

	for (const struct evidence_word *w = evidence_words; w->meaning; w++) {
		if (!strchr(letters, w->kind))
			continue;
		printf("%s[%c] %s", separator, w->kind, w->meaning);
		separator = ", ";
	}
	putchar('\n');
}

/* The command whose report has the rule. */
static const char *explain_command(const struct rule *rule)
{
	static const char *const commands[] = {
		[SCOPE_FABRIC] = "validate",	   [SCOPE_HOST] = "doctor",
		[SCOPE_BOTH] = "doctor, validate", [SCOPE_CAPTURE] = "capture check",
		[SCOPE_PROBE] = "probe client",
	};

	return commands[rule->scope];
}

static void explain_link(const char *title, const char *arrow, const struct rule *rule)
{
	printf("%s  %s %s %-5s %s\n", title, arrow, rule->id, severity_word(rule->severity),
	       rule->title);
}

static void explain_causes(const struct rule *rule)
{
	const char *title = "can cause:\n";

	for (unsigned int i = 0; i < RULE_CAUSES_MAX && rule->causes[i]; i++) {
		explain_link(title, "->", rule_find(rule->causes[i]));
		title = "";
	}
}

static bool explain_is_cause(const struct rule *cause, const struct rule *rule)
{
	for (unsigned int i = 0; i < RULE_CAUSES_MAX && cause->causes[i]; i++)
		if (!strcmp(cause->causes[i], rule->id))
			return true;
	return false;
}

/* Causes in the order in which to check them: settings, then traffic; errors first. */
static void explain_caused_by(const struct rule *rule)
{
	static const struct {
		const char *title;
		unsigned int scopes;
	} steps[] = {
		{"can be caused by settings (check these first: rocecheck doctor):\n",
		 1U << SCOPE_HOST | 1U << SCOPE_BOTH},
		{"can be caused on the path or under load (check: rocecheck validate):\n",
		 1U << SCOPE_FABRIC},
		{"can be caused by (check: rocecheck capture check):\n", 1U << SCOPE_CAPTURE},
		{"can be caused by (check: rocecheck probe client):\n", 1U << SCOPE_PROBE},
	};

	for (unsigned int n = 0; n < ARRAY_SIZE(steps); n++) {
		const char *title = steps[n].title;

		for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--)
			for (unsigned int i = 0; i < rule_count; i++) {
				const struct rule *cause = &rule_table[i];

				if ((int)cause->severity != severity ||
				    !(steps[n].scopes & 1U << cause->scope) ||
				    !explain_is_cause(cause, rule))
					continue;
				explain_link(title, "<-", cause);
				title = "";
			}
	}
}

static int explain_rule(const struct rule *rule)
{
	bool error = rule->severity == SEVERITY_ERROR;

	printf("%s  %s\n\n", rule->id, rule->title);
	explain_print(rule->reason, 0, 0);
	printf("\nseverity:        %s%s\n", severity_word(rule->severity),
	       error ? " (if FAIL or INCONCLUSIVE, the exit code is not 0)"
	       : rule->severity == SEVERITY_INFO
		       ? " (reported as WARN, never changes the exit code)"
		       : "");
	printf("checked by:      rocecheck %s\n", explain_command(rule));
	if (rule->level)
		printf("level:           %s (below it, INCONCLUSIVE becomes SKIP)\n",
		       fabric_level_words[rule->level].word);
	explain_evidence(rule->evidence);
	explain_member(error ? "if FAIL:" : "if WARN:", rule->advice);
	explain_member("if INCONCLUSIVE:",
		       rule->obtain ? rule->obtain : "get the missing evidence, and check again");
	explain_member("source:", rule->source);
	explain_causes(rule);
	explain_caused_by(rule);
	return EXIT_OK;
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
	explain_parts(meaning, ". ", ".", (unsigned int)printf("%s (probe): ", word), 2);
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
	if (rule)
		return explain_rule(rule);
	if (input) {
		printf("%s (input): %s\n\n", input->id, input->title);
		explain_print(input->explain, 0, 0);
		return EXIT_OK;
	}
	if (glossary_meaning(argv[0]))
		return explain_word(argv[0]);
	err_set(&e, -ENOENT, "unknown rule or word '%s'", argv[0]);
	if (explain_nearest_id(argv[0]))
		err_hint(&e, "did you mean %s?", explain_nearest_id(argv[0]));
	else
		err_hint(&e, "'rocecheck rules' lists all rules and words");
	return cmd_fail(EXIT_USAGE, &e);
}

const struct command cmd_explain = {
	.name = "explain",
	.args = "RULE",
	.help = "explain a rule, an input error or a term that probe prints",
	.run = run_explain,
};
