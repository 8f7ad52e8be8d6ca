/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man ("rollback process" in messages) of a transaction: a process of its own that
 * restores the former settings unless the transaction is confirmed in time. It runs before the
 * first write, and survives the end of apply, of the login, and of the port that carries the login:
 * it has its own session, no terminal, and, where cgroup v2 permits, a cgroup outside that of the
 * login (cgroups(7)). It holds the transaction in locked memory and needs neither lock nor storage
 * for the undo; it records the result afterwards, in a child with a time limit.
 *
 * It alone decides on the confirmation: other processes ask it by the socket RUN/ID, which exists
 * as long as it lives.
 */
#ifndef DCB_DEADMAN_H
#define DCB_DEADMAN_H

#include "dcb/apply/journal.h"

struct deadman; /* opaque: the connection of apply */

struct deadman_start {
	const struct state *state; /* open; used below its descriptors */
	struct state_at at;	   /* the same; its strings outlive the handle */
	const struct tx *tx;	   /* recorded, nothing written yet */
	/* Opens the host again, in the dead-man. NULL: dcb_open() of this host. */
	int (*open)(struct dcb **dcb, struct err *e);
};

/* Protection that the system did not permit. */
enum deadman_lack {
	DEADMAN_LACKS_CGROUP = 1, /* killing the login's cgroup kills it, too */
	DEADMAN_LACKS_OOM = 2,	  /* the OOM killer may kill it */
};

/* Starts a dead-man and waits until it is ready. -errno: none is running. */
int deadman_arm(const struct deadman_start *start, struct deadman **d, unsigned int *lacks,
		struct err *e);

/* Reports that all steps are written: the dead-man reads the ports and waits for a confirmation
 * until confirm_by_ms. */
int deadman_done(struct deadman *d, uint64_t confirm_by_ms, struct err *e);

/* Returns 0 when the dead-man guards the transaction, or it is confirmed already. Else -ECANCELED:
 * it was undone, its time is over, or the dead-man has ended. d NULL: 0. */
int deadman_check(struct deadman *d, struct err *e);

/* Closes the connection; the dead-man goes on. */
void deadman_free(struct deadman *d);

/* For other processes; run: the folder of the socket. */

bool deadman_lives(const char *run, const char *id);

/* Finds a dead-man of any transaction. Returns false without one. */
bool deadman_find(const char *run, char id[JOURNAL_ID_MAX]);

/* Confirms by the dead-man; on success the confirmation is on disk. -ECONNREFUSED: no dead-man;
 * -ECANCELED and errors of the storage: not confirmed. */
int deadman_confirm(const char *run, const char *id, struct err *e);

/* Ends the dead-man of a transaction that is undone and recorded; kills one that does not answer.
 */
void deadman_stop(const char *run, const char *id);

#endif
