/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which the kernel ends processes when memory is short (proc(5), oom_score_adj).
 */
#ifndef PROFILES_OOM_H
#define PROFILES_OOM_H

#define OOM_NEVER (-1000)
#define OOM_LATE  (-900)
#define OOM_EARLY 500 /* of 1000, beside the share of memory that it has */

/* Asks that this process is ended late, or early; returns what it was before. Without the privilege
 * (CAP_SYS_RESOURCE) nothing changes: the process works all the same. */
int oom_set(int score);

/* The score of this process; 0 when it cannot be read. */
int oom_get(void);

#endif
