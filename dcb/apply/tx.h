/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations on a recorded transaction: restore the former values, compare its settings with the
 * ports, confirm it.
 */
#ifndef DCB_TX_H
#define DCB_TX_H

#include "dcb/apply/journal.h"

enum apply_outcome {
	APPLY_DONE,
	APPLY_UNDONE, /* failed, former state restored and read back */
	APPLY_LOST,   /* failed, and e names the fields that are not restored */
};

#define TX_WAIT_LINK_S 60 /* for a port that an undo flaps or resets; as in apply */

/*
 * Restores the former values of the planned fields and of fields that drivers change with them,
 * last first, writes only differences, and reads back. One port at a time: after a flap or reset it
 * waits for the port, at most wait_link_s; port[].missing names the missing part. Returns 0 when
 * the former state is restored; else e names the fields that are not, or whose former value is
 * unknown
 * (-ENODATA).
 */
int tx_restore(struct dcb *dcb, struct tx *tx, unsigned int wait_link_s, struct err *e);

/* Reads the current settings of the ports into port[].after. */
int tx_read_after(struct dcb *dcb, struct tx *tx, struct err *e);

/* Compares the planned fields with the values that the transaction wrote. 0, or -ESTALE with the
 * first difference. */
int tx_compare_after(struct dcb *dcb, const struct tx *tx, struct err *e);

/*
 * Undoes transaction id (NULL: the newest that is not undone) under the lock, and ends its
 * dead-man. *tx is the transaction, for tx_clear(), also on failure. -ENOENT: nothing to undo;
 * -EBUSY: another one waits for confirmation.
 */
int tx_rollback(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		enum apply_outcome *outcome, struct err *e);

/* Undoes a transaction of this process whose dead-man has ended, as tx_rollback(). APPLY_DONE: it
 * was confirmed meanwhile and is kept. */
int tx_undo_orphaned(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
		     enum apply_outcome *outcome, struct err *e);

/* Undoes a transaction of another boot, as tx_rollback(), except fields that a newer, done
 * transaction has set. Waits wait_s for each port that it flaps or resets. */
int tx_undo_other_boot(struct dcb *dcb, const struct state_at *at, const char *id,
		       unsigned int wait_s, struct err *e);

/* Confirms tx when no other process may decide on it: reads the ports back, then records the
 * confirmation, in at most within_ms. -ECANCELED, and nothing is recorded, if that could last
 * beyond until_ms (CLOCK_BOOTTIME); else errors of decide.h or of the storage. */
int tx_confirm_alone(struct dcb *dcb, const struct state *s, struct tx *tx, unsigned int within_ms,
		     uint64_t until_ms, struct err *e);

/* Confirms transaction id (NULL: the one that waits, else the newest); *tx is the transaction, for
 * tx_clear(). -ENOENT: none; errors of decide.h or of the storage: not confirmed. */
int tx_confirm(struct dcb *dcb, const struct state_at *at, const char *id, struct tx *tx,
	       struct err *e);

#endif
