/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MemAvailable (linux Documentation/filesystems/proc.rst), and the limits of the control groups
 * from ours to the top (linux Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst). The
 * inactive file cache of a group counts as free: the kernel reclaims it first.
 */
#include "profiles/base/memory_limit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/small_file.h"

#define GIB ((double)(UINT64_C(1) << 30))

/* One kind of control groups: its mount point and the files of a group. */
static const struct hierarchy {
	const char *controller; /* as in /proc/self/cgroup; "" = v2 */
	const char *mount, *most, *used, *cache;
} hierarchies[] = {
	{"", "", "memory.max", "memory.current", "inactive_file "},
	{"memory", "/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "total_inactive_file "},
};

/* Returns "/a/b" of a line "4:cpu,memory:/a/b", NULL for the line of another hierarchy. */
static const char *memory_cgroup_in_line(char *line, const char *controller)
{
	char *rest = line, *list;

	line[strcspn(line, "\n")] = '\0';
	(void)strsep(&rest, ":");
	list = strsep(&rest, ":");
	if (!rest || rest[0] != '/' || strstr(rest, "/.."))
		return NULL;
	for (char *one = strsep(&list, ","); one; one = strsep(&list, ","))
		if (!strcmp(one, controller))
			return rest;
	return NULL;
}

/* Finds the group of this process, at least "/"; false: none in this hierarchy. */
static bool memory_cgroup_of_self(const char *root, const struct hierarchy *h, char *group,
				  size_t size)
{
	char path[PATH_MAX], line[PATH_MAX];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *own = memory_cgroup_in_line(line, h->controller);

		found = own && snprintf(group, size, "%s", own) < (int)size;
	}
	if (f)
		fclose(f);
	return found;
}

static bool memory_cgroup_read(const char *root, const struct hierarchy *h, const char *group,
			       const char *file, const char *name, uint64_t *value)
{
	char text[64];

	return small_file_value(text, sizeof(text), name, root, "sys/fs/cgroup%s%s/%s", h->mount,
				group, file) &&
	       sscanf(text, "%lu", value) == 1;
}

/* Memory left in one group; UINT64_MAX without a limit ("max", or no such file). */
static uint64_t memory_cgroup_left(const char *root, const struct hierarchy *h, const char *group)
{
	uint64_t most, used, cache = 0;

	if (!memory_cgroup_read(root, h, group, h->most, "", &most) ||
	    !memory_cgroup_read(root, h, group, h->used, "", &used))
		return UINT64_MAX;
	(void)memory_cgroup_read(root, h, group, "memory.stat", h->cache, &cache);
	used -= cache < used ? cache : used;
	return saturating_sub(most, used);
}

/* Least memory left in any group from ours to the top. In a container, /proc names groups that are
 * not in its own tree: the top is then the container. */
static uint64_t memory_cgroups_left(const char *root, const struct hierarchy *h)
{
	uint64_t least = UINT64_MAX;
	char group[PATH_MAX];

	if (!memory_cgroup_of_self(root, h, group, sizeof(group)))
		return least;
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		uint64_t left;

		*end = '\0';
		left = memory_cgroup_left(root, h, group);
		least = left < least ? left : least;
	}
	return least;
}

int memory_available(const char *root, uint64_t *bytes, struct err *e)
{
	uint64_t kib, least;
	char text[64];

	if (!small_file_value(text, sizeof(text), "MemAvailable:", root, "proc/meminfo") ||
	    sscanf(text, "%lu", &kib) != 1 || kib > UINT64_MAX >> 10)
		return err_set(e, -EIO, "%s/proc/meminfo: no MemAvailable", root);
	least = kib << 10;
	for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
		uint64_t left = memory_cgroups_left(root, &hierarchies[i]);

		least = left < least ? left : least;
	}
	*bytes = least;
	return 0;
}

int memory_limit_check(const char *root, const struct memory_demand *d, struct err *e)
{
	uint64_t others_bytes = d->used_bytes + d->opening_bytes, available, limit;
	char others[64] = "";
	int err = memory_available(root, &available, e);

	if (err)
		return err;
	limit = (available + d->used_bytes) / MEMORY_LIMIT_SHARE;
	if (others_bytes <= limit && d->wanted_bytes <= limit - others_bytes)
		return 0;
	if (others_bytes)
		snprintf(others, sizeof(others), ", and other runs use %.1f GiB",
			 (double)others_bytes / GIB);
	err_set(e, -ENOMEM,
		"traffic needs %.1f GiB of memory; all runs together may use %.1f GiB of the %.1f "
		"GiB "
		"available%s",
		(double)d->wanted_bytes / GIB, (double)limit / GIB, (double)available / GIB,
		others);
	err_hint(e, "use fewer queue pairs, a smaller window or smaller messages");
	return -ENOMEM;
}
