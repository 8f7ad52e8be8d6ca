/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of struct marking, for marking*.c. The first queue pair has all receives. Each path has
 * its own queue pair and flow label: the device derives the UDP source port from one of the two.
 */
#ifndef PROBE_MARKING_PRIV_H
#define PROBE_MARKING_PRIV_H

#include "probe/marking/marking.h"
#include "probe/traffic/traffic_worker.h"
#include "profiles/base/base.h"

#define MARKING_RECEIVES 512u
#define MARKING_SENDS	 64u /* send slots of all queue pairs */

enum marking_datagram { /* kinds of a pattern */
			MARKING_REQUEST = 16,
			MARKING_ANSWER = 17,
};

/* Slot field of a reply: ToS and TTL of the request on arrival. 0: header not readable. */
#define MARKING_SAW(tos, ttl) (0x10000u | (uint32_t)(tos) << 8 | (ttl))

struct marking {
	struct marking_spec spec;
	struct traffic device; /* only the members that traffic_open_device() sets */
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory; /* receives, then sends */
	size_t memory_bytes;
	uint32_t stride; /* of a slot */
	unsigned int path_count, flow_count;
	struct ibv_qp *qp[MARKING_PATHS_MAX];
	struct marking_flow flow[MARKING_FLOWS_MAX];
	struct ibv_ah *ah[MARKING_FLOWS_MAX];
	struct traffic_qp peer;
	bool connected;
	uint16_t unused[MARKING_SENDS]; /* send slots */
	unsigned int unused_count;
};

#define MARKING_HEADER_BYTES 40

struct marking_ip {
	uint8_t version; /* 4 or 6 */
	uint8_t tos;	 /* DSCP << 2 | ECN */
	uint8_t ttl;	 /* or hop limit */
};

/* Parses the IP header. -EINVAL, with *ip untouched, unless version, length, protocol (UDP),
 * destination (address of `gid`) and IPv4 checksum are valid. */
int marking_header_parse(const uint8_t head[MARKING_HEADER_BYTES], const uint8_t gid[16],
			 struct marking_ip *ip);

/* Returns the Internet checksum of n bytes (even); 0 for a valid header (RFC 1071). */
uint16_t marking_checksum(const uint8_t *p, unsigned int n);

#endif
