/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man of a transaction: a process of its own that puts the former state back unless
 * somebody confirms in time. It is there before the first write, and it stays when the tool that
 * armed it is killed, when the login ends, and when the very port that carries the login is broken:
 * another session, no terminal, and a cgroup outside that of the login where the system has cgroup
 * v2 and lets us (cgroups(7)). It has the transaction in locked memory: a disk that is gone or
 * hangs does not stop the undo.
 */
#ifndef DCB_DEADMAN_H
#define DCB_DEADMAN_H

#include <sys/types.h>

#include "dcb/apply/journal.h"

struct state;

struct deadman {
	const struct state *state; /* open; used below its descriptors */
	const struct tx *tx;	   /* the transaction as it is now */
	const uint64_t *planned;   /* of each port of tx, the fields that may be written */
	uint64_t hung_ms;	   /* an apply that takes longer is taken for hung, and killed */
	/* Opens the machine anew, in the dead-man. NULL: dcb_open() of this host. */
	int (*open)(struct dcb **dcb, struct err *e);
};

struct deadman_armed {
	pid_t pid;
	int pidfd, talk; /* -1: none */
	bool own_cgroup; /* the end of the login's cgroup does not take it along */
};

/* Starts it and waits until it is ready. 0, then deadman_leave() or deadman_end(); or -errno with
 * nothing left behind. */
int deadman_arm(const struct deadman *d, struct deadman_armed *armed, struct err *e);

/* Asks whether it is there and waits for its time. With confirm_by_ms (CLOCK_BOOTTIME; 0: not yet)
 * it also learns that all is written. -errno when it does not answer in time, or does not wait any
 * more. */
int deadman_ask(const struct deadman_armed *armed, uint64_t confirm_by_ms);

/* Lets it go on alone. */
void deadman_leave(struct deadman_armed *armed);

/* Kills one that does not answer. */
void deadman_end(struct deadman_armed *armed);

enum deadman_act {
	DEADMAN_WAIT,
	DEADMAN_END,  /* confirmed, or undone by somebody */
	DEADMAN_UNDO, /* time is up, or the tool died in the middle */
	DEADMAN_KILL, /* the tool hangs: kill it, then undo */
};

/* How it is now, besides the transaction. */
struct deadman_view {
	bool tool_gone;	     /* by its pidfd, not by its lock: anybody can hold that */
	bool unreadable;     /* the journal; tx is what was known before */
	uint64_t now_ms;     /* CLOCK_BOOTTIME */
	uint64_t hung_at_ms; /* when, on that clock, the tool is taken for hung */
};

/* What to do now. Pure. */
enum deadman_act deadman_next(const struct tx *tx, const struct deadman_view *view);

#endif
