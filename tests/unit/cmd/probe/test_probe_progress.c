/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of progress of a probe, with one server and with many.
 */
#include "cmd/probe/probe_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_one(void **state)
{
	struct pair_live live = {.started_ms = 1000, .now_ms = 3000, .duration_ms = 8000};
	struct probe_rate pace = {0};
	char text[160];

	(void)state;
	live.side[SIDE_CLIENT] = (struct traffic_progress){.messages = 10, .bytes = 20000000};
	live.side[SIDE_SERVER] = (struct traffic_progress){.mismatches = 2, .losses = 1};
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_string_equal(text,
			    "[#####               ] 10.00 MB/s, 10 messages, 2 wrong, 1 lost, "
			    "6 s left");
	live.now_ms = 3500; /* since the last line, not since the start */
	live.side[SIDE_CLIENT].bytes = 21000000;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, " 2.00 MB/s"));
	live.now_ms = 3510; /* the other end's line: too soon for a rate */
	live.side[SIDE_CLIENT].bytes = 99000000;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, " 2.00 MB/s"));
	live.now_ms = 30000;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, "[####################]"));
	assert_non_null(strstr(text, "0 s left"));
	live.duration_ms = 0;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_null(strchr(text, '['));
	assert_non_null(strstr(text, ", 29 s"));
}

/* The next size of a sweep begins at no byte. */
static void test_next_size(void **state)
{
	struct pair_live live = {.started_ms = 1000, .now_ms = 2000};
	struct probe_rate pace = {0};
	char text[160];

	(void)state;
	live.side[SIDE_CLIENT].bytes = 80000000;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, "80.00 MB/s"));
	live.started_ms = 5000;
	live.now_ms = 6000;
	live.side[SIDE_CLIENT].bytes = 3000000;
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, "3.00 MB/s"));
	live.started_ms = 7000; /* a start that is still to come */
	probe_progress_text(&live, &pace, text, sizeof(text));
	assert_non_null(strstr(text, "lost, 0 s"));
}

static void test_incast(void **state)
{
	static const char *const host[] = {"h2", "h3", "h4"};
	struct pair_live one[3] = {0};
	struct incast_live live = {3, host, one};
	struct probe_rate pace[3] = {0};
	char text[200];

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		one[i] =
			(struct pair_live){.started_ms = 1000, .now_ms = 3000, .duration_ms = 8000};
		one[i].side[SIDE_CLIENT].bytes = (4 - i) * 2000000;
		one[i].side[SIDE_SERVER].bytes = 1000000;
		one[i].side[SIDE_CLIENT].mismatches = i;
		one[i].side[SIDE_SERVER].losses = 1;
	}
	probe_progress_incast_text(&live, pace, text, sizeof(text));
	assert_string_equal(text, "[#####               ] 9.00 MB/s, 6 s left, 3 wrong, 3 lost, "
				  "slowest of 3 h4 2.00 MB/s, fastest h2 4.00 MB/s");
	/* Each has its own time, and one whose ends are silent sends nothing. */
	one[0].now_ms = one[2].now_ms = 5500;
	one[0].side[SIDE_CLIENT].bytes += 5000000;
	one[2].side[SIDE_CLIENT].bytes += 7500000;
	probe_progress_incast_text(&live, pace, text, sizeof(text));
	assert_non_null(strstr(text, "] 5.00 MB/s, 4 s left"));
	assert_non_null(strstr(text, "slowest of 3 h3 0 B/s, fastest h4 3.00 MB/s"));
	/* One has not begun. */
	memset(pace, 0, sizeof(pace));
	memset(&one[1], 0, sizeof(one[1]));
	probe_progress_incast_text(&live, pace, text, sizeof(text));
	assert_non_null(strstr(text, "slowest of 3 h3 0 B/s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_next_size),
		cmocka_unit_test(test_incast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
