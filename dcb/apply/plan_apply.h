/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plans run as one transaction: recorded first, with a dead-man where somebody has to confirm it,
 * and undone where anything fails.
 */
#ifndef DCB_PLAN_APPLY_H
#define DCB_PLAN_APPLY_H

#include "dcb/apply/deadman.h"
#include "dcb/apply/tx.h"

/* Called before and after each step. */
typedef void plan_progress(const struct plan *plan, unsigned int step, bool done, void *arg);

/* How a plan is run. */
struct apply_options {
	struct state_at at;
	unsigned int confirm_within_s; /* 0: it stands without confirmation */
	unsigned int wait_link_s;      /* in which a disrupted port has to be back */
	plan_progress *progress;       /* may be NULL */
	void *arg;		       /* of the functions here */
	/* Called once the dead-man is there, before the first write, with what it lacks (enum
	 * deadman_lack). May be NULL. */
	void (*guarded)(unsigned int lacks, void *arg);
	/* Called when the transaction is recorded, before the first write. May be NULL. */
	void (*prepared)(const char *tx_id, void *arg);
	/* Gets the dead-man of a transaction that is done and has to be confirmed, for
	 * deadman_check() and deadman_free(). May be NULL. */
	struct deadman **deadman;
	int (*open)(struct dcb **dcb, struct err *e); /* of the dead-man; NULL: this host */
};

/*
 * Runs plans[0..n) as one transaction under the lock. On the first failing step everything done is
 * undone in reverse. Returns 0; -errno with *outcome telling whether the former state is back.
 * tx_id is "" where nothing was written.
 */
int plan_apply(struct dcb *dcb, const struct plan *plans, unsigned int n,
	       const struct apply_options *how, char tx_id[JOURNAL_ID_MAX],
	       enum apply_outcome *outcome, struct err *e);

#endif
