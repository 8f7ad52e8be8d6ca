/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are one element of a path, names that links point to, and the first in a folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcb/kernel/sysfs.h"
#include "profiles/base/base.h"

static void test_elements(void **state)
{
	static const char *const bad[] = {NULL, "", ".", "..", ".x", "a/b", "/a", "a/"};
	static const char *const good[] = {"eth0", "mlx5_0", "0000:65:00.0", "a..b"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		if (sysfs_is_element(bad[i]))
			fail_msg("'%s' is taken", bad[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(sysfs_is_element(good[i]));
}

/* A folder of the test with what the commands make in it; a descriptor of it. */
static int make_root(char *root, const char *commands)
{
	char command[256];
	int fd;

	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "cd %s && %s", root, commands);
	assert_int_equal(system(command), 0);
	fd = open(root, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	return fd;
}

static void remove_root(const char *root, int fd)
{
	char command[64];

	close(fd);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static void test_links(void **state)
{
	static const struct {
		const char *link;
		bool found;
		const char *name;
	} cases[] = {
		{"driver", true, "mlx5_core"}, {"bare", true, "ice"}, {"long", false, ""},
		{"slash", true, ""},	       {"none", false, ""},   {"file", false, ""},
	};
	char root[] = "/tmp/test_sysfs.XXXXXX", name[16];
	int fd;

	(void)state;
	fd = make_root(root, "ln -s ../../bus/pci/drivers/mlx5_core driver && ln -s ice bare && "
			     "ln -s a/name_of_16_bytes long && ln -s a/ slash && touch file");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		strcpy(name, "before");
		if (sysfs_link_name(fd, cases[i].link, name, sizeof(name)) != cases[i].found ||
		    strcmp(name, cases[i].name))
			fail_msg("%s: '%s'", cases[i].link, name);
	}
	assert_false(sysfs_link_name(-1, "driver", name, sizeof(name)));
	remove_root(root, fd);
}

/* What is hidden or too long is passed over. */
static void test_first_names(void **state)
{
	static const struct {
		const char *folder;
		bool found;
		const char *name;
	} cases[] = {
		{"net", true, "eth0"}, {"odd", true, "eth1"}, {"empty", false, ""},
		{"file", false, ""},   {"none", false, ""},
	};
	char root[] = "/tmp/test_sysfs.XXXXXX", name[16];
	int fd;

	(void)state;
	fd = make_root(root, "mkdir -p net/eth0 odd/.x odd/name_of_16_bytes odd/eth1 empty/.x && "
			     "touch file");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		strcpy(name, "before");
		if (sysfs_first_name(fd, cases[i].folder, name, sizeof(name)) != cases[i].found ||
		    strcmp(name, cases[i].name))
			fail_msg("%s: '%s'", cases[i].folder, name);
	}
	assert_false(sysfs_first_name(-1, "net", name, sizeof(name)));
	remove_root(root, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_first_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
