/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of a running probe on stderr: one line per phase, and on a terminal one progress line
 * that is overwritten and erased at the end.
 */
#ifndef CMD_PROBE_PROGRESS_H
#define CMD_PROBE_PROGRESS_H

#include "probe/coord/incast.h"

/* Latest rate in bytes/s, and the bytes and time it was computed at; initially zero. */
struct probe_rate {
	uint64_t bytes, ms, rate;
};

/* State of the progress line; initially zero. The arg of the three callbacks. */
struct probe_progress {
	bool line;
	struct probe_rate rate[INCAST_MAX];
};

void probe_progress_print(const char *line, void *arg);
void probe_progress_show(const struct pair_live *live, void *arg);
void probe_progress_incast(const struct incast_live *live, void *arg);
void probe_progress_clear(struct probe_progress *t); /* erases the line */

/* Writes "[####      ] 38.1 MB/s, 5810 messages, 0 wrong, 0 lost, 6 s left". The rate is that since
 * *before, which is updated. */
void probe_progress_text(const struct pair_live *live, struct probe_rate *before, char *buf,
			 size_t size);

/* Writes "[####      ] 25.1 MB/s, 6 s left, 0 wrong, 0 lost, slowest of 2 h2 12.1 MB/s, fastest h3
 * 13.0 MB/s". before: one element per server. A server that was silent for 2 s counts as 0 B/s. */
void probe_progress_incast_text(const struct incast_live *live, struct probe_rate *before,
				char *buf, size_t size);

#endif
