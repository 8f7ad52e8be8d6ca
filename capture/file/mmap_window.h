/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a file that lies in memory as the kernel keeps it: what is read from there is copied
 * nowhere, which for a large file costs more than all else. The file may be cut while it is looked
 * at: what is missing then reads as zeros, and the window says so.
 */
#ifndef CAPTURE_MMAP_WINDOW_H
#define CAPTURE_MMAP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mmap_window; /* opaque */

/* So many at once at most. */
#define MMAP_WINDOWS_MAX 128

/* What mmap_window_map() is asked for is at most `bytes`; fd stays the caller's. Takes the signal
 * SIGBUS, and leaves those that are not of a window to who took it before. Not while another thread
 * does the same. NULL: the file cannot be looked at so, or there is no room. */
struct mmap_window *mmap_window_new(int fd, size_t bytes);
/* Accepts NULL. */
void mmap_window_free(struct mmap_window *w);

/* What of the file from `at` on is there: `want` bytes and some megabytes more, or all up to its
 * end. *have tells how many there are; behind them 128 more can be read. NULL when it cannot be
 * shown. Valid until the next call. */
const uint8_t *mmap_window_map(struct mmap_window *w, uint64_t at, size_t want, size_t *have);

/* Whether the file was cut under it: what was read from it since it was made is not to be trusted.
 */
bool mmap_window_is_truncated(const struct mmap_window *w);

#endif
