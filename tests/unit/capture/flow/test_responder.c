/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holes between the responses of one READ: what is missing, what comes late or again, and what is
 * not judged.
 */
#include "tests/unit/capture/flow/two_ways.h"

#define SEND_FIRST 0x00
#define RDMA_READ  0x0c
#define FIRST	   0x0d
#define MIDDLE	   0x0e
#define LAST	   0x0f

/* A pair whose path MTU is known; PSN 20 is next. */
static struct flow_table *begin(void)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p = packet(false, SEND_FIRST, 18, 1 * US);

	p.payload_len = 1024;
	add_packet(t, p);
	answer(t, ACKED, 18, 2 * US);
	send_one(t, 19, 3 * US);
	answer(t, ACKED, 19, 4 * US);
	return t;
}

static void ask_read(struct flow_table *t, uint32_t psn, uint32_t span, uint64_t time_ns)
{
	struct packet p = packet(false, RDMA_READ, psn, time_ns);

	p.reth.va = psn * 1024;
	p.reth.dma_len = span * 1024;
	add_packet(t, p);
}

/* What a responder sends for a READ of four packets at 20, and one of four at 24. */
static const struct responses {
	const char *name;
	struct {
		uint8_t opcode;
		uint32_t psn;
	} sent[12];
	uint64_t missing;
} responses[] = {
	{"all", {{FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 22}, {LAST, 23}, {FIRST, 24}}, 0},
	{"a hole", {{FIRST, 20}, {MIDDLE, 22}, {LAST, 23}}, 1},
	{"a hole of two", {{FIRST, 20}, {LAST, 23}}, 2},
	{"no first", {{MIDDLE, 22}, {LAST, 23}}, 2},
	{"no last", {{FIRST, 20}, {MIDDLE, 21}, {FIRST, 24}}, 2},
	{"no last, then an ACK, and nothing of the next one",
	 {{FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 22}, {ACK, 28}},
	 5},
	{"no last, no first", {{FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 26}}, 4},
	{"none of the first", {{FIRST, 24}, {MIDDLE, 25}, {MIDDLE, 26}, {LAST, 27}}, 4},
	{"none, and an ACK", {{ACK, 28}}, 8},
	{"none of the first, then both again",
	 {{FIRST, 24},
	  {MIDDLE, 25},
	  {FIRST, 20},
	  {MIDDLE, 21},
	  {MIDDLE, 22},
	  {LAST, 23},
	  {FIRST, 24},
	  {MIDDLE, 25},
	  {MIDDLE, 26},
	  {LAST, 27}},
	 0},
	{"late", {{FIRST, 20}, {MIDDLE, 22}, {MIDDLE, 21}, {LAST, 23}}, 0},
	{"the first late", {{MIDDLE, 21}, {FIRST, 20}, {MIDDLE, 22}, {LAST, 23}}, 0},
	{"the rest again",
	 {{FIRST, 20},
	  {MIDDLE, 22},
	  {LAST, 23},
	  {FIRST, 21},
	  {MIDDLE, 22},
	  {LAST, 23},
	  {FIRST, 24}},
	 0},
	{"twice",
	 {{FIRST, 20},
	  {FIRST, 20},
	  {MIDDLE, 21},
	  {MIDDLE, 21},
	  {MIDDLE, 22},
	  {LAST, 23},
	  {LAST, 23},
	  {FIRST, 24}},
	 0},
	{"a refusal between", {{FIRST, 20}, {0, 28}, {MIDDLE, 21}, {MIDDLE, 22}, {LAST, 23}}, 0},
};

/* The flow counts what is missing, and so do the events, with what is filled. */
static void holes_in_reads(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(responses); i++) {
		const struct responses *r = &responses[i];
		struct flow_table *t = begin();
		uint64_t open = 0;

		ask_read(t, 20, 4, 5 * US);
		ask_read(t, 24, 4, 6 * US);
		send_one(t, 28, 7 * US);
		for (unsigned int k = 0; r->sent[k].psn; k++) {
			bool refusal = !r->sent[k].opcode;
			struct flow_events ev;
			struct packet p = packet(true, refusal ? ACK : r->sent[k].opcode,
						 r->sent[k].psn, (20 + k) * US);

			p.aeth.syndrome = refusal ? NAK : ACKED;
			add_packet(t, p);
			ev = flow_table_events(t);
			open += ev.bits & FLOW_READ_GAP ? ev.psns : 0;
			open -= ev.bits & FLOW_READ_FILLED ? ev.psns : 0;
		}
		if (flow_to(t, A_QPN).responses_missing != r->missing || open != r->missing)
			fail_msg("%s: %llu missing, %llu by events, not %llu", r->name,
				 (unsigned long long)flow_to(t, A_QPN).responses_missing,
				 (unsigned long long)open, (unsigned long long)r->missing);
		flow_table_free(t);
	}
}

