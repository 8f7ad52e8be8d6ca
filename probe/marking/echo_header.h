/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IP header ahead of a UD receive. RoCEv2 over IPv6: all 40 bytes are the header. Over IPv4:
 * bytes 20 to 39 are, without options, and what is before them is undefined (linux ib_verbs.h,
 * union rdma_network_hdr). Which of both it is, is known from the GID that it came to.
 */
#ifndef PROBE_ECHO_HEADER_H
#define PROBE_ECHO_HEADER_H

#include "profiles/base/base.h"

#define ECHO_HEADER_BYTES 40

struct echo_ip {
	uint8_t version; /* 4 or 6 */
	uint8_t tos;	 /* DSCP << 2 | ECN */
	uint8_t ttl;	 /* or hop limit */
};

/* -EINVAL when there is no sound header: version, length, protocol UDP, the address of `gid` as its
 * destination and, over IPv4, the checksum have to be right. *ip is then untouched. */
int echo_header_read(const uint8_t head[ECHO_HEADER_BYTES], const uint8_t gid[16],
		     struct echo_ip *ip);

/* Of n bytes, even; 0 over a header that holds its right one (RFC 1071). */
uint16_t echo_checksum(const uint8_t *p, unsigned int n);

#endif
