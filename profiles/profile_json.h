/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effective profile as JSON, for files that are used without its YAML: the profile saved for
 * the next boot, and a saved plan.
 */
#ifndef PROFILES_PROFILE_JSON_H
#define PROFILES_PROFILE_JSON_H

#include <jansson.h>

#include "profiles/profile.h"

/* New reference, NULL on -ENOMEM. */
json_t *profile_to_json(const struct profile *p);

/* Reads the output of profile_to_json(); -EINVAL with the member in e. */
int profile_from_json(const json_t *doc, struct profile *p, struct err *e);

#endif
