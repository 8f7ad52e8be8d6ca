/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots as files. A file is written beside its name and renamed, so that a reader never sees
 * half of one, and on the disk before that, so that a crash leaves the former one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/snapshot.h"

int snapshot_load(const char *path, struct snapshot *s, struct err *e)
{
	json_error_t error;
	json_t *json;
	int err;

	json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		return err_set(e, access(path, R_OK) ? -errno : -EINVAL, "%s:%d:%d: %s", path,
			       error.line, error.column, error.text);
	err = snapshot_from_json(json, s, e);
	json_decref(json);
	if (err)
		err_prefix(e, "%s", path);
	return err;
}

/* All bytes on the disk before the name is there. */
static int write_and_rename(int fd, const char *temp, const char *path, const char *text)
{
	FILE *f = fdopen(fd, "w");
	int err = 0;

	if (!f) {
		err = -errno;
		close(fd);
		return err;
	}
	if (fprintf(f, "%s\n", text) < 0 || fflush(f) || fchmod(fd, 0644) || fsync(fd))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	if (!err && rename(temp, path))
		err = -errno;
	return err;
}

int snapshot_save(const struct snapshot *s, const char *path, struct err *e)
{
	json_t *json = snapshot_to_json(s);
	char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL, *temp = NULL;
	int fd, err = -ENOMEM;

	json_decref(json);
	if (!text || asprintf(&temp, "%s.XXXXXX", path) < 0) {
		temp = NULL;
		goto out;
	}
	fd = mkostemp(temp, O_CLOEXEC);
	err = fd < 0 ? -errno : write_and_rename(fd, temp, path, text);
	if (err && fd >= 0)
		unlink(temp);
out:
	free(temp);
	free(text);
	return err ? err_sys(e, err, "%s", path) : 0;
}
