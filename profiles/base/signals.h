/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks signals that would end the process between two changes to the host (SIGHUP, SIGINT,
 * SIGPIPE, ...), catches signals that ask a command to stop in an orderly way, and ignores SIGPIPE.
 */
#ifndef PROFILES_SIGNALS_H
#define PROFILES_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>

#include "profiles/base/base.h"

struct signals_held {
	sigset_t set, old;
};

void signals_hold(struct signals_held *held);

/* Consumes pending signals; returns the number of the first one that asks to stop, else 0. */
int signals_consume(const struct signals_held *held);

/* Discards pending signals, so that they do not end the process, and unblocks the set. */
void signals_release(const struct signals_held *held);

/* Catches SIGINT, SIGTERM and SIGHUP. The returned flag becomes 1 with the first of them, so that
 * the command can stop in an orderly way; the second one ends the process. A wait ends with EINTR.
 */
const atomic_int *signals_catch_stop(void);

/* As signals_catch_stop(), with SIGQUIT, and no second one ends the process: for a command that has
 * to restore the terminal. */
const atomic_int *signals_catch_all(void);

/* Returns the last signal that these caught, 0 without one. of_terminal: every process of the
 * terminal's foreground group has it, too. */
int signals_stop_number(bool *of_terminal);

/* Restores their default action: they end the process. */
void signals_release_stop(void);

/* Blocks SIGINT, SIGTERM and SIGHUP and opens a descriptor that is readable when one of them is
 * pending, for poll(2). Returns the descriptor, which the caller closes, or -errno. */
int signals_open_stop(struct err *e);

/* Ignores SIGPIPE: a write to a closed pipe or socket fails with EPIPE. Stores the former action,
 * for signals_restore_pipe(), in `former`, which may be NULL. */
void signals_ignore_pipe(struct sigaction *former);
void signals_restore_pipe(const struct sigaction *former);

#endif
