/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/process.c: which descriptors are closed and which stay, with close_range(2) and
 * without; the signals of a child, the wait for its end; the OOM score, set and given back.
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
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/process.h"

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
	if (process_close_from(FIRST))
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

/* Ends with 0 when each signal of a session is ignored and none is blocked. */
static int ignore_signals(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP, SIGXFSZ};
	sigset_t blocked;

	sigfillset(&blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	process_ignore_signals();
	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++)
		if (raise(numbers[i]))
			return 2;
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	return sigisemptyset(&blocked) ? 0 : 3;
}

static void test_signals(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid)
		_exit(ignore_signals());
	assert_int_equal(process_wait(pid, 10000, &status), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_wait(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_int_equal(process_wait(pid, 0, &status), -ETIMEDOUT);
	assert_int_equal(process_wait(pid, 20, &status), -ETIMEDOUT);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(process_wait(pid, 10000, &status), 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(process_wait(pid, 10000, &status), -ECHILD);
}

static int oom_score(void)
{
	FILE *f = fopen("/proc/self/oom_score_adj", "r");
	int now;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &now), 1);
	fclose(f);
	return now;
}

/* Up alone, which needs no right. */
static void test_oom(void **state)
{
	int before = process_oom();

	(void)state;
	assert_int_equal(process_set_oom(before + 11), before);
	assert_int_equal(oom_score(), before + 11);
	assert_int_equal(process_set_oom(before + 7), before + 11);
	assert_int_equal(oom_score(), before + 7);
	assert_int_equal(process_set_oom(before), before + 7);
	assert_int_equal(oom_score(), before);
	/* Below it is a matter of privilege: the answer is what it was. */
	assert_int_equal(process_set_oom(PROCESS_OOM_NEVER), before);
	before = oom_score();
	assert_true(before == PROCESS_OOM_NEVER || before >= 0);
	assert_int_equal(process_set_oom(before), before);
}

/* A job that the loop's ignored SIGPIPE must not reach. */
static void test_start(void **state)
{
	static char *const shell[] = {"sh", "-c", "kill -PIPE $$; exit 7", NULL};
	static char *const missing[] = {"/nonexistent/job", NULL};
	struct err e = {0};
	int status;
	pid_t child;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(process_start(shell, &child, &e), 0);
	assert_int_equal(process_wait(child, 5000, &status), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(process_start(missing, &child, &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot start '/nonexistent/job': No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),	   cmocka_unit_test(test_start),
		cmocka_unit_test(test_wait),	   cmocka_unit_test(test_oom),
		cmocka_unit_test(test_close_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
