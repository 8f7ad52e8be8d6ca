/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/small_file.c: the first line, all bytes and the value of a key of a file; folders
 * that are there, and paths that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/small_file.h"

static const struct {
	const char *path;
	int err;
} cases[] = {
	{"a", 0}, {"a/b", 0}, {"file", ENOTDIR}, {"none", ENOENT}, {"", ENOENT},
};

static void test_open(void **state)
{
	char root[] = "/tmp/test_small_file.XXXXXX", command[128];
	int fd;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "cd %s && mkdir -p a/b && touch file", root);
	assert_int_equal(system(command), 0);
	fd = open(root, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		DIR *dir = small_file_opendir(fd, cases[i].path);

		if (dir ? cases[i].err != 0 : errno != cases[i].err)
			fail_msg("'%s': %s", cases[i].path, dir ? "opened" : strerror(errno));
		if (dir)
			closedir(dir);
	}
	assert_null(small_file_opendir(-1, "a"));
	assert_int_equal(errno, EBADF);
	close(fd);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static const struct {
	const char *content, *line, *value; /* value: of "Key:"; NULL: none */
} files[] = {
	{"", "", NULL},
	{"one\n", "one", NULL},
	{"one\ttwo\nthree\n", "one", NULL},
	{"Key: 1 kB\nKey: 2\n", "Key: 1 kB", " 1 kB"},
	{"MyKey: 1\nKey:\t2\t3\n", "MyKey: 1", "\t2\t3"},
	{"Key:", "Key:", ""},
	{"Key: 0123456789abcdef0123456789abcdef\n", "Key: 0123456789", " 0123456789abcd"},
};

static void test_files(void **state)
{
	char root[] = "/tmp/test_small_file.XXXXXX", path[64], text[16];

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/file7", root);
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		size_t length = strlen(files[i].content);
		const char *value = files[i].value;
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(files[i].content, f);
		fclose(f);
		assert_true(small_file_line(text, sizeof(text), root, "file%d", 7));
		assert_string_equal(text, files[i].line);
		assert_int_equal(small_file_bytes(text, sizeof(text), root, "file%d", 7),
				 length < sizeof(text) ? length : sizeof(text) - 1);
		assert_memory_equal(text, files[i].content, strlen(text));
		assert_int_equal(small_file_value(text, sizeof(text), "Key:", root, "file%d", 7),
				 value != NULL);
		assert_string_equal(text, value ? value : "");
	}
	assert_int_equal(unlink(path), 0);
	assert_false(small_file_line(text, sizeof(text), root, "file7"));
	assert_int_equal(small_file_bytes(text, sizeof(text), root, "file7"), SMALL_FILE_UNKNOWN);
	assert_false(small_file_value(text, sizeof(text), "Key:", root, "file7"));
	assert_string_equal(text, "");
	assert_int_equal(rmdir(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
