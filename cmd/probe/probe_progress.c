/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress line of a probe with one server, and of an incast with all its servers.
 */
#include "cmd/probe/probe_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/probe/probe_text.h"
#include "cmd/progress.h"

#define RATE_MS	  400u	/* shortest time that a rate is computed over */
#define SILENT_MS 2000u /* client and server report twice a second */

/* Returns 0 before the start. */
static uint64_t progress_passed_ms(const struct pair_live *live)
{
	return live->now_ms > live->started_ms ? live->now_ms - live->started_ms : 0;
}

/* Fewer bytes than before: the next run of a sweep has begun. */
static void progress_update_rate(const struct pair_live *live, struct probe_rate *p)
{
	uint64_t bytes = larger(live->side[SIDE_CLIENT].bytes, live->side[SIDE_SERVER].bytes);
	uint64_t passed = progress_passed_ms(live);

	if (bytes < p->bytes)
		*p = (struct probe_rate){.rate = p->rate};
	if (live->now_ms < p->ms + RATE_MS)
		return;
	p->rate = p->ms	   ? (bytes - p->bytes) * 1000 / (live->now_ms - p->ms)
		  : passed ? bytes * 1000 / passed
			   : 0;
	p->bytes = bytes;
	p->ms = live->now_ms;
}

/* Writes "[###    ] " and the time left; without a known duration no bar and the elapsed time. */
static void progress_time_text(uint64_t passed, uint64_t duration, char bar[PROGRESS_CELLS + 4],
			       char left[32])
{
	uint64_t done = passed < duration ? passed : duration;

	bar[0] = '\0';
	if (!duration) {
		snprintf(left, 32, "%.0f s", (double)passed / 1e3);
		return;
	}
	progress_bar((double)done / (double)duration, PROGRESS_CELLS, bar);
	strcat(bar, " ");
	snprintf(left, 32, "%.0f s left", (double)(duration - done) / 1e3);
}

void probe_progress_text(const struct pair_live *live, struct probe_rate *before, char *buf,
			 size_t size)
{
	const struct traffic_progress *a = &live->side[SIDE_CLIENT], *b = &live->side[SIDE_SERVER];
	char rate[32], bar[PROGRESS_CELLS + 4], left[32];

	progress_update_rate(live, before);
	probe_bytes_text(before->rate, rate, sizeof(rate));
	progress_time_text(progress_passed_ms(live), live->duration_ms, bar, left);
	snprintf(buf, size, "%s%s/s, %" PRIu64 " messages, %" PRIu64 " wrong, %" PRIu64 " lost, %s",
		 bar, rate, larger(a->messages, b->messages), a->mismatches + b->mismatches,
		 a->losses + b->losses, left);
}

/* Totals of all servers. */
struct sum {
	uint64_t rate, wrong, lost, passed, newest_ms;
	uint32_t duration_ms;
	unsigned int slowest, fastest; /* index of the server */
	uint64_t least, most;	       /* rates of these two */
};

static void progress_add_server(const struct pair_live *one, struct probe_rate *pace,
				unsigned int i, struct sum *sum)
{
	bool silent = sum->newest_ms - one->now_ms > SILENT_MS;
	uint64_t rate;

	if (one->started_ms)
		progress_update_rate(one, pace);
	rate = silent ? 0 : pace->rate;
	sum->rate += rate;
	for (unsigned int k = 0; k < SIDES; k++) {
		sum->wrong += one->side[k].mismatches;
		sum->lost += one->side[k].losses;
	}
	sum->passed = larger(sum->passed, progress_passed_ms(one));
	sum->duration_ms = one->duration_ms ? one->duration_ms : sum->duration_ms;
	if (!i || rate < sum->least) {
		sum->least = rate;
		sum->slowest = i;
	}
	if (!i || rate > sum->most) {
		sum->most = rate;
		sum->fastest = i;
	}
}

void probe_progress_incast_text(const struct incast_live *live, struct probe_rate *before,
				char *buf, size_t size)
{
	char rate[32], least[32], most[32], bar[PROGRESS_CELLS + 4], left[32];
	struct sum sum = {0};

	for (unsigned int i = 0; i < live->count; i++)
		sum.newest_ms = larger(sum.newest_ms, live->one[i].now_ms);
	for (unsigned int i = 0; i < live->count; i++)
		progress_add_server(&live->one[i], &before[i], i, &sum);
	probe_bytes_text(sum.rate, rate, sizeof(rate));
	probe_bytes_text(sum.least, least, sizeof(least));
	probe_bytes_text(sum.most, most, sizeof(most));
	progress_time_text(sum.passed, sum.duration_ms, bar, left);
	snprintf(buf, size,
		 "%s%s/s, %s, %" PRIu64 " wrong, %" PRIu64
		 " lost, slowest of %u %.40s %s/s, fastest %.40s %s/s",
		 bar, rate, left, sum.wrong, sum.lost, live->count, live->host[sum.slowest], least,
		 live->host[sum.fastest], most);
}

static void progress_show_line(struct probe_progress *t, char *line)
{
	progress_show(line);
	t->line = true;
}

void probe_progress_clear(struct probe_progress *t)
{
	if (t->line)
		progress_erase();
	t->line = false;
}

void probe_progress_print(const char *line, void *arg)
{
	probe_progress_clear(arg);
	fprintf(stderr, "rocecheck probe: %s\n", line);
}

void probe_progress_show(const struct pair_live *live, void *arg)
{
	struct probe_progress *t = arg;
	char line[PROGRESS_LINE];

	probe_progress_text(live, &t->rate[0], line, sizeof(line));
	progress_show_line(t, line);
}

void probe_progress_incast(const struct incast_live *live, void *arg)
{
	struct probe_progress *t = arg;
	char line[PROGRESS_LINE];

	probe_progress_incast_text(live, t->rate, line, sizeof(line));
	progress_show_line(t, line);
}
