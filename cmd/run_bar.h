/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress of a fabric run on stderr: on a terminal one line with a bar, which is overwritten and
 * erased at the end; elsewhere a line at the begin of each phase and then one a minute.
 */
#ifndef CMD_RUN_BAR_H
#define CMD_RUN_BAR_H

#include "probe/record/run.h"

struct run_bar {
	bool terminal, shown;
	char phase[32];	  /* of the last line */
	uint64_t next_ms; /* of the next one */
};

/* The watcher of a run, by the two options and stderr; b is its argument. The caller calls
 * run_bar_clear() when the run is over, before it prints. */
struct run_watcher run_bar_watcher(struct run_bar *b, bool quiet, bool verbose);
void run_bar_clear(struct run_bar *b);

/* Writes "pairs (3 of 5) [#####     ] 12 of 24 rounds, about 40 s left", with cells of 0 without a
 * bar. Without rounds the bar shows the time; without an estimate there is none. */
void run_bar_text(const struct run_step *step, unsigned int cells, char *buf, size_t size);

#endif
