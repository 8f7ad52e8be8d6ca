/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The line of progress, and how far a source says it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/progress.h"

static void texts(void **state)
{
	static const struct {
		uint64_t done, size, frames, passed_ms;
		const char *want;
	} rows[] = {
		{0, 100, 0, 5000, "[                    ] 0 %, 0 frames"},
		{40, 100, 1234, 4000, "[########            ] 40 %, 1234 frames, 6 s left"},
		{100, 100, 9, 4000, "[####################] 100 %, 9 frames, 0 s left"},
		{101, 100, 9, 4000, "[####################] 100 %, 9 frames, 0 s left"},
		{UINT64_MAX / 2, UINT64_MAX, 1, 1000,
		 "[##########          ] 50 %, 1 frames, 1 s left"},
	};
	char line[128];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		progress_text(rows[i].done, rows[i].size, rows[i].frames, rows[i].passed_ms, line,
			      sizeof(line));
		assert_string_equal(line, rows[i].want);
	}
	progress_text(UINT64_MAX, 1, UINT64_MAX, UINT64_MAX, line, 8);
	assert_int_equal(strlen(line), 7);
}

/* Grows with each frame, ends at the size of the file; however the file is read. */
static void places(void **state)
{
	static const char *const files[] = {"loss.pcap", "drops.pcapng", "mirror.pcap"};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		uint64_t done = 0, size = 0, last = 0, ns;
		uint32_t cap, wire;
		const uint8_t *data;
		struct input *s;
		struct err e = {0};
		char path[128];

		snprintf(path, sizeof(path), "tests/golden/capture/%s", files[i]);
		assert_int_equal(input_open_file(path, &s, &e), 0);
		while (input_next(s, -1, &data, &cap, &wire, &ns, &e) == 1) {
			assert_true(input_progress(s, &done, &size));
			assert_true(done >= last + cap && done <= size);
			last = done;
		}
		assert_true(input_progress(s, &done, &size));
		assert_true(done == size);
		input_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
