/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows, cells, columns and JSON of `top`, from literals: rates out of two readings, absent told
 * apart from zero, what is dropped in a narrow terminal, and every row of the column table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/top/top_rows.h"

static struct top_sample sample;
static struct top_row rows[TOP_ROWS_MAX];

static void put(struct counters *c, enum metric m, unsigned int prio, uint64_t value)
{
	c->has[m] |= (uint8_t)(1u << prio);
	c->value[m][prio] = value;
}

/* Two readings 2 s apart of a port with PFC on priority 3. */
static struct top_port *two_readings(void)
{
	struct top_port *p = &sample.port[0];
	struct counters a, b;

	memset(&sample, 0, sizeof(sample));
	sample.count = 1;
	sample.number = 2;
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	p->speed_mbps = 200;
	p->lossless = 1 << 3;
	counters_clear(&p->total);
	counters_clear(&a);
	counters_clear(&b);
	a.when_ns = 10000000000;
	b.when_ns = 12000000000;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		put(&a, METRIC_PFC_RX_FRAMES, prio, 100);
		put(&b, METRIC_PFC_RX_FRAMES, prio, prio == 3 ? 100 + 898 : 100);
		put(&a, METRIC_PFC_RX_PAUSE_US, prio, 0);
		put(&b, METRIC_PFC_RX_PAUSE_US, prio, prio == 3 ? 628000 : 0);
		put(&a, METRIC_PRIO_TX_BYTES, prio, 1000);
		put(&b, METRIC_PRIO_TX_BYTES, prio, prio == 3 ? 1000 + 48000000 : 1000);
	}
	put(&a, METRIC_RETRANSMITS, 0, 5);
	put(&b, METRIC_RETRANSMITS, 0, 5);
	put(&a, METRIC_RX_DISCARDS, 0, 50);
	put(&b, METRIC_RX_DISCARDS, 0, 40); /* went backwards */
	put(&b, METRIC_CNP_TX, 0, 1);	    /* appeared */
	top_port_update(p, &a);
	assert_false(p->ready);
	top_port_update(p, &b);
	assert_true(p->ready);
	return p;
}

static const struct top_row *row_of(int prio, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (rows[i].prio == prio)
			return &rows[i];
	return NULL;
}

static void test_columns(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++) {
		const struct top_column *c = &top_columns[i];

		assert_non_null(c->head);
		assert_true(c->help[0]);
		assert_true(strlen(c->head) <= c->width);
		assert_true(strlen(c->unit) <= c->width);
		if (c->kind == TOP_KIND_TEXT)
			continue;
		assert_true(c->prio_metric >= 0 || c->port_metric >= 0);
		assert_true(c->prio_metric < 0 || metric_table[c->prio_metric].by_prio);
		assert_true(c->port_metric < 0 || !metric_table[c->port_metric].by_prio);
		if (c->kind == TOP_KIND_PERCENT)
			assert_string_equal(metric_table[c->prio_metric].unit, "us");
		if (c->kind == TOP_KIND_BITS)
			assert_string_equal(metric_table[c->port_metric].unit, "bytes");
		for (unsigned int other = 0; other < i; other++)
			assert_true(!c->rank || c->rank != top_columns[other].rank);
	}
}

