/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may have changed a setting. The kernel's notices do not say it (their sender is 0), so the
 * programs that set such things are looked for among the processes at the time of the notice: what
 * is found ran then, no more is claimed.
 */
#ifndef DCB_WRITERS_H
#define DCB_WRITERS_H

#include <sys/types.h>
#include <time.h>

#include "profiles/base/base.h"

#define DRIFT_WRITERS_MAX 16

struct drift_writer {
	char name[16];	 /* of the process, as the kernel cuts it */
	uint64_t fields; /* QOS_BIT()s that the program can set */
	pid_t pid;
	time_t started; /* 0 = unknown */
};

struct drift_writers {
	unsigned int count;
	struct drift_writer writer[DRIFT_WRITERS_MAX];
};

/* Adds the processes of this network namespace that are known to set QoS, each once. proc: NULL =
 * /proc. What ended meanwhile or cannot be read is left out; more than DRIFT_WRITERS_MAX too. */
void writers_add(const char *proc, struct drift_writers *s);

/* Takes those away that can set none of fields, and this process itself. */
void writers_filter(struct drift_writers *s, uint64_t fields);

#endif
