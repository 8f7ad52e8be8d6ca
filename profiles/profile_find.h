/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the file of a profile. Only the profile loader uses this.
 */
#ifndef PROFILES_PROFILE_FIND_H
#define PROFILES_PROFILE_FIND_H

#include "profiles/profile.h"

struct profile_place {
	char path[256];	 /* to open */
	char shown[256]; /* for people: the path, or "builtin:NAME" */
};

/* -ENOENT with the shipped names in the hint, -EINVAL, -ENAMETOOLONG. A path is not opened here. */
int profile_locate(const char *name, struct profile_place *place, struct err *e);

#endif
