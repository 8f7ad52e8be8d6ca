/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ports a command is about: the one named, or every RoCE port of this host, freshly read.
 */
#ifndef PROBE_PORTS_H
#define PROBE_PORTS_H

#include "dcb/kernel/dcb.h"
#include "probe/host/snapshot.h"
#include "profiles/profile.h"

/* name: a netdev or RDMA device; NULL = every RoCE port with a netdev. Leaves only those in *s,
 * which the caller clears. Of an agent: what it was told (dcb_read_port()). -ENODEV when there is
 * none. Unlike a snapshot, a port that cannot be read is an error. */
int ports_read(struct dcb *dcb, const char *name, enum lldp_agent agent, struct snapshot *s,
	       struct err *e);

/* Puts the ports below a bond, VLAN or bridge in its place, each with the RDMA device above it:
 * they have the queues. Other ports stay as they are. */
int ports_resolve_lower(struct dcb *dcb, struct snapshot *s, struct err *e);

/* Whether the profile selects the netdev, or a bond, VLAN or bridge above it. */
bool ports_profile_selects(struct dcb *dcb, const struct profile *profile, const char *netdev);

#endif
