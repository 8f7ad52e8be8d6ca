/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saved plans: rocecheck.plan/1 with its profile, saved for review and applied later, unchanged or
 * not at all.
 */
#ifndef CMD_PLAN_FILE_H
#define CMD_PLAN_FILE_H

#include "cmd/apply/plan_text.h"

/* Returns true for the name of a saved plan: it ends in .json, or is "-", standard input. */
bool plan_file_is(const char *path);

/* Writes the plan atomically. */
int plan_file_write(const struct plans *plans, const struct profile *profile, const char *path,
		    struct err *e);

/* Reads a saved plan; *doc is a new reference. -EINVAL when it is no plan or has no valid profile.
 */
int plan_file_read(const char *path, struct profile *profile, json_t **doc, struct err *e);

/* Checks that a plan made now has the ports and steps of the saved one. -ESTALE names the port and
 * the first field that differs. */
int plan_file_check(const json_t *doc, const struct plans *now, struct err *e);

#endif
