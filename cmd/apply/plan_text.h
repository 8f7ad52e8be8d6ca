/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes and prints the plans of the chosen ports, for `plan` and `apply`.
 */
#ifndef CMD_PLAN_TEXT_H
#define CMD_PLAN_TEXT_H

#include <stdio.h>

#include "dcb/plan/plan.h"
#include "probe/host/snapshot.h"
#include "probe/host/port_users.h"

/* Plans of the ports that a profile selects. */
struct plans {
	struct plan *plan;	/* owned */
	struct port_users *use; /* owned: users of each port that the plan disrupts */
	unsigned int count;
	bool privileged; /* the reader could also write */
};

/* name: a port; NULL = every RoCE port that the profile selects. Errors: -ENODEV without any. */
int cmd_plans_make(struct dcb *dcb, const struct profile *profile, const char *name,
		   struct plans *plans, struct err *e);
/* Plans the ports of `before` again, without selecting ports: the steps that are left now. */
int cmd_plans_again(struct dcb *dcb, const struct profile *profile, const char *name,
		    const struct plans *before, struct plans *plans, struct err *e);
void cmd_plans_clear(struct plans *plans);

unsigned int cmd_plans_changes(const struct plans *plans);
unsigned int cmd_plans_cannot(const struct plans *plans);

/* "11 of 12 profile settings are not supported on roce0 (and more on 3 other ports)". */
void cmd_plans_unsupported_text(const struct plans *plans, const struct profile *profile, char *buf,
				size_t size);

/* The steps with sign, profile line and disruption, then the legend and the counts. */
void cmd_plans_print(const struct plans *plans, const struct profile *profile, FILE *out,
		     bool colour);

/* Returns rocecheck.plan/1 with the users of each port: a new reference, NULL on -ENOMEM. */
json_t *cmd_plans_json(const struct plans *plans);

/* Checks that neither firmware nor another program owns the DCB settings of the ports. 0, or -EBUSY
 * with the remedy in e. */
int cmd_plans_check_owner(const struct plans *plans, struct err *e);

#endif
