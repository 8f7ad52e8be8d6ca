/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folding: rows to products of hosts and ports, and findings that are equal but for their place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reports/engine/finding_sort.h"
#include "reports/engine/findings.h"
#include "reports/engine/fold.h"
#include "reports/engine/rule.h"

#define GIVEN_MAX 8

/* want: indices of the rows, folds apart by '|', folds of one key by '+'. */
static const struct {
	const char *name;
	struct {
		const char *key, *host, *port;
	} row[GIVEN_MAX];
	const char *want;
} row_cases[] = {
	{"nothing", {{NULL, NULL, NULL}}, ""},
	{"one", {{"a", "h1", "p0"}}, "0"},
	{"hosts", {{"a", "h2", "p0"}, {"a", "h1", "p0"}, {"a", "h3", "p0"}}, "012"},
	{"keys", {{"b", "h1", "p0"}, {"a", "h2", "p0"}, {"b", "h3", "p0"}}, "02|1"},
	{"ports of a host", {{"a", "h1", "p1"}, {"a", "h1", "p0"}}, "01"},
	{"product",
	 {{"a", "h1", "p0"}, {"a", "h1", "p1"}, {"a", "h2", "p0"}, {"a", "h2", "p1"}},
	 "0123"},
	{"no product", {{"a", "h1", "p0"}, {"a", "h1", "p1"}, {"a", "h2", "p0"}}, "01+2"},
	{"two products",
	 {{"a", "h1", "p0"},
	  {"a", "h2", "p1"},
	  {"b", "h2", "p0"},
	  {"a", "h3", "p0"},
	  {"a", "h4", "p1"}},
	 "03+14|2"},
	{"the same place twice", {{"a", "h1", "p0"}, {"a", "h1", "p0"}, {"a", "h2", "p0"}}, "01+2"},
	{"other ports alike", {{"a", "h1", "p0"}, {"b", "h1", "p0"}, {"b", "h2", "p0"}}, "0|12"},
	{"no host", {{"a", "", ""}, {"a", "h1", ""}}, "01"},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row_cases); i++) {
		struct fold_row rows[GIVEN_MAX];
		char text[4 * GIVEN_MAX];
		size_t count = 0, used = 0;

		for (; count < GIVEN_MAX && row_cases[i].row[count].key; count++)
			rows[count] = (struct fold_row){.key = row_cases[i].row[count].key,
							.host = row_cases[i].row[count].host,
							.port = row_cases[i].row[count].port,
							.index = count};
		fold_rows(rows, count);
		for (size_t k = 0; k < count; k++) {
			if (k && rows[k].group != rows[k - 1].group)
				text[used++] = '|';
			else if (k && rows[k].fold != rows[k - 1].fold)
				text[used++] = '+';
			assert_true(rows[k].fold == (k ? rows[k - 1].fold : 0) ||
				    rows[k].fold == rows[k - 1].fold + 1);
			text[used++] = (char)('0' + rows[k].index);
		}
		text[used] = '\0';
		if (strcmp(text, row_cases[i].want))
			fail_msg("%s: %s, not %s", row_cases[i].name, text, row_cases[i].want);
	}
}

struct given {
	const char *rule;
	enum verdict verdict;
	const char *host, *port, *text;
	int caused_by;
	uint8_t prio_set;
};

/* want: members of each fold, roots apart by '|', then after '>' consequences, apart by '|', each
 * with the fold of its root in brackets. */
