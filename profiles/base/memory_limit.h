/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits the memory of RDMA traffic on this host: registered memory cannot be swapped out, and root
 * has no limit for locked memory. All runs of one agent together get half of the available memory.
 */
#ifndef PROFILES_MEMORY_LIMIT_H
#define PROFILES_MEMORY_LIMIT_H

#include "profiles/base/base.h"

#define MEMORY_LIMIT_SHARE 2 /* a half */

/* Memory that is available without swapping: MemAvailable of /proc/meminfo, or the rest of the
 * limits of this process's control groups (v1 and v2) if that is less. root: "" = this host. -errno
 * if meminfo cannot be read. */
int memory_available(const char *root, uint64_t *bytes, struct err *e);

/* Checks if one more run can use wanted_bytes, beside runs that use used_bytes and runs that open
 * and will use opening_bytes. -ENOMEM with the figures. */
struct memory_demand {
	uint64_t wanted_bytes, used_bytes, opening_bytes;
};
int memory_limit_check(const char *root, const struct memory_demand *d, struct err *e);

#endif
