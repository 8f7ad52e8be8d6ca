/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/yaml/yaml.c and yaml_text.c: places of values, advice for each usual mistake, and input
 * that is made to cost more than it weighs.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiles/yaml/yaml.h"

static int parse(const char *text, size_t size, struct yaml_file *f, struct diags *d)
{
	struct err e = {0};

	diags_init(d);
	return yaml_parse("x.yaml", text, size, f, d, &e);
}

static void test_places(void **state)
{
	static const char text[] = "a: 1\nbb:\n  - x\n  - {c: 010, d: [no, 'yes']}\n\"e\": ''\n";
	struct yaml_file f;
	struct diags d;
	const struct yaml_node *node;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &f, &d), 0);
	assert_int_equal(d.count, 0);
	assert_string_equal(yaml_find(&f, "a")->text, "1");
	node = yaml_find(&f, "bb");
	assert_int_equal(node->kind, YAML_LIST);
	assert_int_equal(node->count, 2);
	node = yaml_item(node, 1);
	assert_int_equal(node->line, 4);
	assert_int_equal(node->column, 5);
	assert_int_equal(node->width, strlen("{c: 010, d: [no, 'yes']}"));
	assert_string_equal(yaml_get(node, "c")->text, "010");
	assert_int_equal(yaml_get(node, "c")->column, 9);
	assert_string_equal(yaml_item(yaml_get(node, "d"), 0)->text, "no");
	assert_int_equal(yaml_item(yaml_get(node, "d"), 1)->width, strlen("'yes'"));
	assert_string_equal(yaml_find(&f, "e")->text, "");
	assert_null(yaml_find(&f, "bb.c"));
	assert_null(yaml_find(&f, "a.b"));
	assert_null(yaml_get(NULL, "a"));
	yaml_close(&f);
	yaml_close(NULL);
	diags_clear(&d);
}

/* One file, one finding: its rule, place and words. */
struct mistake {
	const char *in;
	const char *rule;
	int line, column;
	const char *text;
};

static void check_mistake(const struct mistake *m, size_t size)
{
	struct yaml_file f;
	struct diags d;

	if (parse(m->in, size, &f, &d) != -EINVAL || d.count != 1)
		fail_msg("accepted, or not one finding: %s", m->in);
	if (strcmp(d.list[0].rule, m->rule) || !strstr(d.list[0].text, m->text))
		fail_msg("%s: %s: %s", m->in, d.list[0].rule, d.list[0].text);
	if (d.list[0].line != m->line || d.list[0].column != m->column)
		fail_msg("%s: at %d:%d", m->in, d.list[0].line, d.list[0].column);
	assert_string_equal(d.list[0].path, "x.yaml");
	assert_int_equal(d.errors, 1);
	diags_clear(&d);
}

/* clang-format off */

