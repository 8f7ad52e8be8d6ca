/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the RDMA ports and GIDs of a probe on both hosts. Default: RoCE v2 GIDs of one address
 * family, and of one subnet if there is one, whatever their index. Pure.
 */
#ifndef PROBE_GID_SELECT_H
#define PROBE_GID_SELECT_H

#include "probe/host/snapshot.h"

#define ENDPOINT_ANY (-1)

/* Relation of the two GIDs; a better one is greater. */
enum gid_match {
	GID_MATCH_ROUTED, /* same address family only */
	GID_MATCH_SUBNET,
	GID_MATCH_CONTROL, /* the addresses of the control connection */
};

/* Selection by the user for one host, and its address in the control connection. */
struct endpoint_request {
	const char *name;    /* of the host, for errors */
	const char *device;  /* RDMA device or netdev, NULL = any */
	int ib_port;	     /* ENDPOINT_ANY */
	int gid_index;	     /* ENDPOINT_ANY = RoCE v2 only */
	const char *address; /* of the control connection, "" = not known */
};

struct endpoints {
	const struct port *port[2]; /* borrowed from the snapshots */
	const struct gid *gid[2];
	enum gid_match match;
};

/* Selects the best pair of the two snapshots, the first of equal ones. -ENODEV, -ENETDOWN, -ENOENT
 * or -ENOTUNIQ with the host, its devices, and a hint. */
int endpoints_select(const struct snapshot *snapshot[2], const struct endpoint_request request[2],
		     struct endpoints *ends, struct err *e);

/* Finds the RDMA device of a request, which may name its netdev; prefers one with an active port.
 * *ibdev is borrowed. -ENODEV with the devices of the host. */
int endpoint_find_device(const struct snapshot *s, const struct endpoint_request *w,
			 const char **ibdev, struct err *e);

/* Checks that both MTUs are equal, or, if mtu_bytes is not 0, at least mtu_bytes. -EMSGSIZE. */
int endpoints_check(const struct endpoints *ends, const struct endpoint_request request[2],
		    uint32_t mtu_bytes, struct err *e);

/* Returns "routed", "subnet" or "control connection". */
const char *gid_match_word(enum gid_match match);

#endif
