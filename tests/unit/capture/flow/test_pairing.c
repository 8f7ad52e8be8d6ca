/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two directions of a connection together: how they are found, and what the one says of the
 * other.
 */
#include "tests/unit/capture/flow/two_ways.h"

/* Two requests that are answered: without a common source port one match may be an accident. */
static struct flow_table *paired(void)
{
	struct flow_table *t = flow_table_new(0);
	struct flow f;

	send_one(t, 10, 0);
	answer(t, ACKED, 10, 5 * US);
	f = flow_to(t, B_QPN);
	assert_false(f.paired);
	send_one(t, 11, 10 * US);
	answer(t, ACKED, 11, 15 * US);
	f = flow_to(t, B_QPN);
	assert_true(f.paired);
	assert_int_equal(f.reverse_qpn, A_QPN);
	f = flow_to(t, A_QPN);
	assert_true(f.paired);
	assert_int_equal(f.reverse_qpn, B_QPN);
	return t;
}

static void a_common_port_is_enough(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p;

	(void)state;
	send_one(t, 10, 0);
	p = packet(true, ACK, 10, 5 * US);
	p.sport = 50000;
	p.aeth.syndrome = ACKED;
	add_packet(t, p);
	assert_true(flow_to(t, B_QPN).paired);
	flow_table_free(t);
}

static void not_with_other_hosts(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p;

	(void)state;
	for (uint32_t psn = 10; psn < 20; psn++) {
		send_one(t, psn, psn * US);
		p = packet(true, ACK, psn, psn * US + 1);
		p.src[15] = 3;
		p.sport = 50000;
		p.aeth.syndrome = ACKED;
		add_packet(t, p);
	}
	assert_false(flow_to(t, B_QPN).paired);
	flow_table_free(t);
}

/* Packets go to B's QP, A's QP stays the same, but B's answers now fit another connection. */
static void a_pair_that_fits_no_more(void **state)
{
	struct flow_table *t = paired();
	struct packet p;

	(void)state;
	for (uint32_t i = 0; i < 12; i++) {
		p = packet(false, SEND_ONLY, 0x400000 + i, (100 + i) * US);
		p.dest_qpn = 0x33;
		add_packet(t, p);
		answer(t, ACKED, 0x400000 + i, (100 + i) * US + 500);
	}
	assert_int_equal(flow_to(t, A_QPN).reverse_qpn, 0x33);
	assert_int_equal(flow_to(t, 0x33).reverse_qpn, A_QPN);
	flow_table_free(t);
}

struct row {
	const char *name;
	struct {
		uint32_t psn;
		uint8_t syndrome; /* 0 = a request */
		uint64_t time_ns;
	} step[8];
	struct flow want;
	uint32_t events; /* that say why, of all steps */
};

