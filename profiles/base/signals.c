/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See signals.h. A blocked signal stays pending, so no handler runs.
 */
#include "profiles/base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <time.h>

/* The first STOP_COUNT ask to stop in an orderly way. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
#define STOP_COUNT 3
#define END_COUNT  4

static void signals_set(sigset_t *set, unsigned int count)
{
	sigemptyset(set);
	for (unsigned int i = 0; i < count; i++)
		sigaddset(set, signals[i]);
}

void signals_hold(struct signals_held *held)
{
	signals_set(&held->set, ARRAY_SIZE(signals));
	pthread_sigmask(SIG_BLOCK, &held->set, &held->old);
}

int signals_consume(const struct signals_held *held)
{
	const struct timespec now = {0};
	int first = 0, n;

	while ((n = sigtimedwait(&held->set, NULL, &now)) > 0)
		if (n != SIGPIPE && !first)
			first = n;
	return first;
}

void signals_release(const struct signals_held *held)
{
	(void)signals_consume(held);
	pthread_sigmask(SIG_SETMASK, &held->old, NULL);
}

/* Signals that ask a command to stop. The handler sets a variable of this file, which the command
 * checks between its steps. */

static atomic_int stop, stop_number, stop_of_terminal;

static void signals_on_stop(int number, siginfo_t *info, void *context)
{
	(void)context;
	stop_number = number;
	stop_of_terminal = info->si_code == SI_KERNEL;
	stop = 1;
}

static void signals_set_handler(unsigned int count, unsigned int flags)
{
	struct sigaction action = {.sa_sigaction = signals_on_stop,
				   .sa_flags = (int)(flags | SA_SIGINFO)};

	for (unsigned int i = 0; i < count; i++)
		sigaction(signals[i], &action, NULL);
}

const atomic_int *signals_catch_stop(void)
{
	signals_set_handler(STOP_COUNT, SA_RESETHAND);
	return &stop;
}

const atomic_int *signals_catch_all(void)
{
	signals_set_handler(END_COUNT, 0);
	return &stop;
}

int signals_stop_number(bool *of_terminal)
{
	*of_terminal = stop_of_terminal;
	return stop_number;
}

void signals_release_stop(void)
{
	for (unsigned int i = 0; i < STOP_COUNT; i++)
		signal(signals[i], SIG_DFL);
}

int signals_open_stop(struct err *e)
{
	sigset_t set;
	int fd;

	signals_set(&set, STOP_COUNT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(e, -errno, "signals") : fd;
}

void signals_ignore_pipe(struct sigaction *former)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGPIPE, &ignore, former);
}

void signals_restore_pipe(const struct sigaction *former)
{
	sigaction(SIGPIPE, former, NULL);
}
