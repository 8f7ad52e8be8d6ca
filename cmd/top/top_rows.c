/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows and cells of `top`. Only measured values are numbers: a counter that the driver lacks is
 * "n/a", one before its second reading is "-".
 */
#include "cmd/top/top_rows.h"

#include <stdio.h>

#define NONE (-1)

/* clang-format off */
const struct top_column top_columns[TOP_COLUMN_COUNT] = {
	[TOP_PORT] = {"PORT", "", 12, 0, TOP_KIND_TEXT, NONE, NONE, 0, 0,
		"network device; RDMA device if there is none"},
	[TOP_PRIO] = {"PRIO", "", 4, 0, TOP_KIND_TEXT, NONE, NONE, 0, 0,
		"priority; all = the whole port"},
	[TOP_LINK] = {"LINK", "b/s", 5, 12, TOP_KIND_TEXT, NONE, NONE, 0, 0,
		"link speed"},
	[TOP_TX] = {"TX", "b/s", 6, 3, TOP_KIND_BITS, METRIC_PRIO_TX_BYTES, METRIC_TX_BYTES, 0, 0,
		"sent"},
	[TOP_RX] = {"RX", "b/s", 6, 4, TOP_KIND_BITS, METRIC_PRIO_RX_BYTES, METRIC_RX_BYTES, 0, 0,
		"received"},
	[TOP_PFC_RX] = {"PFCrx", "/s", 6, 1, TOP_KIND_RATE, METRIC_PFC_RX_FRAMES, NONE, 0, 0,
		"PFC frames received: the peer pauses this host"},
	[TOP_PFC_TX] = {"PFCtx", "/s", 6, 5, TOP_KIND_RATE, METRIC_PFC_TX_FRAMES, NONE, 0, 0,
		"PFC frames sent: this host pauses the peer"},
	[TOP_PAUSE_RX] = {"PAUrx", "%", 5, 2, TOP_KIND_PERCENT, METRIC_PFC_RX_PAUSE_US, NONE,
		10, 50, "time this host was paused; * from 10, ! from 50"},
	[TOP_PAUSE_TX] = {"PAUtx", "%", 5, 10, TOP_KIND_PERCENT, METRIC_PFC_TX_PAUSE_US, NONE,
		10, 50, "time the peer was paused; * from 10, ! from 50"},
	[TOP_CNP_RX] = {"CNPrx", "/s", 6, 8, TOP_KIND_RATE, NONE, METRIC_CNP_RX, 0, 0,
		"CNPs (congestion notifications) received"},
	[TOP_CNP_TX] = {"CNPtx", "/s", 6, 9, TOP_KIND_RATE, NONE, METRIC_CNP_TX, 0, 0,
		"CNPs (congestion notifications) sent"},
	[TOP_ECN] = {"ECNrx", "/s", 6, 11, TOP_KIND_RATE, NONE, METRIC_ECN_MARKED_RX, 0, 0,
		"CE-marked packets received"},
	[TOP_RETX] = {"RETX", "/s", 6, 7, TOP_KIND_RATE, NONE, METRIC_RETRANSMITS, 1e-9, 0,
		"retransmissions that this host started; * from the first"},
	[TOP_DROP] = {"DROP", "/s", 6, 6, TOP_KIND_RATE, METRIC_PRIO_RX_DISCARDS,
		METRIC_RX_DISCARDS, 0, 1e-9, "packets dropped by this NIC; ! from the first"},
};
/* clang-format on */

/* Priorities with PFC or loss at any time, or traffic in this interval. */
static uint8_t top_busy_prios(const struct top_port *p)
{
	static const enum metric lasting[] = {METRIC_PFC_RX_FRAMES, METRIC_PFC_TX_FRAMES,
					      METRIC_PRIO_RX_DISCARDS};
	uint8_t busy = 0;

	for (unsigned int i = 0; i < QOS_PRIOS; i++) {
		for (unsigned int m = 0; m < ARRAY_SIZE(lasting); m++)
			if (counters_has(&p->total, lasting[m], i) && p->total.value[lasting[m]][i])
				busy |= (uint8_t)(1u << i);
		if (p->ready && (p->delta.value[METRIC_PRIO_RX_BYTES][i] ||
				 p->delta.value[METRIC_PRIO_TX_BYTES][i]))
			busy |= (uint8_t)(1u << i);
	}
	return busy;
}

void top_port_update(struct top_port *p, const struct counters *now)
{
	p->ready = p->total.when_ns != 0;
	if (p->ready)
		counters_delta(&p->total, now, &p->delta, p->reset);
	p->total = *now;
	p->busy |= top_busy_prios(p);
	p->gone = false;
}

