/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether lldpad runs, who passes for it, and how it was started, out of a /proc that is a folder
 * here. The kernel's own list of sockets is asked in tests/golden/owner.bats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "dcb/lldpad/lldpad_process.h"
#include "profiles/base/base.h"
#include "profiles/base/process.h"

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

#define ROOTS "0\t0\t0\t0"

/* Process 42: its name, uids, and executable, a file of this name in the folder bin. */
static void put_process(const char *dir, const char *comm, const char *uids, const char *exe,
			unsigned int mode)
{
	char path[128], file[128], status[128];

	put_dir(dir, "42");
	put(dir, "42/comm", comm);
	snprintf(status, sizeof(status), "Name:\t%sUmask:\t0022\nUid:\t%s\nGid:\t0\t0\t0\t0\n",
		 comm, uids);
	put(dir, "42/status", status);
	put_dir(dir, "bin");
	snprintf(file, sizeof(file), "bin/%s", exe);
	put(dir, file, "");
	snprintf(file, sizeof(file), "%s/bin/%s", dir, exe);
	assert_int_equal(chmod(file, mode), 0);
	snprintf(path, sizeof(path), "%s/42/exe", dir);
	assert_int_equal(symlink(file, path), 0);
}

static void remove_all(const char *dir)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

/* The kernel is not asked for the folder of a test: who made a socket is not known. */
static void test_lldpad(void **state)
{
	static const struct {
		const char *name, *sockets, *comm;
		pid_t want;
		bool stranger;
		const char *net;
	} cases[] = {
		{"nothing", UNIX, "sh\n", 0, false, NULL},
		{"socket and process", UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 42, false,
		 NULL},
		{"socket alone", UNIX LINE "@/com/intel/lldpad\n", "systemd\n", 0, true, NULL},
		{"of another network namespace", UNIX, "lldpad\n", 0, false, NULL},
		{"a client of it alone", UNIX LINE "@/com/intel/lldpad/99\n", "lldpad\n", 0, false,
		 NULL},
		{"a name that begins alike", UNIX LINE "@/com/intel/lldpad\n", "lldpad-x\n", 0,
		 true, NULL},
		{"one of a container, and somebody has our socket",
		 UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 0, true, "net:[4026532999]"},
		{"ours beside a container's", UNIX LINE "@/com/intel/lldpad\n", "lldpad\n", 42,
		 false, "net:[4026531840]"},
		{"a path, not abstract", UNIX LINE "/com/intel/lldpad\n", "lldpad\n", 0, false,
		 NULL},
		{"a stream socket of that name",
		 UNIX "0000000000000000: 00000002 00000000 00010000 0001 01  1234 "
		      "@/com/intel/lldpad\n",
		 "lldpad\n", 0, false, NULL},
		{"a line that is cut short", UNIX "0000000000000000: 00000002 @/com/intel/lldpad\n",
		 "lldpad\n", 0, false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char dir[] = "/tmp/test_lldpad_process.XXXXXX";
		uid_t uid = 1;
		pid_t pid;

		assert_non_null(mkdtemp(dir));
		put_dir(dir, "net");
		put(dir, "net/unix", cases[i].sockets);
		put_process(dir, cases[i].comm, ROOTS, "lldpad", 0755);
		put_dir(dir, "self");
		if (cases[i].net) {
			put_link(dir, "42", cases[i].net);
			put_link(dir, "self", "net:[4026531840]");
		}
		pid = lldpad_find_pid(dir);
		if (pid != cases[i].want)
			fail_msg("%s: %d", cases[i].name, (int)pid);
		if (lldpad_socket_foreign(dir, &uid) != cases[i].stranger ||
		    uid != (cases[i].stranger ? (uid_t)-1 : 1))
			fail_msg("%s: stranger, uid %d", cases[i].name, (int)uid);
		/* Root has to be known for that. */
		assert_false(lldpad_socket_activated(dir));
		remove_all(dir);
	}
	assert_int_equal(lldpad_find_pid("/no/such/folder"), 0);
}

/* Whoever is no root may call a process and a socket so, and start a set-uid program by a link. */
static void test_impostors(void **state)
{
	static const struct {
		const char *name, *comm, *uids, *exe;
		unsigned int mode;
		pid_t want;
	} cases[] = {
		{"lldpad", "lldpad\n", ROOTS, "lldpad", 0755, 42},
		{"after an upgrade", "lldpad\n", ROOTS, "lldpad (deleted)", 0755, 42},
		{"a user's", "lldpad\n", "65534\t65534\t65534\t65534", "lldpad", 0755, 0},
		{"su, by a link", "lldpad\n", "65534\t0\t0\t0", "su", 04755, 0},
		{"sudo, which sets its real uid too", "lldpad\n", ROOTS, "sudo", 04755, 0},
		{"a hard link to it", "lldpad\n", ROOTS, "lldpad", 04755, 0},
		{"set-gid", "lldpad\n", ROOTS, "lldpad", 02755, 0},
		{"an effective uid alone", "lldpad\n", "0\t65534\t0\t0", "lldpad", 0755, 0},
		{"a saved uid", "lldpad\n", "0\t0\t65534\t0", "lldpad", 0755, 0},
		{"no uids", "lldpad\n", "0", "lldpad", 0755, 0},
		{"a file that others may write", "lldpad\n", ROOTS, "lldpad", 0757, 0},
		{"a file that a group may write", "lldpad\n", ROOTS, "lldpad", 0775, 0},
		{"a shell called so", "lldpad\n", ROOTS, "dash", 0755, 0},
		{"a name that begins alike", "lldpad\n", ROOTS, "lldpadx", 0755, 0},
		{"another that was deleted", "lldpad\n", ROOTS, "sudo (deleted)", 0755, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char dir[] = "/tmp/test_lldpad_process.XXXXXX";

		assert_non_null(mkdtemp(dir));
		put_dir(dir, "net");
		put(dir, "net/unix", UNIX LINE "@/com/intel/lldpad\n");
		put_process(dir, cases[i].comm, cases[i].uids, cases[i].exe, cases[i].mode);
		if (lldpad_find_pid(dir) != cases[i].want)
			fail_msg("%s: %d", cases[i].name, (int)lldpad_find_pid(dir));
		if (process_find_daemon(dir, "lldpad") != cases[i].want)
			fail_msg("%s: found", cases[i].name);
		remove_all(dir);
	}
}

/* An executable of somebody else; a process without one, as the kernel's are; none at all. */
static void test_executable(void **state)
{
	char dir[] = "/tmp/test_lldpad_process.XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	put_process(dir, "lldpad\n", ROOTS, "lldpad", 0755);
	assert_int_equal(process_find_daemon(dir, "lldpad"), 42);
	assert_int_equal(process_find_daemon(dir, "lldpd"), 0);
	snprintf(path, sizeof(path), "%s/bin/lldpad", dir);
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(process_find_daemon(dir, "lldpad"), 0);
		assert_int_equal(chown(path, 0, 0), 0);
		assert_int_equal(process_find_daemon(dir, "lldpad"), 42);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(process_find_daemon(dir, "lldpad"), 0);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(process_find_daemon(dir, "lldpad"), 0);
	snprintf(path, sizeof(path), "%s/42/exe", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(process_find_daemon(dir, "lldpad"), 0);
	remove_all(dir);
}

#define NAME "/com/intel/lldpad"

static int bound(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(a.sun_path + 1, name, strlen(name));
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a,
			      offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)),
			 0);
	return fd;
}

