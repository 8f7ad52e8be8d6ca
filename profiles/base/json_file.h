/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files.
 */
#ifndef PROFILES_JSON_FILE_H
#define PROFILES_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "profiles/base/base.h"

struct folder;

/* Reads a document of at most max_bytes; `shown` is what errors call the stream. -EFBIG when there
 * is more, -EINVAL with line and column when it is no JSON. */
int json_stream_load(FILE *stream, const char *shown, uint64_t max_bytes, json_t **doc,
		     struct err *e);

/* The same of a regular file. *doc is an object; -EINVAL when it is none. */
int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e);

/* A file by its path, "-" for standard output: see file_open(). Owns doc (NULL: -ENOMEM). */
int json_file_save(json_t *doc, const char *path, struct err *e);

/* The same below an open folder: see file_open_in(). */
int json_file_save_in(json_t *doc, const struct folder *folder, const char *name, struct err *e);

#endif
