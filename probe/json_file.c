/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files. The name is there when all bytes are on the disk, never before.
 */
#include "probe/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int json_file_load(const char *path, json_t **doc, struct err *e)
{
	json_error_t where;
	json_t *json;

	if (access(path, R_OK))
		return err_sys(e, -errno, "%s", path);
	json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	if (!json_is_object(json)) {
		json_decref(json);
		if (json)
			return err_set(e, -EINVAL, "%s: no JSON object", path);
		return err_set(e, -EINVAL, "%s:%d:%d: %s", path, where.line, where.column,
			       where.text);
	}
	*doc = json;
	return 0;
}

static int write_all(int fd, const json_t *doc)
{
	FILE *out = fdopen(fd, "w");
	int err = 0;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	errno = 0;
	if (json_dumpf(doc, out, JSON_INDENT(1)) || fputc('\n', out) == EOF || fflush(out) ||
	    fchmod(fd, 0644) || fsync(fd))
		err = errno ? -errno : -EIO;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

int json_file_save(json_t *doc, const char *path, struct err *e)
{
	char *temp = NULL;
	int fd, err = -ENOMEM;

	if (!doc || asprintf(&temp, "%s.XXXXXX", path) < 0) {
		temp = NULL;
		goto out;
	}
	fd = mkostemp(temp, O_CLOEXEC);
	err = fd < 0 ? -errno : write_all(fd, doc);
	if (!err && rename(temp, path))
		err = -errno;
	if (err && fd >= 0)
		unlink(temp);
out:
	json_decref(doc);
	free(temp);
	return err ? err_sys(e, err, "%s", path) : 0;
}

int folder_make(const char *path, struct err *e)
{
	char *part = strdup(path);
	int err = part ? 0 : -ENOMEM;

	for (char *p = part; p && !err; p = p ? p + 1 : NULL) {
		p = strchr(p + (p == part && *p == '/'), '/');
		if (p)
			*p = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			err = -errno;
		if (!p)
			break;
		*p = '/';
	}
	free(part);
	return err ? err_sys(e, err, "%s", path) : 0;
}
