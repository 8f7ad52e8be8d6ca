/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow table: what is counted where, what is not judged (UD, responses, bad ICRC), and its
 * bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "capture/flow/flow.h"
#include "tests/unit/capture/flow/good_packet.h"

static struct packet request(uint8_t opcode, uint32_t qpn, uint32_t psn)
{
	struct packet p = good_packet(opcode, qpn, psn);

	p.dscp = 26;
	p.ecn = 2;
	return p;
}

static struct flow first_flow(const struct flow_table *t)
{
	struct flow f;

	assert_int_equal(flow_table_count(t), 1);
	flow_table_get(t, 0, &f);
	return f;
}

struct row {
	const char *name;
	uint8_t opcode;
	uint32_t psn[8];
	unsigned int count;
	uint64_t gaps, missing, duplicates, new_connections;
};

static void psn_counts(void **state)
{
	static const struct row rows[] = {
		{"rc in order", 0x04, {1, 2, 3}, 3, 0, 0, 0, 0},
		{"rc loss", 0x04, {1, 2, 6, 7}, 4, 1, 3, 0, 0},
		{"rc loss repaired", 0x04, {1, 3, 2, 3, 4}, 5, 1, 0, 1, 0},
		{"uc loss", 0x24, {1, 2, 4}, 3, 1, 1, 0, 0},
		{"xrc loss", 0xa4, {1, 2, 4}, 3, 1, 1, 0, 0},
		{"ud counts nothing", 0x64, {1, 9, 4, 4}, 4, 0, 0, 0, 0},
		{"responses count nothing", 0x0e, {1, 9, 4, 4}, 4, 0, 0, 0, 0},
		{"acks count nothing", 0x11, {1, 9, 4, 4}, 4, 0, 0, 0, 0},
		{"unknown opcodes count nothing", 0x47, {1, 9, 4, 4}, 4, 0, 0, 0, 0},
		{"wrap", 0x04, {0xfffffe, 0xffffff, 0, 2}, 4, 1, 1, 0, 0},
		{"reuse", 0x04, {5, 0x700000, 0x700001}, 3, 0, 0, 0, 1},
	};
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_table *t = flow_table_new(0);
		struct flow f;

		for (k = 0; k < rows[i].count; k++) {
			struct packet p = request(rows[i].opcode, 17, rows[i].psn[k]);

			assert_int_equal(flow_table_add(t, &p), 0);
		}
		f = first_flow(t);
		if (f.psn_gaps != rows[i].gaps || f.psn_missing != rows[i].missing ||
		    f.duplicates != rows[i].duplicates ||
		    f.new_connections != rows[i].new_connections || f.packets != rows[i].count)
			fail_msg("%s: gaps %llu missing %llu duplicates %llu new %llu",
				 rows[i].name, (unsigned long long)f.psn_gaps,
				 (unsigned long long)f.psn_missing,
				 (unsigned long long)f.duplicates,
				 (unsigned long long)f.new_connections);
		flow_table_free(t);
	}
}

static void read_spans(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p;
	struct flow f;

	(void)state;
	p = request(0x06, 17, 10); /* WRITE first: the path MTU is 1024 */
	p.payload_len = 1024;
	flow_table_add(t, &p);
	p = request(0x0c, 17, 11);
	p.reth.dma_len = 10000;
	flow_table_add(t, &p);
	p = request(0x04, 17, 21);
	flow_table_add(t, &p);
	f = first_flow(t);
	assert_int_equal(f.psn_gaps, 0);
	p = request(0x0c, 17, 22);
	p.reth.dma_len = 10000;
	flow_table_add(t, &p);
	p = request(0x04, 17, 33);
	flow_table_add(t, &p);
	f = first_flow(t);
	assert_int_equal(f.psn_gaps, 1);
	assert_int_equal(f.psn_missing, 1);
	flow_table_free(t);
}

/* The receiver drops what is corrupted, so its PSN is missing until it comes again. */
static void bad_icrc_is_a_loss(void **state)
{
	static const struct {
		uint32_t psn;
		uint8_t icrc;
		uint32_t want;
	} rows[] = {
		{1, ICRC_GOOD, 0},
		{2, ICRC_BAD, FLOW_ICRC_BAD},
		{3, ICRC_UNVERIFIABLE, FLOW_PSN_GAP},
		{2, ICRC_GOOD, FLOW_PSN_FILLED | FLOW_CORRUPTED},
		{3, ICRC_GOOD, FLOW_DUPLICATE | FLOW_UNEXPLAINED},
		{0x900000, ICRC_BAD, FLOW_ICRC_BAD},
		{4, ICRC_GOOD, 0},
	};
	struct flow_table *t = flow_table_new(0);
	unsigned int i;
	struct flow f;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet p = request(0x04, 17, rows[i].psn);

		p.icrc = rows[i].icrc;
		flow_table_add(t, &p);
		assert_int_equal(flow_table_events(t).bits, rows[i].want);
	}
	f = first_flow(t);
	assert_int_equal(f.psn_missing, 0);
	assert_int_equal(f.duplicates, 1);
	assert_int_equal(f.icrc_good, 4);
	assert_int_equal(f.icrc_bad, 2);
	assert_int_equal(f.icrc_unverifiable, 1);
	flow_table_free(t);
}

