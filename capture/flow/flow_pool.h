/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of one size, which come and go one by one and are freed all at once.
 */
#ifndef CAPTURE_FLOW_POOL_H
#define CAPTURE_FLOW_POOL_H

#include <stddef.h>
#include <stdint.h>

struct flow_pool {
	void *chunks; /* each begins with the one before it */
	void *given;  /* back: each begins with the one before it */
	uint8_t *next;
	size_t each, left; /* bytes of a block, and in the last chunk */
};

/* each: at least a pointer, a multiple of its size. */
void flow_pool_init(struct flow_pool *p, size_t each);
void flow_pool_clear(struct flow_pool *p);

/* What is in it is undefined. NULL on -ENOMEM. */
void *flow_pool_take(struct flow_pool *p);

/* NULL is nothing. */
void flow_pool_give(struct flow_pool *p, void *block);

#endif
