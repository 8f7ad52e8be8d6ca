/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps a part of a file into memory without copying, which for a large file costs more than all
 * else. If the file is truncated meanwhile, missing pages read as zeros and the window reports it.
 */
#ifndef CAPTURE_MMAP_WINDOW_H
#define CAPTURE_MMAP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mmap_window; /* opaque */

/* Maximum number of windows. */
#define MMAP_WINDOWS_MAX 128

/* mmap_window_map() may request at most `bytes`; fd stays the caller's. Handles SIGBUS, and passes
 * on signals from outside a window. Not thread-safe. NULL: the file cannot be mapped, or no
 * memory. */
struct mmap_window *mmap_window_new(int fd, size_t bytes);
/* Accepts NULL. */
void mmap_window_free(struct mmap_window *w);

/* Maps the file from `at` on: `want` bytes and some megabytes more, or all up to its end. *have:
 * number of bytes; 128 more can be read after them. NULL when mapping fails. Valid until the next
 * call. */
const uint8_t *mmap_window_map(struct mmap_window *w, uint64_t at, size_t want, size_t *have);

/* True when the file was truncated while mapped: do not trust data read from it. */
bool mmap_window_is_truncated(const struct mmap_window *w);

#endif
