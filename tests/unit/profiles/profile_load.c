/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What profile_load.h declares.
 */
#include "tests/unit/profiles/profile_load.h"

int load(const char *text, struct profile *p, struct diags *d)
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

const struct diag *find_rule(const struct diags *d, const char *rule)
{
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->list[i].rule, rule))
			return &d->list[i];
	return NULL;
}
