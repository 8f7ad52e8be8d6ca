/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities through libcap-ng. A root without capabilities still owns much of the file system,
 * but without CAP_DAC_OVERRIDE it cannot write into a user's folder: for both reasons root changes
 * its uid as well.
 */
#include "profiles/base/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/file.h"

/* Whether this user namespace has the id: "0 1000 1" maps one id, 0 (user_namespaces(7)). */
static bool is_mapped(const char *map, unsigned int id)
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

/* What capng_change_id() needs. */
static bool may_become(uid_t uid, gid_t gid)
{
	return is_mapped("/proc/self/uid_map", uid) && is_mapped("/proc/self/gid_map", gid) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETUID) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETGID) &&
	       capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
}

static int become(uid_t uid, gid_t gid, struct err *e)
{
	int status = capng_change_id((int)uid, (int)gid,
				     CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);

	if (!status)
		return 0;
	return err_set(e, -EPERM, "privileges: cannot become user %u (%d)", (unsigned int)uid,
		       status);
}

/* The new user, or the owner of a folder, could else look into this process and use what it has
 * open, where fs.suid_dumpable is not 0 (proc(5)). */
static int undumpable(struct err *e)
{
#ifdef __SANITIZE_ADDRESS__
	(void)e; /* its search for leaks could not look into it either */
	return 0;
#else
	return prctl(PR_SET_DUMPABLE, 0) ? err_sys(e, -errno, "privileges") : 0;
#endif
}

/* uid 0: stay who we are. */
static int give_up(uid_t uid, gid_t gid, bool lock_memory, struct err *e)
{
	bool change;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, -errno, "privileges");
	if (capng_get_caps_process())
		return err_set(e, -EPERM, "privileges: cannot be read");
	change = uid && (!geteuid() || !getuid()) && may_become(uid, gid);
	lock_memory = lock_memory && capng_have_capability(CAPNG_PERMITTED, CAP_IPC_LOCK);
	capng_clear(CAPNG_SELECT_CAPS);
	if (lock_memory && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_IPC_LOCK))
		return err_set(e, -EPERM, "privileges: cannot be chosen");
	if (change)
		return become(uid, gid, e) ? e->code : undumpable(e);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return err_set(e, -EPERM, "privileges: cannot be given up");
	return 0;
}

int privileges_drop(struct err *e)
{
	return give_up(PRIVILEGES_NOBODY, PRIVILEGES_NOBODY, false, e);
}

int privileges_drop_except(const struct privileges_kept *kept, struct err *e)
{
	unsigned int id = kept->user ? 0 : PRIVILEGES_NOBODY;

	return give_up(id, id, kept->lock_memory, e);
}

bool privileges_lock_memory(void)
{
	return !capng_get_caps_process() && capng_have_capability(CAPNG_EFFECTIVE, CAP_IPC_LOCK);
}

int privileges_become_owner(const struct folder *folder, struct err *e)
{
	struct stat st;
	int err = fstat(folder->fd, &st) ? err_sys(e, -errno, "%s", folder->path)
					 : give_up(st.st_uid, st.st_gid, false, e);

	if (err == -EPERM)
		err_hint(e, "write into a folder of root");
	return err;
}
