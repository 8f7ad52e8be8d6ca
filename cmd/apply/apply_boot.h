/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `rocecheck apply --last`: the kept profiles, port by port, by a person or at boot.
 */
#ifndef CMD_APPLY_BOOT_H
#define CMD_APPLY_BOOT_H

#include "dcb/apply/saved.h"

struct saved_run {
	const struct state_at *at;
	const char *interface; /* NULL: every port with a kept profile */
	bool boot;
	/* Applies one, and waits link_s for it at most; *changes: what was to change. Returns an
	 * exit code. */
	int (*apply)(const struct saved_profile *last, unsigned int link_s, unsigned int *changes);
};

/* Returns the worst exit code of the ports. At boot nobody asks and a port is told in one line;
 * what is not there yet is waited for; and a port that does not come is no failure, its driver's
 * loading starts this again. */
int cmd_apply_saved(const struct saved_run *run);

#endif
