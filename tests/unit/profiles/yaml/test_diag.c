/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/diag*.c: the three forms of a finding, their order, and quotes of hostile files.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiles/yaml/diag.h"

static const struct diag unknown_key = {
	.level = DIAG_ERROR,
	.rule = "RC-INP-002",
	.path = "prod.yaml",
	.line = 14,
	.column = 5,
	.width = 7,
	.text = "unknown key 'enabeld' in 'pfc'",
	.source = "    enabeld: [3]",
	.note = "keys of 'pfc': enabled, delay",
	.suggestion = "enabled",
};

static const struct diag tabs = {
	.level = DIAG_WARNING,
	.rule = "RC-INP-016",
	.path = "prod.yaml",
	.line = 9,
	.column = 4,
	.text = "without effect",
	.source = "a\t\xc3\xa4\tb",
};

static const struct diag whole_file = {
	.level = DIAG_ERROR,
	.rule = "RC-INP-007",
	.path = "empty.yaml",
	.text = "the file is empty",
};

static char *printed(const struct diags *d, int (*print)(const struct diags *d, FILE *out))
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(print(d, out), 0);
	fclose(out);
	return text;
}

static int print_plain(const struct diags *d, FILE *out)
{
	return diags_print(d, out, false);
}

static int print_colour(const struct diags *d, FILE *out)
{
	return diags_print(d, out, true);
}

static void fill(struct diags *d)
{
	diags_init(d);
	assert_int_equal(diags_add(d, &unknown_key), 0);
	assert_int_equal(diags_add(d, &whole_file), 0);
	assert_int_equal(diags_add(d, &tabs), 0);
	assert_int_equal(d->count, 3);
	assert_int_equal(d->errors, 2);
}

/* In the order of the lines, tabs expanded, the caret below the third character. */
static void test_long_form(void **state)
{
	static const char want[] = "warning[RC-INP-016]: without effect\n"
				   " --> prod.yaml:9:4\n"
				   "  |\n"
				   "9 | a       \xc3\xa4       b\n"
				   "  |          ^\n"
				   "\n"
				   "error[RC-INP-002]: unknown key 'enabeld' in 'pfc'\n"
				   "  --> prod.yaml:14:5\n"
				   "   |\n"
				   "14 |     enabeld: [3]\n"
				   "   |     ^^^^^^^ did you mean 'enabled'?\n"
				   "   = keys of 'pfc': enabled, delay\n"
				   "\n"
				   "error[RC-INP-007]: the file is empty\n"
				   " --> empty.yaml\n"
				   "\n"
				   "2 errors, 1 warning in 2 files\n";
	struct diags d;
	char *text;

	(void)state;
	fill(&d);
	text = printed(&d, print_plain);
	assert_string_equal(text, want);
	free(text);
	diags_clear(&d);
}

static void test_gcc_form(void **state)
{
	static const char want[] =
		"prod.yaml:9:4: warning: without effect [RC-INP-016]\n"
		"prod.yaml:14:5: error: unknown key 'enabeld' in 'pfc' [RC-INP-002]\n"
		"empty.yaml: error: the file is empty [RC-INP-007]\n";
	struct diags d;
	char *text;

	(void)state;
	fill(&d);
	text = printed(&d, diags_print_gcc);
	assert_string_equal(text, want);
	free(text);
	diags_clear(&d);
}

static void test_json_form(void **state)
{
	static const char want[] =
		"{\"schema\": \"rocecheck.lint/1\", \"errors\": 2, \"warnings\": 1, \"findings\": ["
		"{\"rule\": \"RC-INP-016\", \"level\": \"warning\", \"path\": \"prod.yaml\", "
		"\"line\": 9, \"column\": 4, \"text\": \"without effect\"}, "
		"{\"rule\": \"RC-INP-002\", \"level\": \"error\", \"path\": \"prod.yaml\", "
		"\"line\": 14, \"column\": 5, \"text\": \"unknown key 'enabeld' in 'pfc'\", "
		"\"note\": \"keys of 'pfc': enabled, delay\", \"suggestion\": \"enabled\"}, "
		"{\"rule\": \"RC-INP-007\", \"level\": \"error\", \"path\": \"empty.yaml\", "
		"\"line\": 0, \"column\": 0, \"text\": \"the file is empty\"}]}";
	struct diags d;
	json_t *json;
	char *text;

	(void)state;
	fill(&d);
	json = diags_to_json(&d);
	text = json_dumps(json, 0);
	assert_string_equal(text, want);
	free(text);
	json_decref(json);
	diags_clear(&d);
}

