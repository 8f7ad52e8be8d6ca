/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state folder: STATE_DIR with tx/ (journals), last/ (kept profiles) and the locks. All of it
 * is root's alone (0700, locks 0600): whoever can open a lock can hold it. It is opened once and
 * worked on by its descriptors, so that a change of the working directory or of a name on the way
 * to it changes nothing.
 */
#ifndef DCB_STATE_H
#define DCB_STATE_H

#include "profiles/base/file.h"

#define STATE_LOCK_MS 10000 /* a confirmation or an undo waits so long for another one to end */

/* A zeroed struct and one after state_close() hold nothing. */
struct state {
	struct folder dir, tx, last; /* path NULL: not there */
};

/* Opens an existing one. -ENOENT; -EACCES with the hint to run as root; -EPERM when it belongs to
 * another user or others can write to it. What other users could read is made private. */
int state_open(const char *path, struct state *s, struct err *e);

/* As state_open(), but what is missing is made, and it must be private in the end. */
int state_make(const char *path, struct state *s, struct err *e);

void state_close(struct state *s);

/*
 * Takes the lock of a folder, STATE_DIR or STATE_DIR/last: one process at a time. Waits wait_ms for
 * another process, then -EBUSY with its pid, if it is known. *fd holds the lock until close(). It
 * is a lock of the open file (fcntl(2), F_OFD_SETLK): whether it is taken can be asked without
 * trying.
 */
int state_lock(const struct folder *folder, unsigned int wait_ms, int *fd, struct err *e);

/* Likewise without a wait, and without the pid in the lock file: nothing is written to the storage.
 */
int state_try_lock(const struct folder *folder, int *fd, struct err *e);

/* Whether somebody holds the lock of STATE_DIR now. Disturbs nobody. False when it cannot be read.
 */
bool state_busy(const char *path);

#endif
