/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves the last confirmed profile of each port for the next boot, complete, so that the profile
 * file and its base are not needed then. STATE_DIR/last/IFACE.json; IFACE.json~ is the previous
 * one. IFACE.undo marks a port whose transaction of another boot is not undone yet.
 */
#ifndef DCB_SAVED_H
#define DCB_SAVED_H

#include "dcb/apply/state.h"
#include "dcb/plan/plan.h"
#include "profiles/profile.h"

#define SAVED_SCHEMA "rocecheck.last/1"

struct saved_profile {
	char ifname[16];
	bool rdma;    /* the port had an RDMA device */
	char tx[32];  /* the transaction; "" when there was nothing to change */
	bool persist; /* false: nothing is applied at boot */
	struct profile profile;
};

/*
 * Writes the profile of each port of plans[0..n) beside the journal of transaction tx_id, for
 * saved_commit(); tx_id "": saves it at once. Each file is written atomically.
 */
int saved_stage(const struct state_at *at, const char *tx_id, const struct profile *profile,
		const struct plan *plans, unsigned int n, struct err *e);

/* Saves the staged profiles of a confirmed transaction. 0 also without any. After a crash either
 * the old or the new profile is saved. */
int saved_commit(const struct state_at *at, const char *tx_id, struct err *e);

/* saved_commit() for all confirmed transactions: completes what a crash interrupted. */
int saved_commit_confirmed(const struct state_at *at, struct err *e);

/* Deletes the staged profiles of a transaction. */
int saved_drop(const struct state_at *at, const char *tx_id, struct err *e);

/* Loads the saved profile of a port; the previous one if its transaction was rolled back. -ENOENT
 * without any. */
int saved_load(const struct state_at *at, const char *ifname, struct saved_profile *last,
	       struct err *e);

/* Lists the ports with a saved profile, sorted. One allocation, free() it. */
int saved_list(const struct state_at *at, char (**ifnames)[16], unsigned int *n, struct err *e);

/* Creates STATE_DIR/last/IFACE.undo for these n ports and removes it for all others: udev starts
 * the unit of such a port when its netdev appears. */
int saved_mark_undo(const struct state_at *at, char (*ifnames)[16], unsigned int n, struct err *e);

/* Takes the lock of `apply --last --boot`: waits two minutes for another process, then -EBUSY.
 * Returns a descriptor for close(), or -errno. */
int saved_lock(const struct state_at *at, struct err *e);

#endif
