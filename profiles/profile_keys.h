/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a profile besides those of the field table. Only the profile loader uses this.
 */
#ifndef PROFILES_PROFILE_KEYS_H
#define PROFILES_PROFILE_KEYS_H

#include "profiles/profile.h"
#include "profiles/yaml/schema.h"

extern const struct schema profile_keys;

/* Maps the DSCPs that app.dscp leaves unmapped as app.dscp_default says. The node was checked. */
void profile_apply_dscp_default(struct profile *p, const struct yaml_node *node);

/* What is taken for stated where dcbx.agent is lldpad: not willing, rxtx, and the peer recommended
 * what is set here. */
void profile_apply_agent(struct profile *p);

#endif
