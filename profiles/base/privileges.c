/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities through libcap-ng. Root also changes its uid: without capabilities it would still
 * own much of the file system, but could not write to a user's folder (CAP_DAC_OVERRIDE).
 */
#include "profiles/base/privileges.h"

#include <cap-ng.h>
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

#include "profiles/base/file.h"
#include "profiles/base/small_file.h"

/* Returns true if this user namespace maps the id: "0 1000 1" maps one id, 0 (user_namespaces(7)).
 */
static bool privileges_id_is_mapped(const char *map, unsigned int id)
{
	FILE *f = fopen(map, "re");
	unsigned int first, count;
	bool mapped = false;

	while (f && !mapped && fscanf(f, "%u %*u %u", &first, &count) == 2)
		mapped = id >= first && id - first < count;
	if (f)
		fclose(f);
	return mapped;
}

/* Returns true if capng_change_id() can work. */
static bool privileges_may_change_id(uid_t uid, gid_t gid)
{
	return privileges_id_is_mapped("/proc/self/uid_map", uid) &&
	       privileges_id_is_mapped("/proc/self/gid_map", gid) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETUID) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETGID) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
}

static int privileges_change_id(uid_t uid, gid_t gid, struct err *e)
{
	int status = capng_change_id((int)uid, (int)gid,
				     CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);

	if (!status)
		return 0;
	return err_set(e, -EPERM, "privileges: cannot become user %u (%d)", (unsigned int)uid,
		       status);
}

/* Otherwise, with fs.suid_dumpable not 0 (proc(5)), processes of the new user could trace this
 * process and use its open descriptors. */
static int privileges_set_undumpable(struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	(void)e; /* the leak search of LeakSanitizer traces the process */
	return 0;
#else
	return prctl(PR_SET_DUMPABLE, 0) ? err_sys(e, -errno, "privileges") : 0;
#endif
}

/* uid 0: keep the uid. */
static int privileges_give_up(uid_t uid, gid_t gid, bool lock_memory, struct err *e)
{
	bool change;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, -errno, "privileges");
	if (capng_get_caps_process())
		return err_set(e, -EPERM, "privileges: cannot read the capabilities");
	change = uid && (!geteuid() || !getuid()) && privileges_may_change_id(uid, gid);
	lock_memory = lock_memory && capng_have_capability(CAPNG_PERMITTED, CAP_IPC_LOCK);
	capng_clear(CAPNG_SELECT_CAPS);
	if (lock_memory && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_IPC_LOCK))
		return err_set(e, -EPERM, "privileges: cannot select the capabilities to keep");
	if (change)
		return privileges_change_id(uid, gid, e) ? e->code : privileges_set_undumpable(e);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return err_set(e, -EPERM, "privileges: cannot drop capabilities");
	return 0;
}

int privileges_drop(struct err *e)
{
	return privileges_give_up(PRIVILEGES_NOBODY, PRIVILEGES_NOBODY, false, e);
}

bool privileges_lock_memory(void)
{
	return !capng_get_caps_process() && capng_have_capability(CAPNG_EFFECTIVE, CAP_IPC_LOCK);
}

int privileges_become_owner(const struct folder *folder, struct err *e)
{
	struct stat st;
	int err = fstat(folder->fd, &st) ? err_sys(e, -errno, "%s", folder->path)
					 : privileges_give_up(st.st_uid, st.st_gid, false, e);

	if (err == -EPERM)
		err_hint(e, "use a folder that root owns");
	return err;
}

/* Confinement of the traffic process. A change of the uid clears the signal for the parent's death
 * (prctl(2), PR_SET_PDEATHSIG) and limits locked memory (getrlimit(2)): both are set again. */

/* Sets the limit of locked memory for a process that had none. False: the limit is too low and
 * cannot be raised. */
static bool privileges_raise_memlock(uint64_t lock_bytes)
{
	struct rlimit limit = {.rlim_cur = lock_bytes, .rlim_max = lock_bytes};

	if (!privileges_lock_memory() || !setrlimit(RLIMIT_MEMLOCK, &limit))
		return true;
	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return false;
	limit.rlim_cur = limit.rlim_max; /* root of a container: up to its hard limit */
	(void)setrlimit(RLIMIT_MEMLOCK, &limit);
	return limit.rlim_max >= lock_bytes;
}

static bool privileges_node_is_public(const char *root, const char *node)
{
	const mode_t both = S_IROTH | S_IWOTH;
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/dev/infiniband/%s", root, node);
	return stat(path, &st) || (st.st_mode & both) == both;
}

/* Returns true if the verbs character device `node` belongs to ibdev: its file ibdev has the name.
 */
static bool privileges_node_is_of(const char *root, const char *node, const char *ibdev)
{
	char name[64];

	small_file_line(name, sizeof(name), root, "sys/class/infiniband_verbs/%s/ibdev", node);
	return !strcmp(name, ibdev);
}

bool privileges_rdma_is_public(const char *root, const char *ibdev)
{
	bool open = privileges_node_is_public(root, "rdma_cm");
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", root);
	dir = opendir(path);
	while (dir && open && (d = readdir(dir)))
		if (!strncmp(d->d_name, "uverbs", 6) &&
		    privileges_node_is_of(root, d->d_name, ibdev))
			open = privileges_node_is_public(root, d->d_name);
	if (dir)
		closedir(dir);
	return open;
}

int privileges_confine(const char *root, const char *ibdev, uint64_t lock_bytes, struct err *e)
{
	unsigned int id = privileges_rdma_is_public(root, ibdev) ? PRIVILEGES_NOBODY : 0;
	pid_t parent = getppid();
	int err = privileges_give_up(id, id, !privileges_raise_memlock(lock_bytes), e);

	if (err)
		return err;
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		return err_sys(e, -errno, "traffic process");
	if (getppid() != parent) /* the parent has ended */
		return err_set(e, -ENODATA, "traffic process: its agent has ended");
	return 0;
}
