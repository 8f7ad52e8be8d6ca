/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks of blocks. To free a hundred thousand blocks one by one takes longer than to use them.
 */
#include "capture/flow/flow_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

void flow_pool_init(struct flow_pool *p, size_t each)
{
	*p = (struct flow_pool){.each = each};
}

void flow_pool_clear(struct flow_pool *p)
{
	while (p->chunks) {
		void *chunk = p->chunks;

		memcpy(&p->chunks, chunk, sizeof(p->chunks));
		free(chunk);
	}
	flow_pool_init(p, p->each);
}

static bool add_chunk(struct flow_pool *p)
{
	uint8_t *chunk = malloc(CHUNK_BYTES);

	if (!chunk)
		return false;
	memcpy(chunk, &p->chunks, sizeof(p->chunks));
	p->chunks = chunk;
	p->next = chunk + sizeof(p->chunks);
	p->left = CHUNK_BYTES - sizeof(p->chunks);
	return true;
}

void *flow_pool_take(struct flow_pool *p)
{
	void *block = p->given;

	if (block) {
		memcpy(&p->given, block, sizeof(p->given));
		return block;
	}
	if (p->left < p->each && !add_chunk(p))
		return NULL;
	block = p->next;
	p->next += p->each;
	p->left -= p->each;
	return block;
}

void flow_pool_give(struct flow_pool *p, void *block)
{
	if (!block)
		return;
	memcpy(block, &p->given, sizeof(p->given));
	p->given = block;
}
