/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a capture file that threads read.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/record_state.h"

#define FIRST_BYTES (16U << 10)
#define FETCH_BYTES (1U << 20) /* less than two of these wait for each other */
#define CACHE_LINE  64
#define WHOLE_MAX   (UINTPTR_MAX >> 20) /* of the range of addresses, which others need too */

/* Threads that map, and unmap, wait for each other: all is mapped at once, and only comes and goes
 * in parts. */
struct record_whole *record_file_whole(const struct record_file *r)
{
	struct record_whole *w = calloc(1, sizeof(*w));
	struct stat st;

	if (w && r->window && fstat(r->fd, &st) == 0 && (uint64_t)st.st_size <= WHOLE_MAX)
		w->window = window_new(r->fd, (size_t)st.st_size);
	if (w && w->window)
		w->bytes = window_show(w->window, 0, (size_t)st.st_size, 0, &w->size);
	if (w && w->bytes)
		return w;
	record_whole_free(w);
	return NULL;
}

void record_whole_drop(struct record_whole *w, uint64_t at, size_t len)
{
	window_drop(w->window, at, len);
}

bool record_whole_is_torn(const struct record_whole *w)
{
	return window_is_torn(w->window);
}

void record_whole_free(struct record_whole *w)
{
	if (!w)
		return;
	window_free(w->window);
	free(w);
}

struct record_file *record_file_part(const struct record_file *r, struct record_whole *whole)
{
	struct record_file *part = malloc(sizeof(*part));

	if (!part)
		return NULL;
	memcpy(part, r, offsetof(struct record_file, own));
	part->part = true;
	part->buf = part->own;
	part->window = NULL;
	part->whole = whole;
	return part;
}

/* Threads that bring neighbouring pages wait for each other, so it is done far ahead of them all,
 * and by one. Pages that are late come one by one. */
static void fetch_whole(struct record_whole *w, uint64_t at)
{
	uint64_t end = atomic_load(&w->fetched);

	while (end < at + FETCH_BYTES && end < w->size) {
		if (!atomic_compare_exchange_strong(&w->fetched, &end, end + FETCH_BYTES))
			continue;
		window_fetch(w->window, end, FETCH_BYTES);
		return;
	}
}

static void load_whole(struct record_file *part, uint64_t at)
{
	struct record_whole *w = part->whole;

	if (at > w->size)
		at = w->size;
	part->buf = w->bytes + at;
	part->at = (off_t)at;
	record_file_grow(part, PIECE_BYTES);
	fetch_whole(part->whole, at);
	for (size_t i = 0; i < part->have && i < FIRST_BYTES; i += CACHE_LINE)
		__builtin_prefetch(part->buf + i, 0, 2);
}

void record_file_load(struct record_file *part, uint64_t at)
{
	record_file_seek(part, at);
	part->statistics = false;
	if (part->whole)
		load_whole(part, at);
	else
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
