/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a capture file that threads read. They are copied, each into memory that stays in a
 * cache: threads that map a file and let go of it interrupt each other, and wait for each other's
 * page tables, which costs more.
 */
#include <stdlib.h>
#include <string.h>

#include "capture/file/record_state.h"

struct record_file *record_file_part(const struct record_file *r)
{
	struct record_file *part = aligned_alloc(_Alignof(struct record_file), sizeof(*part));

	if (!part)
		return NULL;
	memcpy(part, r, offsetof(struct record_file, own));
	part->part = true;
	part->buf = part->own;
	part->window = NULL;
	return part;
}

void record_file_load(struct record_file *part, uint64_t at)
{
	record_file_seek(part, at);
	part->statistics = false;
	record_file_fill(part, PIECE_BYTES);
}

bool record_file_guess(const struct record_file *part, uint64_t *at)
{
	size_t behind;

	if (!part->guess(part, &behind))
		return false;
	*at = record_file_at(part) + behind;
	return true;
}

bool record_file_begin(struct record_file *part, uint64_t at)
{
	uint64_t base = (uint64_t)part->at - part->have;

	if (at < base || at - base > part->have)
		return false;
	part->used = (size_t)(at - base);
	part->statistics = false;
	return true;
}
