/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option tables: every way to write an option, and every way to get it wrong.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/opts.h"

#define WORDS_MAX 8

static bool json, quiet;
static const char *format, *path;
static unsigned int count, ms;
static struct opt_list list;

static const char *const formats[] = {"text", "json", NULL};
static const struct opt opts[] = {
	{.name = "json", .letter = 'j', .kind = OPT_FLAG, .value = &json, .help = ""},
	{.name = "quiet", .letter = 'q', .kind = OPT_FLAG, .value = &quiet, .help = ""},
	{.name = "format",
	 .kind = OPT_STRING,
	 .value = &format,
	 .arg = "F",
	 .help = "",
	 .words = formats},
	{.name = "out", .letter = 'o', .kind = OPT_STRING, .value = &path, .arg = "F", .help = ""},
	{.name = "count",
	 .letter = 'n',
	 .kind = OPT_UINT,
	 .value = &count,
	 .min = 1,
	 .max = 9,
	 .arg = "N",
	 .help = ""},
	{.name = "interval", .kind = OPT_DURATION, .value = &ms, .arg = "T", .help = ""},
	{.name = "allow", .kind = OPT_LIST, .value = &list, .arg = "R", .help = ""},
	{.name = NULL},
};

/* What the words leave: "json quiet format path count ms list operands". */
static void state_text(int argc, char **argv, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%d%d %s %s %u %u %u", json, quiet, format ? format : "-",
			 path ? path : "-", count, ms, list.count);

	for (int i = 0; i < argc; i++)
		n += snprintf(buf + n, size - n, " %s", argv[i]);
}

static const struct {
	const char *words[WORDS_MAX]; /* behind the command's name */
	const char *want;	      /* state, or the error */
} cases[] = {
	{{NULL}, "00 - - 0 0 0"},
	{{"--json", "a"}, "10 - - 0 0 0 a"},
	{{"-jq"}, "11 - - 0 0 0"},
	{{"-qofile"}, "01 - file 0 0 0"},
	{{"-jqo", "file", "b"}, "11 - file 0 0 0 b"},
	{{"a", "--out", "f", "b"}, "00 - f 0 0 0 a b"},
	{{"--out=f"}, "00 - f 0 0 0"},
	{{"--out="}, "00 -  0 0 0"},
	{{"--format", "json"}, "00 json - 0 0 0"},
	{{"-n", "9"}, "00 - - 9 0 0"},
	{{"-n9"}, "00 - - 9 0 0"},
	{{"--interval", "500ms"}, "00 - - 0 500 0"},
	{{"--interval=2m"}, "00 - - 0 120000 0"},
	{{"--allow", "a", "--allow=b"}, "00 - - 0 0 2"},
	{{"--", "--json"}, "00 - - 0 0 0 --json"},
	{{"-"}, "00 - - 0 0 0 -"},
	{{"--jso"}, "unknown option '--jso'"},
	{{"-jx"}, "unknown option '-jx'"},
	{{"--json=1"}, "'--json=1': --json takes no value"},
	{{"--out"}, "--out needs a value (F)"},
	{{"-o"}, "--out needs a value (F)"},
	{{"-o", "a", "--out=b"}, "--out is given twice"},
	{{"--format", "xml"}, "--format: invalid value 'xml'"},
	{{"-n", "0"}, "--count: 0 is out of range: expected 1 to 9"},
	{{"-n", "10"}, "--count: 10 is out of range: expected 1 to 9"},
	{{"-n", "-1"}, "--count: invalid number '-1'"},
	{{"-n", "1x"}, "--count: invalid number '1x'"},
	{{"-n", "99999999999999999999"}, "--count: invalid number '99999999999999999999'"},
	{{"--interval", "5"},
	 "--interval: invalid duration '5': expected a number with a unit (500ms, 10s, 2m, 1h)"},
	{{"--interval", "9999999h"},
	 "--interval: invalid duration '9999999h': expected a number with a unit (500ms, 10s, 2m, "
	 "1h)"},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char words[WORDS_MAX][64], got[256];
		char *argv[WORDS_MAX + 2] = {(char[]){"cmd"}};
		struct err e = {0};
		int argc = 1;

		json = quiet = false;
		format = path = NULL;
		count = ms = list.count = 0;
		for (int k = 0; k < WORDS_MAX && cases[i].words[k]; k++) {
			snprintf(words[k], sizeof(words[k]), "%s", cases[i].words[k]);
			argv[argc++] = words[k];
		}
		if (opts_parse(opts, &argc, argv, false, &e))
			assert_string_equal(e.text, cases[i].want);
		else {
			state_text(argc, argv, got, sizeof(got));
			assert_string_equal(got, cases[i].want);
		}
	}
}

static void test_hints(void **state)
{
	char *argv[] = {(char[]){"cmd"}, (char[]){"--fromat=json"}, NULL};
	struct err e = {0};
	int argc = 2;

	(void)state;
	assert_int_equal(opts_parse(opts, &argc, argv, false, &e), -EINVAL);
	assert_string_equal(e.hint, "did you mean '--format'?");
}

static void test_stop_at_operand(void **state)
{
	char *argv[] = {(char[]){"x"}, (char[]){"-j"}, (char[]){"show"}, (char[]){"-q"}, NULL};
	struct err e = {0};
	int argc = 4;

	(void)state;
	quiet = false;
	assert_int_equal(opts_parse(opts, &argc, argv, true, &e), 0);
	assert_int_equal(argc, 2);
	assert_string_equal(argv[1], "-q");
	assert_false(quiet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_stop_at_operand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
