/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splits a byte stream into lines. A line longer than the limit is reported once and skipped, so
 * that a faulty peer cannot exhaust memory.
 */
#ifndef PROBE_LINE_BUFFER_H
#define PROBE_LINE_BUFFER_H

#include "profiles/base/base.h"

struct line_buffer {
	char *buf; /* owned: the incomplete line */
	size_t used, size, max;
	bool skipping;
};

/* line is terminated, without its newline, and may be written to; NULL: a line was too long. */
typedef void line_buffer_fn(char *line, size_t length, void *arg);

void line_buffer_init(struct line_buffer *l, size_t max);
void line_buffer_clear(struct line_buffer *l);

/* Calls fn for each complete line. -ENOMEM: data was dropped. */
int line_buffer_push(struct line_buffer *l, const char *data, size_t size, line_buffer_fn *fn,
		     void *arg);

#endif
