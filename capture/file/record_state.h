/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the reading of records stands, for record_file.c and record_part.c.
 */
#ifndef CAPTURE_RECORD_STATE_H
#define CAPTURE_RECORD_STATE_H

#include <stddef.h>
#include <sys/types.h>

#include "capture/file/record_file.h"
#include "capture/file/window.h"

#define PIECE_BYTES  RECORD_PIECE_BYTES
#define PAGE_BYTES   4096
#define BUFFER_BYTES (2 * PIECE_BYTES + 64)

struct record_file {
	int fd;
	uint32_t snap;
	enum record_got (*batch)(struct record_file *r, struct record *out, unsigned int max,
				 unsigned int *count);
	bool (*guess)(const struct record_file *r, size_t *at); /* where one begins, from here on */
	uint32_t unit_ns;					/* of the time's fraction */
	bool statistics;					/* were there */
	bool part;	       /* records stay where they are, and no more is read than is needed */
	bool ended;	       /* nothing comes after what is in buf */
	off_t at;	       /* of what comes after it */
	struct window *window; /* NULL: parts of the file are copied into own[] */
	const uint8_t *buf;    /* of the window, or own[] */
	size_t have, used;
	/* Lies as the pages of the file do that are copied there: some processors copy to what is
	 * a few bytes further in its page than where it comes from at a third of the speed. */
	_Alignas(PAGE_BYTES) uint8_t own[BUFFER_BYTES + RECORD_SLACK];
};

/* Reads until `need` bytes are there, or the end. */
void record_file_fill(struct record_file *r, size_t need);

#endif
