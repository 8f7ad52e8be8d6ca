/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a change of the user costs is asked for again: the kernel clears the signal of the parent's
 * death then (prctl(2), PR_SET_PDEATHSIG), and locked memory has a limit (getrlimit(2)).
 */
#include "profiles/base/confine.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/oom.h"
#include "profiles/base/privileges.h"

void confine_memory(void)
{
	(void)oom_set(OOM_EARLY);
}

/* In place of no limit; who had one keeps it. False: it is too low, and cannot be raised. */
static bool confine_locked(uint64_t lock_bytes)
{
	struct rlimit limit = {.rlim_cur = lock_bytes, .rlim_max = lock_bytes};

	if (!privileges_lock_memory() || !setrlimit(RLIMIT_MEMLOCK, &limit))
		return true;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return false;
	limit.rlim_cur = limit.rlim_max; /* root of a container: as much as it may */
	(void)setrlimit(RLIMIT_MEMLOCK, &limit);
	return limit.rlim_max >= lock_bytes;
}

static bool node_is_open_to_all(const char *root, const char *node)
{
	const mode_t both = S_IROTH | S_IWOTH;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/dev/infiniband/%s", root, node);
	return stat(path, &st) || (st.st_mode & both) == both;
}

/* The names of the character devices of verbs: uverbs0 has the file ibdev with the device's name.
 */
static bool node_is_of(const char *root, const char *node, const char *ibdev)
{
	char path[PATH_MAX], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs/%s/ibdev", root, node);
	f = fopen(path, "re");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, ibdev);
}

bool confine_is_open_to_all(const char *root, const char *ibdev)
{
	bool open = node_is_open_to_all(root, "rdma_cm");
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", root);
	dir = opendir(path);
	while (dir && open && (d = readdir(dir)))
		if (!strncmp(d->d_name, "uverbs", 6) && node_is_of(root, d->d_name, ibdev))
			open = node_is_open_to_all(root, d->d_name);
	if (dir)
		closedir(dir);
	return open;
}

int confine_rights(const char *root, const char *ibdev, uint64_t lock_bytes, struct err *e)
{
	const struct privileges_kept kept = {
		.user = !confine_is_open_to_all(root, ibdev),
		.lock_memory = !confine_locked(lock_bytes),
	};
	pid_t parent = getppid();
	int err = privileges_drop_except(&kept, e);

	if (err)
		return err;
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_sys(e, -errno, "traffic process");
	if (getppid() != parent) /* it ended meanwhile */
		return err_set(e, -ENODATA, "traffic process: its agent is gone");
	return 0;
}
