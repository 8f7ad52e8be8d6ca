/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `rocecheck apply --last`: applies the saved profile of each port, for a user or at boot.
 */
#ifndef CMD_APPLY_BOOT_H
#define CMD_APPLY_BOOT_H

#include "dcb/apply/saved.h"

struct saved_run {
	const struct state_at *at;
	const char *interface; /* NULL: every port with a saved profile */
	bool boot;
	/* Applies one and waits at most link_s for its port; *changes: the number of changed
	 * settings. Returns an exit code. */
	int (*apply)(const struct saved_profile *last, unsigned int link_s, unsigned int *changes);
};

/* Returns the worst exit code of the ports. At boot: asks nothing, prints one line per port, waits
 * for devices. A missing port is no failure: loading its driver starts this again. */
int cmd_apply_saved(const struct saved_run *run);

#endif
