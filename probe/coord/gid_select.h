/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which RDMA port and which GID at each of two ends a probe goes between. Never GID index 0 by
 * default: both GIDs are RoCE v2, of one family, of one subnet where there is one. Pure.
 */
#ifndef PROBE_GID_SELECT_H
#define PROBE_GID_SELECT_H

#include "probe/host/snapshot.h"

#define ENDPOINT_ANY (-1)

/* How the two GIDs were found to belong together; better ones are greater. */
enum gid_match {
	GID_MATCH_ROUTED, /* both are of one family, and no more is known */
	GID_MATCH_SUBNET,
	GID_MATCH_CONTROL, /* they are the addresses of the control connection */
};

/* What the user says of one end; and the address by which the other one is connected to it. */
struct endpoint_request {
	const char *name;    /* of the host, for errors */
	const char *device;  /* RDMA device or netdev, NULL = any */
	int ib_port;	     /* ENDPOINT_ANY */
	int gid_index;	     /* ENDPOINT_ANY; another type than RoCE v2 only by it */
	const char *address; /* of the control connection, "" = not known */
};

struct endpoints {
	const struct port *port[2]; /* borrowed from the snapshots */
	const struct gid *gid[2];
	enum gid_match match;
};

/* The best pair of the two snapshots, the first of equal ones. -ENODEV, -ENETDOWN, -ENOENT or
 * -ENOTUNIQ with the host, what it has, and the next step. */
int endpoints_select(const struct snapshot *snapshot[2], const struct endpoint_request request[2],
		     struct endpoints *ends, struct err *e);

/* The RDMA device that the wish for one end means, which may be by its netdev; one with an active
 * port, if there is one. Borrowed. -ENODEV with what the host has. */
int endpoint_find_device(const struct snapshot *s, const struct endpoint_request *w,
			 const char **ibdev, struct err *e);

/* Whether traffic between them makes sense: equal MTUs, unless the user chose the one in use
 * (mtu_bytes, 0 = none), and one family of addresses. -EINVAL or -EMSGSIZE. */
int endpoints_check(const struct endpoints *ends, const struct endpoint_request request[2],
		    uint32_t mtu_bytes, struct err *e);

/* "subnet": why these two. */
const char *gid_match_word(enum gid_match match);

#endif
