/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of phases, their names on the command line, the plan of a run, and the time that is
 * left.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/coord/phase_priv.h"
#include "tests/unit/fixture/fabric_run.h"

static void test_table(void **state)
{
	unsigned int pairs = 0, sum = 0;

	(void)state;
	for (unsigned int i = 0; i < STAGES; i++) {
		pairs |= phases[i].pairs;
		sum += phases[i].pairs;
		assert_true(phases[i].before == READ_COUNT || phases[i].before % 2 == 0);
		assert_non_null(phases[i].claim);
		assert_non_null(phases[i].estimate);
		assert_non_null(phases[i].run);
		assert_true(phases[i].link_percent <= 100);
		assert_int_equal(run_stage_words[i].value, i);
	}
	assert_null(run_stage_words[STAGES].word);
	/* Each pair is of one phase. */
	assert_int_equal(pairs, sum);
	for (const struct qos_word *w = run_phase_words; w->word; w++)
		assert_true(pairs & 1u << w->value);
}

static void test_names(void **state)
{
	static const struct {
		const char *list;
		uint8_t maintenance;
		unsigned int want; /* 0 = refused */
		const char *error;
	} rows[] = {
		{"quiet", 0, 1u << STAGE_QUIET, NULL},
		{"pairs,quiet,pairs", 0, 1u << STAGE_QUIET | 1u << STAGE_PAIRS, NULL},
		{"quiet,marking,pairs,incast,control,shares", 8, STAGES_ALL, NULL},
		{"incast", 0, 0, "phase incast needs --maintenance PRIOS"},
		{"control", 0, 0, "phase control needs --maintenance PRIOS"},
		{"", 8, 0, "unknown phase ''"},
		{"quiet,", 8, 0, "unknown phase ''"},
		{"quiet,,pairs", 8, 0, "unknown phase ''"},
		{"quie", 8, 0, "unknown phase 'quie'"},
		{"quiets", 8, 0, "unknown phase 'quiets'"},
		{"pairs, quiet", 8, 0, "unknown phase ' quiet'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fabric f = {.maintenance = rows[i].maintenance};
		unsigned int stages = 99;
		struct err e = {0};
		int err = run_parse_stages(rows[i].list, &f, &stages, &e);

		if (rows[i].want) {
			assert_int_equal(err, 0);
			assert_int_equal(stages, rows[i].want);
		} else {
			assert_int_equal(err, -EINVAL);
			assert_int_equal(stages, 99);
			assert_string_equal(e.text, rows[i].error);
		}
	}
}

static void test_plan(void **state)
{
	static const struct {
		enum run_stage stage;
		struct schedule_estimate sum;
		const char *want;
	} rows[] = {
		{STAGE_QUIET,
		 {.seconds = 3},
		 "phase quiet: about 3 s, no traffic (traffic of others while this run sends "
		 "nothing)"},
		{STAGE_PAIRS,
		 {.rounds = 4, .pairs = 8, .bytes = 1234500000, .seconds = 48},
		 "phase pairs: about 48 s, 1.2 GB, at most 5 % of a link (delivery between pairs "
		 "of "
		 "ports)"},
		{STAGE_INCAST,
		 {.rounds = 4, .pairs = 8, .bytes = UINT64_C(45000000000000), .seconds = 7260},
		 "phase incast: about 121 min, 45.0 TB, at most 100 % of a link (lossless under "
		 "congestion)"},
		{STAGE_CONTROL,
		 {.rounds = 1, .bytes = 1, .seconds = 36000},
		 "phase control: about 10.0 h, 0.0 MB, at most 100 % of a link (the same load on a "
		 "lossy priority)"},
	};
	char text[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		phase_plan_text(rows[i].stage, &rows[i].sum, 5, text, sizeof(text));
		assert_string_equal(text, rows[i].want);
	}
}

/* Two ports of 100 Gbit/s: each is a server once. */
static void test_estimates(void **state)
{
	struct fabric_run *f = malloc(sizeof(*f));
	struct coordinator c = {.f = &f->fabric, .s.r = &f->run};
	struct schedule_estimate sum = {0};
	struct err e = {0};

	(void)state;
	good_run(f);
	f->fabric.traffic_s = 3;
	f->fabric.quiet_s = 7;
	f->fabric.load_percent = 5;
	f->fabric.maintenance = 1 << 3;
	f->fabric.incast_senders = 4;
	for (unsigned int i = 0; i < 2; i++)
		f->host[i].before.port[0].speed_mbps = 100000;
	assert_int_equal(phases[STAGE_QUIET].estimate(&c, STAGE_QUIET, &sum, &e), 0);
	assert_true(sum.seconds == 7 && !sum.bytes);
	sum = (struct schedule_estimate){0};
	assert_int_equal(phases[STAGE_PAIRS].estimate(&c, STAGE_PAIRS, &sum, &e), 0);
	assert_int_equal(sum.rounds, 2);
	assert_true(sum.bytes == UINT64_C(2) * 3 * 625000000);
	sum = (struct schedule_estimate){0};
	assert_int_equal(phases[STAGE_MARKING].estimate(&c, STAGE_MARKING, &sum, &e), 0);
	assert_int_equal(sum.rounds, 1); /* of both directions */
	sum = (struct schedule_estimate){0};
	assert_int_equal(phases[STAGE_CONTROL].estimate(&c, STAGE_CONTROL, &sum, &e), 0);
	assert_int_equal(sum.rounds, 2);
	assert_true(sum.bytes == UINT64_C(2) * 3 * 12500000000);
	assert_true(sum.seconds == 8);
	sum = (struct schedule_estimate){0};
	f->fabric.maintenance = 3 << 3;
	assert_int_equal(phases[STAGE_INCAST].estimate(&c, STAGE_INCAST, &sum, &e), 0);
	assert_int_equal(sum.rounds, 4);
	assert_true(sum.seconds == 32); /* with the canary alone before each */
	free(f);
}

static void test_left(void **state)
{
	static const struct {
		unsigned int done, of;
		double seconds, passed_s, round_s, want;
	} rows[] = {
		{0, 0, 3, 1, 0, 2},	 {0, 0, 3, 4, 0, 0},	  {0, 10, 40, 1, 0, 39},
		{5, 10, 40, 50, 50, 50}, {5, 10, 40, 52, 50, 48}, {10, 10, 40, 100, 100, 0},
		{0, 0, 0, 5, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct run_step step = {
			.done = rows[i].done, .of = rows[i].of, .seconds = rows[i].seconds};

		assert_true(session_seconds_left(&step, rows[i].passed_s, rows[i].round_s) ==
			    rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table), cmocka_unit_test(test_names),
		cmocka_unit_test(test_plan),  cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
