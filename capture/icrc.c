/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ICRC: CRC-32 as Ethernet's, over eight 0xff bytes in place of the LRH, then the packet with the
 * fields that switches may rewrite set to ones. Only the headers are copied; the payload is summed
 * in place.
 */
#include "capture/icrc.h"

#include <libdeflate.h>
#include <string.h>

#include "capture/bth.h"

/* CRC-32 of the eight bytes 0xff that stand for the LRH. */
#define CRC_OF_LRH 0x2144df1cU

#define IPV4_HEAD 40 /* IPv4, UDP and BTH */
#define GRH_HEAD  52
#define IPV6_HEAD 60
#define HEAD_MAX  64

typedef uint64_t icrc_word __attribute__((vector_size(16)));

/*
 * What switches may change, by encapsulation. IPv4: type of service, TTL, header checksum; IPv6 and
 * GRH: traffic class, flow label, hop limit; the UDP checksum; and of the BTH FECN, BECN and the
 * reserved bits beside them.
 */
static const struct {
	uint32_t len;
	uint8_t mask[HEAD_MAX] __attribute__((aligned(16)));
} heads[] = {
	[ENCAP_ROCE_V1] = {GRH_HEAD, {[0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [40 + 4] = 0xff}},
	[ENCAP_ROCE_V2_IPV4] =
		{IPV4_HEAD,
		 {[1] = 0xff, [8] = 0xff, [10 ... 11] = 0xff, [26 ... 27] = 0xff, [28 + 4] = 0xff}},
	[ENCAP_ROCE_V2_IPV6] =
		{IPV6_HEAD,
		 {[0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [46 ... 47] = 0xff, [48 + 4] = 0xff}},
};

/* In words as wide as they are read again: bytes that were just written one by one have to wait. */
static inline void copy_masked(uint8_t *to, const uint8_t *from, const uint8_t *mask, size_t len)
{
	icrc_word a, b;

	for (; len >= sizeof(a); len -= sizeof(a)) {
		memcpy(&a, from, sizeof(a));
		memcpy(&b, mask, sizeof(b));
		a |= b;
		memcpy(to, &a, sizeof(a));
		to += sizeof(a);
		from += sizeof(a);
		mask += sizeof(a);
	}
	for (; len >= 4; len -= 4, to += 4, from += 4, mask += 4) {
		uint32_t x, y;

		memcpy(&x, from, sizeof(x));
		memcpy(&y, mask, sizeof(y));
		x |= y;
		memcpy(to, &x, sizeof(x));
	}
}

uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len)
{
	uint8_t h[HEAD_MAX] __attribute__((aligned(16)));
	uint32_t head = bth_at + BTH_LEN;
	uint32_t crc;

	if (encap == ENCAP_NONE || head != heads[encap].len || head > len)
		return 0;
	copy_masked(h, l3, heads[encap].mask, head);
	crc = libdeflate_crc32(CRC_OF_LRH, h, head);
	return libdeflate_crc32(crc, l3 + head, len - head);
}