static const struct row rows[] = {
	{"a missing PSN that is acknowledged was missed by the capture",
	 {{14, 0, 30 * US}, {14, ACKED, 35 * US}},
	 {.missed_psns = 2},
	 FLOW_MISSED},
	{"lost before the capture, all sent again",
	 {{13, 0, 30 * US}, {12, NAK, 33 * US}, {12, 0, 40 * US}, {13, 0, 41 * US}},
	 {.lost_psns = 1,
	  .losses_before = 1,
	  .go_back_n = 1,
	  .wasted_psns = 2,
	  .naks_timed = 1,
	  .nak_ns = 3 * US,
	  .resends = 1,
	  .resend_ns = 7 * US},
	 FLOW_LOST},
	{"lost behind it",
	 {{12, 0, 30 * US},
	  {13, 0, 31 * US},
	  {12, NAK, 33 * US},
	  {12, 0, 40 * US},
	  {13, 0, 41 * US}},
	 {.losses_after = 1, .go_back_n = 1, .wasted_psns = 2, .resends = 1, .resend_ns = 7 * US},
	 0},
	{"only what is missing is sent again",
	 {{13, 0, 30 * US}, {12, NAK, 33 * US}, {12, 0, 40 * US}, {14, 0, 41 * US}},
	 {.lost_psns = 1,
	  .losses_before = 1,
	  .selective_repeats = 1,
	  .naks_timed = 1,
	  .nak_ns = 3 * US,
	  .resends = 1,
	  .resend_ns = 7 * US},
	 FLOW_LOST},
	{"late by itself",
	 {{13, 0, 30 * US}, {12, 0, 31 * US}, {14, 0, 32 * US}},
	 {.reordered = 1},
	 FLOW_REORDERED},
	{"late by itself, but refused: the receiver takes nothing out of order",
	 {{13, 0, 30 * US},
	  {12, 0, 31 * US},
	  {12, NAK, 32 * US},
	  {14, 0, 33 * US},
	  {13, NAK, 35 * US},
	  {13, 0, 40 * US},
	  {14, 0, 41 * US}},
	 {.reordered = 1,
	  .losses_after = 2,
	  .go_back_n = 1,
	  .wasted_psns = 2,
	  .resends = 1,
	  .resend_ns = 5 * US},
	 FLOW_REORDERED},
	{"late, and what follows again: the refusal was not captured",
	 {{13, 0, 30 * US}, {12, 0, 40 * US}, {13, 0, 41 * US}, {14, 0, 42 * US}},
	 {.lost_psns = 1, .go_back_n = 1, .wasted_psns = 2},
	 FLOW_REORDERED},
	{"again after the timeout",
	 {{12, 0, 30 * US}, {12, 0, 2 * MS}, {13, 0, 2 * MS + 1}},
	 {.timeouts = 1, .wasted_psns = 1},
	 FLOW_TIMEOUT},
	{"a tail that was lost behind the capture, or its acknowledgement",
	 {{12, 0, 30 * US},
	  {13, 0, 31 * US},
	  {14, 0, 32 * US},
	  {12, ACKED, 33 * US},
	  {13, 0, 2 * MS},
	  {14, 0, 2 * MS + 1 * US},
	  {14, ACKED, 2 * MS + 5 * US},
	  {15, 0, 2 * MS + 6 * US}},
	 {.timeouts = 1, .wasted_psns = 2},
	 FLOW_TIMEOUT},
	{"a tail, twice",
	 {{12, 0, 30 * US},
	  {13, 0, 31 * US},
	  {12, 0, 2 * MS},
	  {13, 0, 2 * MS + 1 * US},
	  {12, 0, 4 * MS},
	  {13, 0, 4 * MS + 1 * US}},
	 {.timeouts = 2, .wasted_psns = 4},
	 FLOW_TIMEOUT},
	{"a tail of which the capture missed the end",
	 {{12, 0, 30 * US}, {12, 0, 2 * MS}, {13, 0, 2 * MS + 1 * US}, {14, 0, 2 * MS + 2 * US}},
	 {.timeouts = 1, .wasted_psns = 1},
	 FLOW_TIMEOUT},
	{"a tail of which the capture missed the begin",
	 {{13, 0, 30 * US}, {12, 0, 2 * MS}, {13, 0, 2 * MS + 1 * US}},
	 {.timeouts = 1, .lost_psns = 1, .wasted_psns = 2},
	 FLOW_TIMEOUT | FLOW_LOST},
	{"only what is missing after the timeout",
	 {{13, 0, 30 * US}, {12, 0, 2 * MS}, {14, 0, 2 * MS + 1 * US}},
	 {.timeouts = 1, .lost_psns = 1},
	 FLOW_TIMEOUT | FLOW_LOST},
	{"a tail that the capture never saw before: nothing but the silence",
	 {{12, ACKED, 30 * US}, {13, 0, 2 * MS}, {14, 0, 2 * MS + 1 * US}},
	 {.missed_psns = 0},
	 0},
	{"again much too early for a timeout",
	 {{12, 0, 30 * US}, {13, 0, 31 * US}, {12, 0, 90 * US}, {13, 0, 91 * US}},
	 {.unexplained = 1},
	 FLOW_UNEXPLAINED},
	{"the receiver was not ready",
	 {{12, 0, 30 * US}, {12, 0x21, 33 * US}, {12, 0, 53 * US}, {13, 0, 54 * US}},
	 {.rnr_retries = 1},
	 FLOW_RNR_RETRY},
	{"nor for what came behind, as Soft-RoCE says after it",
	 {{12, 0, 30 * US},
	  {13, 0, 31 * US},
	  {14, 0, 32 * US},
	  {12, 0x21, 33 * US},
	  {12, NAK, 34 * US},
	  {12, 0, 53 * US},
	  {13, 0, 54 * US},
	  {14, 0, 55 * US}},
	 {.rnr_retries = 1},
	 FLOW_RNR_RETRY},
	{"not ready, and what is sent again is lost behind the capture",
	 {{12, 0, 30 * US},
	  {13, 0, 31 * US},
	  {12, 0x21, 33 * US},
	  {12, 0, 53 * US},
	  {13, 0, 54 * US},
	  {12, NAK, 57 * US},
	  {12, 0, 60 * US},
	  {13, 0, 61 * US}},
	 {.rnr_retries = 1,
	  .losses_after = 1,
	  .go_back_n = 1,
	  .wasted_psns = 2,
	  .resends = 1,
	  .resend_ns = 3 * US},
	 FLOW_RNR_RETRY},
	{"the same bytes at once: a mirror of two ports",
	 {{12, 0, 30 * US}, {12, 0, 30 * US + 200}},
	 {.copies = 1},
	 0},
};

