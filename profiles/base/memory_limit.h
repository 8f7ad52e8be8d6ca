/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory traffic may take of this host: memory that is registered cannot be swapped out,
 * and root has no limit of locked memory. All runs of one agent together get a half of what is
 * available.
 */
#ifndef PROFILES_MEMORY_LIMIT_H
#define PROFILES_MEMORY_LIMIT_H

#include "profiles/base/base.h"

#define MEMORY_LIMIT_SHARE 2 /* a half */

/* What can be had without swapping: MemAvailable of /proc/meminfo, or what the control groups of
 * this process (v1 and v2) leave where that is less. root: "" = this host. -errno when meminfo
 * cannot be read. */
int memory_available(const char *root, uint64_t *bytes, struct err *e);

/* Whether wanted_bytes can be taken by one more run, beside other runs that have taken taken_bytes
 * of what was available and will take opening_bytes. -ENOMEM with the figures. */
struct memory_demand {
	uint64_t wanted_bytes, used_bytes, opening_bytes;
};
int memory_limit_check(const char *root, const struct memory_demand *d, struct err *e);

#endif
