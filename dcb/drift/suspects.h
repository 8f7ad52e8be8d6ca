/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may have changed a setting. The kernel's notices do not say it (their sender is 0), so the
 * programs that set such things are looked for among the processes at the time of the notice: what
 * is found ran then, no more is claimed.
 */
#ifndef DCB_SUSPECTS_H
#define DCB_SUSPECTS_H

#include <sys/types.h>
#include <time.h>

#include "profiles/base/base.h"

#define SUSPECTS_MAX 16

struct suspect {
	char name[16];	 /* of the process, as the kernel cuts it */
	uint64_t fields; /* QOS_BIT()s that the program can set */
	pid_t pid;
	time_t started; /* 0 = unknown */
};

struct suspects {
	unsigned int count;
	struct suspect suspect[SUSPECTS_MAX];
};

/* Adds the processes of this network namespace that are known to set QoS, each once. proc: NULL =
 * /proc. What ended meanwhile or cannot be read is left out; more than SUSPECTS_MAX too. */
void suspects_add(const char *proc, struct suspects *s);

/* Takes those away that can set none of fields, and this process itself. */
void suspects_keep(struct suspects *s, uint64_t fields);

#endif
