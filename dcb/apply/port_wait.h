/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a port is there for its users: carrier, RDMA port, GIDs. A step that flaps or resets a
 * port takes them away for a while, and only when they are back may the next port be disturbed.
 */
#ifndef DCB_PORT_WAIT_H
#define DCB_PORT_WAIT_H

#include "dcb/kernel/backend.h"

/* What sysfs shows of a port. Unknown is not there. */
struct port_state {
	bool carrier;	   /* class/net/IF/carrier */
	bool active;	   /* the RDMA port's state is ACTIVE */
	unsigned int gids; /* entries of its GID table that are set */
	uint64_t gid_mark; /* the same for the same set of them, in any order */
};

void port_state_read(struct dcb *dcb, const struct dcb_port *port, struct port_state *p);

/* What was there before and is not now: "carrier", "the RDMA port", "its GIDs", or NULL. */
const char *port_state_missing(const struct port_state *before, const struct port_state *now);

/* Waits until nothing is missing. -ETIMEDOUT with what is missing in e. */
int port_wait(struct dcb *dcb, const struct dcb_port *port, const struct port_state *before,
	      unsigned int seconds, struct err *e);

#endif
