/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the LLDP neighbor of each port by listening. Sends nothing: a neighbor that sends every 30
 * s may take that long.
 */
#ifndef PROBE_LLDP_PEER_H
#define PROBE_LLDP_PEER_H

#include "probe/host/snapshot.h"

struct lldp_peer; /* capture/decode/lldp.h */

/* Listens on every port that has a netdev, until all have a neighbor or timeout_ms has passed, and
 * fills lldp_*. A port without neighbor keeps lldp_qos.has == 0. -EPERM without CAP_NET_RAW, with a
 * hint in e. */
int lldp_peer_listen(struct snapshot *s, unsigned int timeout_ms, struct err *e);

/* Stores a neighbor in the port. Pure. */
void lldp_peer_set_port(struct port *p, const struct lldp_peer *peer);

#endif
