/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A name that /proc/net/unix does not have is free. Of one that it has the kernel is asked by
 * NETLINK_SOCK_DIAG (linux unix_diag.h): it names the user that made a socket, which passing the
 * descriptor on does not change, and is not deceived by a name with a newline, which makes a line
 * of its own in /proc/net/unix. Where it has no unix_diag, such lines are claims: the socket of a
 * process that has one of their inodes is asked for its name itself, by pidfd_getfd(2), and the
 * user is that of the process. Where nobody is found, the name is a stranger's: a user hides the
 * holder by a descriptor that is in flight.
 */
#include "profiles/base/unix_name.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dcb/kernel/nl.h"
#include "profiles/base/daemon.h"

/* Of Linux 5.6, for older headers; on all architectures. */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#define LINES_MAX 1024 /* of /proc/net/unix with the name, most of them a user's */

struct search {
	const char *name;
	bool held, uid_known;
	bool claimed; /* by lines: the socket is asked */
	uid_t uid;
	unsigned int inode[LINES_MAX], inode_count;
};

static bool is_name(const struct nl_attr *a, const char *name)
{
	return a->size == 1 + strlen(name) && !a->data[0] &&
	       !memcmp(a->data + 1, name, strlen(name));
}

static int take_socket(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	const uint8_t *at;
	struct search *s = arg, one = {.name = s->name};
	struct unix_diag_msg m;
	struct nl_attr a;

	if (type != SOCK_DIAG_BY_FAMILY || size < sizeof(m))
		return 0;
	memcpy(&m, payload, sizeof(m));
	at = payload + sizeof(m);
	while (nl_attr_next(&at, payload + size, &a)) {
		if (a.type == UNIX_DIAG_NAME)
			one.held = is_name(&a, s->name);
		if (a.type == UNIX_DIAG_UID && a.size == sizeof(uint32_t)) {
			memcpy(&one.uid, a.data, sizeof(uint32_t));
			one.uid_known = true;
		}
	}
	one.inode[0] = m.udiag_ino;
	one.inode_count = 1;
	/* A name is one's of each type: a stream socket may have it as well. */
	if (one.held && m.udiag_type == SOCK_DGRAM)
		*s = one;
	return 0;
}

static int ask_kernel(struct search *s)
{
	const struct unix_diag_req ask = {
		.sdiag_family = AF_UNIX,
		.udiag_states = UINT32_MAX,
		.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID,
	};
	struct nl_request r;
	struct nl *nl;
	int err = nl_open(NETLINK_SOCK_DIAG, &nl, NULL);

	if (err)
		return err;
	nl_request_init(&r, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
	nl_put(&r, &ask, sizeof(ask));
	err = nl_talk(nl, &r, take_socket, s, NULL);
	nl_shut(nl);
	return err;
}

/* "0000000000000000: 00000002 00000000 00000000 0002 01 1234 @name", the type before the state. */
static void read_sockets(const char *proc, struct search *s)
{
	char path[PATH_MAX], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/unix", proc);
	f = fopen(path, "re");
	while (f && s->inode_count < LINES_MAX && fgets(line, sizeof(line), f)) {
		unsigned int type, inode;
		int end = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*[^:]: %*s %*s %*s %x %*s %u %n", &type, &inode, &end) != 2 ||
		    !end || type != SOCK_DGRAM || line[end] != '@' ||
		    strcmp(line + end + 1, s->name))
			continue;
		s->held = true;
		s->inode[s->inode_count++] = inode;
	}
	if (f)
		fclose(f);
}

/* Asks a socket of another process for its name. */
static bool socket_has_name(pid_t pid, int fd, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNSPEC};
	socklen_t size = sizeof(a), type_size = sizeof(int);
	int process = (int)syscall(SYS_pidfd_open, pid, 0), type = 0;
	int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	const size_t length = strlen(name);
	bool has;

	has = copy >= 0 && !getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &type_size) &&
	      type == SOCK_DGRAM && !getsockname(copy, (struct sockaddr *)&a, &size) &&
	      a.sun_family == AF_UNIX &&
	      size == offsetof(struct sockaddr_un, sun_path) + 1 + length && !a.sun_path[0] &&
	      !memcmp(a.sun_path + 1, name, length);
	if (copy >= 0)
		close(copy);
	if (process >= 0)
		close(process);
	return has;
}

static bool is_searched(const struct search *s, const char *link)
{
	unsigned int inode;

	if (sscanf(link, "socket:[%u]", &inode) != 1)
		return false;
	for (unsigned int i = 0; i < s->inode_count; i++)
		if (s->inode[i] == inode)
			return true;
	return false;
}

/* Whether a process has the socket open. */
static bool has_socket(const char *proc, const char *pid, const struct search *s)
{
	char path[PATH_MAX], link[32];
	struct dirent *d;
	bool has = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%.20s/fd", proc, pid);
	dir = opendir(path);
	while (dir && !has && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);

		link[n < 0 ? 0 : n] = '\0';
		has = is_searched(s, link) &&
		      (!s->claimed || (daemon_same_net(proc, pid) &&
				       socket_has_name((pid_t)strtol(pid, NULL, 10),
						       (int)strtol(d->d_name, NULL, 10), s->name)));
	}
	if (dir)
		closedir(dir);
	return has;
}

/* The first process that has it, of a user if that one is known; its uid where it is not. */
static pid_t find_holder(const char *proc, struct search *s)
{
	DIR *dir = opendir(proc);
	struct dirent *d;
	pid_t pid = 0;

	while (dir && !pid && (d = readdir(dir))) {
		bool all_root;
		uid_t uid;

		if (!isdigit((unsigned char)d->d_name[0]) ||
		    !daemon_uid(proc, d->d_name, &uid, &all_root) ||
		    (s->uid_known && uid != s->uid) || !has_socket(proc, d->d_name, s))
			continue;
		pid = (pid_t)strtol(d->d_name, NULL, 10);
		s->uid = uid;
		s->uid_known = true;
	}
	if (dir)
		closedir(dir);
	return pid;
}

/* A test's /proc is a folder. */
static bool is_kernels(const char *proc)
{
	struct statfs st;

	return !statfs(proc, &st) && st.f_type == PROC_SUPER_MAGIC;
}

void unix_name_find(const char *proc, const char *name, struct unix_name *found)
{
	struct search s = {.name = name};

	*found = (struct unix_name){.holder = UNIX_NAME_FREE};
	if (!proc)
		proc = "/proc";
	read_sockets(proc, &s);
	if (!s.held)
		return;
	s.claimed = !geteuid() && is_kernels(proc);
	/* The question makes the kernel load its module unix_diag, so it is asked only when
	 * somebody has the name, or pretends to. A /proc of a test's has sockets of its own. */
	if (!strcmp(proc, "/proc")) {
		struct search asked = {.name = name};

		if (!ask_kernel(&asked))
			s = asked;
	}
	if (!s.held)
		return;
	if (!s.uid_known || s.uid)
		found->pid = find_holder(proc, &s);
	found->uid = s.uid_known ? s.uid : UNIX_NAME_NOBODY;
	/* Root sees what every process has open; nobody else does. */
	if (s.uid_known ? s.uid != 0 : !geteuid())
		found->holder = UNIX_NAME_STRANGER;
	else
		found->holder = UNIX_NAME_ROOT;
}
