/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/boot_unit.c: roots of folders in which rocecheck's unit is enabled and not, and the
 * facts of the machine beside them, which doctor judges.
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

#include "probe/host/host.h"
#include "profiles/base/base.h"
#include "profiles/base/boot_unit.h"

#define UNIT "rocecheck-apply.service"

/* Shell: a unit in a folder, a link by which another wants it, and a mask. */
#define TREE                                                                                       \
	"cd %s && S=systemd/system; "                                                              \
	"unit() { mkdir -p $1/$S; echo '[Unit]' >$1/$S/" UNIT "; }; "                              \
	"want() { mkdir -p $1/$S/$2; ln -s /nowhere $1/$S/$2/" UNIT "; }; "                        \
	"mask() { mkdir -p $1/$S; ln -s /dev/null $1/$S/" UNIT "; }; %s"

static const struct {
	const char *name, *make, *link; /* NULL: not enabled */
} cases[] = {
	{"nothing", "true", NULL},
	{"enabled", "unit usr/local/lib; want etc multi-user.target.wants",
	 "etc/systemd/system/multi-user.target.wants/" UNIT},
	{"by another target", "unit usr/lib; want etc graphical.target.wants",
	 "etc/systemd/system/graphical.target.wants/" UNIT},
	{"required", "unit etc; want etc a.target.requires",
	 "etc/systemd/system/a.target.requires/" UNIT},
	{"until the next boot", "unit lib; want run multi-user.target.wants",
	 "run/systemd/system/multi-user.target.wants/" UNIT},
	{"by a package", "unit usr/lib; want usr/lib multi-user.target.wants; ln -s usr/lib lib",
	 "usr/lib/systemd/system/multi-user.target.wants/" UNIT},
	{"masked", "unit usr/lib; mask etc; want etc multi-user.target.wants", NULL},
	{"masked until the next boot", "unit usr/lib; mask run; want etc multi-user.target.wants",
	 NULL},
	{"masked by an empty file",
	 "unit usr/lib; want etc multi-user.target.wants; : >etc/$S/" UNIT, NULL},
	{"a mask that does not count", "unit etc; mask usr/lib; want etc multi-user.target.wants",
	 "etc/systemd/system/multi-user.target.wants/" UNIT},
	{"installed alone", "unit usr/lib", NULL},
	{"a link that an uninstalled one left", "want etc multi-user.target.wants", NULL},
	{"a file that is gone",
	 "want etc multi-user.target.wants; ln -s /no/such etc/$S/" UNIT "; unit usr/lib", NULL},
	{"not in a folder of wishes", "unit usr/lib; want etc multi-user.target", NULL},
};

static void make_tree(char *root, const char *make)
{
	char command[1024];

	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), TREE, root, make);
	assert_int_equal(system(command), 0);
}

static void remove_tree(const char *root)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	assert_int_equal(system(command), 0);
}

static void test_enabled(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char root[] = "/tmp/test_boot_unit.XXXXXX", link[PATH_MAX] = "";
		struct host_roots roots = {.sysfs = root, .proc = root, .root = root};
		struct host_state m;
		bool found;
		int fd;

		make_tree(root, cases[i].make);
		fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		found = boot_unit_enabled(fd, UNIT, link);
		close(fd);
		if (found != (cases[i].link != NULL) || (found && strcmp(link, cases[i].link)))
			fail_msg("%s: %d '%s'", cases[i].name, found, link);
		/* Of apply, and of doctor. */
		assert_true(boot_unit_apply_enabled(root) == found);
		host_state_read(&roots, NULL, 0, &m);
		if (m.boot_unit != found)
			fail_msg("%s: doctor says %d", cases[i].name, m.boot_unit);
		remove_tree(root);
	}
	assert_false(boot_unit_apply_enabled("/no/such/folder"));
}

static bool count(const char *link, const char *unit, const char *file, void *arg)
{
	unsigned int *n = arg;

	(void)link;
	assert_string_equal(unit, "q@eth0.timer");
	assert_string_equal(file, "usr/lib/systemd/system/q@.timer");
	++*n;
	return false;
}

/* The file of an instance; folders that are the same one are read once. */
static void test_each(void **state)
{
	char root[] = "/tmp/test_boot_unit.XXXXXX", file[PATH_MAX];
	unsigned int n = 0;
	int fd;

	(void)state;
	make_tree(root, "mkdir -p usr/lib/$S/a.target.wants; ln -s usr/lib lib; cd usr/lib/$S; "
			"echo x >q@.timer; ln -s ../q@.timer a.target.wants/q@eth0.timer; "
			"ln -s /dev/null q@eth1.timer; ln -s ../q@.timer "
			"a.target.wants/q@eth1.timer; "
			"ln -s ../gone.service a.target.wants/");
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	boot_unit_each(fd, count, &n);
	assert_int_equal(n, 1);
	assert_true(boot_unit_file(fd, "q@.timer", file));
	assert_false(boot_unit_file(fd, "q@eth1.timer", file));
	assert_false(boot_unit_file(fd, "@", file));
	assert_false(boot_unit_file(fd, "", file));
	close(fd);
	remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enabled),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
