/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be done with a transaction that is recorded: put the former values back, look whether
 * what it left still stands, confirm it.
 */
#ifndef DCB_TX_H
#define DCB_TX_H

#include "dcb/apply/journal.h"

enum apply_outcome {
	APPLY_DONE,
	APPLY_UNDONE, /* failed, former state read back as before */
	APPLY_LOST,   /* failed, and e names what is not back */
};

#define TX_WAIT_LINK_S 60 /* for a port that an undo disturbed; as long as apply waits */

/*
 * Writes what differs from the former values of the planned fields back, last first, also of fields
 * that drivers change along with them, and reads all of it again. One port at a time: where that
 * flaps or resets a port, the next one waits until it is back, wait_link_s at most; port[].missing
 * tells. 0 when the former state is back; else e names what is not, or whose former value is not
 * known (-ENODATA).
 */
int tx_restore(struct dcb *dcb, struct tx *tx, unsigned int wait_link_s, struct err *e);

/* Reads what the ports have now into port[].after. */
int tx_read_after(struct dcb *dcb, struct tx *tx, struct err *e);

/* Whether the planned fields still are what the transaction left: 0, or -ESTALE with the first that
 * is not. */
int tx_compare_after(struct dcb *dcb, const struct tx *tx, struct err *e);

/*
 * Undoes transaction id (NULL: the newest that is not undone) under the lock, and ends its
 * dead-man. *tx is what was undone, for the caller to tx_clear(), also on failure. -ENOENT when
 * there is nothing to undo; -EBUSY when another one waits for confirmation.
 */
int tx_rollback(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		enum apply_outcome *outcome, struct err *e);

/* Undoes one of this tool's own whose dead-man is not there any more, as tx_rollback(). APPLY_DONE:
 * it was confirmed meanwhile, and stands. */
int tx_undo_orphaned(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		     enum apply_outcome *outcome, struct err *e);

/* Undoes one that another boot left, as tx_rollback(), but for what a newer transaction that stands
 * has set since. Waits wait_s for each port that it disturbs. */
int tx_undo_other_boot(struct dcb *dcb, const struct state_at *at, const char *id,
		       unsigned int wait_s, struct err *e);

/* Confirms tx, which no other process may decide: reads the ports back first, then records the
 * confirmation, which takes within_ms at most. -ECANCELED, and nothing is recorded, where that
 * could last beyond until_ms (CLOCK_BOOTTIME); else as decide.h has it, or an error of the storage.
 */
int tx_confirm_alone(struct dcb *dcb, const struct state *s, struct tx *tx, unsigned int within_ms,
		     uint64_t until_ms, struct err *e);

/* Confirms transaction id (NULL: the newest). *tx is which one, for tx_clear(). -ENOENT: there is
 * none; otherwise as decide.h has it, or an error of the storage: then it is not confirmed. */
int tx_confirm(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
	       struct err *e);

#endif
