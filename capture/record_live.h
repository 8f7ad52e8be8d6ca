/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records an interface with two processes: a confined one reads, decodes and writes the frames
 * (capture/confined.h); this one creates the files, handles signals and sees no packet.
 */
#ifndef CAPTURE_RECORD_LIVE_H
#define CAPTURE_RECORD_LIVE_H

#include <stdatomic.h>

#include "capture/confined.h"
#include "capture/file/recorder.h"

struct record_live {
	struct record_plan plan;
	const char *interface, *filter; /* see input_filter() */
	unsigned int duration_ms;	/* 0: until stopped */
	unsigned int limit;		/* frames, 0: no limit */
	bool unfiltered;		/* see sandbox_confine() */
	unsigned int end_timeout_ms;	/* timeout of the end, 0: 40 s */
};

struct record_live_result {
	uint64_t frames, roce, dropped;
	enum capture_drops drops;
	unsigned int files; /* created */
};

/* Starts the confined process and opens the interface in it, with the privileges of this process.
 * Frames are kept from here on, and written by record_live_run(). live is borrowed until that
 * returns. */
int record_live_start(const struct record_live *live, struct confined *c, struct err *e);

/* Creates the files that the recording requests, until it ends or *stop is not 0; frames captured
 * before that are written. *result is valid also on failure. Ends c. -ETIMEDOUT when the confined
 * process does not finish: an attacker in it must not block the caller. */
int record_live_run(const struct record_live *live, struct confined *c, const atomic_int *stop,
		    struct record_live_result *result, struct err *e);

#endif
