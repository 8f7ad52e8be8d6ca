/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders of the state: STATE_DIR with tx/ (journals) and last/ (saved profiles), which survives a
 * reboot, and /run/rocecheck with the locks and the sockets of dead-men, in memory (tmpfs), so that
 * hanging storage blocks neither. Only root has access (0700, locks 0600), because a user who can
 * open a lock can hold it. Folders are opened once and used by descriptor, so that a change of the
 * working directory or of a path has no effect.
 */
#ifndef DCB_STATE_H
#define DCB_STATE_H

#include "profiles/base/file.h"

#define STATE_DIR     "/var/lib/rocecheck"
#define STATE_RUN     "/run/rocecheck"
#define STATE_LOCK_MS 10000 /* timeout of a rollback for the lock */

/* Borrowed paths. */
struct state_at {
	const char *dir; /* STATE_DIR, or --state-dir */
	const char *run; /* STATE_RUN; one lock for all state folders of a host */
};

/* Zeroed, or after state_close(): nothing is open. */
struct state {
	struct folder dir, tx, saved; /* path NULL: does not exist */
};

/* Opens existing folders. -ENOENT; -EACCES with the hint to run as root; -EPERM when it belongs to
 * another user or others can write to it. Removes read access of other users. */
int state_open(const struct state_at *at, struct state *s, struct err *e);

/* As state_open(), but creates missing folders, and fails if they stay readable to others. */
int state_make(const struct state_at *at, struct state *s, struct err *e);

void state_close(struct state *s);

/*
 * Acquires the lock STATE_LOCK or STATE_LOCK_BOOT in the run folder, which it creates if missing.
 * Waits wait_ms for another process, then -EBUSY with its pid, if known. *fd holds the lock until
 * close(). It is an open file description lock (fcntl(2), F_OFD_SETLK), so state_busy() can test it
 * without acquiring it.
 */
#define STATE_LOCK	"lock" /* of processes that change the host */
#define STATE_LOCK_BOOT "boot" /* of processes that apply saved profiles at boot */
int state_lock(const struct state_at *at, const char *name, unsigned int wait_ms, int *fd,
	       struct err *e);

/* Returns true while a process holds STATE_LOCK. False when that cannot be read. */
bool state_busy(const struct state_at *at);

#endif
