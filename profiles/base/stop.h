/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ending in order: for commands that run until they are told to stop, or that must not leave half
 * of their work behind.
 */
#ifndef CMD_STOP_H
#define CMD_STOP_H

#include <stdatomic.h>

/* Watches SIGINT, SIGTERM and SIGHUP. Returns what becomes 1 with the first of them, so that the
 * command ends in order; the second one ends the process. */
const atomic_int *cmd_stop_signals(void);

/* From here on they end the process again. */
void cmd_stop_release(void);

#endif