/* What was exchanged, as "r1 a1 r3 n2": r(equest), a(ck), n(ak), 0.1 ms apart; R: after 2 ms. */
static struct flow after_exchange(const char *text)
{
	struct flow_table *t = flow_table_new(0);
	uint64_t now_ns = 1000000000;
	unsigned int psn;
	struct flow f;
	int n;

	for (char kind; sscanf(text, " %c%u%n", &kind, &psn, &n) == 2; text += n) {
		bool answer = kind == 'a' || kind == 'n';
		struct packet p = request(answer ? 0x11 : 0x04, answer ? 34 : 17, psn);

		if (answer) {
			p.src[15] = 2;
			p.dst[15] = 1;
			p.aeth.syndrome = kind == 'n' ? 0x60 : 0x1f;
		}
		p.ackreq = true;
		p.time_ns = now_ns += kind == 'R' ? 2000000 : 100000;
		assert_int_equal(flow_table_add(t, &p), 0);
	}
	flow_table_get(t, 0, &f);
	flow_table_free(t);
	return f;
}

/* What is sent again can be lost again, which leaves no PSN that was never seen. */
static void lost_again(void **state)
{
	/* All begin with r1 a1 r2 a2. */
	static const struct {
		const char *name, *exchange;
		uint64_t lost, before, after, unexplained, timeouts;
	} rows[] = {
		{"once", "r4 n3 r5 r3 r4 r5 a5", 1, 1, 0, 0, 0},
		{"behind the capture", "r3 r4 n3 r5 r3 r4 r5", 0, 0, 1, 0, 0},
		{"another one, while it is sent again", "r4 n3 r5 r6 r3 r4 r6 n5 r7 r5 r6 r7 a7", 2,
		 2, 0, 0, 0},
		{"what was under way when the second refusal came is no restart",
		 "r4 n3 r5 r6 r7 r8 r3 r4 r6 n5 r7 r8 r5 r6", 2, 2, 0, 0, 0},
		{"the same one again", "r4 n3 r5 r4 r5 a2", 0, 1, 0, 0, 0},
		{"a timeout brings what was lost again", "r4 n3 r5 r4 r5 R3 r4", 2, 1, 0, 0, 1},
		{"what was acknowledged meanwhile was left out with reason",
		 "r4 n3 r5 r6 r3 r4 a5 r6 r7 a7", 1, 1, 0, 0, 0},
		{"only what is missing is sent again", "r4 n3 r5 r6 r3 r7 a7", 1, 1, 0, 0, 0},
		{"a slow link is no timeout", "R4 n3 R5 R3 R4 R5 R6 R7", 1, 1, 0, 0, 0},
	};
	char text[128];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow f;

		snprintf(text, sizeof(text), "r1 a1 r2 a2 %s", rows[i].exchange);
		f = after_exchange(text);
		if (f.lost_psns != rows[i].lost || f.losses_before != rows[i].before ||
		    f.losses_after != rows[i].after || f.unexplained != rows[i].unexplained ||
		    f.timeouts != rows[i].timeouts)
			fail_msg("%s: lost %llu before %llu after %llu unexplained %llu "
				 "timeouts %llu",
				 rows[i].name, (unsigned long long)f.lost_psns,
				 (unsigned long long)f.losses_before,
				 (unsigned long long)f.losses_after,
				 (unsigned long long)f.unexplained, (unsigned long long)f.timeouts);
	}
}

