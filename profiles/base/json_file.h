/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes JSON documents as files.
 */
#ifndef PROFILES_JSON_FILE_H
#define PROFILES_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "profiles/base/base.h"

struct folder;

/* Reads a document of at most max_bytes; `shown` names the stream in errors. -EFBIG if it is
 * longer, -EINVAL with line and column if it is not JSON. */
int json_stream_load(FILE *stream, const char *shown, uint64_t max_bytes, json_t **doc,
		     struct err *e);

/* The same for a regular file. *doc is an object, else -EINVAL. */
int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e);

/* Reads one line of a file; its error is prefixed with file and line. */
typedef int json_line(const json_t *line, void *arg, struct err *e);

/* Reads the first `count` lines of a regular file of JSON lines, an object each, one at a time;
 * `shown` names the file in errors. -ENODATA: it has fewer; -EFBIG: more than max_bytes; -EINVAL.
 */
int json_lines_load(const char *path, const char *shown, uint64_t max_bytes, size_t count,
		    json_line *line, void *arg, struct err *e);

/* Returns item i of a list, which the caller writes and releases; NULL: -ENOMEM. */
typedef json_t *json_make_item(size_t i, const void *arg);

/* A list of a document which is too long to be held as a whole. */
struct json_long_list {
	const char *key;
	size_t count;
	json_make_item *make;
	const void *arg;
};

/* Writes a document and a newline; members of `doc` that are long lists are empty in it, and
 * `lists` has them in the order of the document. indent: 1 or 2. Consumes doc (NULL: -ENOMEM). 0,
 * -ENOMEM or the error of the stream. */
int json_print(json_t *doc, const struct json_long_list *lists, size_t count, unsigned int indent,
	       FILE *out);

/* Writes a file, or standard output for "-": see file_open(). Consumes doc (NULL: -ENOMEM). */
int json_file_save(json_t *doc, const char *path, struct err *e);

/* The same below an open folder: see file_open_in(). */
int json_file_save_in(json_t *doc, const struct folder *folder, const char *name, struct err *e);

/* Writes `count` items as JSON lines below an open folder. */
int json_lines_save(size_t count, json_make_item *make, const void *arg,
		    const struct folder *folder, const char *name, struct err *e);

#endif
