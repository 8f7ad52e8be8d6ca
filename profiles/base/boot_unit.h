/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the units that systemd starts at boot, by the links of "systemctl enable" below a root that
 * tests can change. systemd itself is not queried; units of generators are left out.
 */
#ifndef PROFILES_BOOT_UNIT_H
#define PROFILES_BOOT_UNIT_H

#include <limits.h>
#include <stdbool.h>

/* Finds the file of a unit below root; an instance has the file of its template. False: not
 * installed, or masked. */
bool boot_unit_file(int root, const char *unit, char path[PATH_MAX]);

/* Calls fn for each link to an installed unit in the .wants and .requires folders of other units,
 * until it returns true. link: below root. file: see boot_unit_file(). */
typedef bool boot_unit_fn(const char *link, const char *unit, const char *file, void *arg);
void boot_unit_each(int root, boot_unit_fn *fn, void *arg);

/* Returns true if a unit is installed, not masked, and wanted or required; link: by which link. */
bool boot_unit_enabled(int root, const char *unit, char link[PATH_MAX]);

/* The same for rocecheck-apply.service; root: NULL = "/". */
bool boot_unit_apply_enabled(const char *root);

#endif
