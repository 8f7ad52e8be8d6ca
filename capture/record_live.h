/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recording of an interface by two processes: a confined one reads, decodes and writes the frames
 * (capture/confined.h), this one makes the files and answers signals, and sees no packet.
 */
#ifndef CAPTURE_RECORD_LIVE_H
#define CAPTURE_RECORD_LIVE_H

#include <stdatomic.h>

#include "capture/confined.h"
#include "capture/file/recorder.h"

struct record_live {
	struct record_plan plan;
	const char *interface, *filter; /* see input_filter() */
	unsigned int duration_ms;	/* 0: until it is stopped */
	unsigned int limit;		/* frames, 0: any number */
	bool unfiltered;		/* see sandbox_confine() */
	unsigned int end_timeout_ms;	/* how long the end may take, 0: 40 s */
};

struct record_live_result {
	uint64_t frames, roce, dropped;
	enum capture_drops drops;
	unsigned int files; /* made */
};

/* Opens the interface, with the privileges of this process, in the confined process. Frames are
 * kept from here on, and written by record_live_run(). live is borrowed until that returns. */
int record_live_start(const struct record_live *live, struct confined *c, struct err *e);

/* Makes the files that the recording asks for, until it is over or *stop is not 0; then what was
 * captured before that is written. *result is of what there is, also on failure. Ends c. -ETIMEDOUT
 * when the confined process does not come to its end: whoever took it over would hold the caller,
 * too. */
int record_live_run(const struct record_live *live, struct confined *c, const atomic_int *stop,
		    struct record_live_result *result, struct err *e);

#endif
