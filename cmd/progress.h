/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress line: drawn on stderr where it is a terminal, and that of long capture files.
 */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include "capture/reader.h"

#define PROGRESS_CELLS 20u
#define PROGRESS_LINE  200u

/* Writes "[########            ]" of so many cells; buf has room for cells + 3. share: 0 to 1,
 * others are limited to that. */
void progress_bar(double share, unsigned int cells, char *buf);

/* Replaces the line on the terminal, truncated to its width: a wrapped line cannot be erased. line
 * is changed: control characters are replaced. */
void progress_show(char *line);
void progress_erase(void);

/* Output of the command while it reads. */
enum progress_beside {
	PROGRESS_TOTALS, /* nothing */
	PROGRESS_LINES,	 /* lines on stdout: no progress line if stdout is a terminal, too */
};

/* Printed on stderr if it is a terminal, after the first second. */
struct progress {
	bool on, shown;
	uint64_t begun_ms, next_ms;
};

struct progress progress_begin(enum progress_beside beside, bool quiet);
void progress_step(struct progress *p, const struct reader *r); /* after each frame */
void progress_end(struct progress *p);				/* erases the line */

/* "[########            ] 40 %, 12345678 frames, 7 s left", without the time while it is unknown.
 * Always terminated. done > size (a growing file) is 100 %. */
void progress_text(uint64_t done, uint64_t size, uint64_t frames, uint64_t passed_ms, char *buf,
		   size_t len);

#endif
