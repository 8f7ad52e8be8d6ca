/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream of a capture file: standard input, a pipe, a gzip or zstd file. Read once and forward,
 * unpacked on the way; a pcapng in it has its drop counters picked out while it passes.
 */
#ifndef CAPTURE_DECOMPRESS_H
#define CAPTURE_DECOMPRESS_H

#include <stdio.h>

#include "capture/file/pcapng.h"
#include "profiles/base/base.h"

struct decompress; /* opaque */

/* Whether the regular file fd begins as what is unpacked, or as what has to be told about. Its
 * offset is kept. */
bool decompress_needed(int fd);

/* *f reads what is in fd, from where fd stands; closing it closes fd, and it has to be closed
 * before decompress_free(). What is not compressed passes as it is. NULL: no memory, and fd stays
 * the caller's.
 */
struct decompress *decompress_new(int fd, FILE **f);
void decompress_free(struct decompress *u);

/* Why reading failed: damaged, or cut off. NULL when it did not, and of no stream. */
const char *decompress_error(const struct decompress *u);

/* Adds a hint to an error when the stream began as something that is not unpacked. */
void decompress_hint(const struct decompress *u, struct err *e);

/* What was read so far says of its interfaces, and of its clock. */
const struct pcapng_tap *decompress_tap(const struct decompress *u);

/* Bytes that were taken from fd. */
uint64_t decompress_consumed(const struct decompress *u);

#endif
