/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan that is kept (rocecheck.plan/1 and the profile it came from), looked over by somebody, and
 * applied later: exactly that one, or none.
 */
#ifndef CMD_PLAN_FILE_H
#define CMD_PLAN_FILE_H

#include "cmd/apply/plan_text.h"

/* Whether a name is that of a saved plan: it ends in .json, or is "-", standard input. */
bool plan_file_is(const char *path);

/* Whole or not at all. */
int plan_file_write(const struct plans *plans, const struct profile *profile, const char *path,
		    struct err *e);

/* *doc is a new reference. -EINVAL when it is no plan, or one without its profile. */
int plan_file_read(const char *path, struct profile *profile, json_t **doc, struct err *e);

/* Whether a plan made now has the ports and the steps of the saved one. -ESTALE names the port, and
 * the field if one differs. */
int plan_file_check(const json_t *doc, const struct plans *now, struct err *e);

#endif