static void test_mistakes(void **state)
{
	static const struct mistake cases[] = {
		{"", "RC-INP-007", 0, 0, "empty"},
		{"# only a comment\n", "RC-INP-007", 0, 0, "empty"},
		{"word\n", "RC-INP-007", 1, 1, "no keys"},
		{"- a\n", "RC-INP-007", 1, 1, "no keys"},
		{"a:\n\tb: 1\n", "RC-INP-001", 2, 1, "tab"},
		{"a:\n  b: 1\n\tc: 1\n", "RC-INP-001", 3, 1, "tab"},
		{"a: [1, 2\nb: 3\n", "RC-INP-001", 1, 4, "'[' is not closed"},
		{"a: [1, 2\n", "RC-INP-001", 1, 4, "'[' is not closed"},
		{"a: {b: 2\n", "RC-INP-001", 1, 4, "'{' is not closed"},
		{"a: \"b\n", "RC-INP-001", 1, 4, "quote"},
		{"a: 'b\n---\n", "RC-INP-001", 1, 4, "quote"},
		{"a: 1\nb\n", "RC-INP-001", 2, 1, "no ': '"},
		{"a: b: c\n", "RC-INP-001", 1, 5, "':'"},
		{"a:\n  b: 1\n c: 2\n", "RC-INP-001", 3, 2, "indented"},
		{"a: @b\n", "RC-INP-001", 1, 4, "cannot begin"},
		{"a: \"\\q\"\n", "RC-INP-001", 1, 5, "escape"},
		{"a: x\xff\n", "RC-INP-001", 1, 5, "UTF-8"},
		{"\xc3\xa4: 1\n\xc3\xa4: x\xc3\n", "RC-INP-001", 2, 6, "UTF-8"},
		{"a: \x01\n", "RC-INP-001", 1, 4, "control"},
		{"\xff\xfe" "a\n", "RC-INP-001", 1, 1, "UTF-8"},
		{"a: &x 1\nb: *x\n", "RC-INP-008", 2, 4, "alias"},
		{"a: &x [1, *x]\n", "RC-INP-008", 1, 11, "alias"},
		{"a: &x {b: 1}\nc:\n  <<: *x\n", "RC-INP-008", 3, 7, "alias"},
		{"a: !!int 3\n", "RC-INP-008", 1, 4, "tags"},
		{"a: !x [3]\n", "RC-INP-008", 1, 4, "tags"},
		{"a: 1\n---\nb: 1\n", "RC-INP-008", 2, 1, "second document"},
		{"? [a]\n: 1\n", "RC-INP-004", 1, 3, "key must be"},
		{"a: \"b\\0c\"\n", "RC-INP-004", 1, 4, "NUL"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_mistake(&cases[i], strlen(cases[i].in));
}

/* clang-format on */

/* Of a key that is given twice there is no tree: one reader would see its first value, another
 * both. All of them are reported. */
static void test_duplicate(void **state)
{
	static const char text[] = "a: 1\nb: {c: 1, c: 2}\na: 3\n";
	struct yaml_file f;
	struct diags d;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &f, &d), -EINVAL);
	assert_int_equal(d.count, 2);
	assert_int_equal(d.errors, 2);
	assert_string_equal(d.list[0].text, "key 'c' is given twice");
	assert_string_equal(d.list[0].source, "b: {c: 1, c: 2}");
	assert_string_equal(d.list[1].note, "first given in line 1");
	diags_clear(&d);
}

/* No index leads beyond the items, whatever counted them. */
static void test_items(void **state)
{
	static const char text[] = "list: [x, y, z]\nmap: {k: v}\nnone: []\ntext: abc\n";
	static const struct {
		const char *of;
		size_t count;
	} cases[] = {{"list", 3}, {"map", 2}, {"none", 0}, {"text", 0}};
	struct yaml_file f;
	struct diags d;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &f, &d), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct yaml_node *node = yaml_find(&f, cases[i].of);

		assert_int_equal(node->count, cases[i].count);
		for (size_t k = 0; k < cases[i].count; k++)
			assert_non_null(yaml_item(node, k));
		for (size_t k = cases[i].count; k < cases[i].count + 4; k++)
			assert_null(yaml_item(node, k));
		assert_null(yaml_item(node, SIZE_MAX));
	}
	assert_string_equal(yaml_item(yaml_find(&f, "list"), 2)->text, "z");
	assert_string_equal(yaml_item(yaml_find(&f, "map"), 1)->text, "v");
	assert_null(yaml_item(NULL, 0));
	yaml_close(&f);
	diags_clear(&d);
}

/* `count` copies of a piece, as one text that the caller frees. */
static char *repeat(const char *head, const char *piece, unsigned int count)
{
	size_t length = strlen(piece);
	char *text = malloc(strlen(head) + count * length + 1);
	char *at = text;

	assert_non_null(text);
	at = stpcpy(at, head);
	while (count--)
		at = stpcpy(at, piece);
	return text;
}

