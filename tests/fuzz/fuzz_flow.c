/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The short way for ordinary packets against the long one: over the same frames both make the same
 * summary. Inputs are those of frame_input.h.
 */
#include "capture/skim.h"
#include "capture/summary.h"
#include "tests/fuzz/frame_input.h"

#define MAX_FLOWS 8 /* few, so that flows are put out */

/* As the reader does it. */
static void take_short_way(struct flow_table *t, const struct skimmer *skimmer,
			   const struct frame_input *in, const struct packet *p)
{
	size_t room = p->cap_len < SKIM_HEAD_BYTES ? SKIM_HEAD_BYTES : p->cap_len;
	uint8_t *exact = calloc(1, room);
	const struct record record = {
		.data = exact,
		.cap_len = p->cap_len,
		.wire_len = p->wire_len,
		.time_ns = p->time_ns,
	};
	struct skim k;

	HOLDS(exact);
	memcpy(exact, in->data, p->cap_len);
	skim_look(skimmer, &record, &k);
	if (!skim_take(t, &record, &k, in->frames)) {
		HOLDS(!flow_table_add(t, p));
		skim_begin(t, &record, &k, p);
	}
	free(exact);
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

static void check_same(const struct flow_table *flows, const struct flow_table *skimmed)
{
	json_t *want = summary_of(flows), *got = summary_of(skimmed);

	if (!json_equal(want, got)) {
		json_dumpf(want, stderr, JSON_INDENT(1));
		json_dumpf(got, stderr, JSON_INDENT(1));
		fuzz_broken(__FILE__, __LINE__, "the short way counts as the long one");
	}
	json_decref(want);
	json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct flow_table *flows = flow_table_new(MAX_FLOWS), *skimmed = flow_table_new(MAX_FLOWS);
	struct skimmer skimmer;
	struct frame_input in;
	struct packet p;

	HOLDS(flows && skimmed);
	skim_init(&skimmer, skimmed);
	frame_input_begin(&in, data, size);
	in.dlt = DLT_EN10MB;
	while (frame_input_next(&in, &p)) {
		HOLDS(!flow_table_add(flows, &p));
		take_short_way(skimmed, &skimmer, &in, &p);
	}
	check_same(flows, skimmed);
	flow_table_free(flows);
	flow_table_free(skimmed);
	return 0;
}
