/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capabilities through libcap-ng (capabilities(7)). A root without capabilities is still the owner
 * of much, but without CAP_DAC_OVERRIDE it cannot write into a user's directory: that is why root
 * becomes the owner of the directory, as a file recorded by sudo should be his anyway.
 */
#include "cmd/privileges.h"

#include <cap-ng.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int owner_of(const char *path, struct stat *st, struct err *e)
{
	char *copy = strdup(path);
	int err = 0;

	if (!copy)
		return err_sys(e, -ENOMEM, "%s", path);
	if (stat(dirname(copy), st)) {
		err = err_sys(e, -errno, "%s", path);
		err_hint(e, "make the folder of the recording first");
	}
	free(copy);
	return err;
}

static int become(uid_t uid, gid_t gid, struct err *e)
{
	int status = capng_change_id((int)uid, (int)gid,
				     CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);

	if (!status)
		return 0;
	err_set(e, -EPERM, "privileges: cannot become user %u (%d)", (unsigned int)uid, status);
	return err_hint(e, "write into a directory of root");
}

static int apply(struct err *e)
{
	if (capng_apply(CAPNG_SELECT_CAPS))
		return err_set(e, -EPERM, "privileges: cannot be given up");
	return 0;
}

int privileges_keep_raw(const char *path, struct err *e)
{
	struct stat st;
	bool raw, change;
	int err = owner_of(path, &st, e);

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, -errno, "privileges");
	if (capng_get_caps_process())
		return err_set(e, -EPERM, "privileges: cannot be read");
	raw = capng_have_capability(CAPNG_PERMITTED, CAP_NET_RAW);
	change = !geteuid() && st.st_uid && capng_have_capability(CAPNG_EFFECTIVE, CAP_SETUID) &&
		 capng_have_capability(CAPNG_EFFECTIVE, CAP_SETGID);
	capng_clear(CAPNG_SELECT_CAPS);
	if (raw)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_RAW);
	return change ? become(st.st_uid, st.st_gid, e) : apply(e);
}

int privileges_drop(struct err *e)
{
	if (capng_get_caps_process())
		return err_set(e, -EPERM, "privileges: cannot be read");
	capng_clear(CAPNG_SELECT_CAPS);
	return apply(e);
}
