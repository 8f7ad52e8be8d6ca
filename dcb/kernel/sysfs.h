/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes files below sysfs, configfs and debugfs, resolves links, checks path elements,
 * and walks upper and lower netdevs.
 */
#ifndef DCB_SYSFS_H
#define DCB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dcb/kernel/dcb.h"

/* Returns true when name (may be NULL) is one path element: no slash, not "." or "..". */
bool sysfs_is_element(const char *name);

/* Reads the beginning of a file below an open root, in one read(2), and terminates it. Returns its
 * length, or -errno. */
ssize_t sysfs_read(int root, const char *path, char *buf, size_t size);

/* Writes a text to a file in one write(2). -errno. */
int sysfs_write(int root, const char *path, const char *text);

/* Reads the last element of the target of the link `path`: sysfs names drivers and buses so. ""
 * and false without such a link, or when its name is too long. */
bool sysfs_link_name(int root, const char *path, char *name, size_t size);

/* Reads the first name in the folder `path` that fits and is not hidden, in readdir order: the
 * first netdev of a device. "" and false without one. */
bool sysfs_first_name(int root, const char *path, char *name, size_t size);

/* Bonds, VLANs and bridges have no queues: their settings are those of the lower ports. The upper
 * VLAN devices tag the packets of a port. */
#define SYSFS_NETDEVS_MAX 16

struct sysfs_netdevs {
	unsigned int count;
	char netdev[SYSFS_NETDEVS_MAX][16];
};

/* Finds the lowest ports of netdev, sorted by name: netdev itself when it is none of those devices,
 * or has no lower one. -E2BIG above SYSFS_NETDEVS_MAX ports, -ELOOP for too many layers, with
 * netdev named in e. */
int sysfs_lower_ports(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *ports,
		      struct err *e);

/* Finds the upper VLAN devices of netdev, also through bonds, bridges and other VLANs, sorted by
 * name; none is no error. Errors as above. */
int sysfs_upper_vlans(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *vlans,
		      struct err *e);

#endif
