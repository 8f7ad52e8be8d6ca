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

#define VECTOR 16 /* bytes: the sum of less is taken one by one, several times as slowly */

/*
 * [0]: the CRC-32 of the eight bytes 0xff that stand for the LRH. [n]: what becomes that by n bytes
 * of zeros, which can be put before a packet to make it as long as is quick.
 */
static const uint32_t before_zeros[VECTOR] = {
	0x2144df1c, 0xff41d912, 0x41d912ff, 0xd202ef8d, 0x00000000, 0x0f6a7026,
	0x65e3626f, 0x5cd1d97e, 0x6dd90a9d, 0x0b840633, 0x50b362e9, 0xb979a556,
	0x101b2f50, 0xce3f7abc, 0x51f45351, 0x25391b17,
};

#define IPV4_HEAD 40 /* IPv4, UDP and BTH */
#define GRH_HEAD  52
#define IPV6_HEAD 60
#define HEAD_MAX  64
#define SHORT_MAX 112 /* bytes of a packet that is summed from a copy */

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

/* Of a packet that is short, as an acknowledgement is, in one piece. */
static uint32_t compute_short(const uint8_t *mask, uint32_t head, const uint8_t *l3, uint32_t len)
{
	uint8_t h[VECTOR + SHORT_MAX] __attribute__((aligned(VECTOR)));
	uint32_t zeros = -len % VECTOR;

	memset(h, 0, VECTOR);
	copy_masked(h + zeros, l3, mask, head);
	memcpy(h + zeros + head, l3 + head, len - head);
	return libdeflate_crc32(before_zeros[zeros], h, zeros + len);
}

uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len)
{
	uint8_t h[HEAD_MAX] __attribute__((aligned(VECTOR)));
	uint32_t head = bth_at + BTH_LEN;
	uint32_t crc;

	if (encap == ENCAP_NONE || head != heads[encap].len || head > len)
		return 0;
	if (len <= SHORT_MAX)
		return compute_short(heads[encap].mask, head, l3, len);
	copy_masked(h, l3, heads[encap].mask, head);
	crc = libdeflate_crc32(before_zeros[0], h, head);
	return libdeflate_crc32(crc, l3 + head, len - head);
}
