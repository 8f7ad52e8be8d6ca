/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles from literals: written to a folder of the test, loaded, removed.
 */
#ifndef TESTS_UNIT_PROFILE_LOAD_H
#define TESTS_UNIT_PROFILE_LOAD_H

#include <errno.h>
#include <string.h>

#include "profiles/profile.h"
#include "tests/unit/fixture/folder.h"

#define HEAD "schema: rocecheck.profile/1\nname: x\nintent: lossy\n"

/* Loads text as a file; d is filled and the caller's to clear. */
int load(const char *text, struct profile *p, struct diags *d);
const struct diag *find_rule(const struct diags *d, const char *rule);

#endif
