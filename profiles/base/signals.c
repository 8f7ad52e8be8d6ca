/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See signals.h. A blocked signal stays pending, so no handler runs.
 */
#include "profiles/base/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "profiles/base/base.h"

static const int held_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

void signals_hold(struct signals_held *held)
{
	sigemptyset(&held->set);
	for (unsigned int i = 0; i < ARRAY_SIZE(held_signals); i++)
		sigaddset(&held->set, held_signals[i]);
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

static atomic_int stop;

static void signals_on_stop(int number)
{
	(void)number;
	stop = 1;
}

static void signals_set_handler(void (*handler)(int))
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

const atomic_int *signals_catch_stop(void)
{
	signals_set_handler(signals_on_stop);
	return &stop;
}

void signals_release_stop(void)
{
	signals_set_handler(SIG_DFL);
}
