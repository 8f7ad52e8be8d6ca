/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an apply may begin. Both print what is wrong and return an exit code, EXIT_OK to go on.
 */
#ifndef CMD_APPLY_GATE_H
#define CMD_APPLY_GATE_H

#include "cmd/plan_text.h"

/* What was accepted on the command line. */
struct apply_consent {
	bool approve, unproven, disruption;
};

/* What no answer at a terminal can change. */
int apply_check_possible(const struct plans *plans, const struct profile *profile);

/* Asks at the terminal for what is needed and not given; without a terminal it is refused. */
int apply_get_consent(const struct plans *plans, const struct profile *profile,
		      const struct apply_consent *given);

#endif
