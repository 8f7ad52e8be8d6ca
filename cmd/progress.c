/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the progress line with \r and an erase sequence, only on a terminal. It writes to the
 * descriptor: the stream stderr would sanitize both.
 */
#include "cmd/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "profiles/base/text.h"

#define FIRST_MS	 1000U
#define EACH_MS		 200U
#define FRAMES_PER_CLOCK 4096U /* reads the clock once per this many frames */

void progress_bar(double share, unsigned int cells, char *buf)
{
	share = share < 0 ? 0 : share > 1 ? 1 : share;
	memset(buf, ' ', cells + 1);
	buf[0] = '[';
	memset(buf + 1, '#', (size_t)(share * cells));
	buf[cells + 1] = ']';
	buf[cells + 2] = '\0';
}

void progress_show(char *line)
{
	size_t room = PROGRESS_LINE;
	struct winsize size;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1)
		room = size.ws_col - 1u;
	if (room < strlen(line))
		line[room] = '\0';
	text_sanitize(line, TEXT_FIELD);
	dprintf(STDERR_FILENO, "\r%s\033[K", line);
}

void progress_erase(void)
{
	(void)!write(STDERR_FILENO, "\r\033[K", 4);
}

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
	progress_show(line);
	p->shown = true;
	p->next_ms = now + EACH_MS;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		progress_erase();
	p->shown = false;
}

void progress_text(uint64_t done, uint64_t size, uint64_t frames, uint64_t passed_ms, char *buf,
		   size_t len)
{
	double share = size && done < size ? (double)done / (double)size : 1;
	char bar[PROGRESS_CELLS + 3], left[32] = "";

	progress_bar(share, PROGRESS_CELLS, bar);
	if (share > 0)
		snprintf(left, sizeof(left), ", %.0f s left",
			 (double)passed_ms / 1000 * (1 - share) / share);
	snprintf(buf, len, "%s %.0f %%, %" PRIu64 " frames%s", bar, share * 100, frames, left);
}
