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

/* Writes a file, or standard output for "-": see file_open(). Consumes doc (NULL: -ENOMEM). */
int json_file_save(json_t *doc, const char *path, struct err *e);

/* The same below an open folder: see file_open_in(). */
int json_file_save_in(json_t *doc, const struct folder *folder, const char *name, struct err *e);

#endif
