/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a command is in a long capture file.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include "capture/reader.h"

/* What a command prints meanwhile. */
enum progress_beside {
	PROGRESS_TOTALS, /* nothing */
	PROGRESS_LINES,	 /* lines on stdout: no progress when that is the terminal too */
};

/* Beside a long file, on stderr when that is a terminal; nothing in the first second. */
struct progress {
	bool on, shown;
	uint64_t begun_ms, next_ms;
};

struct progress progress_begin(enum progress_beside beside, bool quiet);
void progress_step(struct progress *p, const struct reader *r); /* after each frame */
void progress_end(struct progress *p);				/* takes the line away */

/* "[########            ] 40 %, 12345678 frames, 7 s left", without the rest while it is not known.
 * Always terminated. done > size (a file that grows) is 100 %. */
void progress_text(uint64_t done, uint64_t size, uint64_t frames, uint64_t passed_ms, char *buf,
		   size_t len);

#endif
