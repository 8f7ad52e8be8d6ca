/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Engines: how an agent gets started on a host and a byte stream to it. An engine is a command
 * line, nothing else; adding one is a row in engines[].
 */
#ifndef PROBE_ENGINE_H
#define PROBE_ENGINE_H

#include "profiles/base/base.h"

#define ENGINE_ARGS_MAX 32
#define ENGINE_TEXT_MAX 256

struct fabric;

/* NULL-terminated; texts are in it, so it is not to be copied. */
struct engine_argv {
	const char *argv[ENGINE_ARGS_MAX];
	unsigned int count;
	char text[4][ENGINE_TEXT_MAX];
	unsigned int text_count;
};

struct engine {
	const char *name;
	/* The command of host i. -EINVAL when a name must not go on a command line. */
	int (*make)(const struct fabric *f, unsigned int host, struct engine_argv *out,
		    struct err *e);
};
extern const struct engine engines[];
extern const unsigned int engine_count;

/* NULL when there is none of that name. */
const struct engine *engine_find(const char *name);

/* The next step for what a launcher complained about on stderr; NULL if we know none. */
const char *engine_hint(const char *complaint);

#endif
