/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/descriptors.c: what is closed and what stays, with close_range(2) and without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/descriptors.h"

#define FIRST 40

/* As an old kernel, or the filter of a container. */
static int refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int child(bool refused)
{
	for (int fd = FIRST - 1; fd < FIRST + 20; fd++)
		if (dup2(STDERR_FILENO, fd) < 0)
			return 2;
	if (refused && refuse_close_range())
		return 77;
	if (descriptors_close_from(FIRST))
		return 3;
	for (int fd = FIRST; fd < FIRST + 20; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 4;
	return fcntl(FIRST - 1, F_GETFD) < 0;
}

static void test_close_from(void **state)
{
	(void)state;
	for (int refused = 0; refused < 2; refused++) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (!pid)
			_exit(child(refused));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
