/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for a port to be usable again: carrier, RDMA port, GIDs. A step that flaps or resets a port
 * removes them for a while; the next port is disrupted only when they are back.
 */
#ifndef DCB_PORT_WAIT_H
#define DCB_PORT_WAIT_H

#include "dcb/kernel/backend.h"

/* Port state out of sysfs; unreadable counts as absent. */
struct port_state {
	bool carrier;	   /* class/net/IF/carrier */
	bool active;	   /* the RDMA port's state is ACTIVE */
	unsigned int gids; /* entries of its GID table that are set */
	uint64_t gid_mark; /* checksum of the set of GIDs, independent of their order */
};

void port_state_read(struct dcb *dcb, const struct dcb_port *port, struct port_state *p);

/* Returns the part that is missing now: "carrier", "the RDMA port", "its GIDs", or NULL. */
const char *port_state_missing(const struct port_state *before, const struct port_state *now);

/* Waits until nothing is missing. -ETIMEDOUT names the missing part in e. */
int port_wait(struct dcb *dcb, const struct dcb_port *port, const struct port_state *before,
	      unsigned int seconds, struct err *e);

#endif
