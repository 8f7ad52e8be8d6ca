/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files. The name is there when all bytes are on the disk, never before.
 */
#include "probe/json_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/outfile.h"

int json_file_load(const char *path, json_t **doc, struct err *e)
{
	json_error_t where;
	struct stat st;
	json_t *json;

	if (stat(path, &st) || access(path, R_OK))
		return err_sys(e, -errno, "%s", path);
	if (!S_ISREG(st.st_mode)) /* a pipe would be waited for for ever */
		return err_set(e, -EINVAL, "%s: no regular file", path);
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

int json_file_save(json_t *doc, const char *path, struct err *e)
{
	struct outfile out;
	int err = doc ? outfile_open(path, &out, e) : err_sys(e, -ENOMEM, "%s", path);

	if (!err) {
		errno = 0;
		if (json_dumpf(doc, out.stream, JSON_INDENT(1)) || fputc('\n', out.stream) == EOF)
			err = !ferror(out.stream) ? -ENOMEM : errno ? -errno : -EIO;
		if (!err)
			err = outfile_close(&out, true, e);
		else
			(void)outfile_close(&out, false, NULL); /* nothing is kept */
		if (err)
			err_sys(e, err, "%s", path);
	}
	json_decref(doc);
	return err;
}

static int make_part(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0755))
		return 0;
	if (errno != EEXIST || stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int run_folder_make(const char *path, struct err *e)
{
	char *part = strdup(path);
	int err = part ? 0 : -ENOMEM;

	for (char *p = part; p && !err; p = p ? p + 1 : NULL) {
		p = strchr(p + (p == part && *p == '/'), '/');
		if (p)
			*p = '\0';
		err = make_part(part);
		if (!p)
			break;
		*p = '/';
	}
	free(part);
	return err ? err_sys(e, err, *path ? "%s" : "'%s'", path) : 0;
}
