/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck top: prints counter rates per port and priority on a full screen or, with --batch or if
 * stdout is not a terminal, as lines (with --json one object of rocecheck.top/1 per line).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/top/screen.h"
#include "cmd/top/top_rows.h"
#include "cmd/top/top_sampler.h"
#include "dcb/kernel/dcb.h"
#include "profiles/base/signals.h"

static struct opt_list ifaces;
static unsigned int interval_ms = 1000, count;
static bool batch;
static const char *prio_list;

static const struct opt top_opts[] = {
	{"interface", 'i', OPT_LIST, &ifaces, .arg = "IFACE",
	 .help = "show only this network or RDMA device (repeatable)"},
	{"prio", 0, OPT_STRING, &prio_list, .arg = "LIST",
	 .help = "show these priorities, such as 3,4 (default: lossless or busy ones)"},
	{"interval", 'd', OPT_DURATION, &interval_ms, .arg = "TIME",
	 .help = "time between readings (default 1s)"},
	{"batch", 'b', OPT_FLAG, &batch,
	 .help = "print lines, no full screen (default without a terminal)"},
	{"count", 'n', OPT_UINT, &count, .min = 1, .max = 1000000, .arg = "COUNT",
	 .help = "stop after COUNT intervals (default: run until stopped)"},
	{.name = NULL},
};

/* The screen: title, table, footer, keys, help. top_rows.h makes rows and texts. Below 40x10 it is
 * one line. Samples come from the sampler thread; data older than three intervals is marked. */

#define WIDTH_MIN	40
#define HEIGHT_MIN	10
#define INTERVAL_MIN_MS 200
#define INTERVAL_MAX_MS 10000
#define KEY_WAIT_MS	100
#define STALE_MIN_NS	UINT64_C(2000000000)

struct top_screen {
	struct top_sampler *sampler;
	unsigned int interval_ms; /* keys change it */
	uint8_t prio_set;	  /* 0 = auto: lossless and busy ones */
	struct top_sample sample;
	struct top_row row[TOP_ROWS_MAX];
	unsigned int row_count;
	unsigned int first; /* row on top of the table */
	const atomic_int *stop;
	bool frozen, help, quit;
};

static uint64_t top_stale_ns(const struct top_screen *t)
{
	uint64_t ns = (uint64_t)t->interval_ms * 3000000;

	return ns > STALE_MIN_NS ? ns : STALE_MIN_NS;
}

static void top_make_rows(struct top_screen *t)
{
	t->row_count = top_rows_make(&t->sample, t->prio_set, monotonic_ns(), top_stale_ns(t),
				     t->row);
	if (t->first >= t->row_count)
		t->first = t->row_count ? t->row_count - 1 : 0;
}

static void top_count_levels(const struct top_screen *t, unsigned int *warn, unsigned int *critical,
			     unsigned int *stale)
{
	*warn = *critical = *stale = 0;
	for (unsigned int i = 0; i < t->row_count; i++) {
		if (t->row[i].prio != TOP_ALL)
			continue;
		*stale += t->row[i].stale;
		*warn += t->row[i].level == TOP_WARN;
		*critical += t->row[i].level == TOP_CRITICAL;
	}
}

static const char *top_state_word(const struct top_screen *t, unsigned int stale)
{
	if (t->frozen)
		return "[FROZEN]";
	return stale ? "[STALE]" : "[LIVE]";
}

static void top_prio_text(const struct top_screen *t, char *buf, size_t size)
{
	if (t->prio_set == 0xff)
		snprintf(buf, size, "all");
	else if (t->prio_set)
		qos_prio_set_text(t->prio_set, buf, size);
	else
		snprintf(buf, size, "auto");
}

