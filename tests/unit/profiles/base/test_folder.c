/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders that are there, and paths that are none.
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
	char root[] = "/tmp/test_folder.XXXXXX", command[128];
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
