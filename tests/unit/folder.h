/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A folder of the test, with files from literals. make_dir() and remove_dir() are for the set-up
 * and teardown of a group; who writes a file removes it.
 */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/rocecheck_test_XXXXXX";

static inline int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static inline void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline void remove_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

#endif
