/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs plans as one transaction: records it first, starts a dead-man if it needs a confirmation,
 * and undoes it if a step fails.
 */
#ifndef DCB_PLAN_APPLY_H
#define DCB_PLAN_APPLY_H

#include "dcb/apply/deadman.h"
#include "dcb/apply/tx.h"

/* Called before and after each step. */
typedef void plan_progress(const struct plan *plan, unsigned int step, bool done, void *arg);

struct apply_options {
	struct state_at at;
	unsigned int confirm_within_s; /* 0: needs no confirmation */
	unsigned int wait_link_s;      /* timeout for a flapped or reset port */
	plan_progress *progress;       /* may be NULL */
	void *arg;		       /* of the functions here */
	/* Called when the dead-man runs, before the first write; lacks: enum deadman_lack. May be
	 * NULL. */
	void (*guarded)(unsigned int lacks, void *arg);
	/* Called when the transaction is recorded, before the first write. May be NULL. */
	void (*prepared)(const char *tx_id, void *arg);
	/* Receives the dead-man of a transaction that is done and needs a confirmation, for
	 * deadman_check() and deadman_free(). May be NULL. */
	struct deadman **deadman;
	int (*open)(struct dcb **dcb, struct err *e); /* of the dead-man; NULL: this host */
};

/*
 * Runs plans[0..n) as one transaction under the lock. The first failing step undoes all earlier
 * ones in reverse order. Returns 0, or -errno with *outcome: whether the former state is restored.
 * tx_id is "" if nothing was written.
 */
int plan_apply(struct dcb *dcb, const struct plan *plans, unsigned int n,
	       const struct apply_options *how, char tx_id[JOURNAL_ID_MAX],
	       enum apply_outcome *outcome, struct err *e);

#endif
