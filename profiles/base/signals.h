/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks signals that would end the process between two changes to the host (SIGHUP, SIGINT,
 * SIGPIPE, ...), and catches signals that ask a command to stop in an orderly way.
 */
#ifndef PROFILES_SIGNALS_H
#define PROFILES_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>

struct signals_held {
	sigset_t set, old;
};

void signals_hold(struct signals_held *held);

/* Consumes pending signals; returns the number of the first one that asks to stop, else 0. */
int signals_consume(const struct signals_held *held);

/* Discards pending signals, so that they do not end the process, and unblocks the set. */
void signals_release(const struct signals_held *held);

/* Catches SIGINT, SIGTERM and SIGHUP. The returned flag becomes 1 with the first of them, so that
 * the command can stop in an orderly way; the second one ends the process. */
const atomic_int *signals_catch_stop(void);

/* Restores their default action: they end the process. */
void signals_release_stop(void);

#endif
