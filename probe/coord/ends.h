/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which RDMA port and which GID at each of two ends a probe goes between. Never GID index 0 by
 * default: both GIDs are RoCE v2, of one family, of one subnet where there is one. Pure.
 */
#ifndef PROBE_ENDS_H
#define PROBE_ENDS_H

#include "probe/host/snapshot.h"

#define ENDS_ANY (-1)

/* How the two GIDs were found to belong together; better ones are greater. */
enum ends_match {
	ENDS_ROUTED, /* both are of one family, and no more is known */
	ENDS_SUBNET,
	ENDS_CONTROL, /* they are the addresses of the control connection */
};

/* What the user says of one end; and the address by which the other one is connected to it. */
struct ends_wish {
	const char *name;    /* of the host, for errors */
	const char *device;  /* RDMA device or netdev, NULL = any */
	int ib_port;	     /* ENDS_ANY */
	int gid_index;	     /* ENDS_ANY; another type than RoCE v2 only by it */
	const char *address; /* of the control connection, "" = not known */
};

struct ends {
	const struct port *port[2]; /* borrowed from the snapshots */
	const struct gid *gid[2];
	enum ends_match match;
};

/* The best pair of the two snapshots, the first of equal ones. -ENODEV, -ENETDOWN, -ENOENT or
 * -ENOTUNIQ with the host, what it has, and the next step. */
int ends_choose(const struct snapshot *snapshot[2], const struct ends_wish wish[2],
		struct ends *ends, struct err *e);

/* The RDMA device that the wish for one end means, which may be by its netdev; one with an active
 * port, if there is one. Borrowed. -ENODEV with what the host has. */
int ends_device(const struct snapshot *s, const struct ends_wish *w, const char **ibdev,
		struct err *e);

/* Whether traffic between them makes sense: equal MTUs, unless the user chose the one in use
 * (mtu_bytes, 0 = none), and one family of addresses. -EINVAL or -EMSGSIZE. */
int ends_check(const struct ends *ends, const struct ends_wish wish[2], uint32_t mtu_bytes,
	       struct err *e);

/* "subnet": why these two. */
const char *ends_match_word(enum ends_match match);

#endif
