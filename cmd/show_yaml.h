/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live state as a profile: what `show --yaml` prints, `lint` takes and `plan` finds in sync.
 */
#ifndef CMD_SHOW_YAML_H
#define CMD_SHOW_YAML_H

#include <stdio.h>

#include "probe/host/snapshot.h"

/*
 * Prints one profile for all ports of s. What could not be read is a comment and no wish, and so is
 * what only the device states. -ENOTUNIQ, with the fields in e, when ports have different values:
 * one profile cannot say both.
 */
int show_yaml(const struct snapshot *s, FILE *out, struct err *e);

#endif
