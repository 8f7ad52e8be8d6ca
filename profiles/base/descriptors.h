/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closes inherited descriptors in a child process.
 */
#ifndef PROFILES_DESCRIPTORS_H
#define PROFILES_DESCRIPTORS_H

/* Closes `first` and all above it. -errno without both close_range(2) and /proc. */
int descriptors_close_from(int first);

/* Moves *fd[0..count) to `first`, `first` + 1, ..., and closes all others from `first` on. */
int descriptors_keep(int first, int *const fd[], unsigned int count);

#endif
