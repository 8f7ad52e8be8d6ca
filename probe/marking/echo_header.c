/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The IP header ahead of a UD receive, told apart and checked.
 */
#include "probe/marking/echo_header.h"

#include <errno.h>
#include <string.h>

#define IPV4_AT	   20
#define IPV4_BYTES 20
#define PROTO_UDP  17

/* Whether a GID holds an IPv4 address. */
static bool echo_gid_is_v4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid, mapped, sizeof(mapped));
}

uint16_t echo_checksum(const uint8_t *p, unsigned int n)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i + 1 < n; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/*
 *  0       1       2       3
 * +-------+-------+---------------+
 * |ver ihl|  ToS  | total length  |
 * |  identification |f|  offset   |
 * |  TTL  | proto |   checksum    |
 * |       source address          |
 * |     destination address       |
 */
static int read_v4(const uint8_t *p, const uint8_t gid[16], struct echo_ip *ip)
{
	if (p[0] != 0x45 || p[9] != PROTO_UDP || memcmp(p + 16, gid + 12, 4) ||
	    echo_checksum(p, IPV4_BYTES))
		return -EINVAL;
	*ip = (struct echo_ip){.version = 4, .tos = p[1], .ttl = p[8]};
	return 0;
}

/*
 *  0       1       2       3
 * +---+-------+-------------------+
 * |ver| class |    flow label     |
 * | payload length| next  | hops  |
 * |    source address (16)        |
 * |  destination address (16)     |
 */
static int read_v6(const uint8_t *p, const uint8_t gid[16], struct echo_ip *ip)
{
	if (p[0] >> 4 != 6 || p[6] != PROTO_UDP || memcmp(p + 24, gid, 16))
		return -EINVAL;
	*ip = (struct echo_ip){
		.version = 6,
		.tos = (uint8_t)(p[0] << 4 | p[1] >> 4),
		.ttl = p[7],
	};
	return 0;
}

int echo_header_read(const uint8_t head[ECHO_HEADER_BYTES], const uint8_t gid[16],
		     struct echo_ip *ip)
{
	return echo_gid_is_v4(gid) ? read_v4(head + IPV4_AT, gid, ip) : read_v6(head, gid, ip);
}
