/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launchers ("engines" of the inventory): a launcher makes the command line that starts an agent on
 * a host with a byte stream to it. To add one, add a row in launchers[].
 */
#ifndef PROBE_LAUNCHER_H
#define PROBE_LAUNCHER_H

#include "profiles/base/base.h"

#define LAUNCHER_ARGS_MAX 32 /* FABRIC_LAUNCHER_WORDS and the agent */
#define LAUNCHER_TEXT_MAX 256

struct fabric;

/* NULL-terminated arguments. Points into itself: do not copy. */
struct launcher_argv {
	const char *argv[LAUNCHER_ARGS_MAX];
	unsigned int count;
	char text[4][LAUNCHER_TEXT_MAX];
	unsigned int text_count;
	char words[1024]; /* of a command */
};

struct launcher {
	const char *name;
	/* Makes the command for a host. -EINVAL when a name is unsafe on a command line. */
	int (*make_argv)(const struct fabric *f, unsigned int host, struct launcher_argv *out,
			 struct err *e);
};
extern const struct launcher launchers[];
extern const unsigned int launcher_count;

/* Returns the launcher of that name, or NULL. */
const struct launcher *launcher_find(const char *name);

/* Returns the launcher of an inventory: its command, else its engine, ssh by default. NULL and
 * -EINVAL in e: there is no such engine. */
const struct launcher *launcher_of_fabric(const struct fabric *f, struct err *e);

/* Returns a hint for a line on a launcher's stderr, or NULL. */
const char *launcher_hint(const char *stderr_line);

#endif
