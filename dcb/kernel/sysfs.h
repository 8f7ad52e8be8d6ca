/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths below sysfs, configfs and debugfs: names from outside as one element of them, links as the
 * name of what they point to, and what is in a file.
 */
#ifndef DCB_SYSFS_H
#define DCB_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dcb/kernel/dcb.h"

/* Whether name (may be NULL) is one element of a path that leads neither up nor aside. */
bool sysfs_is_element(const char *name);

/* The beginning of a file below an open root, as the kernel gives it in one read(2), with a NUL
 * behind it. Its length, or -errno. */
ssize_t sysfs_read(int root, const char *path, char *buf, size_t size);

/* Gives a file all of a text in one write(2). -errno. */
int sysfs_write(int root, const char *path, const char *text);

/* The last element of where the link `path` below root points to; "" and false when there is no
 * such link or its name is too long. Sysfs names drivers and buses so. */
bool sysfs_link_name(int root, const char *path, char *name, size_t size);

/* The first name in the folder `path` below root that fits and is not hidden, in the folder's own
 * order: of a device's netdevs, the first one. "" and false when there is none. */
bool sysfs_first_name(int root, const char *path, char *name, size_t size);

/* Bonds, VLANs and bridges have no queues: what is asked of one is set on the ports below it. The
 * other way, what tags the packets of a port is the VLAN devices above it. */

#define SYSFS_NETDEVS_MAX 16

struct sysfs_netdevs {
	unsigned int count;
	char netdev[SYSFS_NETDEVS_MAX][16];
};

/* The ports at the bottom below netdev, in the order of their names and each once: netdev itself
 * when it is none of those devices, or has nothing below it. -E2BIG above SYSFS_NETDEVS_MAX ports,
 * -ELOOP for more layers than anybody builds, with netdev named in e. */
int sysfs_lower_ports(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *ports,
		      struct err *e);

/* The VLAN devices above netdev, also through bonds and bridges, and above each other, in the order
 * of their names; none is no error. Errors as above. */
int sysfs_upper_vlans(struct dcb *dcb, const char *netdev, struct sysfs_netdevs *vlans,
		      struct err *e);

#endif
