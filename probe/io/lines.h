/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines out of a byte stream that arrives in pieces. A line longer than the limit is reported once
 * and skipped up to its end, so that a broken peer cannot make us keep what it sends.
 */
#ifndef PROBE_LINES_H
#define PROBE_LINES_H

#include "profiles/base/base.h"

struct lines {
	char *buf; /* owned: the line that is not complete yet */
	size_t used, size, max;
	bool skipping;
};

/* line is terminated, without its newline, and may be written to; NULL: a line was too long. */
typedef void lines_fn(char *line, size_t length, void *arg);

void lines_init(struct lines *l, size_t max);
void lines_clear(struct lines *l);

/* Calls fn for each line that is complete. -ENOMEM: the piece was dropped. */
int lines_push(struct lines *l, const char *data, size_t size, lines_fn *fn, void *arg);

#endif
