/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of an inventory. Only the inventory's loader uses this.
 */
#ifndef PROFILES_FABRIC_KEYS_H
#define PROFILES_FABRIC_KEYS_H

#include "profiles/fabric.h"
#include "profiles/yaml/schema.h"

extern const struct schema fabric_keys;

#endif