/* A name whose second line says that a socket has lldpad's. */
static int forged(int of)
{
	char name[100];
	struct stat st;

	assert_int_equal(fstat(of, &st), 0);
	snprintf(name, sizeof(name), "x\n0: 00000002 00000000 00000000 0002 01 %lu @" NAME,
		 (unsigned long)st.st_ino);
	return bound(name);
}

/* In flight between two sockets, and in no process's table of descriptors. */
static int hidden(int fd, int pair[2])
{
	char room[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	*c = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) || sendmsg(pair[0], &m, 0) != 1)
		return -1;
	return close(fd);
}

/* The kernel says who made the socket of the name, whoever has it now. */
static void test_makers(void **state)
{
	int name, line, other, pair[2];
	uid_t uid = 1;

	(void)state;
	if (geteuid() || unshare(CLONE_NEWNET))
		skip();
	assert_false(lldpad_socket_foreign(NULL, &uid));
	name = bound(NAME);
	if (!lldpad_socket_activated(NULL)) {
		print_message("no unix_diag in this kernel\n");
		skip();
	}
	assert_false(lldpad_socket_foreign(NULL, &uid));
	close(name);
	/* A line that says so of another socket of root's. */
	other = bound("other");
	line = forged(other);
	assert_false(lldpad_socket_activated(NULL));
	assert_false(lldpad_socket_foreign(NULL, &uid));
	close(line);
	close(other);
	assert_int_equal(seteuid(65534), 0);
	name = bound(NAME);
	assert_int_equal(seteuid(0), 0);
	assert_false(lldpad_socket_activated(NULL));
	assert_true(lldpad_socket_foreign(NULL, &uid));
	assert_int_equal(uid, 65534);
	/* A kernel that is not asked does not say. */
	assert_true(lldpad_socket_foreign("/proc/.", &uid));
	assert_int_equal(uid, (uid_t)-1);
	assert_int_equal(hidden(name, pair), 0);
	assert_false(lldpad_socket_activated(NULL));
	assert_true(lldpad_socket_foreign(NULL, &uid));
	assert_int_equal(uid, 65534);
	close(pair[0]);
	close(pair[1]);
	assert_false(lldpad_socket_foreign(NULL, &uid));
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
	char dir[] = "/tmp/test_lldpad_process.XXXXXX", command[64];

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
		assert_true(lldpad_read_options(dir, 42, &options));
		if (*conf == '%')
			snprintf(want, sizeof(want), "%s/42/cwd/%s", dir, conf + 1);
		else
			snprintf(want, sizeof(want), "%s", conf);
		if (options.read_only != cases[i].read_only || strcmp(options.conf, want))
			fail_msg("%s: %d '%s'", cases[i].line, options.read_only, options.conf);
	}
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	assert_false(lldpad_read_options("/no/such/folder", 42, &(struct lldpad_options){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lldpad),	   cmocka_unit_test(test_impostors),
		cmocka_unit_test(test_executable), cmocka_unit_test(test_makers),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
