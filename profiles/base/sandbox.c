/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seccomp filter of a process that decodes packets: a list of allowed system calls (seccomp(2),
 * linux include/uapi/linux/sched.h for the flags of clone). A filter compares numbers; it cannot
 * follow pointers.
 */
#include "profiles/base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "profiles/base/privileges.h"

/* mask 0: any arguments. Else (argument & mask) == want. */
struct allowed {
	int call;
	unsigned int argument;
	uint64_t mask, want;
};

#define FD_MASK UINT32_MAX /* bits of a descriptor that the kernel reads */

static const struct allowed allowed[] = {
	{SCMP_SYS(read), 0, 0, 0},
	{SCMP_SYS(readv), 0, 0, 0},
	{SCMP_SYS(pread64), 0, 0, 0},
	{SCMP_SYS(lseek), 0, 0, 0},
	{SCMP_SYS(close), 0, 0, 0},
	/* fdopen() */
	{SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFL},
	{SCMP_SYS(fstat), 0, 0, 0},
	/* glibc's fstat() is this with an empty path. */
	{SCMP_SYS(newfstatat), 3, AT_EMPTY_PATH, AT_EMPTY_PATH},
	{SCMP_SYS(ioctl), 1, UINT32_MAX, TCGETS},
	{SCMP_SYS(ioctl), 1, UINT32_MAX, TIOCGWINSZ},
	{SCMP_SYS(brk), 0, 0, 0},
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	{SCMP_SYS(mremap), 0, 0, 0},
	{SCMP_SYS(munmap), 0, 0, 0},
	{SCMP_SYS(madvise), 0, 0, 0},
	{SCMP_SYS(getrandom), 0, 0, 0},
	{SCMP_SYS(clock_gettime), 0, 0, 0},
	{SCMP_SYS(gettimeofday), 0, 0, 0},
	/* glibc's qsort() reads the size of the memory, for long lists. */
	{SCMP_SYS(sysinfo), 0, 0, 0},
	{SCMP_SYS(futex), 0, 0, 0},
	{SCMP_SYS(clone), 0, CLONE_THREAD, CLONE_THREAD},
	{SCMP_SYS(set_robust_list), 0, 0, 0},
	{SCMP_SYS(rseq), 0, 0, 0},
	{SCMP_SYS(sched_yield), 0, 0, 0},
	{SCMP_SYS(sched_getaffinity), 0, 0, 0},
	{SCMP_SYS(gettid), 0, 0, 0},
	{SCMP_SYS(sigaltstack), 0, 0, 0},
	/* Creating the first thread sets up the signals that glibc reserves. */
	{SCMP_SYS(rt_sigaction), 0, UINT32_MAX, 32},
	{SCMP_SYS(rt_sigaction), 0, UINT32_MAX, 33},
	{SCMP_SYS(rt_sigprocmask), 0, 0, 0},
	{SCMP_SYS(rt_sigreturn), 0, 0, 0},
	{SCMP_SYS(restart_syscall), 0, 0, 0},
	{SCMP_SYS(exit), 0, 0, 0},
	{SCMP_SYS(exit_group), 0, 0, 0},
#ifdef __SANITIZE_ADDRESS__
	/* LeakSanitizer at exit stops the process from a child and reads its maps. */
	{SCMP_SYS(clone), 0, CLONE_THREAD, 0},
	{SCMP_SYS(mmap), 2, PROT_EXEC, PROT_EXEC},
	{SCMP_SYS(open), 1, O_ACCMODE, O_RDONLY},
	{SCMP_SYS(openat), 2, O_ACCMODE, O_RDONLY},
	{SCMP_SYS(getdents), 0, 0, 0},
	{SCMP_SYS(getdents64), 0, 0, 0},
	{SCMP_SYS(readlink), 0, 0, 0},
	{SCMP_SYS(readlinkat), 0, 0, 0},
	{SCMP_SYS(ptrace), 0, 0, 0},
	{SCMP_SYS(prctl), 0, 0, 0},
	{SCMP_SYS(process_vm_readv), 0, 0, 0},
	{SCMP_SYS(getpid), 0, 0, 0},
	{SCMP_SYS(getppid), 0, 0, 0},
	{SCMP_SYS(wait4), 0, 0, 0},
	{SCMP_SYS(prlimit64), 0, 0, 0},
#endif
};

static const struct allowed allowed_file[] = {
	{SCMP_SYS(write), 0, 0, 0},
	{SCMP_SYS(writev), 0, 0, 0},
};

static const struct allowed allowed_live[] = {
	{SCMP_SYS(poll), 0, 0, 0},
	{SCMP_SYS(ppoll), 0, 0, 0},
	{SCMP_SYS(recvmsg), 0, FD_MASK, SANDBOX_PARENT_FD},
	{SCMP_SYS(recvfrom), 0, FD_MASK, SANDBOX_PARENT_FD},
	{SCMP_SYS(sendmsg), 0, FD_MASK, SANDBOX_PARENT_FD},
	{SCMP_SYS(sendto), 0, FD_MASK, SANDBOX_PARENT_FD},
	/* libpcap: errors of the socket, drops of the ring, state of the interface. */
	{SCMP_SYS(getsockopt), 0, 0, 0},
	{SCMP_SYS(getsockname), 0, 0, 0},
	{SCMP_SYS(ioctl), 1, UINT32_MAX, SIOCGIFFLAGS},
	{SCMP_SYS(ioctl), 1, UINT32_MAX, SIOCGIFINDEX},
	{SCMP_SYS(getpid), 0, 0, 0},
};

