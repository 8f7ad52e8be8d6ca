/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets the OOM score of this process: the order in which the kernel kills processes when memory is
 * short (proc(5), oom_score_adj).
 */
#ifndef PROFILES_OOM_H
#define PROFILES_OOM_H

#define OOM_NEVER (-1000)
#define OOM_LATE  (-900)
#define OOM_EARLY 500 /* of 1000, added to its share of the memory */

/* Sets the score; returns the previous one. Without CAP_SYS_RESOURCE it changes nothing, which is
 * no error. */
int oom_set(int score);

/* Returns the score of this process; 0 if it cannot be read. */
int oom_get(void);

#endif
