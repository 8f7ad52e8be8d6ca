/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of names: "gpu[01-16]", "rack[1-2]n[01-04]". The digits of the first number give the width,
 * as in Slurm and ClusterShell.
 */
#ifndef PROFILES_NODESET_H
#define PROFILES_NODESET_H

#include "profiles/base/base.h"

#define NODESET_MAX 4096 /* names of one set */

/* Number of names; -EINVAL with e filled for unmatched brackets and empty or reversed ranges,
 * -ERANGE above NODESET_MAX names. */
int nodeset_count(const char *text, struct err *e);

/* Writes name number i (from 0, below the count). -ENAMETOOLONG. */
int nodeset_name(const char *text, unsigned int i, char *name, size_t size);

/* Cuts the next set off a list of sets, at a comma outside brackets. Returns NULL after the last.
 */
char *nodeset_next(char **list);

/* Folds names into sets, "gpu[01-16],login": each name once, in any order and number. Names with a
 * bracket or a comma stay as they are. *text is the caller's to free; -ENOMEM. */
int nodeset_fold(const char *const *names, size_t count, char **text);

/* True when the set has the name. */
bool nodeset_has(const char *text, const char *name);

#endif
