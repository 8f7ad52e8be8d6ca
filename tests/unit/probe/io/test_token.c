/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens: made, checked, and read from files that are the caller's alone.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/io/token.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

static void test_made(void **state)
{
	char a[TOKEN_LENGTH + 1], b[TOKEN_LENGTH + 1];
	struct err e = {0};

	(void)state;
	assert_int_equal(token_make(a, &e), 0);
	assert_int_equal(token_make(b, &e), 0);
	assert_int_equal(strlen(a), 2 * TOKEN_BYTES);
	assert_true(TOKEN_BYTES >= 16); /* 128 bits */
	assert_string_not_equal(a, b);
	assert_int_equal(token_check(a, "made", &e), 0);
}

/* A refusal is one, for a caller without interest in its text too. */
static void test_no_text_wanted(void **state)
{
	char path[] = "/tmp/test-token-XXXXXX";
	struct token_list list;

	(void)state;
	assert_int_equal(token_check("short", "typed", NULL), -EINVAL);
	close(mkstemp(path));
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(token_list_load(path, &list, NULL), -EPERM);
	unlink(path);
}

/* A file with this text in a folder of its own. */
static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_one_for_all(void **state)
{
	static const struct {
		const char *text;
		mode_t mode;
		int want;
	} cases[] = {
		{TOKEN "\n", 0600, 0},
		{TOKEN "\r\nmore\n", 0400, 0},
		{TOKEN, 0600, 0},
		{TOKEN "\n", 0644, -EPERM},
		{TOKEN "\n", 0640, -EPERM},
		{TOKEN "\n", 0620, -EPERM},
		{"", 0600, -EINVAL},
		{"short\n", 0600, -EINVAL},
		{"0123456789abcdef0123456789abcde\n", 0600, -EINVAL}, /* short of one, */
		{"0123456789abcdef0123456789abcdef0\n", 0600, -EINVAL},
		{"correct horse battery staple!!!!\n", 0600, -EINVAL}, /* and none of ours */
		{"0123456789abcdef0123456789abcdeF\n", 0600, -EINVAL},
		{"0123456789abcdef0123456789\xc3\xa9"
		 "abcd\n",
		 0600, -EINVAL},
	};
	char path[] = "/tmp/test-token-XXXXXX";
	struct token_list list;
	struct err e = {0};

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file(path, cases[i].text, cases[i].mode);
		if (token_list_load(path, &list, &e) != cases[i].want)
			fail_msg("'%s': %s", cases[i].text, e.text);
		if (cases[i].want)
			continue;
		assert_string_equal(token_list_find(&list, "h2"), TOKEN);
		assert_string_equal(token_list_find(&list, NULL), TOKEN);
	}
	unlink(path);
	assert_int_equal(token_list_load(path, &list, &e), -ENOENT);
}

/* A token a server, and lines that are none are named. */
static void test_one_each(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"h1 " TOKEN "\n\n h2\t" OTHER "\r\n", NULL},
		{"h1 " TOKEN "\nh2\n", ":2: expected 'HOST TOKEN'"},
		{"h1 " TOKEN "\nh2 short\n", ":2: invalid token"},
		{"h1 " TOKEN " more\n", ":1: expected"},
		{"h1 " TOKEN "\nh1 " OTHER "\n", ":2: a second token for h1"},
	};
	char path[] = "/tmp/test-token-XXXXXX";
	struct token_list list;

	(void)state;
	close(mkstemp(path));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};
		int err;

		write_file(path, cases[i].text, 0600);
		err = token_list_load(path, &list, &e);
		if (!cases[i].want != !err || (err && !strstr(e.text, cases[i].want)))
			fail_msg("'%s': %s", cases[i].text, e.text);
		if (err)
			continue;
		assert_string_equal(token_list_find(&list, "h1"), TOKEN);
		assert_string_equal(token_list_find(&list, "h2"), OTHER);
		assert_null(token_list_find(&list, "h3"));
		assert_null(token_list_find(&list, NULL));
	}
	unlink(path);
}

static void test_too_many(void **state)
{
	char path[] = "/tmp/test-token-XXXXXX";
	struct token_list list;
	struct err e = {0};
	FILE *f = fdopen(mkstemp(path), "w");

	(void)state;
	for (unsigned int i = 0; i <= TOKEN_ROWS_MAX; i++)
		fprintf(f, "h%u %s\n", i, TOKEN);
	fclose(f);
	assert_int_equal(token_list_load(path, &list, &e), -E2BIG);
	unlink(path);
}

/* Another user's file, a symbolic link, a FIFO, which must not hang, and a folder. */
static void test_whose(void **state)
{
	char folder[] = "/tmp/test-token-XXXXXX", path[64], link[64];
	struct token_list list;
	struct err e = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t", folder);
	snprintf(link, sizeof(link), "%s/l", folder);
	write_file(path, TOKEN "\n", 0600);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(token_list_load(link, &list, &e), -ELOOP);
	assert_non_null(strstr(e.text, "symbolic link"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(mkfifo(link, 0600), 0);
	assert_int_equal(token_list_load(link, &list, &e), -EINVAL);
	assert_non_null(strstr(e.text, "not a regular file"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(token_list_load(folder, &list, &e), -EINVAL);
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(token_list_load(path, &list, &e), -EPERM);
		assert_non_null(strstr(e.text, "belongs to uid 65534"));
	}
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),	 cmocka_unit_test(test_one_for_all),
		cmocka_unit_test(test_one_each), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_whose),	 cmocka_unit_test(test_no_text_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
