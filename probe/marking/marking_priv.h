/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of struct marking, for marking*.c. All receives are on the first queue pair; each path has
 * a queue pair and a flow label of its own, so that it has a UDP source port of its own whichever
 * of both the device takes it from.
 */
#ifndef PROBE_MARKING_PRIV_H
#define PROBE_MARKING_PRIV_H

#include "probe/marking/marking.h"
#include "probe/traffic/traffic_worker.h"
#include "profiles/base/base.h"

#define MARKING_RECEIVES 512u
#define MARKING_SENDS	 64u /* slots, of all queue pairs */

enum marking_datagram { /* kinds of a pattern */
			MARKING_REQUEST = 16,
			MARKING_ANSWER = 17,
};

/* In an answer, in place of a slot: the request came with this ToS and TTL. 0: not to be read. */
#define MARKING_SAW(tos, ttl) (0x10000u | (uint32_t)(tos) << 8 | (ttl))

struct marking {
	struct marking_spec spec;
	struct traffic device; /* what traffic_open_device() opens, no more of it */
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

/* -EINVAL when there is no sound header: version, length, protocol UDP, the address of `gid` as its
 * destination and, over IPv4, the checksum have to be right. *ip is then untouched. */
int marking_header_parse(const uint8_t head[MARKING_HEADER_BYTES], const uint8_t gid[16],
			 struct marking_ip *ip);

/* Of n bytes, even; 0 over a header that holds its right one (RFC 1071). */
uint16_t marking_checksum(const uint8_t *p, unsigned int n);

#endif
