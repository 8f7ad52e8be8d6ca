/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a probe says while it runs, on stderr: lines, and on a terminal one line of progress that
 * is written over and taken away.
 */
#ifndef CMD_PROBE_PROGRESS_H
#define CMD_PROBE_PROGRESS_H

#include "probe/coord/incast.h"

/* Bytes and time of the last rate that was made, and that rate in bytes/s; begins as zero. */
struct probe_rate {
	uint64_t bytes, ms, rate;
};

/* What is on the terminal; begins as zero. The arg of the three callbacks. */
struct probe_progress {
	bool line;
	struct probe_rate rate[INCAST_MAX];
};

void probe_progress_print(const char *line, void *arg);
void probe_progress_show(const struct two_ended_live *live, void *arg);
void probe_progress_incast(const struct incast_live *live, void *arg);
void probe_progress_clear(struct probe_progress *t); /* takes the line away */

/* "[####      ] 38.1 MB/s, 5810 messages, 0 wrong, 0 lost, 6 s left". The rate is that since the
 * last one (before, which is updated). */
void probe_progress_text(const struct two_ended_live *live, struct probe_rate *before, char *buf,
			 size_t size);

/* "[####      ] 25.1 MB/s, 6 s left, 0 wrong, 0 lost, slowest of 2 h2 12.1 MB/s, fastest h3 13.0
 * MB/s": the sum of all servers, then the ends of it. before: one for each. A server that said
 * nothing for 2 s counts as one that sends nothing. */
void probe_progress_incast_text(const struct incast_live *live, struct probe_rate *before,
				char *buf, size_t size);

#endif
