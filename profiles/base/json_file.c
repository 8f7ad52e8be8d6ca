/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files. A written file appears under its name after all bytes are on the disk.
 */
#include "profiles/base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/file.h"

#define INDENT_MAX 2

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

/* Opens a regular file of at most max_bytes. */
static int json_file_open(const char *path, const char *shown, uint64_t max_bytes, FILE **out,
			  struct err *e)
{
	/* O_NONBLOCK: opening a FIFO would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;

	if (!stream) {
		err = err_sys(e, -errno, "%s", shown);
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (fstat(fd, &st))
		err = err_sys(e, -errno, "%s", shown);
	else if (!S_ISREG(st.st_mode))
		err = err_set(e, -EINVAL, "%s: not a regular file", shown);
	else if ((uint64_t)st.st_size > max_bytes)
		err = json_file_too_large(shown, max_bytes, e);
	if (err)
		fclose(stream);
	else
		*out = stream;
	return err;
}

int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e)
{
	json_t *json = NULL;
	FILE *stream;
	int err = json_file_open(path, path, max_bytes, &stream, e);

	if (err)
		return err;
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

static int json_line_read(const char *shown, size_t number, char *text, json_line *line, void *arg,
			  struct err *e)
{
	json_error_t where;
	json_t *json;
	int err;

	text[strcspn(text, "\n")] = '\0'; /* columns count from the begin of a line */
	json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	if (!json)
		return err_set(e, -EINVAL, "%s:%zu:%d: %s", shown, number, where.column,
			       where.text);
	err = json_is_object(json) ? line(json, arg, e) : err_set(e, -EINVAL, "not a JSON object");
	if (err)
		err_prefix(e, "%s:%zu", shown, number);
	json_decref(json);
	return err;
}

int json_lines_load(const char *path, const char *shown, uint64_t max_bytes, size_t count,
		    json_line *line, void *arg, struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int err = json_file_open(path, shown, max_bytes, &stream, e);

	if (err)
		return err;
	for (size_t i = 0; i < count && !err; i++) {
		if (getline(&text, &size, stream) >= 0)
			err = json_line_read(shown, i + 1, text, line, arg, e);
		else if (feof(stream))
			err = err_set(e, -ENODATA, "%s: %zu lines of %zu", shown, i, count);
		else
			err = err_sys(e, -errno, "%s", shown);
	}
	free(text);
	fclose(stream);
	return err;
}

/* Output of one item of a list. */
struct json_item {
	FILE *out;
	unsigned int margin; /* spaces before each line but the first, at most 2 * INDENT_MAX */
};

static int json_item_write(const char *text, size_t size, void *arg)
{
	static const char margin[2 * INDENT_MAX + 1] = "    ";
	const struct json_item *item = arg;

	while (size) { /* a newline within a string is escaped */
		const char *line = memchr(text, '\n', size);
		size_t n = line ? (size_t)(line + 1 - text) : size;

		if (fwrite_unlocked(text, 1, n, item->out) != n ||
		    (line && fwrite_unlocked(margin, 1, item->margin, item->out) != item->margin))
			return -1;
		text += n;
		size -= n;
	}
	return 0;
}

/* Writes the items between the brackets of an empty list. */
static int json_list_print(const struct json_long_list *list, unsigned int indent, FILE *out)
{
	struct json_item item = {.out = out, .margin = 2 * indent};
	int err = 0;

	for (size_t i = 0; i < list->count && !err; i++) {
		json_t *value = list->make(i, list->arg);

		fprintf(out, "%s\n%*s", i ? "," : "", item.margin, "");
		if (!value || json_dump_callback(value, json_item_write, &item,
						 JSON_INDENT(indent) | JSON_ENSURE_ASCII))
			err = !ferror(out) ? -ENOMEM : errno ? -errno : -EIO;
		json_decref(value);
	}
	fprintf(out, "\n%*s", indent, "");
	return err;
}

int json_print(json_t *doc, const struct json_long_list *lists, size_t count, unsigned int indent,
	       FILE *out)
{
	char *text = json_dumps(doc, JSON_INDENT(indent) | JSON_ENSURE_ASCII), *at = text;
	int err = text ? 0 : -ENOMEM;

	errno = 0;
	for (size_t i = 0; i < count && !err; i++) {
		char key[64];
		int length = snprintf(key, sizeof(key), "\n%*s\"%s\": []", indent, "",
				      lists[i].key);
		char *found = lists[i].count ? strstr(at, key) : NULL;

		if (!found)
			continue;
		found += length - 1; /* the closing bracket */
		fwrite(at, 1, (size_t)(found - at), out);
		at = found;
		err = json_list_print(&lists[i], indent, out);
	}
	if (!err && (fputs(at, out) == EOF || fputc('\n', out) == EOF || ferror(out)))
		err = errno ? -errno : -EIO;
	free(text);
	json_decref(doc);
	return err;
}

/* Closes a file that was written with this result; after an error nothing is kept. */
static int json_file_close(struct file *f, int err, struct err *e)
{
	if (!err)
		return file_close(f, true, e);
	err_sys(e, err, "%s", f->path);
	(void)file_close(f, false, NULL);
	return err;
}

/* err: result of opening the file; if not 0, f is not used. */
static int json_file_write(json_t *doc, struct file *f, int err, struct err *e)
{
	if (!err)
		return json_file_close(f, json_print(doc, NULL, 0, 1, f->stream), e);
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

int json_lines_save(size_t count, json_make_item *make, const void *arg,
		    const struct folder *folder, const char *name, struct err *e)
{
	struct file f;
	int err = file_open_in(folder, name, 0, &f, e);

	if (err)
		return err;
	errno = 0;
	for (size_t i = 0; i < count && !err; i++) {
		json_t *item = make(i, arg);

		if (!item)
			err = -ENOMEM;
		else if (json_dumpf(item, f.stream, JSON_COMPACT | JSON_ENSURE_ASCII) ||
			 fputc('\n', f.stream) == EOF)
			err = !ferror(f.stream) ? -ENOMEM : errno ? -errno : -EIO;
		json_decref(item);
	}
	return json_file_close(&f, err, e);
}
