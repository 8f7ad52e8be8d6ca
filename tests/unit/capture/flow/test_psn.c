/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * psn_observe() over sequences: each row is a string of requests with the verdict each must get.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture/flow/psn.h"

#define READ(len) .read = true, .read_known = true, .read_len = (len)
#define MS	  UINT64_C(1000000)

struct step {
	struct psn_request r;
	enum psn_verdict want;
	uint32_t count;
};

struct sequence {
	const char *name;
	uint32_t pmtu;
	struct step step[14];
	unsigned int steps;
};

static const struct sequence sequences[] = {
	{"in order and wrap",
	 0,
	 {{{.psn = 0xfffffe}, PSN_FIRST, 0},
	  {{.psn = 0xffffff}, PSN_IN_ORDER, 0},
	  {{.psn = 0}, PSN_IN_ORDER, 0},
	  {{.psn = 1}, PSN_IN_ORDER, 0}},
	 4},
	{"gap over the wrap, filled in two parts",
	 0,
	 {{{.psn = 0xfffffd}, PSN_FIRST, 0},
	  {{.psn = 2}, PSN_GAP, 4}, /* fffffe ffffff 0 1 */
	  {{.psn = 0}, PSN_FILLED, 1},
	  {{.psn = 0}, PSN_DUPLICATE, 0},
	  {{.psn = 0xfffffe}, PSN_FILLED, 1},
	  {{.psn = 1}, PSN_FILLED, 1},
	  {{.psn = 0xffffff}, PSN_FILLED, 1},
	  {{.psn = 3}, PSN_IN_ORDER, 0}},
	 8},
	{"go back N",
	 0,
	 {{{.psn = 10}, PSN_FIRST, 0},
	  {{.psn = 12}, PSN_GAP, 1},
	  {{.psn = 13}, PSN_IN_ORDER, 0},
	  {{.psn = 11}, PSN_FILLED, 1},
	  {{.psn = 12}, PSN_DUPLICATE, 0},
	  {{.psn = 13}, PSN_DUPLICATE, 0},
	  {{.psn = 14}, PSN_IN_ORDER, 0}},
	 7},
	{"swap of two",
	 0,
	 {{{.psn = 1}, PSN_FIRST, 0},
	  {{.psn = 3}, PSN_GAP, 1},
	  {{.psn = 2}, PSN_FILLED, 1},
	  {{.psn = 4}, PSN_IN_ORDER, 0}},
	 4},
	{"read of known path MTU",
	 1024,
	 {{{.psn = 100, READ(8192)}, PSN_FIRST, 0},
	  {{.psn = 108, READ(1)}, PSN_IN_ORDER, 0},
	  {{.psn = 109, READ(0)}, PSN_IN_ORDER, 0},
	  {{.psn = 110, READ(1025)}, PSN_IN_ORDER, 0},
	  {{.psn = 112, READ(4096)}, PSN_IN_ORDER, 0},
	  {{.psn = 117}, PSN_GAP, 1},
	  {{.psn = 112, READ(4096)}, PSN_DUPLICATE, 0}},
	 7},
	{"lost read comes again whole",
	 1024,
	 {{{.psn = 0}, PSN_FIRST, 0},
	  {{.psn = 9}, PSN_GAP, 8},
	  {{.psn = 1, READ(8192)}, PSN_FILLED, 8},
	  {{.psn = 9}, PSN_DUPLICATE, 0}},
	 4},
	{"lost read of unknown span fills to the end of its gap",
	 0,
	 {{{.psn = 0}, PSN_FIRST, 0},
	  {{.psn = 9}, PSN_GAP, 8},
	  {{.psn = 1, READ(8192)}, PSN_FILLED, 8}},
	 3},
	{"read of unknown span: no verdict for the next",
	 0,
	 {{{.psn = 5, READ(65536)}, PSN_FIRST, 0},
	  {{.psn = 21}, PSN_UNJUDGED, 0},
	  {{.psn = 22}, PSN_IN_ORDER, 0},
	  {{.psn = 23, .read = true}, PSN_IN_ORDER, 0},
	  {{.psn = 5000}, PSN_UNJUDGED, 0},
	  {{.psn = 5002}, PSN_GAP, 1}},
	 6},
	{"small reads need no path MTU",
	 0,
	 {{{.psn = 5, READ(256)}, PSN_FIRST, 0}, {{.psn = 7}, PSN_GAP, 1}},
	 2},
	{"the spans of reads tell the path MTU",
	 0,
	 {{{.psn = 0, READ(65536)}, PSN_FIRST, 0},
	  {{.psn = 64, READ(65536)}, PSN_UNJUDGED, 0},
	  {{.psn = 128, READ(65536)}, PSN_UNJUDGED, 0},
	  {{.psn = 192, READ(65536)}, PSN_IN_ORDER, 0},
	  {{.psn = 320, READ(65536)}, PSN_GAP, 64}},
	 5},
	{"one span is no proof",
	 0,
	 {{{.psn = 0, READ(65536)}, PSN_FIRST, 0},
	  {{.psn = 64, READ(65536)}, PSN_UNJUDGED, 0},
	  {{.psn = 192, READ(65536)}, PSN_UNJUDGED, 0},
	  {{.psn = 200}, PSN_UNJUDGED, 0}},
	 4},
	{"QP number used again",
	 0,
	 {{{.psn = 0x500000}, PSN_FIRST, 0},
	  {{.psn = 0xd00123}, PSN_NEW_CONNECTION, 0},
	  {{.psn = 0xd00124}, PSN_IN_ORDER, 0},
	  {{.psn = 0x000001}, PSN_NEW_CONNECTION, 0},
	  {{.psn = 0x000002}, PSN_IN_ORDER, 0}},
	 5},
	{"a smaller jump after silence",
	 0,
	 {{{.psn = 10, .time_ns = 1 * MS}, PSN_FIRST, 0},
	  {{.psn = 10011, .time_ns = 2 * MS}, PSN_GAP, 10000},
	  {{.psn = 30000, .time_ns = 2000 * MS}, PSN_NEW_CONNECTION, 0},
	  {{.psn = 30011, .time_ns = 9000 * MS}, PSN_GAP, 10},
	  {{.psn = 11, .time_ns = 9999 * MS}, PSN_DUPLICATE, 0}},
	 5},
};

