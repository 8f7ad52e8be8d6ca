/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hashes of addresses and QPs for the tables of this room. Not cryptographic: tables that a sender
 * could fill with collisions use a random seed. Inline, because each packet needs some.
 */
#ifndef CAPTURE_FLOW_HASH_H
#define CAPTURE_FLOW_HASH_H

#include <stdint.h>
#include <string.h>

/* Where no random seed is needed. */
#define FLOW_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)

/* Folds a 128-bit product: every bit of a and b affects the result. */
static inline uint64_t flow_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t flow_hash_address(uint64_t seed, const uint8_t address[16])
{
	uint64_t word[2];

	memcpy(word, address, sizeof(word));
	return flow_hash_mix(word[0] ^ seed, word[1] ^ UINT64_C(0xa0761d6478bd642f));
}

/* Hash of sender, receiver and an id of the receiver, such as its QP; both directions differ. */
static inline uint64_t flow_hash(uint64_t seed, const uint8_t src[16], const uint8_t dst[16],
				 uint32_t id)
{
	uint64_t word[2], h = flow_hash_address(seed, src);

	memcpy(word, dst, sizeof(word));
	h ^= flow_hash_mix(word[0] ^ UINT64_C(0xe7037ed1a0b428db), word[1] ^ seed);
	return flow_hash_mix(h ^ id, seed | 1);
}

#endif
