/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where transactions live: STATE_DIR with tx/ (journals) and last/ (kept profiles), which outlives
 * a reboot, and /run/rocecheck with the locks and the sockets of dead-men, which is memory: storage
 * that hangs stops neither. All of it is root's alone (0700, locks 0600): whoever can open a lock
 * can hold it. Folders are opened once and worked on by their descriptors, so that a change of the
 * working directory or of a name on the way changes nothing.
 */
#ifndef DCB_STATE_H
#define DCB_STATE_H

#include "profiles/base/file.h"

#define STATE_DIR     "/var/lib/rocecheck"
#define STATE_RUN     "/run/rocecheck"
#define STATE_LOCK_MS 10000 /* a rollback waits so long for another one to end */

/* Borrowed paths. */
struct state_at {
	const char *dir; /* STATE_DIR, or --state-dir */
	const char *run; /* STATE_RUN; one lock for all state folders of a host */
};

/* A zeroed struct and one after state_close() hold nothing. */
struct state {
	struct folder dir, tx, saved; /* path NULL: not there */
};

/* Opens an existing one. -ENOENT; -EACCES with the hint to run as root; -EPERM when it belongs to
 * another user or others can write to it. What other users could read is made private. */
int state_open(const struct state_at *at, struct state *s, struct err *e);

/* As state_open(), but what is missing is made, and it must be private in the end. */
int state_make(const struct state_at *at, struct state *s, struct err *e);

void state_close(struct state *s);

/*
 * Takes the lock STATE_LOCK or STATE_LOCK_BOOT below the run folder, which is made where it is
 * missing: one process at a time. Waits wait_ms for another process, then -EBUSY with its pid, if
 * it is known. *fd holds the lock until close(). It is a lock of the open file (fcntl(2),
 * F_OFD_SETLK): whether it is taken can be asked without trying.
 */
#define STATE_LOCK	"lock" /* of those who change the host */
#define STATE_LOCK_BOOT "boot" /* of those who apply what was kept */
int state_lock(const struct state_at *at, const char *name, unsigned int wait_ms, int *fd,
	       struct err *e);

/* Whether somebody changes the host now. Disturbs nobody. False when it cannot be read. */
bool state_busy(const struct state_at *at);

#endif