static double top_scale_rate(const struct top_column *c, uint64_t delta, uint64_t interval_ns)
{
	double seconds = (double)interval_ns / 1e9;

	if (c->kind == TOP_KIND_PERCENT)
		return (double)delta / 1e6 / seconds * 100;
	return (double)delta / seconds * (c->kind == TOP_KIND_BITS ? 8 : 1);
}

static enum top_level top_level_of(const struct top_column *c, double value)
{
	if (c->critical > 0 && value >= c->critical)
		return TOP_CRITICAL;
	return c->warn > 0 && value >= c->warn ? TOP_WARN : TOP_OK;
}

static struct top_cell top_cell_make(const struct top_port *p, const struct top_column *c,
				     int metric, unsigned int prio)
{
	struct top_cell cell = {.state = TOP_ABSENT};

	if (!counters_has(&p->total, metric, prio))
		return cell;
	if (!p->ready || !p->delta.when_ns) {
		cell.state = TOP_WAITING;
	} else if (p->reset[metric] & (1u << prio)) {
		cell.state = TOP_RESET;
	} else if (counters_has(&p->delta, metric, prio)) {
		cell.state = TOP_VALUE;
		cell.value = top_scale_rate(c, p->delta.value[metric][prio], p->delta.when_ns);
		cell.level = top_level_of(c, cell.value);
	} else {
		cell.state = TOP_WAITING; /* the counter is new with this reading */
	}
	return cell;
}

/* Makes the cell of the port from its priorities: the sum, or the maximum of percentages. */
static struct top_cell top_cell_sum(const struct top_port *p, const struct top_column *c)
{
	struct top_cell all = {.state = TOP_ABSENT};

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		struct top_cell one = top_cell_make(p, c, c->prio_metric, prio);

		if (one.state > all.state)
			all.state = one.state;
		if (one.state != TOP_VALUE)
			continue;
		if (c->kind != TOP_KIND_PERCENT)
			all.value += one.value;
		else if (one.value > all.value)
			all.value = one.value;
	}
	if (all.state == TOP_VALUE)
		all.level = top_level_of(c, all.value);
	return all;
}

static struct top_cell top_row_cell(const struct top_row *row, const struct top_column *c)
{
	static const struct top_cell blank = {.state = TOP_BLANK};

	if (c->kind == TOP_KIND_TEXT)
		return blank;
	if (row->prio != TOP_ALL)
		return c->prio_metric < 0 ? blank
					  : top_cell_make(row->port, c, c->prio_metric,
							  (unsigned int)row->prio);
	return c->port_metric < 0 ? top_cell_sum(row->port, c)
				  : top_cell_make(row->port, c, c->port_metric, 0);
}

static void top_row_make(const struct top_port *p, int prio, bool stale, struct top_row *row)
{
	*row = (struct top_row){.port = p, .prio = prio, .stale = stale};
	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++) {
		row->cell[i] = top_row_cell(row, &top_columns[i]);
		if (row->cell[i].level > row->level)
			row->level = row->cell[i].level;
	}
}

unsigned int top_rows_make(const struct top_sample *s, uint8_t prio_set, uint64_t now_ns,
			   uint64_t stale_ns, struct top_row *rows)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		const struct top_port *p = &s->port[i];
		uint8_t prios = prio_set ? prio_set : p->lossless | p->busy;
		bool stale = p->gone || (p->total.when_ns && now_ns > p->total.when_ns + stale_ns);

		top_row_make(p, TOP_ALL, stale, &rows[n++]);
		for (int prio = 0; prio < QOS_PRIOS; prio++)
			if (prios & (1u << prio))
				top_row_make(p, prio, stale, &rows[n++]);
	}
	return n;
}

uint32_t top_columns_fit(unsigned int width)
{
	uint32_t show = 0;
	unsigned int used = 1; /* the mark */

	for (unsigned int rank = 0; rank < TOP_COLUMN_COUNT; rank++) {
		for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++) {
			if (top_columns[i].rank != rank)
				continue;
			if (rank && used + top_columns[i].width + 1 > width)
				return show;
			used += top_columns[i].width + 1u;
			show |= 1u << i;
		}
	}
	return show;
}

/* At most 6 characters: 0, 0.3, 12, 999, 1.2k, 18.2k, 371.2G. */
static void top_number_text(double value, char *buf, size_t size)
{
	static const char unit[] = {' ', 'k', 'M', 'G', 'T', 'P', 'E'};
	unsigned int i = 0;

	if (value < 0.05) {
		/* One event in a long interval is not zero. */
		snprintf(buf, size, value > 0 ? "<0.1" : "0");
		return;
	}
	while (value >= 999.5 && i + 1 < ARRAY_SIZE(unit)) {
		value /= 1000;
		i++;
	}
	if (i)
		snprintf(buf, size, "%.1f%c", value, unit[i]);
	else
		snprintf(buf, size, "%.*f", value < 9.95 && value != (double)(int)value, value);
}

