/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records into a series of files, split by size, time or number of frames; headers only by default.
 * The decoder process writes the files; the other process, which sees no packet, creates and
 * removes them.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include "capture/file/input.h"

/* Limits of a file, 0 = none; without limits, all goes into one file. */
struct record_plan {
	const char *path;	     /* "-": standard output, one file */
	const struct folder *folder; /* of path, for recorder_create_file(); NULL with "-" */
	uint64_t max_bytes, max_ns, max_frames;
	unsigned int keep;    /* number of files to keep; 0 = all */
	unsigned int snaplen; /* snap length of the input */
	bool full;	      /* record user data and R_Keys */
};

/* Creates the nth file of a recording, from 1, and removes the oldest beyond keep. Returns a
 * descriptor for writing; -EEXIST: never overwrites a file. */
int recorder_create_file(const struct record_plan *plan, unsigned int n, struct err *e);

struct recorder; /* opaque */

/* Returns the descriptor of the nth file, or -errno: recorder_create_file(), here or in the parent
 * process. */
typedef int recorder_next(void *arg, unsigned int n, struct err *e);

/* plan->path, s and arg are borrowed until recorder_close(). */
int recorder_open(const struct record_plan *plan, struct input *s, recorder_next *next, void *arg,
		  struct recorder **r, struct err *e);

/* Records the frame of p. A full disk is an error here or at close. */
int recorder_add(struct recorder *r, const struct packet *p, const uint8_t *data, struct err *e);

/* Ends the last file; frees r in any case. */
int recorder_close(struct recorder *r, struct err *e);

/* Writes the name of the nth file, from 1: "trace.pcapng", or "trace-00001.pcapng" for a series.
 * -ENAMETOOLONG. */
int recorder_name(const struct record_plan *plan, unsigned int n, char *buf, size_t size);

#endif
