/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the records of a plain capture file from mapped memory: libpcap makes two C library calls
 * per frame, which costs more than all other work on it. Leaves other files (foreign byte order,
 * several interfaces, malformed records) to libpcap, which continues at the same frame.
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
	RECORD_END,	 /* the file ends after a record */
	RECORD_FRAME,	 /* one frame */
	RECORD_FALLBACK, /* libpcap must continue */
};

/* fd is a regular file and stays the caller's; its offset is kept. snap: longest valid frame. NULL
 * when the file is not plain, or no memory. */
struct record_file *record_file_open(int fd, uint32_t snap);
void record_file_close(struct record_file *r);

/* Returns the clock step of the file: 1 or 1000 ns. */
uint32_t record_file_step_ns(const struct record_file *r);

/* After RECORD_END: true when the file had interface statistics blocks (pcapng only). */
bool record_file_statistics(const struct record_file *r);

/* Returns the file offset of the next record. */
uint64_t record_file_offset(const struct record_file *r);

/* Reads 1 to `max` records, as many as fit without remapping: all stay valid until the next call.
 * RECORD_FRAME, or why there is none. */
enum record_status record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				     unsigned int *count);

#endif
