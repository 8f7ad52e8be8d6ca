/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man of a transaction: a process of its own that puts the former state back unless
 * somebody confirms in time. It is there before the first write, and it stays when the tool that
 * armed it is killed, when the login ends, and when the very port that carries the login is broken:
 * another session, no terminal, and a cgroup outside that of the login where the system has cgroup
 * v2 and lets us (cgroups(7)).
 */
#ifndef DCB_DEADMAN_H
#define DCB_DEADMAN_H

#include <sys/types.h>

#include "dcb/journal.h"

struct deadman {
	const char *state_dir, *id; /* the transaction */
	uint64_t hung_ms;	    /* an apply that takes longer is taken for hung, and killed */
	/* Opens the machine anew, in the dead-man. NULL: dcb_open() of this host. */
	int (*open)(struct dcb **dcb, struct err *e);
};

struct deadman_armed {
	pid_t pid;
	bool own_cgroup; /* the end of the login's cgroup does not take it along */
};

/* Starts it and waits until it is ready. 0, or -errno with nothing left behind. */
int deadman_arm(const struct deadman *d, struct deadman_armed *armed, struct err *e);

enum deadman_act {
	DEADMAN_WAIT,
	DEADMAN_END,  /* confirmed, or undone by somebody */
	DEADMAN_UNDO, /* time is up, or the tool died in the middle */
	DEADMAN_KILL, /* the tool hangs: kill it, then undo */
};

/* What to do now. Pure. now_ms: CLOCK_BOOTTIME; hung_ms: when, on that clock, the tool is taken for
 * hung; busy: somebody holds the lock. */
enum deadman_act deadman_next(const struct tx *tx, uint64_t now_ms, uint64_t hung_ms, bool busy);

#endif
