/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the progress line with \r and an erase sequence, only on a terminal. It writes to the
 * descriptor: the stream stderr would sanitize both.
 */
#include "cmd/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_CELLS	 20U
#define FIRST_MS	 1000U
#define EACH_MS		 200U
#define FRAMES_PER_CLOCK 4096U /* reads the clock once per this many frames */

struct progress progress_begin(enum progress_beside beside, bool quiet)
{
	struct progress p = {.begun_ms = monotonic_ms()};

	p.on = !quiet && isatty(STDERR_FILENO) &&
	       (beside == PROGRESS_TOTALS || !isatty(STDOUT_FILENO));
	p.next_ms = p.begun_ms + FIRST_MS;
	return p;
}

void progress_step(struct progress *p, const struct reader *r)
{
	uint64_t done, size, now;
	char line[128];

	if (!p->on || r->frames % FRAMES_PER_CLOCK)
		return;
	now = monotonic_ms();
	if (now < p->next_ms || !input_progress(r->input, &done, &size))
		return;
	progress_text(done, size, r->frames, now - p->begun_ms, line, sizeof(line));
	dprintf(STDERR_FILENO, "\r%s\033[K", line);
	p->shown = true;
	p->next_ms = now + EACH_MS;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	p->shown = false;
}

void progress_text(uint64_t done, uint64_t size, uint64_t frames, uint64_t passed_ms, char *buf,
		   size_t len)
{
	double share = size && done < size ? (double)done / (double)size : 1;
	unsigned int cells = (unsigned int)(share * BAR_CELLS);
	char bar[BAR_CELLS + 1], left[32] = "";

	memset(bar, ' ', BAR_CELLS);
	memset(bar, '#', cells);
	bar[BAR_CELLS] = '\0';
	if (share > 0)
		snprintf(left, sizeof(left), ", %.0f s left",
			 (double)passed_ms / 1000 * (1 - share) / share);
	snprintf(buf, len, "[%s] %.0f %%, %" PRIu64 " frames%s", bar, share * 100, frames, left);
}
