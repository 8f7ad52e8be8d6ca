/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the ports of a command: the named one, or every RoCE port of this host. Reads them anew.
 */
#ifndef PROBE_PORTS_H
#define PROBE_PORTS_H

#include "dcb/kernel/dcb.h"
#include "probe/host/snapshot.h"
#include "profiles/profile.h"

/* Reads the selected ports into *s, which the caller clears. name: a netdev or RDMA device; NULL =
 * every RoCE port with a netdev. agent: LLDP agent whose settings are read (dcb_read_port()).
 * -ENODEV when there is none. Unlike in a snapshot, a port that cannot be read is an error. */
int ports_read(struct dcb *dcb, const char *name, enum lldp_agent agent, struct snapshot *s,
	       struct err *e);

/* Replaces a bond, VLAN or bridge by its lower ports, which have the queues, each with the RDMA
 * device of the upper one. Other ports stay. */
int ports_resolve_lower(struct dcb *dcb, struct snapshot *s, struct err *e);

/* Returns true if the profile selects the netdev, or a bond, VLAN or bridge on top of it. */
bool ports_profile_selects(struct dcb *dcb, const struct profile *profile, const char *netdev);

#endif
