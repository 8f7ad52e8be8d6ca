/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether lldpad runs and how it was started, out of a /proc that is a folder here.
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
		{"systemd holds the socket", UNIX LINE "@/com/intel/lldpad\n", "systemd\n", 0, true,
		 NULL},
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

/* Whoever is no root may call a process and a socket so. */
static void test_impostor(void **state)
{
	char dir[] = "/tmp/test_owner.XXXXXX", path[64], command[64];

	(void)state;
	if (geteuid())
		skip();
	assert_non_null(mkdtemp(dir));
	put_dir(dir, "net");
	put(dir, "net/unix", UNIX LINE "@/com/intel/lldpad\n");
	put_dir(dir, "42");
	put(dir, "42/comm", "lldpad\n");
	snprintf(path, sizeof(path), "%s/42", dir);
	assert_int_equal(owner_lldpad(dir), 42);
	assert_int_equal(chown(path, 1000, 1000), 0);
	assert_int_equal(owner_lldpad(dir), 0);
	assert_true(owner_lldpad_waits(dir));
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* getopt(3) lets options stand together, and a value behind its letter. */
static void test_options(void **state)
{
	static const struct {
		const char *line; /* ; for NUL */
		bool read_only;
		const char *conf; /* %: the folder it was started in */
	} cases[] = {
		{"/usr/sbin/lldpad;", false, ""},
		{"lldpad;-t;", false, ""},
		{"lldpad;-R;", true, ""},
		{"lldpad;-tR;", true, ""},
		{"lldpad;-V;7;-R;", true, ""},
		{"lldpad;-V7R;", false, ""},
		{"lldpad;-f;/etc/a.conf;", false, "/etc/a.conf"},
		{"lldpad;-f/etc/a.conf;-R;", true, "/etc/a.conf"},
		{"lldpad;-dtf;/etc/a.conf;-R;", true, "/etc/a.conf"},
		{"lldpad;-f;-R;", false, "%-R"},
		{"lldpad;-d;-f;a.conf;", false, "%a.conf"},
		{"lldpad;-f", false, ""},
		{"", false, ""},
	};
	char dir[] = "/tmp/test_owner.XXXXXX", command[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	put_dir(dir, "42");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[64], want[64];
		const char *conf = cases[i].conf;
		struct lldpad_options options;
		FILE *f;

		snprintf(path, sizeof(path), "%s/42/cmdline", dir);
		f = fopen(path, "w");
		assert_non_null(f);
		for (const char *c = cases[i].line; *c; c++)
			fputc(*c == ';' ? '\0' : *c, f);
		fclose(f);
		assert_true(owner_lldpad_options(dir, 42, &options));
		if (*conf == '%')
			snprintf(want, sizeof(want), "%s/42/cwd/%s", dir, conf + 1);
		else
			snprintf(want, sizeof(want), "%s", conf);
		if (options.read_only != cases[i].read_only || strcmp(options.conf, want))
			fail_msg("%s: %d '%s'", cases[i].line, options.read_only, options.conf);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	assert_false(owner_lldpad_options("/no/such/folder", 42, &(struct lldpad_options){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lldpad),
		cmocka_unit_test(test_impostor),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
