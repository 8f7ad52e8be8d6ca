/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what RoCE packets come to by opcode, DSCP, sending host or time: one row each, those
 * without a packet left out.
 */
#include "cmd/capture/capture_by.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

const char *const capture_by_words[] = {"opcode", "dscp", "host", "time", NULL};

/* Where rows go: a JSON list, or stdout. */
struct table {
	json_t *rows; /* NULL: text */
	bool failed;
};

static void put_row(struct table *t, const char *key, const struct view_row *r)
{
	if (!r->packets || t->failed)
		return;
	if (!t->rows) {
		printf("%-39s %10" PRIu64 " %14" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n",
		       key, r->packets, r->bytes, r->ce, r->cnp, r->again);
		return;
	}
	if (json_array_append_new(t->rows,
				  json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "key", key, "packets",
					    (json_int_t)r->packets, "bytes", (json_int_t)r->bytes,
					    "ce", (json_int_t)r->ce, "cnp", (json_int_t)r->cnp,
					    "duplicates", (json_int_t)r->again)) < 0)
		t->failed = true;
}

static void put_opcodes(struct table *t, struct capture_by *b)
{
	char buf[64];

	for (unsigned int i = 0; i < 256; i++)
		put_row(t, opcode_name((uint8_t)i, buf, sizeof(buf)), &b->views.opcode[i]);
}

static void put_dscps(struct table *t, struct capture_by *b)
{
	char key[8];

	for (unsigned int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "%u", i);
		put_row(t, key, &b->views.dscp[i]);
	}
}

static void put_times(struct table *t, struct capture_by *b)
{
	const double slot_s = (double)b->views.slot_ns / 1e9;
	char key[64];

	for (unsigned int i = 0; i < VIEW_SLOTS; i++) {
		snprintf(key, sizeof(key), "%.3f-%.3f s", i * slot_s, (i + 1) * slot_s);
		put_row(t, key, &b->views.slot[i]);
	}
}

static void put_hosts(struct table *t, struct capture_by *b)
{
	char key[INET6_ADDRSTRLEN];

	view_hosts_sort(&b->hosts);
	for (unsigned int i = 0; i < b->hosts.count; i++) {
		packet_addr_text(b->hosts.host[i].address, key, sizeof(key));
		put_row(t, key, &b->hosts.host[i].row);
	}
	put_row(t, "others", &b->hosts.others);
}

static const struct {
	const char *by;
	void (*put)(struct table *t, struct capture_by *b);
} tables[] = {
	{"opcode", put_opcodes},
	{"dscp", put_dscps},
	{"host", put_hosts},
	{"time", put_times},
};

int capture_by_add(struct capture_by *b, const struct packet *p, struct flow_events ev)
{
	if (p->kind == PACKET_ROCE && !p->bth)
		view_row_add(&b->no_bth, p, ev);
	if (!strcmp(b->by, "host"))
		return view_hosts_add(&b->hosts, p, ev);
	capture_views_add(&b->views, p, ev);
	return 0;
}

void capture_by_clear(struct capture_by *b)
{
	view_hosts_clear(&b->hosts);
}

int capture_by_print(struct capture_by *b)
{
	struct table t = {.rows = globals->json ? json_array() : NULL};
	struct err e = {0};

	t.failed = globals->json && !t.rows;
	if (!globals->json)
		printf("%-39s %10s %14s %8s %8s %8s\n", b->by, "packets", "wire bytes", "CE", "CNP",
		       "retrans");
	for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].by, b->by))
			tables[i].put(&t, b);
	put_row(&t, "no BTH", &b->no_bth);
	if (t.failed) {
		json_decref(t.rows);
		err_set(&e, -1, "out of memory");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (!globals->json)
		return EXIT_OK;
	return cmd_print_json(json_pack("{s:s, s:s, s:s, s:o}", "schema", "rocecheck.stats/1", "by",
					b->by, "bytes_of", "wire", "rows", t.rows));
}
