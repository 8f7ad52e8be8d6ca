/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds programs that may have changed a setting. Kernel notifications do not name the writer
 * (their sender is 0), so this lists the known QoS programs that run at the time of the
 * notification.
 */
#ifndef DCB_WRITERS_H
#define DCB_WRITERS_H

#include <sys/types.h>
#include <time.h>

#include "profiles/base/base.h"

#define DRIFT_WRITERS_MAX 16

struct drift_writer {
	char name[16];	 /* of the process, truncated by the kernel */
	uint64_t fields; /* QOS_BIT()s that the program can set */
	pid_t pid;
	time_t started; /* 0 = unknown */
};

struct drift_writers {
	unsigned int count;
	struct drift_writer writer[DRIFT_WRITERS_MAX];
};

/* Adds the processes of this network namespace that are known to set QoS, each once, up to
 * DRIFT_WRITERS_MAX. proc: NULL = /proc. Leaves out processes that it cannot read. */
void writers_add(const char *proc, struct drift_writers *s);

/* Removes the programs that can set none of these fields, and this process itself. */
void writers_filter(struct drift_writers *s, uint64_t fields);

#endif
