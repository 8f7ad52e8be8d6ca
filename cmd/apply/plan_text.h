/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `plan` and `apply` share: making the plans of the chosen ports, and printing them.
 */
#ifndef CMD_PLAN_TEXT_H
#define CMD_PLAN_TEXT_H

#include <stdio.h>

#include "dcb/plan/plan.h"
#include "probe/host/snapshot.h"
#include "probe/host/port_users.h"

/* Plans of the ports a profile is about. */
struct plans {
	struct plan *plan;	/* owned */
	struct port_users *use; /* owned: of ports that a step of the plan disrupts */
	unsigned int count;
	bool privileged; /* the reader could also write */
};

/* name: a port; NULL = every RoCE port that the profile selects. Errors: -ENODEV without any. */
int cmd_plans_make(struct dcb *dcb, const struct profile *profile, const char *name,
		   struct plans *plans, struct err *e);
/* The same for the ports of plans that were made, without looking for them: what is left now. */
int cmd_plans_again(struct dcb *dcb, const struct profile *profile, const char *name,
		    const struct plans *before, struct plans *plans, struct err *e);
void cmd_plans_clear(struct plans *plans);

unsigned int cmd_plans_changes(const struct plans *plans);
unsigned int cmd_plans_cannot(const struct plans *plans);

/* The settings step by step, with sign, line of the wish and disruption, and the count at the end.
 */
void cmd_plans_print(const struct plans *plans, const struct profile *profile, FILE *out,
		     bool colour);

/* rocecheck.plan/1 with the users of each port. New reference, NULL on -ENOMEM. */
json_t *cmd_plans_json(const struct plans *plans);

/* "pause.rx on -> off" of one step, cut to fit. */
void cmd_step_text(const struct plan_step *s, char *buf, size_t size);

/* Why nothing should be written now, and the ways out: firmware or lldpad own the port's DCB. 0 or
 * -EBUSY with e filled. */
int cmd_plans_check_owner(const struct plans *plans, struct err *e);

#endif
