/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of a process that goes on without those of its parent.
 */
#ifndef PROFILES_DESCRIPTORS_H
#define PROFILES_DESCRIPTORS_H

/* Closes `first` and all above it. -errno where neither close_range(2) works nor /proc is there. */
int descriptors_close_from(int first);

/* Moves *fd[0..count) to `first`, first + 1 and so on, and closes all others from `first` on. */
int descriptors_keep(int first, int *const fd[], unsigned int count);

#endif