#define SAME(member) assert_int_equal(f.member, rows[i].want.member)

static void verdicts(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct flow_table *t = paired();
		uint32_t events = 0;
		struct flow f;

		for (unsigned int k = 0; k < 8 && rows[i].step[k].psn; k++) {
			if (rows[i].step[k].syndrome)
				answer(t, rows[i].step[k].syndrome, rows[i].step[k].psn,
				       rows[i].step[k].time_ns);
			else
				send_one(t, rows[i].step[k].psn, rows[i].step[k].time_ns);
			events |= flow_table_events(t).bits;
		}
		f = flow_to(t, B_QPN);
		print_message("%s\n", rows[i].name);
		SAME(missed_psns);
		SAME(lost_psns);
		SAME(losses_before);
		SAME(losses_after);
		SAME(reordered);
		SAME(copies);
		SAME(go_back_n);
		SAME(wasted_psns);
		SAME(selective_repeats);
		SAME(timeouts);
		SAME(rnr_retries);
		SAME(unexplained);
		SAME(naks_timed);
		SAME(nak_ns);
		SAME(resends);
		SAME(resend_ns);
		assert_int_equal(events & ~(FLOW_TIMEOUT - 1U), rows[i].events);
		flow_table_free(t);
	}
}

/* 12 and 13 were not captured when 12 was refused, and look in order as they come again. */
static void refused_before_it_was_seen(void **state)
{
	struct flow_table *t = paired();

	(void)state;
	answer(t, NAK, 12, 33 * US);
	assert_int_equal(flow_table_events(t).bits, FLOW_NAK_SEQ);
	send_one(t, 12, 40 * US);
	send_one(t, 13, 41 * US);
	assert_int_equal(flow_to(t, A_QPN).naks_unknown, 1);
	assert_int_equal(flow_to(t, B_QPN).naks_unknown, 0);
	send_one(t, 15, 42 * US);
	answer(t, NAK, 14, 45 * US);
	assert_int_equal(flow_to(t, A_QPN).naks_seq, 2);
	assert_int_equal(flow_to(t, A_QPN).naks_unknown, 1);
	assert_int_equal(flow_to(t, B_QPN).losses_before, 1);
	flow_table_free(t);
}

/* After as many answers that fit nothing, the flow has no peer any more. */
static void refused_without_a_peer(void **state)
{
	struct flow_table *t = paired();

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		answer(t, ACKED, 0x400000 + i, (30 + i) * US);
	answer(t, NAK, 0x400008, 50 * US);
	answer(t, 0x61, 0x400009, 60 * US); /* no sequence NAK */
	assert_true(flow_to(t, A_QPN).paired);
	assert_int_equal(flow_to(t, A_QPN).naks_unknown, 1);
	flow_table_free(t);
}

/* A asks with its QP, and says with which PSN B is to begin; B answers likewise. */
static void connect(struct flow_table *t, uint32_t a_psn, uint32_t b_psn)
{
	struct packet req = packet(false, 0x64, 0, 0), rep = packet(true, 0x64, 0, 0);

	req.dest_qpn = rep.dest_qpn = 1;
	req.cm = (struct cm){.message = CM_REQ,
			     .reached = CM_MAD_LEN,
			     .local_id = 7,
			     .qpn = A_QPN,
			     .starting_psn = b_psn,
			     .path_mtu = 1024,
			     .ack_timeout = 14}; /* 67 ms */
	rep.cm = (struct cm){.message = CM_REP,
			     .reached = CM_MAD_LEN,
			     .local_id = 9,
			     .remote_id = 7,
			     .qpn = B_QPN,
			     .starting_psn = a_psn};
	add_packet(t, req);
	add_packet(t, rep);
	add_packet(t, rep); /* again: nothing begins anew */
}

