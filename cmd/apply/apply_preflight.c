/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks before an apply: first those that no consent overrides, then the consent, by an option or
 * at the terminal.
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

/* NULL: all are verified. */
static const char *preflight_unproven_driver(const struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++) {
		const struct plan *p = &plans->plan[i];

		if (p->tier == PLAN_TIER_SOURCE && plan_changes(p))
			return p->driver[0] ? p->driver : "the driver";
	}
	return NULL;
}

int apply_check_possible(const struct plans *plans, const struct profile *profile)
{
	struct err e = {0};
	char text[128];

	if (cmd_plans_check_owner(plans, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (cmd_plans_cannot(plans) && profile->on_unsupported == CHOICE_FAIL) {
		cmd_plans_unsupported_text(plans, profile, text, sizeof(text));
		err_set(&e, -EOPNOTSUPP, "%s; nothing written", text);
		err_hint(&e, plans->plan[0].ibdev[0]
				     ? "remove these settings from the profile, or set "
				       "'policy.on_unsupported: warn'"
				     : "this port has no RDMA device; RoCE ports: rocecheck show");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (cmd_plans_cannot(plans) && profile->on_unsupported == CHOICE_WARN) {
		cmd_plans_unsupported_text(plans, profile, text, sizeof(text));
		fprintf(stderr, "rocecheck: warning: %s\n", text);
	}
	if (cmd_plans_changes(plans) && !plans->privileged) {
		err_set(&e, -EPERM, "apply needs CAP_NET_ADMIN in the initial user namespace");
		err_hint(&e, "run as root on the host; root in a rootless container is not enough");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (preflight_disrupts(plans) && profile->disruption == CHOICE_DENY) {
		err_set(&e, -EPERM,
			"the plan flaps a link or resets a port, and the profile forbids it "
			"('policy.disruption: deny')");
		return cmd_fail(EXIT_USAGE, &e);
	}
	return EXIT_OK;
}

/* Disrupting a port in use needs the option: answering the prompt is not enough. */
static int preflight_check_users(const struct plans *plans)
{
	for (unsigned int i = 0; i < plans->count; i++) {
		char text[160];
		struct err e = {0};

		if (!plan_disrupts(&plans->plan[i]) || !plans->use[i].count)
			continue;
		port_user_text(&plans->use[i].user[0], text, sizeof(text));
		err_set(&e, -EBUSY, "%s is in use by %s, and the plan flaps its link or resets it",
			plans->plan[i].ifname, text);
		err_hint(&e, "stop that use first, or pass --accept-disruption, or set "
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

/* option: the one that gives this consent without a question. */
static int preflight_ask(const char *what, const char *option)
{
	struct err e = {0};

	if (!isatty(STDIN_FILENO)) {
		err_set(&e, -EINVAL,
			"refusing to apply without confirmation: stdin is not a terminal. %s",
			what);
		err_hint(&e, "pass --%s", option);
		return cmd_fail(EXIT_USAGE, &e);
	}
	fprintf(stderr, "%s. Continue? [y/N] ", what);
	if (preflight_answered_yes())
		return EXIT_OK;
	fputs("Nothing written.\n", stderr);
	return EXIT_FINDINGS;
}

int apply_ask_needs(const struct apply_needs *needs, const struct apply_consent *given)
{
	int rc = given->approve ? EXIT_OK : preflight_ask(needs->what, "auto-approve");

	if (!rc && needs->disruption && !given->disruption)
		rc = preflight_ask("The plan flaps a link or resets a port", "accept-disruption");
	return rc;
}

int apply_get_consent(const struct plans *plans, const struct profile *profile,
		      const struct apply_consent *given)
{
	const char *driver = preflight_unproven_driver(plans);
	char what[128];
	const struct apply_needs needs = {
		.what = what,
		.disruption = preflight_disrupts(plans) && profile->disruption != CHOICE_ALLOW,
	};
	int rc = needs.disruption && !given->disruption ? preflight_check_users(plans) : EXIT_OK;

	snprintf(what, sizeof(what), "Apply changes settings of this host%s%s%s",
		 driver ? "; " : "", driver ? driver : "",
		 driver ? " is not verified on hardware yet (tier: source)" : "");
	return rc ? rc : apply_ask_needs(&needs, given);
}