static void test_cells(void **state)
{
	/* clang-format off */
	static const struct {
		int prio;
		enum top_column_id id;
		const char *want;
	} cases[] = {
		{3, TOP_PORT, "roce0"},
		{3, TOP_PRIO, "3"},
		{3, TOP_TX, "192.0M"},
		{3, TOP_RX, "n/a"},
		{3, TOP_PFC_RX, "449"},
		{3, TOP_PFC_TX, "n/a"},
		{3, TOP_PAUSE_RX, "31.4"},
		{3, TOP_RETX, ""},
		{4, TOP_PFC_RX, "0"},
		{4, TOP_TX, "0"},
		{4, TOP_PAUSE_RX, "0.0"},
		{TOP_ALL, TOP_PRIO, "all"},
		{TOP_ALL, TOP_LINK, "200M"},
		{TOP_ALL, TOP_PFC_RX, "449"},
		{TOP_ALL, TOP_PAUSE_RX, "31.4"},
		{TOP_ALL, TOP_RETX, "0"},
		{TOP_ALL, TOP_DROP, "reset"},
		{TOP_ALL, TOP_CNP_TX, "-"},
		{TOP_ALL, TOP_CNP_RX, "n/a"},
	};
	/* clang-format on */
	unsigned int n;
	char text[64];

	(void)state;
	two_readings();
	n = top_rows_make(&sample, 0x18, 12000000000, 1000000000, rows);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		top_cell_text(row_of(cases[i].prio, n), cases[i].id, text, sizeof(text));
		if (strcmp(text, cases[i].want))
			fail_msg("prio %d %s: '%s', want '%s'", cases[i].prio,
				 top_columns[cases[i].id].head, text, cases[i].want);
	}
	assert_int_equal(top_row_mark(row_of(3, n)), '*');
	assert_int_equal(top_row_mark(row_of(4, n)), ' ');
}

static void test_levels(void **state)
{
	struct top_port *p;
	struct counters c;
	unsigned int n;

	(void)state;
	p = two_readings();
	c = p->total;
	c.when_ns += 1000000000;
	put(&c, METRIC_RX_DISCARDS, 0, 41);
	top_port_update(p, &c);
	n = top_rows_make(&sample, 0, c.when_ns, 1000000000, rows);
	assert_int_equal(rows[0].prio, TOP_ALL);
	assert_int_equal(top_row_mark(&rows[0]), '!');
	n = top_rows_make(&sample, 0, c.when_ns + 1000000001, 1000000000, rows);
	assert_true(n && rows[0].stale);
	assert_int_equal(top_row_mark(&rows[0]), '?');
	p->gone = true;
	(void)top_rows_make(&sample, 0, c.when_ns, 1000000000, rows);
	assert_int_equal(top_row_mark(&rows[0]), '?');
}

/* A sum over the priorities in which one counter went backwards is no number. */
static void test_sum_with_reset(void **state)
{
	struct top_port *p = two_readings();
	struct counters c = p->total;
	unsigned int n;
	char text[64];

	(void)state;
	c.when_ns += 1000000000;
	c.value[METRIC_PFC_RX_FRAMES][3] = 5;
	c.value[METRIC_PFC_RX_FRAMES][4] += 7;
	top_port_update(p, &c);
	n = top_rows_make(&sample, 0x18, 0, 0, rows);
	top_cell_text(row_of(TOP_ALL, n), TOP_PFC_RX, text, sizeof(text));
	assert_string_equal(text, "reset");
	top_cell_text(row_of(4, n), TOP_PFC_RX, text, sizeof(text));
	assert_string_equal(text, "7");
}

/* Without a choice: lossless ones, and those with traffic or history, for good. */
static void test_busy(void **state)
{
	struct top_port *p = two_readings();
	struct counters c = p->total;
	unsigned int n;

	(void)state;
	p->lossless = 1 << 5;
	p->busy = 0;
	memset(c.value[METRIC_PFC_RX_FRAMES], 0, sizeof(c.value[0]));
	p->total = c;
	c.value[METRIC_PRIO_TX_BYTES][3]++;
	top_port_update(p, &c);
	n = top_rows_make(&sample, 0, 0, 0, rows);
	assert_int_equal(n, 3);
	assert_non_null(row_of(3, n)); /* it sends */
	assert_non_null(row_of(5, n)); /* PFC is on */
	c.value[METRIC_PFC_RX_FRAMES][6] = 1;
	top_port_update(p, &c);
	n = top_rows_make(&sample, 0, 0, 0, rows);
	assert_int_equal(n, 4);
	assert_non_null(row_of(3, n)); /* it has sent */
	assert_non_null(row_of(6, n));
	n = top_rows_make(&sample, 0xff, 0, 0, rows);
	assert_int_equal(n, 9);
}

static unsigned int width_of(uint32_t show)
{
	unsigned int width = 1;

	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++)
		if (show & (1u << i))
			width += top_columns[i].width + 1u;
	return width;
}

