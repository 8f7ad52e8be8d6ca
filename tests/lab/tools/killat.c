/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * killat N CMD...: runs a command and kills it with SIGKILL at the entry of its Nth system call
 * that changes something, so that this call is not carried out: writing to files, making or
 * removing directories, a netlink set. (A death at fsync leaves what one at the next such call
 * leaves: the page cache outlives the process.) With -s it is killed behind the Nth setting, which
 * is carried out: a netlink set or a write below /sys, of the journal none. Exit 0 when it was
 * killed, 1 when it ended by itself, 125 for errors.
 */
#include <elf.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A netlink message: its first type, and the command if it is generic. */
struct message {
	struct nlmsghdr h;
	struct genlmsghdr g;
};

/* 16 is also the number of generic netlink's control, whose lookups begin with another byte. */
static bool is_lookup(const struct message *m)
{
	return m->h.nlmsg_type == GENL_ID_CTRL && m->g.cmd == CTRL_CMD_GETFAMILY;
}

static bool is_set(pid_t pid, uint64_t address, bool strict)
{
	struct message m = {0};
	struct iovec to = {&m, sizeof(m)}, from = {(void *)(uintptr_t)address, sizeof(m)};

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) < (ssize_t)sizeof(m))
		return false;
	/* One point more, if it does not matter. */
	if (strict && is_lookup(&m))
		return false;
	if (m.h.nlmsg_type == RTM_SETDCB || m.h.nlmsg_type == RTM_NEWLINK)
		return true;
	return m.h.nlmsg_type != RTM_GETLINK && m.h.nlmsg_type != RTM_GETDCB &&
	       m.g.cmd == ETHTOOL_MSG_PAUSE_SET;
}

static bool changes(pid_t pid, const struct __ptrace_syscall_info *s)
{
	switch (s->entry.nr) {
	case SYS_mkdir:
	case SYS_mkdirat:
	case SYS_rmdir:
	case SYS_unlinkat:
	case SYS_rename:
	case SYS_renameat:
	case SYS_renameat2:
	case SYS_ftruncate:
		return true;
	case SYS_write:
		return s->entry.args[0] > 2;
	case SYS_sendto:
		return is_set(pid, s->entry.args[1], false);
	default:
		return false;
	}
}

static bool below_sys(pid_t pid, uint64_t fd)
{
	char link[64], path[8] = "";

	snprintf(link, sizeof(link), "/proc/%d/fd/%u", (int)pid, (unsigned int)fd);
	return readlink(link, path, sizeof(path) - 1) > 0 && !strncmp(path, "/sys/", 5);
}

static bool is_setting(pid_t pid, const struct __ptrace_syscall_info *s)
{
	if (s->entry.nr == SYS_write)
		return below_sys(pid, s->entry.args[0]);
	return s->entry.nr == SYS_sendto && is_set(pid, s->entry.args[1], true);
}

/* How far it is with the calls that count. */
struct progress {
	unsigned int left;
	bool settings; /* those alone, and till they are carried out */
	bool inside;   /* the one call */
};

/* One stop at a call. True when it was the one. */
static bool count(pid_t pid, struct progress *p)
{
	struct __ptrace_syscall_info s = {0};

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(s), &s) <= 0)
		return false;
	if (p->inside)
		return s.op == PTRACE_SYSCALL_INFO_EXIT;
	if (s.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    !(p->settings ? is_setting(pid, &s) : changes(pid, &s)) || --p->left)
		return false;
	p->inside = p->settings;
	return !p->settings;
}

static int follow(pid_t pid, struct progress progress)
{
	int status, sig = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		return 125;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig))
			return 125;
		if (waitpid(pid, &status, 0) != pid)
			return 125;
		if (!WIFSTOPPED(status))
			return 1;
		sig = WSTOPSIG(status);
		if (sig == SIGTRAP)
			sig = 0; /* exec, not for the command */
		if (sig != (SIGTRAP | 0x80))
			continue;
		sig = 0;
		if (!count(pid, &progress))
			continue;
		kill(pid, SIGKILL);
		return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? 0 : 125;
	}
}

int main(int argc, char **argv)
{
	struct progress progress = {.settings = argc > 1 && !strcmp(argv[1], "-s")};
	pid_t pid;

	argv += progress.settings;
	argc -= progress.settings;
	progress.left = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (!progress.left) {
		fputs("usage: killat [-s] N CMD...\n", stderr);
		return 125;
	}
	pid = fork();
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	return pid < 0 ? 125 : follow(pid, progress);
}