static void told_by_cm(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p;
	struct flow f;

	(void)state;
	connect(t, 100, 0x800000);
	send_one(t, 101, 10 * US); /* 100 is missing, which no first packet alone would show */
	f = flow_to(t, B_QPN);
	assert_int_equal(f.psn_missing, 1);
	answer(t, NAK, 100, 13 * US); /* the first answer counts already */
	f = flow_to(t, B_QPN);
	assert_true(f.paired);
	assert_int_equal(f.losses_before, 1);
	send_one(t, 100, 20 * US);
	send_one(t, 101, 21 * US);
	send_one(t, 101, 30 * MS); /* before the timeout that was agreed on */
	send_one(t, 101, 100 * MS);
	f = flow_to(t, B_QPN);
	assert_int_equal(f.unexplained, 1);
	assert_int_equal(f.timeouts, 1);
	assert_int_equal(f.new_connections, 0);
	p = packet(true, SEND_ONLY, 0x800000, 101 * MS);
	add_packet(t, p);
	f = flow_to(t, A_QPN);
	assert_int_equal(f.psn_gaps, 0);
	assert_int_equal(f.new_connections, 0);
	connect(t, 102, 5); /* the QPs are used again, with PSNs nearby */
	send_one(t, 102, 102 * MS);
	f = flow_to(t, B_QPN);
	assert_int_equal(f.new_connections, 1);
	assert_true(f.paired);
	flow_table_free(t);
}

static void cut_cm_says_nothing(void **state)
{
	struct flow_table *t = flow_table_new(0);
	struct packet p = packet(true, 0x64, 0, 0);

	(void)state;
	p.dest_qpn = 1;
	p.cm = (struct cm){.message = CM_REP, .reached = 40, .remote_id = 7, .qpn = B_QPN};
	add_packet(t, p);
	connect(t, 100, 200);
	p.cm.message = CM_REQ;
	p.cm.local_id = 8;
	add_packet(t, p);
	send_one(t, 100, 10 * US);
	assert_int_equal(flow_to(t, B_QPN).psn_gaps, 0);
	flow_table_free(t);
}

/* A flow that is forgotten takes its pair along; what stays keeps its own. */
static void eviction_keeps_pairs(void **state)
{
	struct flow_table *t = flow_table_new(16);
	struct packet p;
	uint64_t before;
	struct flow f;

	(void)state;
	for (uint32_t n = 0; n < 200; n++) {
		struct packet back;

		p = packet(false, SEND_ONLY, 1, n * MS);
		p.frame = 4 * n + 1;
		p.dest_qpn = 0x100 + n;
		add_packet(t, p); /* idle from now on */
		p = packet(false, SEND_ONLY, 10 + n, n * MS + 1);
		p.frame = 4 * n + 2;
		add_packet(t, p);
		back = packet(true, ACK, 10 + n, n * MS + 2);
		back.frame = 4 * n + 3;
		back.aeth.syndrome = ACKED;
		add_packet(t, back);
	}
	assert_true(flow_table_totals(t)->evicted_flows > 150);
	f = flow_to(t, B_QPN);
	assert_int_equal(f.packets, 200);
	p = packet(false, SEND_ONLY, 211, 300 * MS); /* 210 is missing */
	p.frame = 1000;
	add_packet(t, p);
	before = flow_table_totals(t)->evicted_flows;
	for (uint32_t n = 0; flow_table_totals(t)->evicted_flows == before; n++) {
		p.frame = 1001 + n;
		p.dest_qpn = 0x1000 + n;
		add_packet(t, p);
	}
	/* No request had this PSN: only the pair says whose it is. */
	answer(t, ACKED, 210, 300 * MS + 5);
	assert_int_equal(flow_to(t, B_QPN).missed_psns, 1);
	flow_table_free(t);
}

/* More than a new connection would be far away, but what was not acknowledged is sent again. */
static void silence_with_much_under_way(void **state)
{
	struct flow_table *t = paired();

	(void)state;
	for (uint32_t psn = 12; psn < 9000; psn++)
		send_one(t, psn, 20 * US + psn);
	send_one(t, 12, 3000 * MS);
	assert_int_equal(flow_table_events(t).bits, FLOW_TIMEOUT | FLOW_DUPLICATE);
	send_one(t, 2000, 6000 * MS); /* that was not the first */
	assert_int_equal(flow_table_events(t).bits, FLOW_NEW_CONNECTION);
	flow_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_common_port_is_enough),
		cmocka_unit_test(not_with_other_hosts),
		cmocka_unit_test(a_pair_that_fits_no_more),
		cmocka_unit_test(verdicts),
		cmocka_unit_test(refused_before_it_was_seen),
		cmocka_unit_test(refused_without_a_peer),
		cmocka_unit_test(told_by_cm),
		cmocka_unit_test(cut_cm_says_nothing),
		cmocka_unit_test(eviction_keeps_pairs),
		cmocka_unit_test(silence_with_much_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
