/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether an apply may begin. Both print what is wrong and return an exit code, EXIT_OK to go on.
 */
#ifndef CMD_APPLY_PREFLIGHT_H
#define CMD_APPLY_PREFLIGHT_H

#include "cmd/apply/plan_text.h"

/* What was accepted on the command line. */
struct apply_consent {
	bool approve, disruption;
};

/* What has to be accepted, besides that something is written. */
struct apply_needs {
	const char *what; /* "Apply writes to this host", and the tier of its drivers */
	bool disruption;
};

/* Asks at the terminal for what is needed and not given; without a terminal it is refused. */
int apply_ask_needs(const struct apply_needs *needs, const struct apply_consent *given);

/* What no answer at a terminal can change. */
int apply_check_possible(const struct plans *plans, const struct profile *profile);

/* apply_ask_needs() for these plans; a port in use is not even asked about. */
int apply_get_consent(const struct plans *plans, const struct profile *profile,
		      const struct apply_consent *given);

#endif
