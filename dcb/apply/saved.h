/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last confirmed profile of each port, kept whole for the next boot: what it extends, and where
 * it lay, need not be there then. STATE_DIR/last/IFACE.json, and IFACE.json~ the one before.
 * IFACE.undo stands for a port of a transaction of another boot that could not be undone yet.
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
 * saved_commit(); "" is none: then it is kept at once. Each file is written whole or not at all.
 */
int saved_stage(const struct state_at *at, const char *tx_id, const struct profile *profile,
		const struct plan *plans, unsigned int n, struct err *e);

/* Keeps what was staged for a transaction that is confirmed. 0 also when nothing was. A crash
 * anywhere leaves the one that was kept, or the new one. */
int saved_commit(const struct state_at *at, const char *tx_id, struct err *e);

/* The same for all transactions that stand and were not kept: a crash came in between. */
int saved_commit_confirmed(const struct state_at *at, struct err *e);

/* Forgets what was staged for a transaction. */
int saved_drop(const struct state_at *at, const char *tx_id, struct err *e);

/* The kept profile of a port. One whose transaction was rolled back does not count, then it is the
 * one before. -ENOENT when there is none. */
int saved_load(const struct state_at *at, const char *ifname, struct saved_profile *last,
	       struct err *e);

/* Names of the ports with a kept profile, sorted. One allocation, free() it. */
int saved_list(const struct state_at *at, char (**ifnames)[16], unsigned int *n, struct err *e);

/* Makes STATE_DIR/last/IFACE.undo for these n ports, and takes it away from all others: udev starts
 * the unit of such a port when its netdev comes. */
int saved_mark_undo(const struct state_at *at, char (*ifnames)[16], unsigned int n, struct err *e);

/* At most one process at a time applies what was kept: waits two minutes for the others, then it is
 * -EBUSY. close() the descriptor, negative is -errno. */
int saved_lock(const struct state_at *at, struct err *e);

#endif
