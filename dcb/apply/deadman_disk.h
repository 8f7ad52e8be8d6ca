/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man's work with the state folder, in a thread of its own: where storage hangs, its calls
 * do not return, and the undo must not wait for them. One call at a time; each waits wait_ms at
 * most and is -ETIMEDOUT then. A call that timed out goes on, its result is dropped, and the next
 * one waits for its end first.
 */
#ifndef DCB_DEADMAN_DISK_H
#define DCB_DEADMAN_DISK_H

#include <stdbool.h>

#include "dcb/apply/journal.h"

struct disk; /* opaque */
struct state;

/* For the transaction tx of an open state folder, which stays the caller's. Lasts as long as the
 * process: a thread that hangs cannot be ended. */
int disk_start(const struct state *state, const struct tx *tx, struct disk **disk, struct err *e);

/* Reads the journal anew. *tx is for tx_clear(), and untouched on failure. */
int disk_read(struct disk *d, unsigned int wait_ms, struct tx *tx);

/* Takes the lock of the state folder, without writing to it. -EBUSY when somebody has it. A lock
 * that is taken behind its timeout is ours, too. */
int disk_lock(struct disk *d, unsigned int wait_ms);
void disk_unlock(struct disk *d, unsigned int wait_ms);

/* A newer transaction that is running or done on one of the ports. -ENOENT: there is none. */
int disk_find_newer(struct disk *d, unsigned int wait_ms, char id[JOURNAL_ID_MAX]);

/* Appends the state to the journal. */
int disk_record(struct disk *d, unsigned int wait_ms, enum tx_state state, struct err *e);

/* syslog(3), whose reader may hang with the storage. */
void disk_log(struct disk *d, unsigned int wait_ms, int priority, const char *text);

#endif
