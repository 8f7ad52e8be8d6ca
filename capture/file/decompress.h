/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a capture file as a stream: standard input, a pipe, a gzip or zstd file. Reads forward
 * once, decompresses, and extracts the drop counters of a pcapng on the way.
 */
#ifndef CAPTURE_DECOMPRESS_H
#define CAPTURE_DECOMPRESS_H

#include <stdio.h>

#include "capture/file/pcapng.h"
#include "profiles/base/base.h"

struct decompress; /* opaque */

/* True when the regular file fd begins with the magic of any compression. Keeps its offset. */
bool decompress_needed(int fd);

/* Makes *f, which reads fd from its current offset. Closing *f closes fd; close it before
 * decompress_free(). Uncompressed data passes unchanged. NULL: no memory, and fd stays the
 * caller's. */
struct decompress *decompress_new(int fd, FILE **f);
void decompress_free(struct decompress *u);

/* Returns why reading failed: corrupt or truncated data. NULL without an error or with u NULL. */
const char *decompress_error(const struct decompress *u);

/* Adds a hint to an error when the compression is unsupported. */
void decompress_hint(const struct decompress *u, struct err *e);

/* Returns data on interfaces and clock found so far. */
const struct pcapng_tap *decompress_tap(const struct decompress *u);

/* Returns the bytes read from fd. */
uint64_t decompress_consumed(const struct decompress *u);

#endif
