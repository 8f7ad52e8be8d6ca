/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the current settings as a profile (show --yaml). lint accepts it, plan finds no
 * difference.
 */
#ifndef CMD_SHOW_YAML_H
#define CMD_SHOW_YAML_H

#include <stdio.h>

#include "probe/host/snapshot.h"

/*
 * Prints one profile for all ports of s. Unknown and read-only settings are comments. -ENOTUNIQ,
 * with the fields in e, if the ports have different values.
 */
int show_yaml(const struct snapshot *s, FILE *out, struct err *e);

/* Prints a profile of this name with these settings, without read-only ones. */
int show_yaml_profile(const char *name, const struct qos *q, FILE *out, struct err *e);

#endif
