/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON documents as files, and making the folders of a run.
 */
#ifndef PROBE_JSON_FILE_H
#define PROBE_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "profiles/base.h"

/* Reads a document of at most max_bytes; `shown` is what errors call the stream. -EFBIG when there
 * is more, -EINVAL with line and column when it is no JSON. */
int json_stream_load(FILE *stream, const char *shown, uint64_t max_bytes, json_t **doc,
		     struct err *e);

/* The same of a regular file. *doc is an object; -EINVAL when it is none. */
int json_file_load(const char *path, uint64_t max_bytes, json_t **doc, struct err *e);

/* Whole or not at all, see outfile.h. Owns doc (NULL: -ENOMEM). */
int json_file_save(json_t *doc, const char *path, struct err *e);

/* mkdir -p of one path, mode 0755. An existing folder is fine. */
int run_folder_make(const char *path, struct err *e);

#endif