static void top_draw_title(const struct top_screen *t, unsigned int width)
{
	unsigned int warn, critical, stale;
	char left[128], right[64], prios[32], hms[16];
	time_t now = time(NULL);
	struct tm tm;

	top_count_levels(t, &warn, &critical, &stale);
	top_prio_text(t, prios, sizeof(prios));
	snprintf(left, sizeof(left), " rocecheck top  ports %u  crit %u  warn %u  prio %s",
		 t->sample.count, critical, warn, prios);
	strftime(hms, sizeof(hms), "%H:%M:%S", localtime_r(&now, &tm));
	snprintf(right, sizeof(right), "%s  %.1fs  %s ", hms, t->interval_ms / 1000.0,
		 top_state_word(t, stale));
	if (strlen(left) + strlen(right) + 2 > width)
		snprintf(left, sizeof(left), " crit %u  warn %u  prio %s", critical, warn, prios);
	if (strlen(left) + strlen(right) + 2 > width)
		snprintf(right, sizeof(right), "%s ", top_state_word(t, stale));
	screen_text(0, 0, SCREEN_PLAIN, left);
	if (strlen(right) < width)
		screen_text(0, width - (unsigned int)strlen(right), SCREEN_PLAIN, right);
}

static void top_draw_row(const struct top_row *row, unsigned int y, uint32_t show)
{
	static const enum screen_style styles[] = {[TOP_OK] = SCREEN_PLAIN,
						   [TOP_WARN] = SCREEN_WARN,
						   [TOP_CRITICAL] = SCREEN_CRITICAL};
	char line[TOP_LINE_MAX], text[64];
	unsigned int x = 1;

	top_row_line(row, show, line, sizeof(line));
	screen_text(y, 0, row->stale ? SCREEN_DIM : SCREEN_PLAIN, line);
	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++) {
		if (!(show & (1u << i)))
			continue;
		x += top_columns[i].width + 1u;
		if (row->stale || row->cell[i].level == TOP_OK)
			continue;
		top_cell_text(row, i, text, sizeof(text));
		screen_text(y, x - (unsigned int)strlen(text), styles[row->cell[i].level], text);
	}
}

static void top_draw_head(uint32_t show, bool units, unsigned int y, unsigned int width)
{
	char line[TOP_LINE_MAX], full[TOP_LINE_MAX];

	top_head_line(show, units, line, sizeof(line));
	snprintf(full, sizeof(full), "%-*s", (int)(width < sizeof(full) ? width : sizeof(full) - 1),
		 line);
	screen_text(y, 0, SCREEN_HEAD, full);
}

static void top_draw_table(const struct top_screen *t, unsigned int width, unsigned int height)
{
	uint32_t show = top_columns_fit(width);
	unsigned int y = 3, bottom = height - 2, i = t->first;
	char more[64];

	top_draw_head(show, false, 1, width);
	top_draw_head(show, true, 2, width);
	for (; i < t->row_count && y < bottom; i++)
		top_draw_row(&t->row[i], y++, show);
	screen_rule(bottom);
	if (i < t->row_count || t->first) {
		snprintf(more, sizeof(more), " rows %u-%u of %u: Up, Down ", t->first + 1, i,
			 t->row_count);
		screen_text(bottom, 2, SCREEN_PLAIN, more);
	}
	screen_text(height - 1, 0, SCREEN_PLAIN,
		    width >= 60 ? " ? help  p prio  + - interval  Space freeze  q quit"
				: " ? help  p prio  q quit");
}

/* The line below 40x10: counts of critical and warning ports, and the worst row. */
static void top_draw_line(const struct top_screen *t)
{
	unsigned int warn, critical, stale;
	const struct top_row *worst = NULL;
	char line[128], port[64], pause[32];

	top_count_levels(t, &warn, &critical, &stale);
	for (unsigned int i = 0; i < t->row_count; i++)
		if (!worst || t->row[i].level > worst->level)
			worst = &t->row[i];
	if (!worst)
		return;
	top_cell_text(worst, TOP_PORT, port, sizeof(port));
	top_cell_text(worst, TOP_PAUSE_RX, pause, sizeof(pause));
	snprintf(line, sizeof(line), "%c%u crit %u warn  %s pause %s%s", top_row_mark(worst),
		 critical, warn, port, pause,
		 worst->cell[TOP_PAUSE_RX].state == TOP_VALUE ? "%" : "");
	screen_text(0, 0, SCREEN_PLAIN, line);
}

