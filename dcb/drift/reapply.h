/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sets the QoS of this host again at boot, by a timer, or when a link comes up: services,
 * hooks and cron jobs of others that call a tool for it. Two that set a port undo each other.
 */
#ifndef DCB_REAPPLY_H
#define DCB_REAPPLY_H

#include <stdbool.h>
#include <stddef.h>

struct reapply {
	char path[256]; /* of what starts it, below the root: the unit, hook or table */
	char via[256];	/* of the file that names the tool, "" = path itself */
	char tool[32];	/* "mlnx_qos" */
};

/* Finds them below root (NULL: "/"): units that are wanted by a target, what their timers and path
 * units start, and scripts that units execute; NetworkManager's dispatcher, cron, rc.local. Fills
 * at most max and returns how many. Reads text only, and a bounded amount. */
unsigned int reapply_find(const char *root, struct reapply *found, unsigned int max);

/* The first such tool that a text names as a word of its own, NULL when there is none. */
const char *reapply_tool(const char *text);

#endif
