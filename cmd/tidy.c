/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tidy.h. Units are looked for where systemd looks (systemd.unit(5)).
 */
#include "cmd/tidy.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "dcb/apply/journal.h"

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

/* By precedence, the first decides. */
static const char *const folders[] = {"etc", "run", "usr/local/lib", "usr/lib", "lib"};

/* A masked unit is an empty file or a link to /dev/null, and the link of its target stays. */
static bool is_masked(const char *root)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(folders); i++) {
		char path[PATH_MAX];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s/systemd/system/" UNIT, root, folders[i]);
		if (!stat(path, &st))
			return S_ISCHR(st.st_mode) || (S_ISREG(st.st_mode) && !st.st_size);
		if (!lstat(path, &st))
			return false;
	}
	return false;
}

bool cmd_boot_unit_enabled(const char *root)
{
	static const char *const kinds[] = {"wants", "requires"};
	const char *top = root ? root : "";
	bool found = false;

	for (unsigned int i = 0; !found && i < ARRAY_SIZE(folders) * ARRAY_SIZE(kinds); i++) {
		char pattern[PATH_MAX];
		glob_t links;

		snprintf(pattern, sizeof(pattern), "%s/%s/systemd/system/*.%s/" UNIT, top,
			 folders[i / ARRAY_SIZE(kinds)], kinds[i % ARRAY_SIZE(kinds)]);
		found = !glob(pattern, GLOB_NOSORT, NULL, &links) && links.gl_pathc;
		globfree(&links);
	}
	return found && !is_masked(top);
}
