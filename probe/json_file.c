/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files. The name is there when all bytes are on the disk, never before.
 */
#include "probe/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/outfile.h"

/* What is left of a document that may be as long as a limit. */
struct limited {
	FILE *stream;
	uint64_t left;
	bool longer;
};

static size_t read_limited(void *buffer, size_t size, void *arg)
{
	struct limited *in = arg;
	size_t n;

	if (!in->left) {
		in->longer = getc(in->stream) != EOF;
		return in->longer ? (size_t)-1 : 0;
	}
	n = fread(buffer, 1, size < in->left ? size : in->left, in->stream);
	in->left -= n;
	return n;
}

static int too_large(const char *shown, uint64_t max_bytes, struct err *e)
{
	return err_set(e, -EFBIG, "%s: more than %llu MiB", shown,
		       (unsigned long long)(max_bytes >> 20));
}

int json_stream_load(FILE *stream, const char *shown, uint64_t max_bytes, json_t **doc,
		     struct err *e)
{
	struct limited in = {.stream = stream, .left = max_bytes};
	json_error_t where;
	json_t *json = json_load_callback(read_limited, &in, JSON_REJECT_DUPLICATES, &where);

	if (!json && in.longer)
		return too_large(shown, max_bytes, e);
	if (!json)
		return err_set(e, -EINVAL, "%s:%d:%d: %s", shown, where.line, where.column,
			       where.text);
	*doc = json;
	return 0;
}

int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e)
{
	/* A pipe would be waited for for ever. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	json_t *json = NULL;
	struct stat st;

	if (!stream) {
		err = err_sys(e, -errno, "%s", path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (fstat(fd, &st))
		err = err_sys(e, -errno, "%s", path);
	else if (!S_ISREG(st.st_mode))
		err = err_set(e, -EINVAL, "%s: no regular file", path);
	else if ((uint64_t)st.st_size > max_bytes)
		err = too_large(path, max_bytes, e);
	else
		err = json_stream_load(stream, path, max_bytes, &json, e);
	fclose(stream);
	if (!err && !json_is_object(json)) {
		json_decref(json);
		err = err_set(e, -EINVAL, "%s: no JSON object", path);
	}
	if (!err)
		*doc = json;
	return err;
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
