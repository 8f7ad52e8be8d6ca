/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether lldpad runs, out of a /proc that is a folder here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dcb/owner.h"
#include "profiles/base.h"

#define UNIX "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LINE "0000000000000000: 00000002 00000000 00000000 0002 01  1234 "

static void put(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_dir(const char *dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void put_link(const char *dir, const char *pid, const char *net)
{
	char path[128], ns[32];

	snprintf(ns, sizeof(ns), "%s/ns", pid);
	put_dir(dir, ns);
	snprintf(path, sizeof(path), "%s/%s/net", dir, ns);
	assert_int_equal(symlink(net, path), 0);
}

static void test_lldpad(void **state)
{
	static const struct {
		const char *name, *sockets, *comm;
		pid_t want;
		bool waits;
		const char *net;
	} cases[] = {
		{"nothing", UNIX, "sh\n", 0, false, NULL},
		{"socket and process", UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 42, false,
		 NULL},
		{"systemd holds the socket", UNIX LINE "@/com/intel/lldpad\n", "systemd\n", 0,
		 true, NULL},
		{"of another network namespace", UNIX, "lldpad\n", 0, false, NULL},
		{"a client of it alone", UNIX LINE "@/com/intel/lldpad/99\n", "lldpad\n", 0, false,
		 NULL},
		{"a name that begins alike", UNIX LINE "@/com/intel/lldpad\n", "lldpad-x\n", 0,
		 true, NULL},
		{"one of a container, and systemd holds our socket",
		 UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 0, true, "net:[4026532999]"},
		{"ours beside a container's", UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 42,
		 false, "net:[4026531840]"},
		{"a path, not abstract", UNIX LINE "/com/intel/lldpad\n", "lldpad\n", 0, false,
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char dir[] = "/tmp/test_owner.XXXXXX", command[64];
		pid_t pid;

		assert_non_null(mkdtemp(dir));
		put_dir(dir, "net");
		put(dir, "net/unix", cases[i].sockets);
		put_dir(dir, "42");
		put(dir, "42/comm", cases[i].comm);
		put_dir(dir, "self");
		if (cases[i].net) {
			put_link(dir, "42", cases[i].net);
			put_link(dir, "self", "net:[4026531840]");
		}
		pid = owner_lldpad(dir);
		if (pid != cases[i].want)
			fail_msg("%s: %d", cases[i].name, (int)pid);
		if (owner_lldpad_waits(dir) != cases[i].waits)
			fail_msg("%s: waits", cases[i].name);
		snprintf(command, sizeof(command), "rm -rf %s", dir);
		assert_int_equal(system(command), 0);
	}
	assert_int_equal(owner_lldpad("/no/such/folder"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lldpad)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