/* Before a path MTU is known, nobody knows which answers the READs have. */
static void reads_of_unknown_span(void **state)
{
	static const uint8_t ops[] = {FIRST, MIDDLE, MIDDLE, LAST};
	struct flow_table *t = flow_table_new(0);

	(void)state;
	for (uint32_t n = 0; n < 5; n++) {
		ask_read(t, 100 + 4 * n, 4, 10 * n * US);
		for (uint32_t i = 0; i < 4; i++) {
			struct packet p = packet(true, ops[i], 100 + 4 * n + i, (10 * n + i) * US);

			p.aeth.syndrome = ACKED;
			add_packet(t, p);
		}
	}
	assert_true(flow_to(t, A_QPN).paired);
	assert_int_equal(flow_to(t, A_QPN).responses_missing, 0);
	flow_table_free(t);
}

/* One way to the capture, but each answer is there twice. */
static void copies_on_one_path(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	(void)state;
	for (uint32_t psn = 10; psn < 14; psn++) {
		send_one(t, psn, psn * 100 * US);
		answer(t, ACKED, psn, (psn * 100 + 5) * US);
		if (psn >= 12) /* by then it is known whose answers these are */
			answer(t, ACKED, psn, (psn * 100 + 5) * US + 200);
	}
	send_one(t, 15, 1500 * US);
	answer(t, NAK, 14, 1510 * US);
	answer(t, NAK, 14, 1510 * US + 200);
	f = flow_to(t, A_QPN);
	assert_int_equal(f.copies, 3);
	assert_int_equal(f.acks, 4);
	assert_int_equal(f.naks_seq, 1);
	send_one(t, 14, 1513 * US);
	answer(t, ACKED, 14, 1514 * US); /* what was refused is sent again at once */
	send_one(t, 15, 1515 * US);
	answer(t, ACKED, 15, 1516 * US);
	f = flow_to(t, A_QPN);
	assert_int_equal(f.copies, 3);
	assert_int_equal(f.acks, 6);
	/* Refused, sent again without what was refused, refused again. */
	send_one(t, 17, 2000 * US);
	answer(t, NAK, 16, 2001 * US);
	send_one(t, 17, 2002 * US);
	answer(t, NAK, 16, 2003 * US);
	assert_int_equal(flow_to(t, A_QPN).naks_seq, 3);
	send_one(t, 16, 2010 * US);
	send_one(t, 17, 2011 * US);
	/* Requests that come again are acknowledged again. */
	send_one(t, 16, 30 * MS);
	send_one(t, 17, 30 * MS + 1 * US);
	answer(t, ACKED, 17, 30 * MS + 2 * US);
	answer(t, ACKED, 17, 30 * MS + 3 * US);
	f = flow_to(t, A_QPN);
	assert_int_equal(f.copies, 3);
	assert_int_equal(f.acks, 8);
	/* Also when new ones were sent meanwhile. */
	send_one(t, 18, 30 * MS + 4 * US);
	answer(t, ACKED, 17, 30 * MS + 5 * US);
	answer(t, ACKED, 17, 30 * MS + 6 * US);
	f = flow_to(t, A_QPN);
	assert_int_equal(f.copies, 3);
	assert_int_equal(f.acks, 10);
	flow_table_free(t);
}

/* Two ways to the capture, the other one 3 us behind; what the first lost comes by the other. */
static void copy_fills_hole(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t psn;
		bool other;
	} sent[] = {
		{FIRST, 20, false},  {FIRST, 20, true},	  {MIDDLE, 21, false}, {MIDDLE, 21, true},
		{MIDDLE, 22, false}, {MIDDLE, 24, false}, {MIDDLE, 22, true},  {MIDDLE, 23, true},
		{MIDDLE, 25, false}, {MIDDLE, 24, true},  {MIDDLE, 26, false}, {MIDDLE, 25, true},
		{LAST, 27, false},   {MIDDLE, 26, true},  {LAST, 27, true},
	};
	struct flow_table *t = begin();
	struct flow f;

	(void)state;
	ask_read(t, 20, 8, 5 * US);
	for (unsigned int i = 0; i < ARRAY_SIZE(sent); i++) {
		struct packet p = packet(true, sent[i].opcode, sent[i].psn, (20 + i) * US);

		p.aeth.syndrome = ACKED;
		p.ttl -= sent[i].other;
		add_packet(t, p);
		if (sent[i].psn == 23)
			assert_int_equal(flow_table_events(t).bits, FLOW_READ_FILLED);
	}
	f = flow_to(t, A_QPN);
	assert_int_equal(f.responses_missing, 0);
	assert_int_equal(f.copies, 7);
	flow_table_free(t);
}