static void responses_are_classed(void **state)
{
	static const struct {
		uint8_t opcode, syndrome;
		uint32_t want;
	} rows[] = {
		{0x11, 0x1f, 0},
		{0x12, 0x05, 0},
		{0x10, 0x1f, 0},
		{0x11, 0x60, FLOW_NAK_SEQ},
		{0x11, 0x62, FLOW_NAK_OTHER},
		{0x11, 0x23, FLOW_RNR},
		{0xb1, 0x61, FLOW_NAK_OTHER},
		{0x81, 0, FLOW_CNP},
	};
	struct flow_table *t = flow_table_new(0);
	unsigned int i;
	struct flow f;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct packet p = request(rows[i].opcode, 17, 0);

		p.aeth.syndrome = rows[i].syndrome;
		p.dscp = rows[i].opcode == 0x81 ? 48 : 26;
		flow_table_add(t, &p);
		assert_int_equal(flow_table_events(t).bits, rows[i].want);
	}
	f = first_flow(t);
	assert_int_equal(f.acks, 2);
	assert_int_equal(f.naks_seq, 1);
	assert_int_equal(f.naks_other, 2);
	assert_int_equal(f.rnr, 1);
	assert_int_equal(f.cnp, 1);
	assert_int_equal(f.requests, 0);
	assert_int_equal(f.responses, 7);
	assert_int_equal(f.dscp[26], 7);
	assert_int_equal(f.dscp[48], 1);
	assert_int_equal(f.ecn[2], 8);
	assert_int_equal(flow_table_totals(t)->cnp, 1);
	flow_table_free(t);
}

static void totals(void **state)
{
	static const struct packet rows[] = {
		{.kind = PACKET_OTHER},
		{.kind = PACKET_OTHER, .fault = PACKET_TRUNCATED},
		{.kind = PACKET_ROCE, .fault = PACKET_MALFORMED},
		{.kind = PACKET_PFC, .pfc_enable = 0x18},
		{.kind = PACKET_PFC, .pfc_enable = 0x08},
		{.kind = PACKET_PAUSE},
		{.kind = PACKET_LLDP},
	};
	struct flow_table *t = flow_table_new(0);
	const struct capture_totals *s = flow_table_totals(t);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(flow_table_add(t, &rows[i]), 0);
	assert_int_equal(s->frames, 7);
	assert_int_equal(s->other, 2);
	assert_int_equal(s->roce, 1);
	assert_int_equal(s->truncated, 1);
	assert_int_equal(s->malformed, 1);
	assert_int_equal(s->pfc_frames, 2);
	assert_int_equal(s->pfc_by_prio[3], 2);
	assert_int_equal(s->pfc_by_prio[4], 1);
	assert_int_equal(s->pause_frames, 1);
	assert_int_equal(s->lldp, 1);
	assert_int_equal(flow_table_count(t), 0); /* a frame without BTH is no flow */
	flow_table_free(t);
}

/* The key is source, destination and QPN; the order is that of the first packets. */
static void many_flows(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p;
	struct flow f;
	uint32_t i;

	(void)state;
	for (i = 0; i < 30000; i++) {
		p = request(0x04, i % 10000, i / 10000);
		p.frame = i + 1;
		assert_int_equal(flow_table_add(t, &p), 0);
	}
	assert_int_equal(flow_table_count(t), 10000);
	for (i = 0; i < 10000; i++) {
		flow_table_get(t, i, &f);
		assert_int_equal(f.dest_qpn, i);
		assert_int_equal(f.packets, 3);
		assert_int_equal(f.first_frame, i + 1);
	}
	p = request(0x04, 5, 0);
	p.src[0] = 9;
	flow_table_add(t, &p);
	p = request(0x04, 5, 0);
	p.dst[0] = 9;
	flow_table_add(t, &p);
	assert_int_equal(flow_table_count(t), 10002);
	flow_table_free(t);
}

/* A scan over QPNs must not push out the flow that is busy. */
static void eviction(void **state)
{
	static const unsigned int limits[] = {1, 2, 8, 100, 1000, 4500};
	unsigned int i, k;

	(void)state;
	for (k = 0; k < ARRAY_SIZE(limits); k++) {
		struct flow_table *t = flow_table_new(limits[k]);
		uint64_t frame = 0;
		struct flow f;
		unsigned int n;

		for (i = 0; i < 5000; i++) {
			struct packet p = request(0x04, 0x100 + i, 0);

			p.frame = ++frame;
			flow_table_add(t, &p);
			p = request(0x04, 1, i);
			p.frame = ++frame;
			flow_table_add(t, &p);
			assert_true(flow_table_count(t) <= limits[k]);
		}
		n = flow_table_count(t);
		assert_true(n + flow_table_totals(t)->evicted_flows >= 5001);
		for (i = 0; i < n; i++) {
			flow_table_get(t, i, &f);
			if (f.dest_qpn == 1)
				break;
		}
		assert_true(i < n);
		assert_true(limits[k] < 8 || f.packets == 5000);
		assert_int_equal(f.psn_gaps, 0);
		flow_table_free(t);
	}
}

