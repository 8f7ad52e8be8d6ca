/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What speaks against an apply, all of it looked at before anything is written: first what no
 * answer can change, then what a person has to accept, by an option or at the terminal.
 */
#include "cmd/apply/apply_preflight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

static bool preflight_disrupts(const struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++)
		if (plan_disrupts(&plans->plan[i]))
			return true;
	return false;
}

static bool preflight_unproven(const struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++)
		if (plans->plan[i].tier == PLAN_TIER_SOURCE && plan_changes(&plans->plan[i]))
			return true;
	return false;
}

int apply_check_possible(const struct plans *plans, const struct profile *profile)
{
	struct err e = {0};

	if (cmd_plans_check_owner(plans, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (cmd_plans_cannot(plans) && profile->on_unsupported == CHOICE_FAIL) {
		err_set(&e, -EOPNOTSUPP, "%u wishes of the profile are not possible here",
			cmd_plans_cannot(plans));
		err_hint(&e, "take them out, or set 'policy.on_unsupported: warn'");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (cmd_plans_cannot(plans) && profile->on_unsupported == CHOICE_WARN)
		fprintf(stderr, "rocecheck: warning: %u wishes are not possible here\n",
			cmd_plans_cannot(plans));
	if (cmd_plans_changes(plans) && !plans->privileged) {
		err_set(&e, -EPERM,
			"apply needs the capability CAP_NET_ADMIN, in the first user namespace");
		err_hint(&e, "run as root of the host, not of a rootless container");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (preflight_disrupts(plans) && profile->disruption == CHOICE_DENY) {
		err_set(&e, -EPERM,
			"steps flap a link or reset a port, and the profile says "
			"'policy.disruption: deny'");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return EXIT_OK;
}

/* A port in use is not disturbed on a mere yes: whoever says so must have known of it before. */
static int preflight_check_users(const struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++) {
		char text[160];
		struct err e = {0};

		if (!plan_disrupts(&plans->plan[i]) || !plans->use[i].count)
			continue;
		port_user_text(&plans->use[i].user[0], text, sizeof(text));
		err_set(&e, -EBUSY, "%s is in use by %s, and steps flap its link or reset it",
			plans->plan[i].ifname, text);
		err_hint(&e, "end that first, or give --accept-disruption, or set "
			     "'policy.disruption: allow'");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return EXIT_OK;
}

static bool preflight_answered_yes(void)
{
	char line[16];

	return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y') &&
	       (line[1] == '\n' || !strcasecmp(line, "yes\n"));
}

/* What has to be accepted, and the option that does it. */
static int preflight_ask(const char *what, const char *option)
{
	struct err e = {0};

	if (!isatty(STDIN_FILENO)) {
		err_set(&e, -EINVAL, "%s, and nobody is here to ask", what);
		err_hint(&e, "give --%s", option);
		return cmd_fail(EXIT_USAGE, &e);
	}
	fprintf(stderr, "%s. Go on? [y/N] ", what);
	if (preflight_answered_yes())
		return EXIT_OK;
	fputs("Nothing written.\n", stderr);
	return EXIT_FINDINGS;
}

int apply_ask_needs(const struct apply_needs *needs, const struct apply_consent *given)
{
	int rc = given->approve ? EXIT_OK : preflight_ask(needs->what, "auto-approve");

	if (!rc && needs->disruption && !given->disruption)
		rc = preflight_ask("Steps flap a link or reset a port", "accept-disruption");
	return rc;
}

int apply_get_consent(const struct plans *plans, const struct profile *profile,
		      const struct apply_consent *given)
{
	const struct apply_needs needs = {
		.what = preflight_unproven(plans)
				? "Apply writes to this host, with a driver not verified on "
				  "hardware (tier source)"
				: "Apply writes to this host",
		.disruption = preflight_disrupts(plans) && profile->disruption != CHOICE_ALLOW,
	};
	int rc = needs.disruption && !given->disruption ? preflight_check_users(plans) : EXIT_OK;

	return rc ? rc : apply_ask_needs(&needs, given);
}
