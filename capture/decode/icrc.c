/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes the ICRC: the CRC-32 of Ethernet over eight 0xff bytes in place of the LRH, then the
 * packet with all fields that switches may rewrite set to ones. Copies only the headers.
 */
#include "capture/decode/bth.h"

#include <endian.h>
#include <libdeflate.h>
#include <string.h>

#define VECTOR 16 /* bytes; shorter inputs are summed bytewise, several times slower */

/*
 * [0]: CRC-32 of the eight 0xff bytes for the LRH. [n]: the same after n zero bytes, which may
 * precede a packet to give it a fast length.
 */
static const uint32_t before_zeros[VECTOR] = {
	0x2144df1c, 0xff41d912, 0x41d912ff, 0xd202ef8d, 0x00000000, 0x0f6a7026,
	0x65e3626f, 0x5cd1d97e, 0x6dd90a9d, 0x0b840633, 0x50b362e9, 0xb979a556,
	0x101b2f50, 0xce3f7abc, 0x51f45351, 0x25391b17,
};

#define IPV4_HEAD 40 /* IPv4, UDP and BTH */
#define GRH_HEAD  52
#define IPV6_HEAD 60
#define COPY_MAX  112 /* packets up to this size, such as ACKs, are summed from a copy */

typedef uint64_t icrc_word __attribute__((vector_size(16)));

/*
 * Fields that switches may change, by encapsulation. IPv4: type of service, TTL, header checksum;
 * IPv6 and GRH: traffic class, flow label, hop limit; UDP checksum; FECN, BECN and the adjacent
 * reserved bits of the BTH.
 */
static const struct {
	uint32_t len;
	uint8_t mask[COPY_MAX] __attribute__((aligned(16)));
} heads[] = {
	[ENCAP_ROCE_V1] = {GRH_HEAD, {[0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [40 + 4] = 0xff}},
	[ENCAP_ROCE_V2_IPV4] =
		{IPV4_HEAD,
		 {[1] = 0xff, [8] = 0xff, [10 ... 11] = 0xff, [26 ... 27] = 0xff, [28 + 4] = 0xff}},
	[ENCAP_ROCE_V2_IPV6] =
		{IPV6_HEAD,
		 {[0] = 0x0f, [1 ... 3] = 0xff, [7] = 0xff, [46 ... 47] = 0xff, [48 + 4] = 0xff}},
};

/* The first word after `zeros` bytes of zeros. */
static inline icrc_word icrc_pad_first_word(icrc_word first, uint32_t zeros)
{
	uint64_t lo = le64toh(first[0]), hi = le64toh(first[1]);
	uint32_t bits = 8 * (zeros & 7);

	if (bits) {
		hi = hi << bits | lo >> (64 - bits);
		lo <<= bits;
	}
	return zeros & 8 ? (icrc_word){0, htole64(lo)} : (icrc_word){htole64(lo), htole64(hi)};
}

/*
 * CRC of the first `len` bytes of a packet, at least VECTOR, from a copy with zeros before it.
 * Copies whole words, as they are read again: reading other pieces than those just written stalls.
 */
static inline uint32_t icrc_sum_copy(const uint8_t *mask, const uint8_t *l3, uint32_t len)
{
	uint8_t h[VECTOR + COPY_MAX] __attribute__((aligned(VECTOR)));
	uint32_t zeros = -len % VECTOR;
	icrc_word a, b;

	memcpy(&a, l3, sizeof(a));
	memcpy(&b, mask, sizeof(b));
	a = icrc_pad_first_word(a | b, zeros);
	memcpy(h, &a, sizeof(a));
	for (uint32_t at = VECTOR; at < zeros + len; at += VECTOR) {
		memcpy(&a, l3 + at - zeros, sizeof(a));
		memcpy(&b, mask + at - zeros, sizeof(b));
		a |= b;
		memcpy(h + at, &a, sizeof(a));
	}
	return libdeflate_crc32(before_zeros[zeros], h, zeros + len);
}

uint32_t icrc_compute(enum packet_encap encap, const uint8_t *l3, uint32_t bth_at, uint32_t len)
{
	uint32_t head = bth_at + BTH_LEN;

	if (encap == ENCAP_NONE || head != heads[encap].len || head > len)
		return 0;
	if (len <= COPY_MAX)
		return icrc_sum_copy(heads[encap].mask, l3, len);
	return libdeflate_crc32(icrc_sum_copy(heads[encap].mask, l3, head), l3 + head, len - head);
}