static int sandbox_allow_rows(scmp_filter_ctx filter, const struct allowed *row, size_t rows)
{
	for (size_t i = 0; i < rows; i++) {
		const struct allowed *a = &row[i];
		struct scmp_arg_cmp cmp = SCMP_CMP64(a->argument, SCMP_CMP_MASKED_EQ, a->mask,
						     a->want);
		int err = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, a->call, a->mask ? 1 : 0,
						 &cmp);

		if (err)
			return err;
	}
	return 0;
}

/* Allows a call whose first argument, all 64 bits, is below end. */
static int sandbox_allow_fd_below(scmp_filter_ctx filter, int call, scmp_datum_t end)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_LT, end));
}

/* Libraries that open an optional file continue on EACCES; LeakSanitizer does not. */
static int sandbox_refuse_files(scmp_filter_ctx filter)
{
#ifdef __SANITIZE_ADDRESS__
	(void)filter;
	return 0;
#else
	static const int calls[] = {SCMP_SYS(open), SCMP_SYS(openat), SCMP_SYS(openat2)};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), calls[i], 0);
	return err;
#endif
}

static int sandbox_allow(scmp_filter_ctx filter, enum sandbox_input input)
{
	int err = sandbox_allow_rows(filter, allowed, ARRAY_SIZE(allowed));

	/* Not for SIGSYS, the last signal before the real-time signals. */
	err = err ? err : sandbox_allow_fd_below(filter, SCMP_SYS(rt_sigaction), SIGSYS);
	if (!err && input == SANDBOX_FILE)
		err = sandbox_allow_rows(filter, allowed_file, ARRAY_SIZE(allowed_file));
	if (!err && input == SANDBOX_LIVE) {
		err = sandbox_allow_rows(filter, allowed_live, ARRAY_SIZE(allowed_live));
		err = err ? err
			  : sandbox_allow_fd_below(filter, SCMP_SYS(write), SANDBOX_WRITE_END);
		err = err ? err
			  : sandbox_allow_fd_below(filter, SCMP_SYS(writev), SANDBOX_WRITE_END);
		err = err ? err : sandbox_refuse_files(filter);
	}
	/* clone3 has its flags behind a pointer; with ENOSYS glibc uses clone. */
	return err ? err : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

int sandbox_filter(enum sandbox_input input, uint32_t arch, void **filter)
{
	uint32_t native = seccomp_arch_native();
	int err = 0;

	*filter = seccomp_init(SCMP_ACT_TRAP);
	if (!*filter)
		return -ENOTSUP;
	if (arch && arch != native)
		err = seccomp_arch_add(*filter, arch);
	if (!err && arch && arch != native)
		err = seccomp_arch_remove(*filter, native);
	if (!err)
		err = seccomp_attr_set(*filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = sandbox_allow(*filter, input);
	if (err)
		seccomp_release(*filter);
	return err;
}

const char *sandbox_call(int call, char text[SANDBOX_CALL_MAX])
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call);

	snprintf(text, SANDBOX_CALL_MAX, "system call %d (%s)", call, name ? name : "unknown");
	free(name);
	return text;
}

static volatile int *refused_call; /* a signal handler has no argument */

/* The call was not executed. All calls of malloc() are allowed, so its lock is free here. */
static void sandbox_on_sigsys(int number, siginfo_t *info, void *context)
{
	char call[SANDBOX_CALL_MAX], text[2 * SANDBOX_CALL_MAX];

	(void)number, (void)context;
	if (refused_call) {
		*refused_call = info->si_syscall;
	} else {
		snprintf(text, sizeof(text), "rocecheck: error: %s is not allowed in the sandbox\n",
			 sandbox_call(info->si_syscall, call));
		(void)!write(STDERR_FILENO, text, strlen(text));
	}
	/* This call is refused, too; with SIGSYS blocked, the kernel ends the process. */
	(void)syscall(SYS_tgkill, 0, 0, SIGSYS);
}

int sandbox_enter(enum sandbox_input input, volatile int *refused, struct err *e)
{
	struct sigaction action = {.sa_sigaction = sandbox_on_sigsys, .sa_flags = SA_SIGINFO};
	void *filter;
	int err = sandbox_filter(input, 0, &filter);

	if (err)
		return err_set(e, -ENOTSUP, "seccomp: cannot build the filter (%d)", err);
	json_object_seed(0); /* opens a file the first time */
	refused_call = refused;
	if (sigaction(SIGSYS, &action, NULL))
		err = -errno;
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err ? err_set(e, -ENOTSUP, "seccomp: the kernel rejects the filter (%d)", err) : 0;
}

int sandbox_confine(enum sandbox_input input, bool unfiltered, volatile int *refused, struct err *e)
{
	int err = privileges_drop(e);

#ifdef __SANITIZE_ADDRESS__
	/* LeakSanitizer cannot trace a process that changed its uid. */
	(void)prctl(PR_SET_DUMPABLE, 1);
#endif
	if (!err)
		err = sandbox_enter(input, refused, e);
	if (err != -ENOTSUP)
		return err;
	if (unfiltered)
		return 0;
	err_hint(e, "--no-sandbox decodes packets without this protection");
	return -ENOTSUP;
}