static void top_text_column(const struct top_row *row, enum top_column_id id, char *buf,
			    size_t size)
{
	const struct top_port *p = row->port;

	if (id == TOP_PORT)
		snprintf(buf, size, "%s", p->netdev[0] ? p->netdev : p->ibdev);
	else if (id == TOP_PRIO && row->prio == TOP_ALL)
		snprintf(buf, size, "all");
	else if (id == TOP_PRIO)
		snprintf(buf, size, "%d", row->prio);
	else if (row->prio != TOP_ALL)
		snprintf(buf, size, "%s", "");
	else if (!p->speed_mbps)
		snprintf(buf, size, "n/a");
	else if (p->speed_mbps >= 1000)
		snprintf(buf, size, "%.3gG", p->speed_mbps / 1000.0);
	else
		snprintf(buf, size, "%uM", p->speed_mbps);
}

void top_cell_text(const struct top_row *row, enum top_column_id id, char *buf, size_t size)
{
	static const char *const words[] = {
		[TOP_BLANK] = "", [TOP_ABSENT] = "n/a", [TOP_WAITING] = "-", [TOP_RESET] = "reset"};
	const struct top_cell *cell = &row->cell[id];

	if (top_columns[id].kind == TOP_KIND_TEXT)
		top_text_column(row, id, buf, size);
	else if (cell->state != TOP_VALUE)
		snprintf(buf, size, "%s", words[cell->state]);
	else if (top_columns[id].kind == TOP_KIND_PERCENT)
		snprintf(buf, size, "%.1f", cell->value);
	else
		top_number_text(cell->value, buf, size);
}

char top_row_mark(const struct top_row *row)
{
	static const char marks[] = {[TOP_OK] = ' ', [TOP_WARN] = '*', [TOP_CRITICAL] = '!'};

	return row->stale ? '?' : marks[row->level];
}

/* Names are left-aligned, numbers right-aligned. */
static size_t top_pad_cell(enum top_column_id id, const char *text, char *buf, size_t size)
{
	int width = top_columns[id].width;
	int n = snprintf(buf, size, id == TOP_PORT ? " %-*.*s" : " %*.*s", width, width, text);

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

void top_head_line(uint32_t show, bool units, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, " ");

	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++)
		if (show & (1u << i))
			used += top_pad_cell(i, units ? top_columns[i].unit : top_columns[i].head,
					     buf + used, size - used);
}

void top_row_line(const struct top_row *row, uint32_t show, char *buf, size_t size)
{
	size_t used = (size_t)snprintf(buf, size, "%c", top_row_mark(row));
	char text[64];

	for (unsigned int i = 0; i < TOP_COLUMN_COUNT; i++) {
		if (!(show & (1u << i)))
			continue;
		top_cell_text(row, i, text, sizeof(text));
		used += top_pad_cell(i, text, buf + used, size - used);
	}
}

static json_t *top_rate_to_json(const struct top_port *p, enum metric m, unsigned int prio)
{
	if (!p->ready || !p->delta.when_ns || !counters_has(&p->delta, m, prio))
		return json_null();
	return json_real((double)p->delta.value[m][prio] / ((double)p->delta.when_ns / 1e9));
}

static json_t *top_rates_to_json(const struct top_port *p)
{
	json_t *rates = json_object();
	int err = 0;

	for (unsigned int m = 0; !err && m < METRIC_COUNT; m++) {
		json_t *list;

		if (!metric_table[m].by_prio || !p->total.has[m]) {
			err = json_object_set_new(rates, metric_table[m].name,
						  top_rate_to_json(p, m, 0));
			continue;
		}
		list = json_array();
		for (unsigned int prio = 0; !err && prio < QOS_PRIOS; prio++)
			err = json_array_append_new(list, top_rate_to_json(p, m, prio));
		if (json_object_set_new(rates, metric_table[m].name, list))
			err = -1;
	}
	if (err) {
		json_decref(rates);
		return NULL;
	}
	return rates;
}

json_t *top_port_to_json(const struct top_port *p, uint64_t number, int64_t unix_ns, bool stale)
{
	json_t *speed = p->speed_mbps ? json_integer(p->speed_mbps) : json_null();
	json_t *interval = p->ready ? json_real((double)p->delta.when_ns / 1e9) : json_null();

	return json_pack("{s:s, s:I, s:I, s:s, s:s, s:o, s:o, s:b, s:o, s:o}", "schema",
			 "rocecheck.top/1", "number", (json_int_t)number, "time_unix_ns",
			 (json_int_t)unix_ns, "port", p->netdev, "ibdev", p->ibdev, "speed_mbps",
			 speed, "interval_s", interval, "stale", stale, "totals",
			 counters_to_json(&p->total), "rates", top_rates_to_json(p));
}