static void test_widths(void **state)
{
	/* clang-format off */
	static const struct {
		unsigned int width;
		enum top_column_id shown, dropped;
	} cases[] = {
		{40, TOP_PAUSE_RX, TOP_RX},
		{60, TOP_DROP, TOP_RETX},
		{80, TOP_CNP_RX, TOP_ECN},
		{100, TOP_LINK, TOP_COLUMN_COUNT},
	};
	/* clang-format on */
	char line[TOP_LINE_MAX];

	(void)state;
	two_readings();
	(void)top_rows_make(&sample, 0, 0, 0, rows);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t show = top_columns_fit(cases[i].width);

		assert_true(show & (1u << cases[i].shown));
		assert_false(show & (1u << cases[i].dropped));
	}
	for (unsigned int width = 0; width < 200; width++) {
		uint32_t show = top_columns_fit(width);

		assert_true(show & 1u << TOP_PORT);
		assert_true(width < 40 || width_of(show) <= width);
		assert_int_equal(show & top_columns_fit(width + 1), show);
		top_row_line(&rows[0], show, line, sizeof(line));
		assert_int_equal(strlen(line), width_of(show));
		top_head_line(show, true, line, sizeof(line));
		assert_int_equal(strlen(line), width_of(show));
	}
	assert_true(width_of(top_columns_fit(1000)) < TOP_LINE_MAX);
}

static void test_numbers(void **state)
{
	/* clang-format off */
	static const struct {
		double value;
		const char *want;
	} cases[] = {
		{0, "0"},
		{0.01, "<0.1"},
		{0.5, "0.5"},
		{1, "1"},
		{9.94, "9.9"},
		{9.96, "10"},
		{999.4, "999"},
		{999.6, "1.0k"},
		{18200, "18.2k"},
		{2.1e6, "2.1M"},
		{371.2e9, "371.2G"},
		{999.97e9, "1.0T"},
		{9.9e18, "9.9E"},
	};
	/* clang-format on */
	char text[64];

	(void)state;
	two_readings();
	(void)top_rows_make(&sample, 0, 0, 0, rows);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		rows[0].cell[TOP_RETX] = (struct top_cell){TOP_VALUE, TOP_OK, cases[i].value};
		top_cell_text(&rows[0], TOP_RETX, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
		assert_true(strlen(text) <= top_columns[TOP_RETX].width);
	}
}

static void test_json(void **state)
{
	json_t *json, *rates, *totals;

	(void)state;
	json = top_port_to_json(two_readings(), 7, 42, false);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "schema")), "rocecheck.top/1");
	assert_string_equal(json_string_value(json_object_get(json, "port")), "roce0");
	assert_true(json_real_value(json_object_get(json, "interval_s")) == 2.0);
	rates = json_object_get(json, "rates");
	totals = json_object_get(json, "totals");
	assert_int_equal(json_object_size(rates), METRIC_COUNT);
	assert_true(json_real_value(json_array_get(json_object_get(rates, "pfc_rx_frames"), 3)) ==
		    449);
	assert_int_equal(
		json_integer_value(json_array_get(json_object_get(totals, "pfc_rx_frames"), 3)),
		998);
	assert_true(json_is_null(json_object_get(rates, "rx_discards"))); /* reset */
	assert_int_equal(json_integer_value(json_object_get(totals, "rx_discards")), 40);
	assert_true(json_is_null(json_object_get(rates, "cnp_rx")));
	json_decref(json);
	/* What is unknown is null, not 0. */
	sample.port[0].speed_mbps = 0;
	sample.port[0].ready = false;
	json = top_port_to_json(&sample.port[0], 7, 42, true);
	assert_true(json_is_null(json_object_get(json, "speed_mbps")));
	assert_true(json_is_null(json_object_get(json, "interval_s")));
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_cells),
		cmocka_unit_test(test_levels),	cmocka_unit_test(test_sum_with_reset),
		cmocka_unit_test(test_busy),	cmocka_unit_test(test_widths),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