static void verdicts(void **state)
{
	unsigned int i, k;

	(void)state;
	for (i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		const struct sequence *s = &sequences[i];
		struct psn_gap gap[PSN_GAPS_MAX];
		struct psn_track t = {.pmtu = s->pmtu, .gap = gap};

		for (k = 0; k < s->steps; k++) {
			uint32_t count;
			enum psn_verdict got = psn_observe(&t, &s->step[k].r, &count);

			if (got != s->step[k].want || count != s->step[k].count)
				fail_msg("%s, step %u: verdict %d count %u", s->name, k, got,
					 count);
		}
	}
}

static void distances(void **state)
{
	static const struct {
		uint32_t a, b;
		int32_t want;
	} rows[] = {
		{0, 0, 0},
		{1, 0, 1},
		{0, 1, -1},
		{0, 0xffffff, 1},
		{0xffffff, 0, -1},
		{0x7fffff, 0, 0x7fffff},
		{0x800000, 0, -0x800000},
		{5, 0xfffff0, 21},
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(psn_distance(rows[i].a, rows[i].b), rows[i].want);
}

/* More gaps than are remembered: the oldest are forgotten, and what comes late there counts as sent
 * again; nothing else breaks. */
static void gaps_are_bounded(void **state)
{
	struct psn_gap gap[PSN_GAPS_MAX];
	struct psn_track t = {.gap = gap};
	struct psn_request r = {.psn = 0};
	unsigned int i, filled = 0, duplicates = 0;
	uint32_t count;

	(void)state;
	psn_observe(&t, &r, &count);
	for (i = 1; i <= 40; i++) {
		r.psn = 2 * i;
		assert_int_equal(psn_observe(&t, &r, &count), PSN_GAP);
		assert_true(t.gap_count <= PSN_GAPS_MAX);
	}
	for (i = 1; i <= 40; i++) {
		enum psn_verdict v;

		r.psn = 2 * i - 1;
		v = psn_observe(&t, &r, &count);
		filled += v == PSN_FILLED;
		duplicates += v == PSN_DUPLICATE;
	}
	assert_int_equal(filled, PSN_GAPS_MAX);
	assert_int_equal(duplicates, 40 - PSN_GAPS_MAX);
	assert_int_equal(t.gap_count, 0);
}

/* Every order of the eight PSNs after the first: in the end nothing is missing. */
static void every_order(void **state)
{
	uint32_t order[8], n;

	(void)state;
	for (n = 0; n < 40320; n++) {
		struct psn_request r = {.psn = 0xfffffc};
		struct psn_gap gap[PSN_GAPS_MAX];
		struct psn_track t = {.gap = gap};
		uint32_t rest[8] = {1, 2, 3, 4, 5, 6, 7, 8}, left = 8, k, code = n, count;
		int64_t missing = 0;

		psn_observe(&t, &r, &count);
		for (k = 0; k < 8; k++) {
			uint32_t at = code % left, m;

			code /= left;
			order[k] = rest[at];
			for (m = at; m + 1 < left; m++)
				rest[m] = rest[m + 1];
			left--;
			r.psn = (0xfffffc + order[k]) & 0xffffff;
			switch (psn_observe(&t, &r, &count)) {
			case PSN_GAP:
				missing += count;
				break;
			case PSN_FILLED:
				missing -= count;
				break;
			case PSN_IN_ORDER:
				break;
			default:
				fail_msg("order %u, step %u", n, k);
			}
		}
		assert_int_equal(missing, 0);
		assert_int_equal(t.gap_count, 0);
	}
}

static void path_mtu_values(void **state)
{
	static const uint32_t good[] = {256, 512, 1024, 2048, 4096};
	struct psn_track t = {0};
	unsigned int i;

	(void)state;
	psn_learn_pmtu(&t, 0);
	psn_learn_pmtu(&t, 1000);
	psn_learn_pmtu(&t, 8192);
	assert_int_equal(t.pmtu, 0);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		psn_learn_pmtu(&t, good[i]);
		assert_int_equal(t.pmtu, good[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),	    cmocka_unit_test(distances),
		cmocka_unit_test(gaps_are_bounded), cmocka_unit_test(every_order),
		cmocka_unit_test(path_mtu_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
