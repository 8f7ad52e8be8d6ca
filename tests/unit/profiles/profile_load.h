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
static inline int load(const char *text, struct profile *p, struct diags *d)
{
	struct err e = {0};
	char path[64];
	int err;

	write_file("p.yaml", text);
	snprintf(path, sizeof(path), "%s/p.yaml", dir);
	diags_init(d);
	err = profile_load(path, p, d, &e);
	remove_file("p.yaml");
	return err;
}

static inline const struct diag *find_rule(const struct diags *d, const char *rule)
{
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->list[i].rule, rule))
			return &d->list[i];
	return NULL;
}

#endif
