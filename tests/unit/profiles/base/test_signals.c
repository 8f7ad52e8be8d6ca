/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/base/signals.c: which signal sets the flag, which ends the process, which makes the
 * descriptor readable, and what is consumed while signals are held.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/signals.h"

/* The child's exit code, or its signal as a negative number. */
static int run(int (*child)(int), int number)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(child(number));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int caught_once(int number)
{
	const atomic_int *stop = signals_catch_stop();

	raise(number);
	return *stop;
}

static int caught_number(int number)
{
	bool of_terminal = true;

	(void)caught_once(number);
	return signals_stop_number(&of_terminal) == number && !of_terminal ? 1 : 2;
}

static int caught_twice(int number)
{
	(void)caught_once(number);
	raise(number);
	return 1;
}

static int released(int number)
{
	(void)signals_catch_stop();
	signals_release_stop();
	raise(number);
	return 1;
}

static int all_caught_twice(int number)
{
	const atomic_int *stop = signals_catch_all();

	raise(number);
	raise(number);
	return *stop;
}

static int readable(int number)
{
	struct err e;
	struct pollfd p = {.fd = signals_open_stop(&e), .events = POLLIN};

	if (p.fd < 0 || poll(&p, 1, 0))
		return 2;
	raise(number);
	return poll(&p, 1, 0);
}

static int held(int number)
{
	struct signals_held h;
	int first;

	signals_hold(&h);
	raise(SIGPIPE);
	raise(number);
	first = signals_consume(&h);
	raise(number);
	signals_release(&h);
	return first;
}

static int pipe_ignored(int number)
{
	struct sigaction former;

	signals_ignore_pipe(&former);
	signals_ignore_pipe(NULL);
	raise(SIGPIPE);
	signals_restore_pipe(&former);
	raise(number);
	return 1;
}

static void test_signals(void **state)
{
	static const struct {
		const char *name;
		int (*child)(int), number, want;
	} cases[] = {
		{"SIGINT sets the flag", caught_once, SIGINT, 1},
		{"SIGTERM sets the flag", caught_once, SIGTERM, 1},
		{"SIGHUP sets the flag", caught_once, SIGHUP, 1},
		{"the number of SIGTERM", caught_number, SIGTERM, 1},
		{"SIGQUIT ends", caught_once, SIGQUIT, -SIGQUIT},
		{"the second SIGINT ends", caught_twice, SIGINT, -SIGINT},
		{"SIGINT ends after the release", released, SIGINT, -SIGINT},
		{"all: no second SIGTERM ends", all_caught_twice, SIGTERM, 1},
		{"all: SIGQUIT", all_caught_twice, SIGQUIT, 1},
		{"SIGHUP is readable", readable, SIGHUP, 1},
		{"SIGQUIT is not readable", readable, SIGQUIT, -SIGQUIT},
		{"SIGTERM is consumed", held, SIGTERM, SIGTERM},
		{"SIGQUIT is consumed", held, SIGQUIT, SIGQUIT},
		{"SIGPIPE ends after the restore", pipe_ignored, SIGPIPE, -SIGPIPE},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		int got = run(cases[i].child, cases[i].number);

		if (got != cases[i].want)
			fail_msg("%s: %d", cases[i].name, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