static void top_draw_help(unsigned int height)
{
	static const char *const keys[] = {
		" q Esc   quit                     p       priorities: auto, all, 0 to 7",
		" + -     interval 0.2 to 10 s     Space   freeze; sampling continues",
		" Up Down PgUp PgDn Home  scroll   ?       show this help (any key closes it)",
		"",
		" n/a      not counted by the driver  -        second reading pending",
		" reset    counter went backwards     blank    counted per port only (row all)",
		" !        critical                   *        warning",
		" ?        old data, or the port is gone",
		"",
	};
	unsigned int y = 0;
	char line[160];

	screen_text(y++, 0, SCREEN_HEAD, " rocecheck top: help");
	for (size_t i = 0; i < ARRAY_SIZE(keys) && y < height; i++)
		screen_text(y++, 0, SCREEN_PLAIN, keys[i]);
	for (unsigned int i = 0; i < TOP_COLUMN_COUNT && y < height; i++) {
		snprintf(line, sizeof(line), " %-6s %-4s %s", top_columns[i].head,
			 top_columns[i].unit, top_columns[i].help);
		screen_text(y++, 0, SCREEN_PLAIN, line);
	}
}

static void top_draw(struct top_screen *t)
{
	unsigned int width, height;

	screen_size(&width, &height);
	top_make_rows(t);
	screen_erase();
	if (t->help) {
		top_draw_help(height);
	} else if (width < WIDTH_MIN || height < HEIGHT_MIN) {
		top_draw_line(t);
	} else {
		top_draw_title(t, width);
		top_draw_table(t, width, height);
	}
	screen_show();
}

/* auto, all, 0, 1, ... 7, auto */
static uint8_t top_next_prio(uint8_t prio_set)
{
	if (!prio_set)
		return 0xff;
	if (prio_set == 0xff)
		return 1;
	return (uint8_t)(prio_set << 1);
}

static void top_set_interval(struct top_screen *t, unsigned int ms)
{
	if (ms < INTERVAL_MIN_MS)
		ms = INTERVAL_MIN_MS;
	if (ms > INTERVAL_MAX_MS)
		ms = INTERVAL_MAX_MS;
	t->interval_ms = ms;
	top_sampler_interval(t->sampler, ms);
}

static void top_scroll(struct top_screen *t, int by)
{
	int first = (int)t->first + by;

	if (first >= (int)t->row_count)
		first = (int)t->row_count - 1;
	t->first = first > 0 ? (unsigned int)first : 0;
}

static void top_on_key(struct top_screen *t, int key)
{
	if (t->help && key != SCREEN_KEY_RESIZE && key != SCREEN_KEY_NONE) {
		t->help = false;
		return;
	}
	switch (key) {
	case 'q':
	case SCREEN_KEY_ESC:
		t->quit = true;
		break;
	case '?':
	case 'h':
		t->help = true;
		break;
	case ' ':
		t->frozen = !t->frozen;
		break;
	case 'p':
		t->prio_set = top_next_prio(t->prio_set);
		t->first = 0;
		break;
	case '+':
		top_set_interval(t, t->interval_ms * 2);
		break;
	case '-':
		top_set_interval(t, t->interval_ms / 2);
		break;
	case SCREEN_KEY_UP:
		top_scroll(t, -1);
		break;
	case SCREEN_KEY_DOWN:
		top_scroll(t, 1);
		break;
	case SCREEN_KEY_PAGE_UP:
		top_scroll(t, -10);
		break;
	case SCREEN_KEY_PAGE_DOWN:
		top_scroll(t, 10);
		break;
	case SCREEN_KEY_HOME:
		t->first = 0;
		break;
	default:
		break;
	}
}

static void top_screen_loop(struct top_screen *t)
{
	uint64_t drawn_ns = 0;

	while (!t->quit && !*t->stop) {
		bool fresh = !t->frozen && top_sampler_get(t->sampler, &t->sample);
		int key;

		if (fresh && count && t->sample.number > count)
			t->quit = true;
		/* Redraws each second without new data, so that stale data is marked. */
		if (fresh || monotonic_ns() - drawn_ns > 1000000000) {
			top_draw(t);
			drawn_ns = monotonic_ns();
		}
		key = screen_key(KEY_WAIT_MS);
		if (key != SCREEN_KEY_NONE) {
			top_on_key(t, key);
			drawn_ns = 0;
		}
	}
}

