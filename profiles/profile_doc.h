/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The effective profile as JSON, for files that have to do without the YAML it came from: what is
 * kept for the next boot, and a saved plan.
 */
#ifndef PROFILES_PROFILE_DOC_H
#define PROFILES_PROFILE_DOC_H

#include <jansson.h>

#include "profiles/profile.h"

/* New reference, NULL on -ENOMEM. */
json_t *profile_doc(const struct profile *p);

/* Reads what profile_doc() wrote; -EBADMSG or -EINVAL with the member in e. */
int profile_take(const json_t *doc, struct profile *p, struct err *e);

#endif
