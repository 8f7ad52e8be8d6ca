/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the content of `top` from samples: rows, cells, columns that fit a width, texts and JSON.
 * Pure functions: they read no counters and draw nothing.
 *
 * Adding a column: an enum value and its row in top_columns[].
 */
#ifndef CMD_TOP_ROWS_H
#define CMD_TOP_ROWS_H

#include <jansson.h>

#include "probe/host/counters.h"

#define TOP_PORTS_MAX 64
#define TOP_ALL	      (-1) /* the row of the whole port */
#define TOP_ROWS_MAX  (TOP_PORTS_MAX * (QOS_PRIOS + 1))
#define TOP_LINE_MAX  256

/* The newest reading of a port. No pointers. */
struct top_port {
	char netdev[16];
	char ibdev[64];
	uint8_t ib_port;
	uint32_t speed_mbps;
	uint8_t lossless; /* bitmap of priorities with PFC */
	uint8_t busy;	  /* priorities that counted an event since the start: their rows stay */
	bool gone;	  /* the last reading failed */
	bool ready;	  /* delta is valid: there were two readings */
	struct counters total; /* the last reading */
	struct counters delta; /* since the previous reading */
	uint8_t reset[METRIC_COUNT];
};

struct top_sample {
	uint64_t number; /* of the reading, from 1 */
	unsigned int count;
	unsigned int left_out; /* ports beyond TOP_PORTS_MAX */
	struct top_port port[TOP_PORTS_MAX];
};

/* Updates a port with a new reading. */
void top_port_update(struct top_port *p, const struct counters *now);

enum top_column_id {
	TOP_PORT,
	TOP_PRIO,
	TOP_LINK,
	TOP_TX,
	TOP_RX,
	TOP_PFC_RX,
	TOP_PFC_TX,
	TOP_PAUSE_RX,
	TOP_PAUSE_TX,
	TOP_CNP_RX,
	TOP_CNP_TX,
	TOP_ECN,
	TOP_RETX,
	TOP_DROP,
	TOP_COLUMN_COUNT,
};

enum top_kind {
	TOP_KIND_TEXT,
	TOP_KIND_BITS,	  /* bit/s of a byte counter */
	TOP_KIND_RATE,	  /* events per second */
	TOP_KIND_PERCENT, /* of the interval, of a counter of microseconds */
};

struct top_column {
	const char *head, *unit; /* at most `width` characters */
	uint8_t width;
	uint8_t rank; /* 0 = always shown; a narrow screen drops the highest first */
	enum top_kind kind;
	int prio_metric;       /* of the row of a priority; -1 = counted per port only */
	int port_metric;       /* of the row of the port; -1 = sum or maximum of the priorities */
	double warn, critical; /* thresholds; 0 = none */
	const char *help;
};
extern const struct top_column top_columns[TOP_COLUMN_COUNT];

enum top_state {
	TOP_BLANK,   /* does not exist for this row */
	TOP_ABSENT,  /* not counted by the driver: "n/a" */
	TOP_WAITING, /* before the second reading: "-" */
	TOP_VALUE,
	TOP_RESET, /* the counter went backwards, also one of a sum */
};

enum top_level {
	TOP_OK,
	TOP_WARN,
	TOP_CRITICAL,
};

struct top_cell {
	enum top_state state;
	enum top_level level;
	double value;
};

struct top_row {
	const struct top_port *port; /* borrowed from the sample */
	int prio;		     /* or TOP_ALL */
	enum top_level level;	     /* the worst cell */
	bool stale;		     /* old data, or the port is gone */
	struct top_cell cell[TOP_COLUMN_COUNT];
};

/* Makes the rows of all ports: the port, then its priorities: those of prio_set, or with 0 the
 * lossless ones and those with PFC frames, discards or traffic. Returns their number; rows has
 * TOP_ROWS_MAX. */
unsigned int top_rows_make(const struct top_sample *s, uint8_t prio_set, uint64_t now_ns,
			   uint64_t stale_ns, struct top_row *rows);

/* Returns the columns that fit the width, as a bitmap by enum top_column_id. */
uint32_t top_columns_fit(unsigned int width);

/* Writes the text of a cell without padding, e.g. "18.2k", "n/a". */
void top_cell_text(const struct top_row *row, enum top_column_id id, char *buf, size_t size);

/* Write padded lines of the table: heading, units, or a row with its mark: '!' critical, '*'
 * warning,
 * '?' stale. */
void top_head_line(uint32_t show, bool units, char *buf, size_t size);
void top_row_line(const struct top_row *row, uint32_t show, char *buf, size_t size);
char top_row_mark(const struct top_row *row);

/* Makes one object of rocecheck.top/1: totals as read, and rates per second. New reference, NULL on
 * -ENOMEM. */
json_t *top_port_to_json(const struct top_port *p, uint64_t number, int64_t unix_ns, bool stale);

#endif