static void test_limits(void **state)
{
	static const struct {
		const char *head, *piece;
		unsigned int count;
		const char *text; /* NULL: accepted */
	} cases[] = {
		{"a: ", "[", 2000, "deeper"},
		{"a: ", "{b: ", 40, "deeper"},
		{"", "- - - - ", 20, "deeper"},
		{"a:\n", "- 1\n", 200000, NULL},
		{"a: |\n", " 123456789\n", 1500000, NULL},
		{"a: |\n", " 123456789\n", 1600000, "16 MiB"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = repeat(cases[i].head, cases[i].piece, cases[i].count);
		struct yaml_file f;
		struct diags d;
		int err = parse(text, strlen(text), &f, &d);

		assert_int_equal(err, cases[i].text ? -EINVAL : 0);
		if (!err)
			yaml_close(&f);
		else
			assert_non_null(strstr(d.list[0].text, cases[i].text));
		diags_clear(&d);
		free(text);
	}
}

/* A map is as long as keys are compared in no time. */
static void test_many_keys(void **state)
{
	(void)state;
	for (unsigned int keys = 256; keys <= 257; keys++) {
		char text[4096] = "", *at = text;
		struct yaml_file f;
		struct diags d;

		for (unsigned int i = 0; i < keys; i++)
			at += sprintf(at, "k%u: 1\n", i);
		assert_int_equal(parse(text, strlen(text), &f, &d), keys > 256 ? -EINVAL : 0);
		if (keys > 256)
			assert_string_equal(d.list[0].text, "more than 256 keys in one map");
		else
			yaml_close(&f);
		diags_clear(&d);
	}
}

/* Findings are kept up to the limit; then one says that there are others. */
static void test_findings_kept(void **state)
{
	const struct diag one = {.level = DIAG_WARNING, .path = "x.yaml", .text = "text"};
	struct diags d;

	(void)state;
	diags_init(&d);
	for (unsigned int i = 0; i < 3 * DIAGS_MAX; i++)
		assert_int_equal(diags_add(&d, &one), 0);
	assert_int_equal(d.count, DIAGS_MAX + 1);
	assert_int_equal(d.errors, 1);
	assert_non_null(strstr(d.list[DIAGS_MAX].text, "more than 1000 findings"));
	assert_string_equal(d.list[DIAGS_MAX].path, "x.yaml");
	diags_clear(&d);
}

/* Every prefix of a file is read without a crash, and is either a tree or a finding. */
static void test_every_prefix(void **state)
{
	static const char text[] =
		"a: [1, {b: \"\\u00e4\"}]\n\xc3\xa4: |\n  x\n\tc: 'd'\n? e\n: f\n";

	(void)state;
	for (size_t size = 0; size <= strlen(text); size++) {
		struct yaml_file f;
		struct diags d;
		int err = parse(text, size, &f, &d);

		assert_true(!err || err == -EINVAL);
		assert_int_equal(!err, !d.errors);
		if (!err)
			yaml_close(&f);
		diags_clear(&d);
	}
}

static void test_files(void **state)
{
	char name[] = "/tmp/test_yaml_XXXXXX";
	int fd = mkstemp(name);
	struct yaml_file f;
	struct diags d;
	struct err e = {0};

	(void)state;
	diags_init(&d);
	assert_true(fd >= 0);
	assert_int_equal(yaml_open("/nonexistent.yaml", "x", &f, &d, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent.yaml"));
	assert_int_equal(yaml_open("/", "x", &f, &d, &e), -EISDIR);
	assert_int_equal(d.count, 0);
	assert_int_equal(write(fd, "a: 1\r\n", 6), 6);
	assert_int_equal(yaml_open(name, "builtin:x", &f, &d, &e), 0);
	assert_string_equal(f.path, "builtin:x");
	assert_string_equal(yaml_find(&f, "a")->text, "1");
	yaml_close(&f);
	/* A hundred megabytes of nothing: told from its size. */
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	assert_int_equal(yaml_open(name, name, &f, &d, &e), -EINVAL);
	assert_string_equal(d.list[0].rule, "RC-INP-007");
	assert_int_equal(yaml_open("/dev/zero", "x", &f, &d, &e), -EINVAL);
	assert_int_equal(d.count, 2);
	assert_string_equal(d.list[1].text, "not a regular file");
	close(fd);
	unlink(name);
	/* Nobody writes to it: opening it must not wait. */
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_int_equal(yaml_open(name, name, &f, &d, &e), -EINVAL);
	assert_string_equal(d.list[2].text, "not a regular file");
	unlink(name);
	diags_clear(&d);
}

/* Lines end where the parser says, or findings would show the wrong one. */
static void test_line_breaks(void **state)
{
	static const struct {
		const char *in;
		int line;
	} cases[] = {
		{"a: 1\nb: 2", 2},
		{"a: 1\r\n\r\nb: 2\r\n", 3},
		{"a: 1\r\rb: 2\r", 3},
		{"# \xc2\x85"
		 "b: 2\n",
		 2},
		{"# \xe2\x80\xa8# \xe2\x80\xa9"
		 "b: 2\n",
		 3},
		{"# \xc3\xa4\xe2\x82\xac\nb: 2\n", 2},
		{"b: 2", 1},
	};
	struct yaml_finding what = {DIAG_ERROR, "RC-INP-016", NULL, NULL};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct yaml_file f;
		struct diags d;

		assert_int_equal(parse(cases[i].in, strlen(cases[i].in), &f, &d), 0);
		assert_int_equal(yaml_find(&f, "b")->line, cases[i].line);
		(void)yaml_report(&f, yaml_find(&f, "b"), &what, &d, "x");
		assert_string_equal(d.list[0].source, "b: 2");
		yaml_close(&f);
		diags_clear(&d);
	}
}

/* Findings far down a file of many lines: a minute when each counts the lines anew. */
static void test_many_findings(void **state)
{
	static char text[1000000];
	size_t used = 900000;
	struct timespec start, end;
	struct yaml_file f;
	struct diags d;

	(void)state;
	memset(text, '\n', used);
	used += sprintf(text + used, "a:\n");
	for (unsigned int i = 0; i < 900; i++)
		used += sprintf(text + used, "- {k: %u, k: 1}\n", i);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(parse(text, used, &f, &d), -EINVAL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_int_equal(d.count, 900);
	assert_string_equal(d.list[899].source, "- {k: 899, k: 1}");
	assert_true(end.tv_sec - start.tv_sec < 10);
	diags_clear(&d);
}

static void test_report(void **state)
{
	static const char text[] = "a:\n  b: c\n";
	struct yaml_finding what = {DIAG_WARNING, "RC-INP-016", "note", "word"};
	struct yaml_file f;
	struct diags d;

	(void)state;
	assert_int_equal(parse(text, strlen(text), &f, &d), 0);
	assert_int_equal(yaml_report(&f, yaml_find(&f, "a.b"), &what, &d, "%d", 7), -EINVAL);
	assert_int_equal(yaml_report(&f, NULL, &what, &d, "whole"), -EINVAL);
	assert_int_equal(d.errors, 0);
	assert_string_equal(d.list[0].source, "  b: c");
	assert_int_equal(d.list[0].column, 6);
	assert_null(d.list[1].source);
	free(d.list[0].source);
	d.list[0].source = NULL;
	assert_int_equal(yaml_attach_source(&f, &d, 0), 0);
	assert_string_equal(d.list[0].source, "  b: c");
	assert_null(d.list[1].source);
	assert_int_equal(diag_set_source(&d.list[0], "a\033[2J\xff"), 0);
	assert_string_equal(d.list[0].source, "a?[2J?");
	yaml_close(&f);
	diags_clear(&d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),	      cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_duplicate),     cmocka_unit_test(test_items),
		cmocka_unit_test(test_limits),	      cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_findings_kept), cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_files),	      cmocka_unit_test(test_report),
		cmocka_unit_test(test_line_breaks),   cmocka_unit_test(test_many_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
