/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tidy.h. Units are looked for where systemd looks (systemd.unit(5)).
 */
#include "cmd/tidy.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "dcb/journal.h"

#define UNIT "rocecheck-apply.service"

static void warn(const struct err *why, void *arg)
{
	(void)arg;
	fprintf(stderr, "rocecheck: warning: %s\n", why->text);
}

void cmd_tidy(const char *state_dir)
{
	/* What stands in the way is found, and said, by what comes next. */
	(void)journal_tidy(state_dir, warn, NULL, NULL);
}

bool cmd_boot_unit_enabled(const char *root)
{
	static const char *const folders[] = {"etc", "run", "usr/local/lib", "usr/lib", "lib"};
	static const char *const kinds[] = {"wants", "requires"};
	bool found = false;

	for (unsigned int i = 0; !found && i < ARRAY_SIZE(folders) * ARRAY_SIZE(kinds); i++) {
		char pattern[PATH_MAX];
		glob_t links;

		snprintf(pattern, sizeof(pattern), "%s/%s/systemd/system/*.%s/" UNIT,
			 root ? root : "", folders[i / ARRAY_SIZE(kinds)],
			 kinds[i % ARRAY_SIZE(kinds)]);
		found = !glob(pattern, GLOB_NOSORT, NULL, &links) && links.gl_pathc;
		globfree(&links);
	}
	return found;
}
