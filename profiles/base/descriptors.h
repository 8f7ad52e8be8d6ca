/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of a process that goes on without those of its parent.
 */
#ifndef PROFILES_DESCRIPTORS_H
#define PROFILES_DESCRIPTORS_H

/* Closes `first` and all above it. -errno where neither close_range(2) works nor /proc is there. */
int descriptors_close_from(int first);

#endif
