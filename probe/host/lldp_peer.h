/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The link partner of each port, by listening for LLDP. Nothing is sent: a neighbour that speaks
 * every 30 s may need that long.
 */
#ifndef PROBE_LLDP_PEER_H
#define PROBE_LLDP_PEER_H

#include "probe/host/snapshot.h"

struct lldp_peer; /* capture/flow/summary.h */

/* Listens on every port of the snapshot that has a netdev, until all have heard a neighbour or
 * timeout_ms has passed, and fills peer*. A port that hears nothing keeps peer.has == 0. -EPERM
 * without CAP_NET_RAW, with the next step in e. */
int lldp_peer_listen(struct snapshot *s, unsigned int timeout_ms, struct err *e);

/* Puts what was heard into the port. Pure. */
void lldp_peer_set_port(struct port *p, const struct lldp_peer *peer);

#endif
