/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a byte stream into lines.
 */
#include "probe/io/line_buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void line_buffer_init(struct line_buffer *l, size_t max)
{
	memset(l, 0, sizeof(*l));
	l->max = max;
}

void line_buffer_clear(struct line_buffer *l)
{
	free(l->buf);
	line_buffer_init(l, l->max);
}

/* Reserves room for `more` bytes and a NUL. */
static int line_buffer_reserve(struct line_buffer *l, size_t more)
{
	size_t want = l->used + more + 1, size = l->size ? l->size : 256;
	char *buf;

	if (want <= l->size)
		return 0;
	while (size < want)
		size *= 2;
	buf = realloc(l->buf, size);
	if (!buf)
		return -ENOMEM;
	l->buf = buf;
	l->size = size;
	return 0;
}

static int line_buffer_append(struct line_buffer *l, const char *data, size_t size,
			      line_buffer_fn *fn, void *arg)
{
	if (l->skipping)
		return 0;
	if (l->used + size > l->max) {
		l->skipping = true;
		l->used = 0;
		fn(NULL, 0, arg);
		return 0;
	}
	if (line_buffer_reserve(l, size))
		return -ENOMEM;
	memcpy(l->buf + l->used, data, size);
	l->used += size;
	return 0;
}

static void line_buffer_emit(struct line_buffer *l, line_buffer_fn *fn, void *arg)
{
	size_t length = l->used;

	l->used = 0;
	if (l->skipping) {
		l->skipping = false;
		return;
	}
	l->buf[length] = '\0';
	fn(l->buf, length, arg);
}

int line_buffer_push(struct line_buffer *l, const char *data, size_t size, line_buffer_fn *fn,
		     void *arg)
{
	while (size) {
		const char *newline = memchr(data, '\n', size);
		size_t part = newline ? (size_t)(newline - data) : size;

		if (line_buffer_append(l, data, part, fn, arg))
			return -ENOMEM;
		if (!newline)
			return 0;
		line_buffer_emit(l, fn, arg);
		data += part + 1;
		size -= part + 1;
	}
	return 0;
}
