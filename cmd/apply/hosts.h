/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `plan` and `apply` on many hosts: options that name the hosts, their inventory, and their plans.
 */
#ifndef CMD_HOSTS_H
#define CMD_HOSTS_H

#include "cmd/apply/apply_preflight.h"
#include "cmd/opts.h"
#include "probe/rollout/rollout.h"

struct command;

struct hosts_options {
	const char *hosts, *inventory;
};

/* clang-format off */
/* Rows for a table of options. */
#define HOSTS_OPTS(o)                                                                              \
	{"hosts", 0, OPT_STRING, &(o).hosts, .arg = "HOSTS",                                       \
	 .help = "run on these hosts over ssh: a,b,gpu[01-16] (with --inventory: only these)"},    \
	{"inventory", 0, OPT_STRING, &(o).inventory, .arg = "FILE",                                \
	 .help = "run on the hosts and ports of FILE (default profile: the one FILE names)"}
/* clang-format on */

static inline bool hosts_asked(const struct hosts_options *o)
{
	return o->hosts || o->inventory;
}

/* The hosts and their plans. */
struct hosts {
	struct fabric fabric;
	struct rollout rollout;
};

/* Connects to the hosts and plans; prints errors of the input. profile: name or path, NULL = the
 * inventory's. interface: only this port, may be NULL. Returns EXIT_OK, else an exit code, and *h
 * is clear. The first SIGINT, SIGTERM or SIGHUP ends the rollout in order, the second one at once.
 */
int hosts_plan(const struct command *c, const struct hosts_options *o, const char *profile,
	       const char *interface, struct hosts *h);
void hosts_clear(struct hosts *h);

/* Prints all plans as text or JSON. Returns the exit code: of failed hosts, and with changes_count
 * also of hosts that differ. */
int hosts_report_plans(const struct hosts *h, bool changes_count);

/* `apply` on many hosts. */
struct hosts_apply {
	struct hosts_options hosts;
	const char *canary; /* NULL: the first host with changes */
	unsigned int parallel, max_fail, confirm_within_ms, wait_link_ms;
	unsigned int settle_ms; /* ROLLOUT_SETTLE_AUTO: each host decides */
	bool dry_run;
};
int cmd_apply_hosts(const struct hosts_apply *o, const struct apply_consent *given,
		    const char *profile, const char *interface);

#endif
