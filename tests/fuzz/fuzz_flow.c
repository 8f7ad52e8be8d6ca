/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way for ordinary packets against the long one: over the same frames both make the same
 * summary, whatever the batches. Inputs are those of frame_input.h, all of Ethernet.
 */
#include "capture/flow/skim.h"
#include "capture/flow/summary.h"
#include "tests/fuzz/frame_input.h"

#define MAX_FLOWS  8 /* few, so that flows are put out */
#define FRAMES_MAX 512

struct capture {
	unsigned int count;
	struct record record[FRAMES_MAX];
};

static void decode(const struct capture *c, unsigned int i, struct packet *p)
{
	const struct record *r = &c->record[i];

	packet_decode(DLT_EN10MB, r->data, r->cap_len, r->wire_len, i + 1, r->time_ns, p);
}

/* Frames that are short have as much behind them as has to be readable. */
static void read_input(struct capture *c, const uint8_t *data, size_t size)
{
	struct frame_input in;
	struct packet p;

	c->count = 0;
	frame_input_begin(&in, data, size);
	in.dlt = DLT_EN10MB;
	while (c->count < FRAMES_MAX && frame_input_next(&in, &p)) {
		uint8_t *exact = malloc(p.cap_len < SKIM_HEAD_BYTES ? SKIM_HEAD_BYTES : p.cap_len);

		HOLDS(exact);
		memset(exact, 0xff, SKIM_HEAD_BYTES);
		memcpy(exact, in.data, p.cap_len);
		c->record[c->count++] = (struct record){.data = exact,
							.cap_len = p.cap_len,
							.wire_len = p.wire_len,
							.time_ns = p.time_ns};
	}
	free(in.data);
}

/* As the reader does it. */
static void take_batch(const struct capture *c, unsigned int from, struct skim_batch *b,
		       struct flow_table *t)
{
	struct packet p;

	memcpy(b->record, &c->record[from], b->count * sizeof(b->record[0]));
	skim_look(b, t);
	for (;;) {
		(void)skim_take(b, t, from + b->at + 1, SKIM_BATCH);
		if (b->at == b->count)
			return;
		decode(c, from + b->at, &p);
		HOLDS(!flow_table_add(t, &p));
		skim_begin(b, t, &p);
		b->at++;
	}
}

static struct flow_table *short_way(const struct capture *c, unsigned int size)
{
	static struct skim_batch batch;
	struct flow_table *t = flow_table_new(MAX_FLOWS);

	HOLDS(t);
	skim_init(&batch, t);
	for (unsigned int from = 0; from < c->count; from += size) {
		batch.count = c->count - from < size ? c->count - from : size;
		take_batch(c, from, &batch, t);
	}
	return t;
}

static struct flow_table *long_way(const struct capture *c)
{
	struct flow_table *t = flow_table_new(MAX_FLOWS);
	struct packet p;

	HOLDS(t);
	for (unsigned int i = 0; i < c->count; i++) {
		decode(c, i, &p);
		HOLDS(!flow_table_add(t, &p));
	}
	return t;
}

static json_t *summary_of(const struct flow_table *t)
{
	static const struct lldp_peer nobody;
	struct capture_summary s;
	json_t *o;

	HOLDS(!capture_summary_make(t, &nobody, DROPS_UNKNOWN, 0, &s));
	o = capture_summary_to_json(&s);
	HOLDS(o);
	capture_summary_clear(&s);
	return o;
}

static void check_same(const json_t *want, const struct flow_table *t)
{
	json_t *got = summary_of(t);

	if (!json_equal(want, got)) {
		json_dumpf(want, stderr, JSON_INDENT(1));
		json_dumpf(got, stderr, JSON_INDENT(1));
		fuzz_broken(__FILE__, __LINE__, "the short way counts as the long one");
	}
	json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int sizes[] = {1, 3, SKIM_BATCH};
	static struct capture c;
	struct flow_table *t;
	json_t *want;

	read_input(&c, data, size);
	t = long_way(&c);
	want = summary_of(t);
	flow_table_free(t);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		t = short_way(&c, sizes[i]);
		check_same(want, t);
		flow_table_free(t);
	}
	json_decref(want);
	for (unsigned int i = 0; i < c.count; i++)
		free((void *)(uintptr_t)c.record[i].data);
	return 0;
}
