/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See signals.h. A held signal stays pending, so nothing runs in a handler.
 */
#include "profiles/base/signals.h"

#include <pthread.h>
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

int signals_take(const struct signals_held *held)
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
	(void)signals_take(held);
	pthread_sigmask(SIG_SETMASK, &held->old, NULL);
}
