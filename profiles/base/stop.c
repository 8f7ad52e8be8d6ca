/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that ask a command to end. A handler is given nothing but the number: what it sets is a
 * variable of this file, which the command looks at between its steps.
 */
#include "profiles/base/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "profiles/base/base.h"

static atomic_int stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static void stop_handle(void (*handler)(int))
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

const atomic_int *cmd_stop_signals(void)
{
	stop_handle(on_signal);
	return &stop;
}

void cmd_stop_release(void)
{
	stop_handle(SIG_DFL);
}
