/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a running lldpad, the owner of its socket, and the options it was started with.
 */
#ifndef DCB_LLDPAD_PROCESS_H
#define DCB_LLDPAD_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#define LLDPAD_SOCKET "/com/intel/lldpad" /* abstract */

/*
 * Returns the pid of a running lldpad of this network namespace, 0 without one. proc: NULL = /proc.
 * Checks its socket without connecting: a datagram would start an lldpad by systemd's socket
 * activation. It must be a daemon (profiles/base/process.h), and its socket must be its own.
 */
pid_t lldpad_find_pid(const char *proc);

/* Returns true when root listens on lldpad's socket though no lldpad runs: systemd, which starts
 * lldpad at the first datagram. */
bool lldpad_socket_activated(const char *proc);

/* Returns true when another user than root holds the name of lldpad's socket, so that no lldpad can
 * start; uid -1: unknown, because the kernel has no unix_diag, and no lldpad runs. */
bool lldpad_socket_foreign(const char *proc, uid_t *uid);

/* Start options of an lldpad. */
struct lldpad_options {
	bool read_only; /* -R: it sets no ETS, PFC or APP */
	char conf[256]; /* -f FILE, below /proc if it is relative; "": the default file */
};

/* Reads them from the command line of process pid. Returns false when it has ended. */
bool lldpad_read_options(const char *proc, pid_t pid, struct lldpad_options *options);

#endif
