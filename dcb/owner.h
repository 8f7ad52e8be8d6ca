/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who else sets the DCB of this host. lldpad writes ETS and PFC again with every LLDPDU (some 30
 * s), so nothing that is applied beside it lasts.
 */
#ifndef DCB_OWNER_H
#define DCB_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Pid of a running lldpad of this network namespace, 0 when there is none. proc: NULL = /proc.
 * Its socket is looked up, never connected to: a datagram would start an lldpad that systemd
 * listens for.
 */
pid_t owner_lldpad(const char *proc);

/* Whether somebody listens on lldpad's socket though no lldpad runs: systemd, which starts one at
 * the first datagram. */
bool owner_lldpad_waits(const char *proc);

/* How an lldpad was started. */
struct lldpad_options {
	bool read_only; /* -R: it sets no ETS, PFC or APP */
	char conf[256]; /* -f FILE; "": its default */
};

/* Reads them from the command line of process pid. False when it has gone. */
bool owner_lldpad_options(const char *proc, pid_t pid, struct lldpad_options *options);

/* Whether a process, by the name of its folder in proc, is of our network namespace. False only
 * when both namespaces are known and differ. */
bool owner_same_net(const char *proc, const char *pid);

#endif
