/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A name that /proc/net/unix does not have is free. Of one that it has the kernel is asked by
 * NETLINK_SOCK_DIAG (linux unix_diag.h): it names the user that made a socket, which passing the
 * descriptor on does not change, and is not deceived by a name with a newline, which makes a line
 * of its own in /proc/net/unix. Where it has no unix_diag, that line counts, and the user is that
 * of a process that has the socket open.
 */
#include "dcb/unix_name.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dcb/daemon.h"
#include "dcb/nl.h"

struct search {
	const char *name;
	bool held, uid_known;
	uid_t uid;
	unsigned int inode;
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
	one.inode = m.udiag_ino;
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
	while (f && !s->held && fgets(line, sizeof(line), f)) {
		unsigned int type, inode;
		int end = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*[^:]: %*s %*s %*s %x %*s %u %n", &type, &inode, &end) != 2 ||
		    !end || type != SOCK_DGRAM || line[end] != '@')
			continue;
		s->held = !strcmp(line + end + 1, s->name);
		s->inode = inode;
	}
	if (f)
		fclose(f);
}

/* Whether a process has the socket open. */
static bool has_socket(const char *proc, const char *pid, unsigned int inode)
{
	char path[PATH_MAX], want[32], link[32];
	struct dirent *d;
	bool has = false;
	DIR *dir;

	snprintf(want, sizeof(want), "socket:[%u]", inode);
	snprintf(path, sizeof(path), "%s/%.20s/fd", proc, pid);
	dir = opendir(path);
	while (dir && !has && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);

		link[n < 0 ? 0 : n] = '\0';
		has = !strcmp(link, want);
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
		    (s->uid_known && uid != s->uid) || !has_socket(proc, d->d_name, s->inode))
			continue;
		pid = strtol(d->d_name, NULL, 10);
		s->uid = uid;
		s->uid_known = true;
	}
	if (dir)
		closedir(dir);
	return pid;
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
	found->holder = s.uid_known && s.uid ? UNIX_NAME_STRANGER : UNIX_NAME_ROOT;
	found->uid = s.uid;
}