/* Shows samples until a key or a signal ends it. -ENOTTY if the terminal does not support it. */
static int top_screen_run(struct top_sampler *sampler, uint8_t prio_set, struct err *e)
{
	struct top_screen *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return err_set(e, -ENOMEM, "top: out of memory");
	t->sampler = sampler;
	t->interval_ms = interval_ms;
	t->prio_set = prio_set;
	t->stop = signals_catch_all();
	err = screen_open(globals->colour_out, e);
	if (!err) {
		top_screen_loop(t);
		screen_close();
	}
	free(t);
	return err;
}

/* Parses "3,4" to a bitmap; false for other texts. */
static bool top_parse_prios(const char *list, uint8_t *prio_set)
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

static int top_print_json(const struct top_sample *s)
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

static int top_print_lines(const struct top_sample *s, struct top_row *rows, uint8_t prio_set)
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

static void top_sleep_interval(struct timespec *next)
{
	next->tv_nsec += (long)(interval_ms % 1000) * 1000000;
	next->tv_sec += interval_ms / 1000 + next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

/* Prints `count` intervals; the first reading is only the baseline. */
static int top_run_batch(struct dcb *dcb, struct top_sample *s, uint8_t prio_set, struct err *e)
{
	struct top_row *rows = calloc(TOP_ROWS_MAX, sizeof(*rows));
	struct timespec next;
	int err;

	if (!rows)
		return err_set(e, -ENOMEM, "top: out of memory");
	clock_gettime(CLOCK_MONOTONIC, &next);
	err = top_sample_read(dcb, s, e);
	while (!err && (!count || s->number <= count)) {
		top_sleep_interval(&next);
		err = top_sample_read(dcb, s, e);
		if (!err &&
		    (globals->json ? top_print_json(s) : top_print_lines(s, rows, prio_set)))
			err = err_set(e, -EIO, "cannot write to stdout");
	}
	free(rows);
	return err;
}

static int top_start_screen(struct dcb *dcb, const struct top_sample *s, uint8_t prio_set,
			    struct err *e)
{
	struct top_sampler *sampler;
	int err = top_sampler_start(dcb, s, interval_ms, &sampler, e);

	if (err) {
		dcb_close(dcb);
		return err;
	}
	err = top_screen_run(sampler, prio_set, e);
	top_sampler_stop(sampler); /* closes dcb */
	if (err)
		err_hint(e, "print lines instead: rocecheck top --batch");
	return err;
}

static int top_open(struct top_sample *s, uint8_t prio_set, struct err *e)
{
	bool screen = !batch && !globals->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct dcb *dcb;
	int err = dcb_open(NULL, &dcb, e);

	if (err)
		return err;
	err = top_ports_find(dcb, ifaces.item, ifaces.count, s, e);
	if (!err && s->left_out && !globals->quiet)
		fprintf(stderr,
			"rocecheck: note: %u more ports are not shown; select ports with -i\n",
			s->left_out);
	if (!err && !screen && !globals->json && !globals->quiet)
		fputs("rocecheck: note: ! critical, * warning, ? old data or port gone, n/a not "
		      "counted by the driver, reset: counter went backwards\n",
		      stderr);
	if (!err && screen)
		return top_start_screen(dcb, s, prio_set, e);
	if (!err)
		err = top_run_batch(dcb, s, prio_set, e);
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
	if (prio_list && !top_parse_prios(prio_list, &prio_set))
		return cmd_usage(&cmd_top,
				 "invalid --prio '%s': expected priorities 0 to 7, such as 3,4",
				 prio_list);
	if (interval_ms < 100 || interval_ms > 3600000)
		return cmd_usage(&cmd_top, "--interval is out of range: expected 100ms to 1h");
	s = calloc(1, sizeof(*s));
	err = s ? top_open(s, prio_set, &e) : err_set(&e, -ENOMEM, "top: out of memory");
	free(s);
	return err ? cmd_fail(EXIT_ENVIRONMENT, &e) : EXIT_OK;
}

const struct command cmd_top = {
	.name = "top",
	.args = "",
	.help = "show live rates of PFC, congestion and loss per port and priority",
	.opts = top_opts,
	.run = run_top,
};
