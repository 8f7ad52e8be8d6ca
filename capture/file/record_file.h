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

enum record_got {
	RECORD_END,   /* the file ends behind a record */
	RECORD_FRAME, /* one frame */
	RECORD_ODD,   /* libpcap has to go on */
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
uint64_t record_file_at(const struct record_file *r);

/* Behind the data of a record so many bytes can be read, of whatever comes next. */
#define RECORD_SLACK 128

/* At least one record, and of at most `max` as many as can be had without moving them: all stay
 * valid until the next call. RECORD_FRAME, or as record_file_next(). */
enum record_got record_file_batch(struct record_file *r, struct record *out, unsigned int max,
				  unsigned int *count);

enum record_got record_file_next(struct record_file *r, struct record *out);

/*
 * Parts, for threads that share a file: a part reads RECORD_PIECE_BYTES from anywhere, goes through
 * the records that begin there when it is told where the first one does, and reads what the last
 * one needs beyond them. Its records stay valid until the next load. What is too long for that is
 * RECORD_ODD.
 */
#define RECORD_PIECE_BYTES (256U << 10) /* stays in a cache; more is slower */
#define RECORD_BYTES_MIN   16		/* of the file */
#define RECORD_JOBS_MAX	   64

/* NULL on -ENOMEM. The caller closes it as any. */
struct record_file *record_file_part(const struct record_file *r);
void record_file_load(struct record_file *part, uint64_t at);
/* Where the first one probably begins in what was just loaded; false when nothing looks like one.
 */
bool record_file_guess(const struct record_file *part, uint64_t *at);
/* False when that is not in what was loaded. */
bool record_file_begin(struct record_file *part, uint64_t at);

/* r goes on from another record, and knows of what was passed over so whether there were
 * statistics. */
void record_file_seek(struct record_file *r, uint64_t at);
void record_file_add_statistics(struct record_file *r, const struct record_file *part);

#endif
