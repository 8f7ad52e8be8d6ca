/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths below sysfs, configfs and debugfs: names from outside as one element of them, and links as
 * the name of what they point to. File contents: dcb_sysfs_read().
 */
#ifndef DCB_SYSFS_H
#define DCB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether name (may be NULL) is one element of a path that leads neither up nor aside. */
bool sysfs_is_element(const char *name);

/* The last element of where the link `path` below root points to; "" and false when there is no
 * such link or its name is too long. Sysfs names drivers and buses so. */
bool sysfs_link_name(int root, const char *path, char *name, size_t size);

/* The first name in the folder `path` below root that fits and is not hidden, in the folder's own
 * order: of a device's netdevs, the first one. "" and false when there is none. */
bool sysfs_first_name(int root, const char *path, char *name, size_t size);

#endif
