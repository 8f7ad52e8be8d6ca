/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man of a transaction as the tool keeps it: armed before the first write, asked again
 * before a user is promised that it is there, and replaced when it has gone.
 */
#ifndef DCB_GUARD_H
#define DCB_GUARD_H

#include "dcb/apply/journal.h"

struct guard; /* opaque */
struct state;

/* How it begins. All of it is copied. */
struct guard_of {
	const char *state_dir;
	const struct tx *tx;	 /* prepared */
	const uint64_t *planned; /* of each port, the fields that may be written */
	uint64_t hung_ms;
	int (*open)(struct dcb **dcb, struct err *e); /* see struct deadman */
};

int guard_arm(const struct guard_of *of, struct guard **guard, bool *own_cgroup, struct err *e);

/* All is written, tx is what it is now: the dead-man learns it, so that it knows its time without
 * the journal, too. As guard_check(). */
int guard_done(struct guard *g, const struct tx *tx, uint64_t confirm_by_ms, struct err *e);

/* Whether the transaction is undone unless somebody confirms it: the dead-man answers, or another
 * one is there now, or the transaction is confirmed already. -ECANCELED: it was undone, or its time
 * is over, and no dead-man begins with it again. NULL: 0. */
int guard_check(struct guard *g, struct err *e);

/* The dead-man goes on. */
void guard_free(struct guard *g);

#endif
