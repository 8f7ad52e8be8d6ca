/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording in files that follow each other: by size, time or number of frames. Headers only
 * unless asked otherwise. The process that decodes packets fills the files; another one, which sees
 * no packet, makes and removes them.
 */
#ifndef CAPTURE_RECORDER_H
#define CAPTURE_RECORDER_H

#include "capture/file/input.h"

/* When a file is full, 0 = never; with none of them all goes into the one that is named. */
struct record_plan {
	const char *path;	     /* "-": standard output, one file */
	const struct folder *folder; /* of path, for recorder_create_file(); NULL with "-" */
	uint64_t max_bytes, max_ns, max_frames;
	unsigned int keep;    /* so many files, the oldest go; 0 = all */
	unsigned int snaplen; /* that the source was opened with */
	bool full;	      /* with user data and R_Keys */
};

/* Makes the nth file of a recording, from 1, and removes the one that is one too many with it. A
 * descriptor for writing; -EEXIST: nothing is ever overwritten. */
int recorder_create_file(const struct record_plan *plan, unsigned int n, struct err *e);

struct recorder; /* opaque */

/* Gives the descriptor of the nth file, or -errno: recorder_create_file() or who calls it for us.
 */
typedef int recorder_next(void *arg, unsigned int n, struct err *e);

/* plan->path, s and arg are borrowed until recorder_close(). */
int recorder_open(const struct record_plan *plan, struct input *s, recorder_next *next, void *arg,
		  struct recorder **r, struct err *e);

/* The frame of p, as it was decoded. A full disk is an error here or at close. */
int recorder_add(struct recorder *r, const struct packet *p, const uint8_t *data, struct err *e);

/* Ends the last file; frees r in any case. */
int recorder_close(struct recorder *r, struct err *e);

/* The name of the nth file, from 1: "trace.pcapng", or "trace-00001.pcapng" when files follow each
 * other. -ENAMETOOLONG. */
int recorder_name(const struct record_plan *plan, unsigned int n, char *buf, size_t size);

#endif
