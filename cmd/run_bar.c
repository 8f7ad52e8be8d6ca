/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints the progress of a fabric run: a bar on a terminal, lines elsewhere, events with -v.
 */
#include "cmd/run_bar.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/progress.h"

#define LINE_MS 60000u

/* A step without rounds is done by its time. */
static double run_bar_share(const struct run_step *step)
{
	if (step->of)
		return (double)step->done / step->of;
	return step->seconds > 0 ? 1 - step->left_s / step->seconds : 0;
}

void run_bar_text(const struct run_step *step, unsigned int cells, char *buf, size_t size)
{
	char number[32] = "", bar[PROGRESS_CELLS + 4] = "", rounds[48] = "", left[48] = "";
	char time[24];

	if (step->number)
		snprintf(number, sizeof(number), " (%u of %u)", step->number, step->count);
	if (cells && (step->of || step->seconds > 0)) {
		bar[0] = ' ';
		progress_bar(run_bar_share(step), cells, bar + 1);
	}
	if (step->of)
		snprintf(rounds, sizeof(rounds), " %u of %u round%s%s", step->done, step->of,
			 plural(step->of), step->seconds > 0 ? "," : "");
	if (step->seconds > 0) {
		run_seconds_text(step->left_s, time, sizeof(time));
		snprintf(left, sizeof(left), " about %s left", time);
	}
	snprintf(buf, size, "%s%s%s%s%s%s", step->phase, number,
		 !*bar && (*rounds || *left) ? ":" : "", bar, rounds, left);
}

void run_bar_clear(struct run_bar *b)
{
	if (b->shown)
		progress_erase();
	b->shown = false;
}

static void run_bar_print(const char *line, void *arg)
{
	run_bar_clear(arg);
	fprintf(stderr, "rocecheck: %s\n", line);
}

static void run_bar_step(const struct run_step *step, void *arg)
{
	struct run_bar *b = arg;
	uint64_t now = monotonic_ms();
	bool begin = strcmp(b->phase, step->phase) != 0;
	char line[PROGRESS_LINE];

	if (!b->terminal && !begin && now < b->next_ms)
		return;
	if (begin)
		snprintf(b->phase, sizeof(b->phase), "%s", step->phase);
	b->next_ms = now + LINE_MS;
	run_bar_text(step, b->terminal ? PROGRESS_CELLS : 0, line, sizeof(line));
	if (!b->terminal) {
		run_bar_print(line, b);
		return;
	}
	progress_show(line);
	b->shown = true;
}

struct run_watcher run_bar_watcher(struct run_bar *b, bool quiet, bool verbose)
{
	*b = (struct run_bar){.terminal = isatty(STDERR_FILENO)};
	if (quiet)
		return (struct run_watcher){.arg = b};
	return (struct run_watcher){
		.detail = verbose ? run_bar_print : NULL,
		.notice = run_bar_print,
		.step = run_bar_step,
		.arg = b,
	};
}
