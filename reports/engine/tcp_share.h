/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP backgrounds beside RDMA: finds missing ones, bounds their bytes on the wire, and lists their
 * priorities. Pure; used by the verdict of a probe and by the rules.
 */
#ifndef REPORTS_TCP_SHARE_H
#define REPORTS_TCP_SHARE_H

#include "probe/traffic/traffic.h"
#include "profiles/qos.h"

/* True when the report of one end shows that background `number` was missing; buf gets the reason:
 * "no data of TCP background 0 arrived: ..". */
bool tcp_share_missing(const struct traffic_tcp *asked, unsigned int number, bool client,
		       const struct traffic_tcp_result *r, char *buf, size_t size);

/* Adds an upper bound of the bytes on the wire of one direction: data, and its ACKs in *back. NULL:
 * that end has no report. */
void tcp_share_bytes(const struct traffic_tcp_result *from, const struct traffic_tcp_result *to,
		     uint64_t *data, uint64_t *back);

/* Priority of the background in a host's map; all priorities when the map is unknown. */
uint8_t tcp_share_prios(const struct qos *q, const struct traffic_tcp *tcp);

#endif