/* A hole in a READ of 2 GiB, and what is left of it after a timeout: 2^21 PSNs lie before what the
 * requester sends next, and are still to be answered. */
static void a_read_of_2_gib(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p = packet(false, SEND_FIRST, 18, 1 * US);
	struct flow f;

	(void)state;
	p.payload_len = 1024; /* the path MTU */
	add_packet(t, p);
	answer(t, ACKED, 18, 2 * US);
	send_one(t, 19, 3 * US);
	answer(t, ACKED, 19, 4 * US);
	ask_read(t, 20, 1 << 21, 5 * US);
	for (uint32_t psn = 20; psn < 40; psn += psn == 29 ? 2 : 1) {
		p = packet(true, psn == 20 ? FIRST : MIDDLE, psn, psn * US);
		p.aeth.syndrome = ACKED;
		add_packet(t, p);
	}
	assert_int_equal(flow_to(t, A_QPN).responses_missing, 1);
	p = packet(false, RDMA_READ, 40, 5 * MS);
	p.reth.va = 40 * 1024;
	p.reth.dma_len = ((1 << 21) - 20) * 1024U;
	add_packet(t, p);
	assert_int_equal(flow_table_events(t).bits,
			 FLOW_TIMEOUT | FLOW_DUPLICATE | FLOW_READ_RETRY);
	f = flow_to(t, B_QPN);
	assert_int_equal(f.new_connections, 0);
	assert_int_equal(f.read_retries, 1);
	flow_table_free(t);
}

/* What happens to a READ of four packets at 20 and to one at 24, 1 us apart. READ asks again for
 * what is left of the one at that PSN. */
static const struct finding_order {
	const char *name;
	struct {
		uint8_t opcode;
		uint32_t psn;
	} step[12];
	uint64_t late, retries, late_retries;
} orders[] = {
	{"late, and asked for again all the same",
	 {{FIRST, 20}, {MIDDLE, 22}, {MIDDLE, 21}, {LAST, 23}, {RDMA_READ, 21}, {FIRST, 21}},
	 1,
	 1,
	 1},
	{"lost",
	 {{FIRST, 20}, {MIDDLE, 22}, {LAST, 23}, {RDMA_READ, 21}, {FIRST, 21}, {MIDDLE, 22}},
	 0,
	 1,
	 0},
	{"lost behind the capture",
	 {{FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 22}, {LAST, 23}, {RDMA_READ, 21}, {FIRST, 21}},
	 0,
	 1,
	 0},
	{"under way when it was asked for again",
	 {{FIRST, 20}, {MIDDLE, 22}, {RDMA_READ, 21}, {MIDDLE, 21}, {LAST, 23}, {FIRST, 21}},
	 1,
	 1,
	 1},
	{"all asked for again, what comes then is not late",
	 {{FIRST, 20}, {MIDDLE, 22}, {RDMA_READ, 20}, {FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 22}},
	 0,
	 1,
	 0},
	{"the first late", {{MIDDLE, 21}, {FIRST, 20}, {MIDDLE, 22}, {RDMA_READ, 20}}, 1, 1, 1},
	{"the first lost",
	 {{MIDDLE, 21}, {MIDDLE, 22}, {LAST, 23}, {RDMA_READ, 20}, {FIRST, 20}, {MIDDLE, 21}},
	 0,
	 1,
	 0},
	{"the next READ is asked for again, too",
	 {{FIRST, 20}, {MIDDLE, 22}, {LAST, 23}, {FIRST, 24}, {RDMA_READ, 21}, {RDMA_READ, 24}},
	 0,
	 1,
	 0},
	{"one late, and taken; another one lost",
	 {{FIRST, 20},
	  {MIDDLE, 22},
	  {MIDDLE, 21},
	  {LAST, 23},
	  {FIRST, 24},
	  {MIDDLE, 26},
	  {LAST, 27},
	  {RDMA_READ, 25},
	  {FIRST, 25}},
	 1,
	 1,
	 0},
	{"nothing came of the first one",
	 {{FIRST, 24}, {MIDDLE, 25}, {RDMA_READ, 20}, {RDMA_READ, 24}, {FIRST, 20}, {MIDDLE, 21}},
	 0,
	 1,
	 0},
	{"none missing, all asked for again: nobody knows why",
	 {{FIRST, 20}, {MIDDLE, 21}, {MIDDLE, 22}, {LAST, 23}, {RDMA_READ, 20}, {FIRST, 20}},
	 0,
	 0,
	 0},
	{"many late, and the first asked for again",
	 {{FIRST, 20},
	  {MIDDLE, 22},
	  {LAST, 23},
	  {MIDDLE, 21},
	  {FIRST, 24},
	  {MIDDLE, 26},
	  {MIDDLE, 25},
	  {RDMA_READ, 21},
	  {RDMA_READ, 24}},
	 2,
	 1,
	 1},
};

