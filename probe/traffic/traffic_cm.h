/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs connected by rdma_cm, as applications do: the traffic class then takes another way
 * (RDMA_OPTION_ID_TOS, default_roce_tos, the REQ that the passive side inherits it from) than the
 * one of raw verbs. RC alone; the queue pairs are ours, rdma_cm says what is to be set in them. The
 * server listens on the address of its GID while the end is open; the queue pair of a connection is
 * told by number in its private data. For traffic*.c.
 */
#ifndef PROBE_TRAFFIC_CM_H
#define PROBE_TRAFFIC_CM_H

#include "probe/traffic/traffic_end.h"

struct traffic_cm;

/* The server begins to listen: *port is for the peer (0 at a client). */
int traffic_cm_open(struct traffic *t, uint16_t *port, struct err *e);
void traffic_cm_close(struct traffic_cm *cm);

/* All flows, one after the other; at most 8 s. Both ends call it, with the control queue pairs
 * connected: then it also asks which ToS the queue pairs have got (tos_read of the results). */
int traffic_cm_connect(struct traffic *t, struct err *e);

/* Readable when rdma_cm has something to say; -1 without it. */
int traffic_cm_fd(const struct traffic *t);
void traffic_cm_take_event(struct traffic *t);

#endif
