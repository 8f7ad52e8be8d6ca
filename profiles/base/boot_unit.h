/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units that systemd starts at boot, by the links of "systemctl enable" below a root that tests can
 * move. No process is asked; what generators write is left out.
 */
#ifndef PROFILES_BOOT_UNIT_H
#define PROFILES_BOOT_UNIT_H

#include <limits.h>
#include <stdbool.h>

/* The file of a unit by its name, below root; an instance has its template's. False: it is not
 * installed or it is masked. */
bool boot_unit_file(int root, const char *unit, char path[PATH_MAX]);

/* Calls fn for each link to an installed unit in a folder of what another unit wants or requires,
 * until it returns true. link: below root. file: see boot_unit_file(). */
typedef bool boot_unit_fn(const char *link, const char *unit, const char *file, void *arg);
void boot_unit_each(int root, boot_unit_fn *fn, void *arg);

/* Whether a unit is enabled, that is installed, not masked, and wanted or required; link: where. */
bool boot_unit_enabled(int root, const char *unit, char link[PATH_MAX]);

/* The same of our own rocecheck-apply.service; root: NULL = "/". */
bool boot_unit_apply_enabled(const char *root);

#endif
