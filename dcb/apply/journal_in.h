/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Journals by the open state folder, for those that hold it open: apply, its dead-man, and what is
 * kept for the next boot. journal.h has the same by path.
 */
#ifndef DCB_JOURNAL_IN_H
#define DCB_JOURNAL_IN_H

#include "dcb/apply/journal.h"
#include "dcb/apply/state.h"

#define JOURNAL_FILE "journal"

int journal_read(const struct state *s, const char *id, struct tx *tx, struct err *e);
int journal_ids(const struct state *s, char (**ids)[JOURNAL_ID_MAX], unsigned int *n,
		struct err *e);
/* Also steps over journals that cannot be used. */
int journal_read_newest(const struct state *s, struct tx *tx, struct err *e);

int journal_make(const struct state *s, struct tx *tx, struct journal **j, struct err *e);
int journal_append_to(const struct state *s, const char *id, struct journal **j, struct err *e);

/* CLOCK_BOOTTIME, ms, until when the transaction has to be confirmed; 0 before its end. */
uint64_t journal_confirm_by_ms(const struct journal *j);

/* A transaction with its ports and steps. -ENOMEM. */
int tx_copy(const struct tx *from, struct tx *to);

#endif
