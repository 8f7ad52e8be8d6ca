/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Signals that would end the process between two writes, held back while it changes the machine: a
 * login that ends, a user's interrupt, a reader of its output that goes away. And those that ask a
 * command to end in order, which runs until it is told to stop or must not leave half of its work.
 */
#ifndef PROFILES_SIGNALS_H
#define PROFILES_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>

struct signals_held {
	sigset_t set, old;
};

void signals_hold(struct signals_held *held);

/* Takes those that came; the number of the first one that asked to stop, else 0. */
int signals_consume(const struct signals_held *held);

/* Those that came meanwhile have been heeded and do not end the process any more. */
void signals_release(const struct signals_held *held);

/* Watches SIGINT, SIGTERM and SIGHUP. Returns what becomes 1 with the first of them, so that the
 * command ends in order; the second one ends the process. */
const atomic_int *signals_catch_stop(void);

/* From here on they end the process again. */
void signals_release_stop(void);

#endif