static const struct {
	const char *name;
	struct given given[GIVEN_MAX];
	bool verbose;
	const char *want;
} finding_cases[] = {
	{"equal on two hosts",
	 {{"RC-PFC-002", VERDICT_FAIL, "h1", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_FAIL, "h2", "p0", "wrong", -1, 8}},
	 false,
	 "01>"},
	{"verbose: singly",
	 {{"RC-PFC-002", VERDICT_FAIL, "h1", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_FAIL, "h2", "p0", "wrong", -1, 8},
	  {"RC-PFC-004", VERDICT_INCONCLUSIVE, "h1", "p0", "silent", -1, 8},
	  {"RC-PFC-004", VERDICT_INCONCLUSIVE, "h2", "p0", "silent", -1, 8},
	  {"RC-PFC-003", VERDICT_SKIP, "h2", "p0", "skipped", -1, 8}},
	 true,
	 "0|1|23|4>"},
	{"rule, verdict, priorities and text make a difference; PASS and SKIP are left out",
	 {{"RC-PFC-002", VERDICT_FAIL, "h1", "p0", "wrong", -1, 8},
	  {"RC-PFC-001", VERDICT_FAIL, "h2", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_WARN, "h3", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_FAIL, "h4", "p0", "wrong", -1, 4},
	  {"RC-PFC-002", VERDICT_FAIL, "h5", "p0", "other", -1, 8},
	  {"RC-PFC-002", VERDICT_PASS, "h6", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_SKIP, "h7", "p0", "wrong", -1, 8}},
	 false,
	 "0|1|3|4|2>"},
	{"consequences fold with the root's fold",
	 {{"RC-PFC-002", VERDICT_FAIL, "h1", "p0", "wrong", -1, 8},
	  {"RC-PFC-002", VERDICT_FAIL, "h2", "p0", "wrong", -1, 8},
	  {"RC-MTU-002", VERDICT_FAIL, "h3", "p0", "small", -1, 8},
	  {"RC-QOS-005", VERDICT_FAIL, "h1", "p0", "drops", 0, 8},
	  {"RC-QOS-005", VERDICT_FAIL, "h2", "p0", "drops", 1, 8},
	  {"RC-QOS-005", VERDICT_FAIL, "h3", "p0", "drops", 2, 8},
	  {"RC-PFC-003", VERDICT_FAIL, "h2", "p0", "differs", 1, 8}},
	 false,
	 "10|2>43[0]|6[0]|5[1]"},
};

static size_t fold_print(const struct finding_folds *folds, size_t i, char *text)
{
	size_t used = 0;

	for (size_t k = 0; k < folds->list[i].count; k++)
		text[used++] = (char)('0' + folds->list[i].member[k]);
	return used;
}

static void test_findings(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(finding_cases); i++) {
		struct findings all = {0};
		struct finding_order order;
		struct finding_folds folds;
		char text[64];
		size_t used = 0, consequences = 0;

		for (size_t k = 0; finding_cases[i].given[k].rule; k++) {
			const struct given *g = &finding_cases[i].given[k];

			finding_begin(&all, rule_find(g->rule), g->host, g->port, g->prio_set);
			finding_set(&all, g->verdict, "%s", g->text);
			all.list[k].caused_by = g->caused_by;
		}
		assert_int_equal(findings_sort(&all, &order), 0);
		assert_int_equal(findings_fold(&all, &order, finding_cases[i].verbose, &folds), 0);
		for (size_t k = 0; k < folds.roots; k++) {
			if (k)
				text[used++] = '|';
			assert_int_equal(folds.list[k].cause, k);
			used += fold_print(&folds, k, text + used);
			consequences += folds.list[k].consequence_count;
			for (size_t c = 0; c < folds.list[k].consequence_count; c++)
				assert_int_equal(folds.list[folds.list[k].consequences + c].cause,
						 k);
		}
		text[used++] = '>';
		for (size_t k = folds.roots; k < folds.count; k++) {
			if (k > folds.roots)
				text[used++] = '|';
			used += fold_print(&folds, k, text + used);
			used += (size_t)sprintf(text + used, "[%zu]", folds.list[k].cause);
		}
		text[used] = '\0';
		assert_int_equal(consequences, folds.count - folds.roots);
		if (strcmp(text, finding_cases[i].want))
			fail_msg("%s: %s, not %s", finding_cases[i].name, text,
				 finding_cases[i].want);
		finding_folds_clear(&folds);
		finding_order_clear(&order);
		findings_clear(&all);
	}
}

/* The time to fold so many rows of as many hosts, of three times the shortest. Every second row has
 * a key of its own. */
static double fold_s(size_t count)
{
	struct fold_row *rows = calloc(count, sizeof(*rows));
	char(*name)[16] = calloc(count, sizeof(*name));
	clock_t best = 0;

	assert_true(rows && name);
	for (unsigned int n = 0; n < 3; n++) {
		clock_t began;

		for (size_t i = 0; i < count; i++) {
			snprintf(name[i], sizeof(name[i]), "h%zu", i);
			rows[i] = (struct fold_row){.key = i % 2 ? name[i] : "equal",
						    .host = name[i],
						    .port = "roce0",
						    .index = i};
		}
		began = clock();
		fold_rows(rows, count);
		began = clock() - began;
		best = !n || began < best ? began : best;
	}
	free(rows);
	free(name);
	return (double)best / CLOCKS_PER_SEC;
}

/* Ten times the rows take about ten times the time; compared in pairs they would take a hundred. */
static void test_growth(void **state)
{
	double once_s = fold_s(20000), ten_s = fold_s(200000);

	(void)state;
	if (ten_s > 40 * once_s)
		fail_msg("20,000 rows: %.3f s, 200,000 rows: %.3f s", once_s, ten_s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
