/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of the test, with files from literals. make_dir() is for the set-up of a test or a
 * group, remove_dir() for the teardown: who writes a file removes it. Or clear_dir(): what is left.
 */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DIR_PATTERN "/tmp/rocecheck_test_XXXXXX"

static char dir[] = DIR_PATTERN;

static inline int make_dir(void **state)
{
	(void)state;
	strcpy(dir, DIR_PATTERN);
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static inline int clear_dir(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static inline const char *path_of(const char *name, char buf[64])
{
	snprintf(buf, 64, "%s/%s", dir, name);
	return buf;
}

static inline void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f = fopen(path_of(name, path), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline void remove_file(const char *name)
{
	char path[64];

	assert_int_equal(unlink(path_of(name, path)), 0);
}

#endif
