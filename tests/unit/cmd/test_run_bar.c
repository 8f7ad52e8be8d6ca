/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bar of a fabric run as text: with and without rounds, estimates and a bar.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/run_bar.h"

static void test_texts(void **state)
{
	static const struct {
		struct run_step step;
		unsigned int cells;
		const char *want;
	} rows[] = {
		{{.phase = "connect"}, 20, "connect"},
		{{.phase = "connect"}, 0, "connect"},
		{{.phase = "second reading", .seconds = 60, .left_s = 45},
		 20,
		 "second reading [#####               ] about 45 s left"},
		{{.phase = "quiet", .number = 1, .count = 5, .seconds = 3, .left_s = 9},
		 10,
		 "quiet (1 of 5) [          ] about 9 s left"},
		{{.phase = "pairs",
		  .number = 3,
		  .count = 5,
		  .done = 12,
		  .of = 24,
		  .seconds = 80,
		  .left_s = 40},
		 10,
		 "pairs (3 of 5) [#####     ] 12 of 24 rounds, about 40 s left"},
		{{.phase = "pairs",
		  .number = 3,
		  .count = 5,
		  .done = 12,
		  .of = 24,
		  .seconds = 8000,
		  .left_s = 4000},
		 0,
		 "pairs (3 of 5): 12 of 24 rounds, about 67 min left"},
		{{.phase = "pairs", .number = 1, .count = 1, .done = 9, .of = 1},
		 4,
		 "pairs (1 of 1) [####] 9 of 1 round"},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		run_bar_text(&rows[i].step, rows[i].cells, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
	run_bar_text(&rows[4].step, 10, text, 9);
	assert_string_equal(text, "pairs (3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
