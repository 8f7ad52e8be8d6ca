/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a marking echo sends: its spec checked, and the flows that both ends make of it.
 */
#include <errno.h>
#include <string.h>

#include "probe/marking/echo.h"
#include "probe/marking/echo_end.h"

#define SIZE_COUNT 4u /* datagrams of each size: one that arrives is enough */

int echo_spec_check(const struct echo_spec *s, struct err *e)
{
	const struct {
		const char *name;
		uint64_t value, min, max;
	} rows[] = {
		{"classes", s->class_count, 1, ECHO_CLASSES_MAX},
		{"count", s->count, 1, ECHO_COUNT_MAX},
		{"paths", s->paths, 1, ECHO_CLASS_PATHS_MAX},
		{"sweep", s->sweep, 0, ECHO_PATHS_MAX},
		{"duration_ms", s->duration_ms, 1, ECHO_DURATION_MAX_MS},
		{"ib_port", s->ib_port, 1, 255},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].value < rows[i].min || rows[i].value > rows[i].max)
			return err_set(
				e, -EINVAL, "marking echo: %s %llu is not within %llu to %llu",
				rows[i].name, (unsigned long long)rows[i].value,
				(unsigned long long)rows[i].min, (unsigned long long)rows[i].max);
	return 0;
}

unsigned int echo_paths(const struct echo_spec *s)
{
	return s->sweep > s->paths ? s->sweep : s->paths;
}

/* By several source ports: one of them may lose all there is, and one may be smaller. */
static unsigned int add_sizes(const struct echo_spec *s, struct echo_flow *flow)
{
	unsigned int n = 0;

	for (unsigned int p = 0; s->sizes && p < s->paths && p < ECHO_SIZE_PATHS; p++)
		for (unsigned int i = 0; i < 2 * ECHO_SIZES; i++) {
			struct echo_flow *f = &flow[n++];

			*f = (struct echo_flow){
				.sized = true,
				.path = (uint16_t)p,
				.count = SIZE_COUNT,
				.bytes = {ECHO_BYTES, ECHO_BYTES},
			};
			f->bytes[i / ECHO_SIZES] = 256u << i % ECHO_SIZES;
		}
	return n;
}

unsigned int echo_flows(const struct echo_spec *s, struct echo_flow flow[ECHO_FLOWS_MAX])
{
	unsigned int n = 0;

	for (unsigned int c = 0; c < s->class_count; c++)
		for (unsigned int p = 0; p < (c ? s->paths : echo_paths(s)); p++)
			flow[n++] = (struct echo_flow){
				.class = (uint8_t)c,
				.path = (uint16_t)p,
				.count = s->count,
				.bytes = {ECHO_BYTES, ECHO_BYTES},
			};
	return n + add_sizes(s, flow + n);
}

uint16_t echo_label_port(uint32_t flow_label)
{
	return (uint16_t)(((flow_label & 0x3fff) ^ ((flow_label & 0xfc000) >> 14)) | 0xc000);
}

uint16_t echo_soft_port(uint32_t qpn)
{
	return (uint16_t)(0xc000 + (qpn * UINT32_C(0x61c88647) >> 18)); /* linux hash.h, 14 bits */
}

/* The IP header ahead of a UD receive, told apart and checked. */

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
