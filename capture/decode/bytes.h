/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads big-endian fields at any address. The caller has checked the length.
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

#endif
