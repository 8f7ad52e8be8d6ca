/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man of a transaction: a process of its own that puts the former settings back unless
 * somebody confirms in time. It is there before the first write, and it stays when the tool that
 * armed it is killed, when the login ends, and when the very port that carries the login is broken:
 * another session, no terminal, and a cgroup outside that of the login where the system has cgroup
 * v2 and lets us (cgroups(7)). It has the transaction in locked memory and needs neither lock nor
 * storage for the undo; it records it behind that, in a child with a time limit.
 *
 * It alone decides whether the transaction is confirmed: others ask it by the socket RUN/ID, which
 * is there as long as it lives.
 */
#ifndef DCB_DEADMAN_H
#define DCB_DEADMAN_H

#include "dcb/apply/journal.h"

struct deadman; /* opaque: the tool's end */

struct deadman_start {
	const struct state *state; /* open; used below its descriptors */
	struct state_at at;	   /* the same; its strings outlive the handle */
	const struct tx *tx;	   /* recorded, nothing written yet */
	/* Opens the machine anew, in the dead-man. NULL: dcb_open() of this host. */
	int (*open)(struct dcb **dcb, struct err *e);
};

/* What it could not have. */
enum deadman_lack {
	DEADMAN_LACKS_CGROUP = 1, /* the end of the login's cgroup takes it along */
	DEADMAN_LACKS_OOM = 2,	  /* it is ended like others when memory is short */
};

/* Starts it and waits until it is ready. Or -errno with nothing left behind. */
int deadman_arm(const struct deadman_start *start, struct deadman **d, unsigned int *lacks,
		struct err *e);

/* All is written: it reads the ports, and has to be confirmed by confirm_by_ms. */
int deadman_done(struct deadman *d, uint64_t confirm_by_ms, struct err *e);

/* Whether the transaction is undone unless somebody confirms it, or is confirmed already. Else
 * -ECANCELED: it was undone, or its time is over, or nobody is there to undo it. NULL: 0. */
int deadman_check(struct deadman *d, struct err *e);

/* The dead-man goes on alone. */
void deadman_free(struct deadman *d);

/* For those who did not arm it, by the folder of its socket. */

bool deadman_lives(const char *run, const char *id);

/* The first that lives, of any transaction. False: none does. */
bool deadman_find(const char *run, char id[JOURNAL_ID_MAX]);

/* Asks it to let the transaction stand; that is on disk when it says yes. -ECONNREFUSED: it does
 * not live; -ECANCELED and the errors of the storage: it does not stand. */
int deadman_confirm(const char *run, const char *id, struct err *e);

/* The transaction is undone and recorded: it ends. One that does not answer is killed. */
void deadman_stop(const char *run, const char *id);

#endif
