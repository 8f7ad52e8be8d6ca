/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bonds, VLANs and bridges have no queues: what is asked of one is set on the ports below it. The
 * other way, what tags the packets of a port is the VLAN devices above it.
 */
#ifndef DCB_RESOLVE_H
#define DCB_RESOLVE_H

#include <stdbool.h>

#include "dcb/kernel/dcb.h"

#define RESOLVE_MAX 16

struct resolved {
	unsigned int count;
	char netdev[RESOLVE_MAX][16];
};

/* The ports at the bottom below netdev, in the order of their names and each once: netdev itself
 * when it is none of those devices, or has nothing below it. -E2BIG above RESOLVE_MAX ports, -ELOOP
 * for more layers than anybody builds, with netdev named in e. */
int resolve_ports(struct dcb *dcb, const char *netdev, struct resolved *ports, struct err *e);

/* The VLAN devices above netdev, also through bonds and bridges, and above each other, in the order
 * of their names; none is no error. Errors as above. */
int resolve_vlans(struct dcb *dcb, const char *netdev, struct resolved *vlans, struct err *e);

#endif
