/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of an ordinary capture file, read in large pieces: libpcap makes two calls of the C
 * library for each frame, which costs more than all that is done with the frame. What is not
 * ordinary (foreign byte order, several interfaces, a record that makes no sense) is left to
 * libpcap, which goes on from the frame where this ends.
 */
#ifndef CAPTURE_RECORD_FILE_H
#define CAPTURE_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_file; /* opaque */

struct record {
	const uint8_t *data; /* until the next call */
	uint32_t cap_len, wire_len;
	uint64_t time_ns;
};

enum record_status {
	RECORD_END,	 /* the file ends behind a record */
	RECORD_FRAME,	 /* one frame */
	RECORD_FALLBACK, /* libpcap has to go on */
};

/* fd is a regular file and stays the caller's; its offset is not moved. snap is the longest capture
 * that is ordinary in it. NULL when the file is not ordinary, or memory is short. */
struct record_file *record_file_open(int fd, uint32_t snap);
void record_file_close(struct record_file *r);

/* In what steps the file counts time: 1 or 1000 ns. */
uint32_t record_file_step_ns(const struct record_file *r);

/* After RECORD_END: whether there were blocks of interface statistics, which only pcapng has. */
bool record_file_statistics(const struct record_file *r);

/* Bytes of the file up to the next record. */
uint64_t record_file_offset(const struct record_file *r);

/* At least one record, and of at most `max` as many as can be had without moving them: all stay
 * valid until the next call. RECORD_FRAME, or why there is none. */
enum record_status record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				     unsigned int *count);

#endif
