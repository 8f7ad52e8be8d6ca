/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * effort cpu|messages CMD...: runs a command and says on stderr what it and all it started cost:
 * processor time in microseconds, or how many messages went into netlink sockets. The messages are
 * counted by ptrace, which costs time: so one of the two. Exits as the command does.
 */
#include <linux/netlink.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILED 125

static bool take(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};

	return address && process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* All that speak netlink here name the kernel in each call. */
static bool sends(pid_t pid)
{
	struct __ptrace_syscall_info s = {0};
	struct msghdr m = {0};
	sa_family_t family = AF_UNSPEC;
	uint64_t to = 0;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(s), &s) <= 0 ||
	    s.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	if (s.entry.nr == SYS_sendto)
		to = s.entry.args[4];
	else if (s.entry.nr == SYS_sendmsg && take(pid, s.entry.args[1], &m, sizeof(m)))
		to = (uint64_t)(uintptr_t)m.msg_name;
	return take(pid, to, &family, sizeof(family)) && family == AF_NETLINK;
}

/* The first process says how it ended, the others are waited for. */
static int count(pid_t first, unsigned int *messages)
{
	const int options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEFORK |
			    PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
	int status, code = FAILED;
	pid_t pid;

	if (waitpid(first, &status, 0) != first || ptrace(PTRACE_SETOPTIONS, first, 0, options) ||
	    ptrace(PTRACE_SYSCALL, first, 0, 0))
		return FAILED;
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				code = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
			continue;
		}
		if (sig == (SIGTRAP | 0x80))
			*messages += sends(pid);
		if (sig == (SIGTRAP | 0x80) || sig == SIGTRAP || sig == SIGSTOP)
			sig = 0; /* ours: calls, execs, births */
		(void)ptrace(PTRACE_SYSCALL, pid, 0, sig);
	}
	return code;
}

static int measure(pid_t pid)
{
	struct rusage used;
	int status;

	if (waitpid(pid, &status, 0) != pid || getrusage(RUSAGE_CHILDREN, &used))
		return FAILED;
	fprintf(stderr, "effort: %lld us\n",
		(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec +
			used.ru_stime.tv_usec);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

int main(int argc, char **argv)
{
	bool messages = argc > 2 && !strcmp(argv[1], "messages");
	unsigned int n = 0;
	int code;
	pid_t pid;

	if (argc < 3 || (!messages && strcmp(argv[1], "cpu"))) {
		fputs("usage: effort cpu|messages CMD...\n", stderr);
		return FAILED;
	}
	pid = fork();
	if (!pid) {
		if (messages) {
			ptrace(PTRACE_TRACEME, 0, 0, 0);
			raise(SIGSTOP);
		}
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0)
		return FAILED;
	if (!messages)
		return measure(pid);
	code = count(pid, &n);
	fprintf(stderr, "effort: %u messages\n", n);
	return code;
}
