/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck top: rates of the counters of each port and priority, as a screen or, with --batch or
 * when stdout is no terminal, as lines (one JSON object a line with --json: rocecheck.top/1).
 */
#include "cmd/top/top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/top/top_sampler.h"
#include "dcb/kernel/dcb.h"

static struct opt_list ifaces;
static unsigned int interval_ms = 1000, count;
static bool batch;
static const char *prio_list;

static const struct opt top_opts[] = {
	{"interface", 'i', OPT_LIST, &ifaces, .arg = "IFACE",
	 .help = "only this netdev or RDMA device; may be given again"},
	{"interval", 'd', OPT_DURATION, &interval_ms, .arg = "TIME",
	 .help = "time between readings (1s)"},
	{"batch", 'b', OPT_FLAG, &batch, .help = "lines instead of a screen"},
	{"count", 'n', OPT_UINT, &count, .min = 1, .max = 1000000, .arg = "COUNT",
	 .help = "end after COUNT intervals"},
	{"prio", 0, OPT_STRING, &prio_list, .arg = "LIST", .help = "priorities shown: 3,4"},
	{.name = NULL},
};

/* "3,4" as a bitmap; false when it is no such list. */
static bool parse_prios(const char *list, uint8_t *prio_set)
{
	uint8_t set = 0;

	for (const char *c = list;; c += 2) {
		if (*c < '0' || *c > '7' || (c[1] && c[1] != ','))
			return false;
		set |= (uint8_t)(1u << (*c - '0'));
		if (!c[1])
			break;
	}
	*prio_set = set;
	return true;
}

static int64_t unix_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int print_json(const struct top_sample *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		json_t *json = top_port_to_json(&s->port[i], s->number - 1, unix_ns(),
						s->port[i].gone);
		int rc = json ? json_dumpf(json, stdout, JSON_COMPACT | JSON_ENSURE_ASCII) : -1;

		json_decref(json);
		if (rc || putchar('\n') == EOF)
			return -EIO;
	}
	return fflush(stdout) ? -EIO : 0;
}

static int print_lines(const struct top_sample *s, struct top_row *rows, uint8_t prio_set)
{
	uint32_t show = top_columns_fit(UINT16_MAX);
	unsigned int n = top_rows_make(s, prio_set, 0, 0, rows);
	char line[TOP_LINE_MAX], hms[16];
	time_t now = time(NULL);
	struct tm tm;

	strftime(hms, sizeof(hms), "%H:%M:%S", localtime_r(&now, &tm));
	if (s->number == 2) {
		top_head_line(show, false, line, sizeof(line));
		printf("%-8s %s\n", "TIME", line);
		top_head_line(show, true, line, sizeof(line));
		printf("%-8s %s\n", "", line);
	}
	for (unsigned int i = 0; i < n; i++) {
		top_row_line(&rows[i], show, line, sizeof(line));
		printf("%s %s\n", hms, line);
	}
	return fflush(stdout) ? -EIO : 0;
}

static void sleep_until(struct timespec *next)
{
	next->tv_nsec += (long)(interval_ms % 1000) * 1000000;
	next->tv_sec += interval_ms / 1000 + next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* The first reading is the base: `count` intervals are printed. */
static int run_batch(struct dcb *dcb, struct top_sample *s, uint8_t prio_set, struct err *e)
{
	struct top_row *rows = calloc(TOP_ROWS_MAX, sizeof(*rows));
	struct timespec next;
	int err;

	if (!rows)
		return err_set(e, -ENOMEM, "top: out of memory");
	clock_gettime(CLOCK_MONOTONIC, &next);
	err = top_sample_take(dcb, s, e);
	while (!err && (!count || s->number <= count)) {
		sleep_until(&next);
		err = top_sample_take(dcb, s, e);
		if (!err && (globals->json ? print_json(s) : print_lines(s, rows, prio_set)))
			err = err_set(e, -EIO, "cannot write to stdout");
	}
	free(rows);
	return err;
}

static int run_screen(struct dcb *dcb, const struct top_sample *s, uint8_t prio_set, struct err *e)
{
	struct top_view view = {interval_ms, count, prio_set, globals->colour_out};
	struct top_sampler *sampler;
	int err = top_sampler_start(dcb, s, interval_ms, &sampler, e);

	if (err) {
		dcb_close(dcb);
		return err;
	}
	err = top_screen_run(sampler, &view, e);
	top_sampler_stop(sampler); /* closes dcb */
	if (err)
		err_hint(e, "use --batch");
	return err;
}

static int run(struct top_sample *s, uint8_t prio_set, struct err *e)
{
	bool screen = !batch && !globals->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct dcb *dcb;
	int err = dcb_open(NULL, &dcb, e);

	if (err)
		return err;
	err = top_ports_find(dcb, ifaces.item, ifaces.count, s, e);
	if (!err && s->left_out && !globals->quiet)
		fprintf(stderr, "rocecheck: note: %u more ports are not shown; name some with -i\n",
			s->left_out);
	if (!err && screen)
		return run_screen(dcb, s, prio_set, e);
	if (!err)
		err = run_batch(dcb, s, prio_set, e);
	dcb_close(dcb);
	return err;
}

static int run_top(int argc, char **argv)
{
	struct top_sample *s;
	uint8_t prio_set = 0;
	struct err e = {0};
	int err;

	if (argc)
		return cmd_usage(&cmd_top, "unexpected argument '%s'", argv[0]);
	if (prio_list && !parse_prios(prio_list, &prio_set))
		return cmd_usage(&cmd_top, "--prio %s: want priorities 0 to 7, as 3,4", prio_list);
	if (interval_ms < 100 || interval_ms > 3600000)
		return cmd_usage(&cmd_top, "--interval: want 100ms to 1h");
	s = calloc(1, sizeof(*s));
	err = s ? run(s, prio_set, &e) : err_set(&e, -ENOMEM, "top: out of memory");
	free(s);
	return err ? cmd_fail(EXIT_ENVIRONMENT, &e) : EXIT_OK;
}

const struct command cmd_top = {
	.name = "top",
	.args = "",
	.help = "show rates of PFC, congestion, loss by port and priority",
	.opts = top_opts,
	.run = run_top,
};
