/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks before an apply: settings, privileges, port users, and the user's consent. Both functions
 * print what is wrong and return an exit code; EXIT_OK: apply may start.
 */
#ifndef CMD_APPLY_PREFLIGHT_H
#define CMD_APPLY_PREFLIGHT_H

#include "cmd/apply/plan_text.h"

/* Consent given on the command line. */
struct apply_consent {
	bool approve, disruption;
};

/* Consent that a plan needs. */
struct apply_needs {
	const char *what; /* the prompt: "Apply changes settings of this host", with the tier */
	bool disruption;
};

/* Asks at the terminal for each consent that is needed and not given; refuses without a terminal.
 */
int apply_ask_needs(const struct apply_needs *needs, const struct apply_consent *given);

/* Checks that no consent overrides: unsupported settings, privileges, policy. */
int apply_check_possible(const struct plans *plans, const struct profile *profile);

/* apply_ask_needs() for these plans. Disrupting a port in use needs --accept-disruption. */
int apply_get_consent(const struct plans *plans, const struct profile *profile,
		      const struct apply_consent *given);

#endif