static void responses_out_of_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		const struct finding_order *o = &orders[i];
		struct flow_table *t = begin();
		struct flow asks, answers;

		ask_read(t, 20, 4, 5 * US);
		ask_read(t, 24, 4, 6 * US);
		for (unsigned int k = 0; o->step[k].psn; k++) {
			uint32_t psn = o->step[k].psn;
			struct packet p = packet(true, o->step[k].opcode, psn, (20 + k) * US);

			p.aeth.syndrome = ACKED;
			if (o->step[k].opcode == RDMA_READ)
				ask_read(t, psn, (psn < 24 ? 24 : 28) - psn, (20 + k) * US);
			else
				add_packet(t, p);
		}
		asks = flow_to(t, B_QPN);
		answers = flow_to(t, A_QPN);
		if (answers.responses_reordered != o->late || asks.read_retries != o->retries ||
		    asks.reads_reordered != o->late_retries || asks.unexplained != !o->retries)
			fail_msg("%s: %llu late, %llu retries, %llu of late ones, %llu unexplained",
				 o->name, (unsigned long long)answers.responses_reordered,
				 (unsigned long long)asks.read_retries,
				 (unsigned long long)asks.reads_reordered,
				 (unsigned long long)asks.unexplained);
		flow_table_free(t);
	}
}

/* Without the requests: what begins a READ in the middle of one was asked for again, and the
 * network holds nothing back for so long. */
static void answers_out_of_order_alone(void **state)
{
	static const struct {
		uint8_t opcode;
		uint64_t time_ns, late;
	} rows[] = {
		{MIDDLE, 40 * US, 1},
		{FIRST, 40 * US, 0},
		{MIDDLE, 90 * US, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_table *t = flow_table_new(0);
		const struct packet sent[] = {
			packet(true, FIRST, 20, 20 * US),
			packet(true, MIDDLE, 22, 21 * US),
			packet(true, rows[i].opcode, 21, rows[i].time_ns),
		};

		for (size_t k = 0; k < ARRAY_SIZE(sent); k++)
			add_packet(t, sent[k]);
		assert_int_equal(flow_table_events(t).bits,
				 FLOW_READ_FILLED | (rows[i].late ? FLOW_REORDERED : 0));
		assert_int_equal(flow_to(t, A_QPN).responses_reordered, rows[i].late);
		flow_table_free(t);
	}
}

/* As many READs as NICs ask for at once: a response to the first is lost, or all are. */
static void many_reads(void **state)
{
	(void)state;
	for (unsigned int lost = 1; lost <= 4; lost += 3) {
		struct flow_table *t = begin();
		struct flow f;

		for (uint32_t psn = 20; psn < 20 + 16 * 4; psn += 4)
			ask_read(t, psn, 4, psn * US);
		for (uint32_t psn = 20; psn < 20 + 16 * 4; psn++) {
			static const uint8_t ops[] = {FIRST, MIDDLE, MIDDLE, LAST};
			struct packet p = packet(true, ops[psn % 4], psn, (100 + psn) * US);

			p.aeth.syndrome = ACKED;
			if (psn < 20 + 4 - lost || psn >= 24)
				add_packet(t, p);
		}
		assert_int_equal(flow_to(t, A_QPN).responses_missing, lost);
		ask_read(t, 24 - lost, lost, 300 * US);
		f = flow_to(t, B_QPN);
		assert_int_equal(f.read_retries, 1);
		assert_int_equal(f.unexplained, 0);
		flow_table_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_on_one_path),
		cmocka_unit_test(holes_in_reads),
		cmocka_unit_test(reads_of_unknown_span),
		cmocka_unit_test(copy_fills_hole),
		cmocka_unit_test(a_read_of_2_gib),
		cmocka_unit_test(responses_out_of_order),
		cmocka_unit_test(answers_out_of_order_alone),
		cmocka_unit_test(many_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
