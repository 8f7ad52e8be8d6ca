/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files. A written file appears under its name after all bytes are on the disk.
 */
#include "profiles/base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/file.h"

/* A stream of which at most `left` more bytes are read. */
struct limited {
	FILE *stream;
	uint64_t left;
	bool longer;
};

static size_t json_file_read_limited(void *buffer, size_t size, void *arg)
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

static int json_file_too_large(const char *shown, uint64_t max_bytes, struct err *e)
{
	return err_set(e, -EFBIG, "%s: more than %llu MiB", shown,
		       (unsigned long long)(max_bytes >> 20));
}

int json_stream_load(FILE *stream, const char *shown, uint64_t max_bytes, json_t **doc,
		     struct err *e)
{
	struct limited in = {.stream = stream, .left = max_bytes};
	json_error_t where;
	json_t *json = json_load_callback(json_file_read_limited, &in, JSON_REJECT_DUPLICATES,
					  &where);

	if (!json && in.longer)
		return json_file_too_large(shown, max_bytes, e);
	if (!json)
		return err_set(e, -EINVAL, "%s:%d:%d: %s", shown, where.line, where.column,
			       where.text);
	*doc = json;
	return 0;
}

int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e)
{
	/* O_NONBLOCK: opening a FIFO would block. */
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
		err = err_set(e, -EINVAL, "%s: not a regular file", path);
	else if ((uint64_t)st.st_size > max_bytes)
		err = json_file_too_large(path, max_bytes, e);
	else
		err = json_stream_load(stream, path, max_bytes, &json, e);
	fclose(stream);
	if (!err && !json_is_object(json)) {
		json_decref(json);
		err = err_set(e, -EINVAL, "%s: not a JSON object", path);
	}
	if (!err)
		*doc = json;
	return err;
}

/* Writes to an open file and closes it. err: result of opening it; if not 0, f is not used. */
static int json_file_write(json_t *doc, struct file *f, int err, struct err *e)
{
	if (!err) {
		errno = 0;
		if (json_dumpf(doc, f->stream, JSON_INDENT(1) | JSON_ENSURE_ASCII) ||
		    fputc('\n', f->stream) == EOF)
			err = !ferror(f->stream) ? -ENOMEM : errno ? -errno : -EIO;
		if (err)
			err_sys(e, err, "%s", f->path);
		if (err)
			(void)file_close(f, false, NULL); /* nothing is kept */
		else
			err = file_close(f, true, e);
	}
	json_decref(doc);
	return err;
}

int json_file_save(json_t *doc, const char *path, struct err *e)
{
	struct file f;
	int err = doc ? file_open(path, 0, &f, e) : err_sys(e, -ENOMEM, "%s", path);

	return json_file_write(doc, &f, err, e);
}

int json_file_save_in(json_t *doc, const struct folder *folder, const char *name, struct err *e)
{
	struct file f;
	int err = doc ? file_open_in(folder, name, 0, &f, e)
		      : err_sys(e, -ENOMEM, "%s/%s", folder->path, name);

	return json_file_write(doc, &f, err, e);
}
