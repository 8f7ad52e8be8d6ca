/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files: kept, dropped, on a full disk, over a link, and into what is no regular file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/outfile.h"
#include "tests/unit/folder.h"

static int write_out(const char *path, const char *text, bool keep, struct err *e)
{
	struct outfile o;
	int err = outfile_open(path, &o, e);

	if (err)
		return err;
	fputs(text, o.stream);
	return outfile_close(&o, keep, e);
}

static void assert_text(const char *path, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(got, want);
}

static void keeps_or_drops(void **state)
{
	char path[64];
	struct err e;

	(void)state;
	path_of("a", path);
	assert_int_equal(write_out(path, "one", true, &e), 0);
	assert_text(path, "one");
	assert_int_equal(write_out(path, "two", false, &e), 0);
	assert_text(path, "one");
	assert_int_equal(write_out(path, "three", true, &e), 0);
	assert_text(path, "three");
}

static void follows_links(void **state)
{
	char path[64], link_path[64];
	struct stat st;
	struct err e;

	(void)state;
	assert_int_equal(symlink(path_of("a", path), path_of("link", link_path)), 0);
	assert_int_equal(write_out(link_path, "by link", true, &e), 0);
	assert_int_equal(lstat(link_path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_text(path, "by link");
}

static void leaves_devices_alone(void **state)
{
	char path[64];
	struct stat st;
	struct err e = {0};

	(void)state;
	assert_int_equal(symlink("/dev/full", path_of("full", path)), 0);
	assert_int_equal(write_out(path, "lost", true, &e), -ENOSPC);
	assert_non_null(strstr(e.text, "/dev/full"));
	assert_int_equal(stat("/dev/full", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(write_out("/dev/null", "gone", true, &e), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

static void names_what_cannot_be_opened(void **state)
{
	struct err e = {0};

	(void)state;
	assert_int_equal(write_out("/nonexistent/x", "", true, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/x"));
	assert_int_not_equal(write_out(dir, "", true, &e), 0);
}

static int tear_down(void **state)
{
	static const char *const names[] = {"a", "link", "full"};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(path_of(names[i], path));
	return remove_dir(state); /* fails when a temporary file was left */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_or_drops),
		cmocka_unit_test(follows_links),
		cmocka_unit_test(leaves_devices_alone),
		cmocka_unit_test(names_what_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, make_dir, tear_down);
}
