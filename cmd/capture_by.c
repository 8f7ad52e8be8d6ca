/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints what RoCE packets come to by opcode, DSCP, sending host or time: one row each, those
 * without a packet left out.
 */
#include "cmd/capture_by.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

static void put_opcodes(struct table *t, const struct capture_views *v)
{
	char buf[64];

	for (unsigned int i = 0; i < 256; i++)
		put_row(t, opcode_name((uint8_t)i, buf, sizeof(buf)), &v->opcode[i]);
}

static void put_dscps(struct table *t, const struct capture_views *v)
{
	char key[8];

	for (unsigned int i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "%u", i);
		put_row(t, key, &v->dscp[i]);
	}
}

static void put_times(struct table *t, const struct capture_views *v)
{
	char key[64];

	for (unsigned int i = 0; i < VIEW_SLOTS; i++) {
		snprintf(key, sizeof(key), "%.3f-%.3f s", (double)i * (double)v->slot_ns / 1e9,
			 (double)(i + 1) * (double)v->slot_ns / 1e9);
		put_row(t, key, &v->slot[i]);
	}
}

static int by_source(const void *a, const void *b)
{
	const struct flow *const *fa = a, *const *fb = b;

	return memcmp((*fa)->src, (*fb)->src, sizeof((*fa)->src));
}

/* By sender. Bytes are payload: flows do not know the frames around it. */
static void put_hosts(struct table *t, const struct capture_summary *s)
{
	const struct flow **order = calloc(s->flow_count + 1, sizeof(*order));
	char key[INET6_ADDRSTRLEN];

	t->failed |= !order;
	for (unsigned int i = 0; order && i < s->flow_count; i++)
		order[i] = &s->flow[i];
	if (order)
		qsort(order, s->flow_count, sizeof(*order), by_source);
	for (unsigned int i = 0; order && i < s->flow_count;) {
		const struct flow *first = order[i];
		struct view_row sum = {0};

		for (; i < s->flow_count && !memcmp(order[i]->src, first->src, 16); i++) {
			sum.packets += order[i]->packets;
			sum.bytes += order[i]->payload_bytes;
			sum.ce += order[i]->ecn[3];
			sum.cnp += order[i]->cnp;
			sum.again += order[i]->duplicates;
		}
		packet_addr_text(first->src, key, sizeof(key));
		put_row(t, key, &sum);
	}
	free(order);
}

int capture_by_print(const char *by, const struct capture_views *v, const struct capture_summary *s)
{
	struct table t = {.rows = globals->json ? json_array() : NULL};
	struct err e = {0};

	t.failed = globals->json && !t.rows;
	if (!globals->json)
		printf("%-39s %10s %14s %8s %8s %8s\n", by, "packets",
		       strcmp(by, "host") ? "bytes" : "payload", "CE", "CNP", "retrans");
	if (!strcmp(by, "opcode"))
		put_opcodes(&t, v);
	else if (!strcmp(by, "dscp"))
		put_dscps(&t, v);
	else if (!strcmp(by, "time"))
		put_times(&t, v);
	else
		put_hosts(&t, s);
	if (t.failed) {
		json_decref(t.rows);
		err_set(&e, -1, "out of memory");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (!globals->json)
		return EXIT_OK;
	return cmd_print_json(json_pack("{s:s, s:s, s:o}", "schema", "rocecheck.stats/1", "by", by,
					"rows", t.rows));
}