static void test_empty_list(void **state)
{
	struct diags d;
	json_t *json;
	char *text;

	(void)state;
	diags_init(&d);
	text = printed(&d, print_plain);
	assert_string_equal(text, "");
	free(text);
	text = printed(&d, diags_print_gcc);
	assert_string_equal(text, "");
	free(text);
	json = diags_to_json(&d);
	assert_int_equal(json_array_size(json_object_get(json, "findings")), 0);
	json_decref(json);
	diags_clear(&d);
}

/* Colour adds escapes and takes nothing away. */
static void test_colour(void **state)
{
	struct diags d;
	char *plain, *colour, *to;

	(void)state;
	fill(&d);
	plain = printed(&d, print_plain);
	colour = printed(&d, print_colour);
	assert_non_null(strchr(colour, '\033'));
	assert_null(strchr(plain, '\033'));
	to = colour;
	for (char *from = colour; *from; from++) {
		if (*from == '\033')
			from += strcspn(from, "m");
		else
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(plain, colour);
	free(plain);
	free(colour);
	diags_clear(&d);
}

static void test_full_device(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct diags d;

	(void)state;
	assert_non_null(full);
	fill(&d);
	assert_int_equal(diags_print(&d, full, false), -ENOSPC);
	fclose(full);
	diags_clear(&d);
}

/* What a file holds must not drive a terminal, and must be writable as JSON. */
static void test_hostile_quotes(void **state)
{
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"a\033[31mb", "a?[31mb"},
		{"a\x07\x7f\nb", "a???b"},
		{"a\tb", "a\tb"},
		{"\xc2\x9b"
		 "31m",
		 "?31m"},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xff\xfe", "??"},
		{"\xc3", "?"},
		{"\xe2\x82", "??"},
		{"\xc0\xaf", "??"},
		{"\xed\xa0\x80", "???"},
		{"\xf4\x90\x80\x80", "????"},
		{"\xe0\x80\x80", "???"},
		{"\xf0\x80\x80\x80", "????"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag one = {.rule = "x", .text = (char *)cases[i].in};
		struct diags d;
		json_t *json;

		diags_init(&d);
		one.path = one.source = one.note = one.suggestion = one.text;
		assert_int_equal(diags_add(&d, &one), 0);
		assert_string_equal(d.list[0].text, cases[i].want);
		assert_string_equal(d.list[0].source, cases[i].want);
		assert_string_equal(d.list[0].path, cases[i].want);
		json = diags_to_json(&d);
		assert_non_null(json);
		json_decref(json);
		diags_clear(&d);
	}
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"enabled", "delay", "willing", "cap", "rx", "on", NULL};
	static const struct {
		const char *in, *want;
	} cases[] = {
		{"enabeld", "enabled"},
		{"enable", "enabled"},
		{"enabled", "enabled"},
		{"dleay", "delay"},
		{"wiling", "willing"},
		{"cpa", "cap"},
		{"", NULL},
		{"mtu", NULL},
		{"xy", NULL},
		{"r", NULL},
		{"rxx", "rx"},
		{"enablement", NULL},
		{"enabledenabledenabledenabledenabledenabledenabled", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *got = diag_nearest(cases[i].in, words);

		if (!cases[i].want != !got || (got && strcmp(got, cases[i].want)))
			fail_msg("'%s': %s", cases[i].in, got ? got : "none");
	}
}

static void test_rules(void **state)
{
	(void)state;
	for (const struct diag_rule *rule = diag_rules; rule->id; rule++) {
		assert_int_equal(strlen(rule->id), strlen("RC-INP-001"));
		assert_true(strlen(rule->id) < sizeof(unknown_key.rule));
		assert_non_null(rule->title);
		assert_true(strlen(rule->explain) > strlen(rule->title));
		assert_ptr_equal(diag_rule_find(rule->id), rule);
		assert_true(!rule[1].id || strcmp(rule->id, rule[1].id) < 0);
	}
	assert_null(diag_rule_find("RC-INP-999"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_form), cmocka_unit_test(test_gcc_form),
		cmocka_unit_test(test_json_form), cmocka_unit_test(test_empty_list),
		cmocka_unit_test(test_colour),	  cmocka_unit_test(test_full_device),
		cmocka_unit_test(test_nearest),	  cmocka_unit_test(test_hostile_quotes),
		cmocka_unit_test(test_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
