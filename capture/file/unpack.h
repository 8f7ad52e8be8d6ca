/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream of a capture file: standard input, a pipe, a gzip or zstd file. Read once and forward,
 * unpacked on the way; a pcapng in it has its drop counters picked out while it passes.
 */
#ifndef CAPTURE_UNPACK_H
#define CAPTURE_UNPACK_H

#include <stdio.h>

#include "capture/file/pcapng.h"
#include "profiles/base/base.h"

struct unpack; /* opaque */

/* Whether the regular file fd begins as what is unpacked, or as what has to be told about. Its
 * offset is kept. */
bool unpack_needed(int fd);

/* *f reads what is in fd, from where fd stands; closing it closes fd, and it has to be closed
 * before unpack_free(). What is not compressed passes as it is. NULL: no memory, and fd stays the
 * caller's.
 */
struct unpack *unpack_new(int fd, FILE **f);
void unpack_free(struct unpack *u);

/* Why reading failed: damaged, or cut off. NULL when it did not, and of no stream. */
const char *unpack_error(const struct unpack *u);

/* Adds a hint to an error when the stream began as something that is not unpacked. */
void unpack_hint(const struct unpack *u, struct err *e);

/* What was read so far says of its interfaces, and of its clock. */
const struct pcapng_tap *unpack_tap(const struct unpack *u);

/* Bytes that were taken from fd. */
uint64_t unpack_taken(const struct unpack *u);

#endif
