/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP backgrounds beside RDMA: whether they were there, what they put on the wire at most, and in
 * which priorities. Pure; for the verdict of a probe and for the rules alike.
 */
#ifndef REPORTS_TCP_SHARE_H
#define REPORTS_TCP_SHARE_H

#include "probe/traffic/traffic.h"
#include "profiles/qos.h"

/* What one end tells of background `number` that makes it no test: "nothing arrived of TCP 0: the
 * port was not tested with it". False when there is nothing to say. */
bool tcp_share_missing(const struct traffic_tcp *asked, unsigned int number, bool client,
		       const struct traffic_tcp_result *r, char *buf, size_t size);

/* Bytes on the wire of one direction, at most: data, and what answers it; added to both. An end
 * that told nothing is NULL. */
void tcp_share_bytes(const struct traffic_tcp_result *from, const struct traffic_tcp_result *to,
		     uint64_t *data, uint64_t *back);

/* Where a host's map puts it; all of them when the map is not known. */
uint8_t tcp_share_prios(const struct qos *q, const struct traffic_tcp *tcp);

#endif
