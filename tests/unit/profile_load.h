/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles from literals: written to a folder of the test, loaded, removed.
 */
#ifndef TESTS_UNIT_PROFILE_LOAD_H
#define TESTS_UNIT_PROFILE_LOAD_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiles/profile.h"

#define HEAD "schema: rocecheck.profile/1\nname: x\nintent: lossy\n"

static char dir[] = "/tmp/test_profile_XXXXXX";

static inline int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static inline void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline void remove_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

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
