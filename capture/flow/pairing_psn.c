/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of unpaired flows, by hosts and PSN, with and without the source port, in a table of
 * fixed size.
 */
#include "capture/flow/pairing_psn.h"

#include <stdlib.h>
#include <string.h>

#include "capture/flow/flow_hash.h"

#define BUCKETS 16384U

struct bucket {
	uint32_t tag, id;
};

struct pairing_psn {
	struct bucket bucket[BUCKETS];
};

struct pairing_psn *pairing_psn_new(void)
{
	struct pairing_psn *t = malloc(sizeof(*t));

	if (t)
		pairing_psn_clear(t);
	return t;
}

void pairing_psn_free(struct pairing_psn *t)
{
	free(t);
}

void pairing_psn_clear(struct pairing_psn *t)
{
	memset(t, 0xff, sizeof(*t));
}

/* port 0x10000: any. */
static uint64_t pairing_hash(uint64_t hosts, uint32_t psn, uint32_t port)
{
	return flow_hash_mix(hosts ^ psn ^ (uint64_t)port << 32, FLOW_HASH_SEED);
}

static uint32_t pairing_port(unsigned int any, uint16_t sport)
{
	return any ? 0x10000 : sport;
}

void pairing_psn_add(struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
		     uint32_t id)
{
	for (unsigned int any = 0; any < 2; any++) {
		uint64_t key = pairing_hash(hosts, psn, pairing_port(any, sport));

		t->bucket[key >> 32 & (BUCKETS - 1)] = (struct bucket){.tag = (uint32_t)key,
								       .id = id};
	}
}

uint32_t pairing_psn_find(const struct pairing_psn *t, uint64_t hosts, uint32_t psn, uint16_t sport,
			  bool *same_port)
{
	for (unsigned int any = 0; any < 2; any++) {
		uint64_t key = pairing_hash(hosts, psn, pairing_port(any, sport));
		const struct bucket *b = &t->bucket[key >> 32 & (BUCKETS - 1)];

		if (b->id != PAIRING_NONE && b->tag == (uint32_t)key) {
			*same_port = !any;
			return b->id;
		}
	}
	return PAIRING_NONE;
}
