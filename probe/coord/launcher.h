/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: how an agent gets started on a host and a byte stream to it. An engine is a command
 * line, nothing else; adding one is a row in engines[].
 */
#ifndef PROBE_LAUNCHER_H
#define PROBE_LAUNCHER_H

#include "profiles/base/base.h"

#define LAUNCHER_ARGS_MAX 32
#define LAUNCHER_TEXT_MAX 256

struct fabric;

/* NULL-terminated; texts are in it, so it is not to be copied. */
struct launcher_argv {
	const char *argv[LAUNCHER_ARGS_MAX];
	unsigned int count;
	char text[4][LAUNCHER_TEXT_MAX];
	unsigned int text_count;
};

struct launcher {
	const char *name;
	/* The command of host i. -EINVAL when a name must not go on a command line. */
	int (*make_argv)(const struct fabric *f, unsigned int host, struct launcher_argv *out,
			 struct err *e);
};
extern const struct launcher launchers[];
extern const unsigned int launcher_count;

/* NULL when there is none of that name. */
const struct launcher *launcher_find(const char *name);

/* The next step for what a launcher complained about on stderr; NULL if we know none. */
const char *launcher_hint(const char *stderr_line);

#endif
