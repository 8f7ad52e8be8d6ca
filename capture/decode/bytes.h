/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads big-endian fields at any address, and IPv4 addresses as GIDs. The caller has checked the
 * length.
 */
#ifndef CAPTURE_BYTES_H
#define CAPTURE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t be16_at(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline uint32_t be24_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t be32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline uint64_t be64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Writes an IPv4 address as ::ffff:a.b.c.d, in words, as the flow table reads it. */
static inline void ipv4_to_gid(const uint8_t address[4], uint8_t gid[16])
{
	const uint64_t word[2] = {0, htobe64(UINT64_C(0xffff) << 32 | be32_at(address))};

	memcpy(gid, word, sizeof(word));
}

#endif