/* A CNP is of no service: what follows it says of which its flow is. */
static void service_behind_cnp(void **state)
{
	static const struct {
		uint8_t opcode[3];
		uint8_t service;
		bool acknowledged;
	} rows[] = {
		{{OPCODE_CNP, OPCODE_CNP, OPCODE_CNP}, OPCODE_CLASS_CNP, true},
		{{OPCODE_CNP, OPCODE_CNP, 0x24}, OPCODE_CLASS_UC, false},
		{{OPCODE_CNP, 0x24, OPCODE_CNP}, OPCODE_CLASS_UC, false},
		{{OPCODE_CNP, 0x9f, 0x24}, OPCODE_CLASS_UC, false},
		{{OPCODE_CNP, 0x64, 0x64}, OPCODE_CLASS_UD, false},
		{{OPCODE_CNP, 0x11, 0x11}, OPCODE_CLASS_RC, true},
		{{OPCODE_CNP, 0xa4, 0xa4}, OPCODE_CLASS_XRC, true},
		{{0xe1, 0x24, 0x24}, OPCODE_CLASS_UC, false},
		{{0xe1, 0xe1, OPCODE_CNP}, OPCODE_CLASS_VENDOR, true},
		{{OPCODE_CNP, 0x24, 0x04}, OPCODE_CLASS_UC, false},
		{{0x24, OPCODE_CNP, 0x24}, OPCODE_CLASS_UC, false},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_table *t = flow_table_new(0);
		struct flow f;

		for (unsigned int k = 0; k < ARRAY_SIZE(rows[i].opcode); k++) {
			struct packet p = request(rows[i].opcode[k], 17, k);

			assert_int_equal(flow_table_add(t, &p), 0);
		}
		f = first_flow(t);
		if (f.service != rows[i].service ||
		    flow_is_acknowledged(&f) != rows[i].acknowledged)
			fail_msg("row %u: service %u", i, f.service);
		flow_table_free(t);
	}
}

/* Packets of every DSCP and ECN codepoint in one flow, of which it keeps few at hand. */
static void traffic_classes(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * 256; i++) {
		struct packet p = request(0x04, 7, i);

		p.dscp = (uint8_t)(i / 4 % 64);
		p.ecn = i % 4;
		assert_int_equal(flow_table_add(t, &p), 0);
	}
	f = first_flow(t);
	assert_int_equal(f.packets, 2 * 256);
	assert_int_equal(f.icrc_good, 2 * 256);
	assert_int_equal(f.icrc_unverifiable, 0);
	for (i = 0; i < ARRAY_SIZE(f.dscp); i++)
		assert_int_equal(f.dscp[i], 8);
	for (i = 0; i < ARRAY_SIZE(f.ecn); i++)
		assert_int_equal(f.ecn[i], 2 * 64);
	flow_table_free(t);
}

static void event_words(void **state)
{
	struct flow_events ev = {.bits = FLOW_PSN_GAP | FLOW_CE, .psns = 6};
	char text[256], all[512], small[8];
	unsigned int i;
	json_t *a;

	(void)state;
	a = flow_events_to_json(ev);
	assert_int_equal(json_array_size(a), 2);
	assert_string_equal(json_string_value(json_array_get(a, 0)), "psn_gap");
	assert_string_equal(json_string_value(json_array_get(a, 1)), "ce");
	json_decref(a);
	flow_events_text(ev, text, sizeof(text));
	assert_string_equal(text, "after a PSN gap of 6, CE mark");
	flow_events_text(ev, small, sizeof(small));
	assert_string_equal(small, "after a");
	for (i = 0; i <= 22; i++) { /* each event has a word */
		ev.bits = 1U << i;
		a = flow_events_to_json(ev);
		assert_int_equal(json_array_size(a), 1);
		json_decref(a);
	}
	ev.bits = 0xfff;
	flow_events_text(ev, all, sizeof(all));
	assert_non_null(strstr(all, "bad ICRC, IP fragment"));
	ev.bits = 0;
	flow_events_text(ev, all, sizeof(all));
	assert_string_equal(all, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(psn_counts),
		cmocka_unit_test(read_spans),
		cmocka_unit_test(bad_icrc_is_a_loss),
		cmocka_unit_test(lost_again),
		cmocka_unit_test(responses_are_classed),
		cmocka_unit_test(totals),
		cmocka_unit_test(many_flows),
		cmocka_unit_test(eviction),
		cmocka_unit_test(service_behind_cnp),
		cmocka_unit_test(traffic_classes),
		cmocka_unit_test(event_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
