/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What verdict_reports.h declares.
 */
#include "tests/unit/reports/traffic/verdict_reports.h"

static void no_rows(struct scene *s)
{
	s->report[1].class_count = 0;
}

static void one_row_of_two(struct scene *s)
{
	s->spec.class_count = 2;
	s->spec.class[1] = s->spec.class[0];
	s->report[0].class_count = 2;
	make_result(&s->result[0][1], true);
	grow_by(&s->end[0], METRIC_TX_BYTES, 0, 102 * MB);
	grow_by(&s->end[1], METRIC_RX_BYTES, 0, 102 * MB);
}

static void row_too_many(struct scene *s)
{
	s->report[0].class_count = 2;
}

static void no_tcp_row(struct scene *s)
{
	tcp_beside(s);
	s->report[1].tcp_count = 0;
}

/* Why it ended is said: what it could not tell any more is not missing. */
static void no_rows_at_the_watchdog(struct scene *s)
{
	no_rows(s);
	s->report[1].total.cause = CAUSE_TIMEOUT;
}

static void none_arrived(struct scene *s)
{
	s->result[1][0].arrived = s->result[1][0].arrived_bytes = 0;
}

static void one_unaccounted(struct scene *s)
{
	s->result[1][0].arrived--;
}

static void none_arrived_back(struct scene *s)
{
	s->spec.class[0].direction = TRAFFIC_BOTH;
	s->result[1][0].messages = 3;
	s->result[0][0].arrived = 1;
	s->result[0][0].gaps = 0;
}

/* READs and atomics count where they were asked for. */
static void atomics(struct scene *s)
{
	s->spec.class[0].verb = TRAFFIC_ATOMIC;
	s->result[1][0].arrived = s->result[1][0].arrived_bytes = 0;
}

static void stopped_under_way(struct scene *s)
{
	one_unaccounted(s);
	s->in.aborted = true;
}

/* A run until stopped, whose stop did not come to its end. */
static void unfinished(struct scene *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		s->report[i].total.cause = CAUSE_UNFINISHED;
		snprintf(s->report[i].total.detail, 60, "what was under way did not end");
	}
}

static void unfinished_with_gaps(struct scene *s)
{
	unfinished(s);
	s->result[1][0].arrived -= 10;
	s->result[1][0].gaps = 10;
}

/* clang-format off */
static const struct fault_row rows[] = {
	{"report without classes", TRAFFIC_COUNT, SOFT, no_rows, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h2 reports 0 of 1 classes and 0 of 0 TCP backgrounds"},
	{"report of one class of two", TRAFFIC_COUNT, SOFT, one_row_of_two, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h2 reports 1 of 2 classes"},
	{"report of a class too many", OBSERVE, SOFT, row_too_many, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h1 reports 2 of 1 classes"},
	{"report without the TCP", OBSERVE, SOFT, no_tcp_row, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h2 reports 1 of 1 classes and 0 of 1 TCP backgrounds"},
	{"report of the watchdog", OBSERVE, SOFT, no_rows_at_the_watchdog, VERDICT_FAIL, REASON_STALLED, NULL},
	{"none arrived", TRAFFIC_COUNT, SOFT, none_arrived, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h1 -> h2: of 1526 messages of class 0, 1526 neither arrived nor were counted as missing"},
	{"one unaccounted", TRAFFIC_COUNT, DEVICE, one_unaccounted, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "class 0, 1 neither"},
	{"unaccounted, back", TRAFFIC_COUNT, SOFT, none_arrived_back, VERDICT_INCONCLUSIVE, REASON_UNACCOUNTED, "h2 -> h1: of 3 messages of class 0, 2 neither"},
	{"atomics count where they were asked for", OBSERVE, SOFT, atomics, VERDICT_PASS, NO_REASON, NULL},
	{"stopped, unfinished", OBSERVE, SOFT, unfinished, VERDICT_INCONCLUSIVE, REASON_ABORTED, "h2: what was under way did not end"},
	{"stopped, unfinished, counted", TRAFFIC_COUNT, SOFT, unfinished, VERDICT_INCONCLUSIVE, REASON_ABORTED, "h2: what was under way did not end"},
	{"stopped, unfinished, with gaps", TRAFFIC_COUNT, SOFT, unfinished_with_gaps, VERDICT_FAIL, REASON_LOST, "10 messages of class 0 never arrived"},
	{"stopped under way", TRAFFIC_COUNT, SOFT, stopped_under_way, VERDICT_INCONCLUSIVE, REASON_ABORTED, NULL},
};
/* clang-format on */

const struct fault_table report_faults = {rows, ARRAY_SIZE(rows)};
