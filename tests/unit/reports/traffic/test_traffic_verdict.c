/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict of a traffic run, on literals: what Soft-RoCE was measured to count for each loss
 * (one packet dropped, Linux 6.1 and 6.12), each cause apart from the others, and what must not
 * pass.
 */
#include <errno.h>

#include "tests/unit/reports/traffic/verdict_echoes.h"
#include "tests/unit/reports/traffic/verdict_losses.h"
#include "tests/unit/reports/traffic/verdict_others.h"
#include "tests/unit/reports/traffic/verdict_reports.h"

#define RETRY_14 14
#define RETRY_18 18

static const struct fault_table *const fault_tables[] = {&loss_faults, &other_faults,
							 &report_faults, &echo_faults};

/* One packet dropped by the wire, and what Soft-RoCE counts then. Numbers as measured. */
static const struct loss_row {
	const char *name;
	enum traffic_mode mode;
	unsigned int timeout;
	bool accountable;
	unsigned int oos, copies;	    /* at h2, the responder */
	unsigned int naks, retries, dead;   /* at h1 */
	unsigned int lost_there, lost_back; /* packets that the wire took */
	unsigned int losses, gaps;	    /* as the generator reports */
	unsigned int wait_ms;		    /* the slowest message */
	enum verdict want;
	int reason;
	const char *says;
} loss_rows[] = {
	{"WRITE, middle, repeated", TRAFFIC_OBSERVE, RETRY_18, false, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "to h2"},
	{"WRITE, middle, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "to h2"},
	{"WRITE, middle, strict", TRAFFIC_STRICT, RETRY_14, false, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"tail, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 3, 0, 1, 0, 1, 0, 0, 0, 74,
	 VERDICT_FAIL, REASON_LOST, "1 from h1 to h2 and 0 back"},
	{"tail, long timer, waited", TRAFFIC_OBSERVE, RETRY_18, false, 0, 3, 0, 1, 0, 1, 0, 0, 0,
	 1080, VERDICT_FAIL, REASON_LOST, "whole ACK timeout"},
	{"stopped, waited, but all came", TRAFFIC_OBSERVE, RETRY_18, false, 0, 1, 0, 1, 0, 0, 0, 0,
	 0, 1080, VERDICT_WARN, REASON_SPURIOUS, "code 18"},
	{"tail, short timer", TRAFFIC_OBSERVE, RETRY_14, false, 0, 3, 0, 1, 0, 1, 0, 0, 0, 74,
	 VERDICT_WARN, REASON_SPURIOUS, "code 14"},
	{"tail, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 1, 0, 1, 0, 85,
	 VERDICT_FAIL, REASON_LOST, "strict"},
	{"strict, no timer, waited", TRAFFIC_STRICT, 0, false, 0, 3, 0, 1, 0, 0, 0, 0, 0, 1080,
	 VERDICT_WARN, REASON_SPURIOUS, "the load has no ACK timer"},
	{"ACK, middle, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_WARN, REASON_ACKS_LOST, "0 from h1 to h2 and 1 back"},
	{"ACK, middle, unseen", TRAFFIC_OBSERVE, RETRY_18, false, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_PASS, NO_REASON, NULL},
	{"ACK, middle, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	 VERDICT_PASS, NO_REASON, NULL},
	{"last ACK, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 4, 0, 1, 0, 0, 1, 0, 0, 76,
	 VERDICT_FAIL, REASON_LOST, "0 from h1 to h2 and 1 back"},
	{"last ACK, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 0, 1, 1, 0, 79,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"READ response, accounted", TRAFFIC_OBSERVE, RETRY_18, true, 0, 8, 0, 1, 0, 0, 1, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "1 back"},
	{"READ response, strict", TRAFFIC_STRICT, RETRY_14, false, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0,
	 VERDICT_FAIL, REASON_LOST, NULL},
	{"bit flipped", TRAFFIC_OBSERVE, RETRY_18, false, 1, 12, 1, 1, 0, 1, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "bad ICRCs"},
	{"0.05 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 13, 100, 13, 13, 0, 14, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "13 sequence gaps"},
	{"0.2 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 37, 300, 37, 37, 0, 57, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "37 sequence gaps"},
	{"1 % at random", TRAFFIC_OBSERVE, RETRY_18, false, 269, 900, 269, 269, 0, 509, 0, 0, 0, 0,
	 VERDICT_FAIL, REASON_LOST, "269 sequence gaps"},
	{"one datagram", TRAFFIC_COUNT, RETRY_18, false, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, VERDICT_FAIL,
	 REASON_LOST, "1 messages of class 0 never arrived"},
	{"6.1, 64 bytes, timer 14", TRAFFIC_OBSERVE, RETRY_14, false, 0, 13, 0, 8, 0, 0, 0, 0, 0, 0,
	 VERDICT_WARN, REASON_SPURIOUS, "without a gap"},
	{"6.1, 64 bytes, timer 14, accounted", TRAFFIC_OBSERVE, RETRY_14, true, 0, 8, 0, 13, 0, 0,
	 0, 0, 0, 0, VERDICT_PASS, REASON_ACCOUNTED, "27416"},
	{"6.1, timer 18, one of 2000", TRAFFIC_OBSERVE, RETRY_18, false, 0, 1, 0, 1, 0, 0, 0, 0, 0,
	 0, VERDICT_WARN, REASON_SPURIOUS, "code 18"},
	{"6.12, bulk, timer 14", TRAFFIC_OBSERVE, RETRY_14, true, 0, 1161, 0, 9, 0, 0, 0, 0, 0, 0,
	 VERDICT_PASS, REASON_ACCOUNTED, NULL},
	{"clean, observe", TRAFFIC_OBSERVE, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
	{"clean, strict", TRAFFIC_STRICT, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
	{"clean, count", TRAFFIC_COUNT, 0, true, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, VERDICT_PASS,
	 NO_REASON, NULL},
};

/* In strict mode the counters tell the same loss once more. */
static void test_soft_losses(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(loss_rows); i++) {
		const struct loss_row *row = &loss_rows[i];
		struct scene s;

		make_scene(&s, row->mode, true);
		s.spec.timeout = (uint8_t)row->timeout;
		s.in.accountable = row->accountable;
		grow_by(&s.end[1], METRIC_OUT_OF_SEQUENCE, 0, row->oos);
		grow_by(&s.end[1], METRIC_DUPLICATE_REQUEST, 0, row->copies);
		grow_by(&s.end[0], METRIC_SEQ_NAK_RX, 0, row->naks);
		grow_by(&s.end[0], METRIC_RETRANSMITS, 0, row->retries);
		grow_by(&s.end[0], METRIC_RETRY_EXCEEDED, 0, row->dead);
		s.end[1].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0] -=
			row->lost_there;
		s.end[0].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0] -=
			row->lost_back;
		s.result[0][0].losses = row->losses;
		s.result[1][0].gaps = row->gaps;
		if (row->wait_ms)
			histogram_add(&s.result[0][0].latency, row->wait_ms * UINT64_C(1000000));
		judge(&s);
		expect(row->name, &s.v, row->want, row->reason, row->says);
	}
}

static void test_faults(void **state)
{
	struct scene s;

	(void)state;
	for (size_t t = 0; t < ARRAY_SIZE(fault_tables); t++) {
		for (size_t i = 0; i < fault_tables[t]->count; i++) {
			const struct fault_row *row = &fault_tables[t]->row[i];

			run_fault(row, &s);
			expect(row->name, &s.v, row->want, row->reason, row->says);
		}
	}
}

/* Two sides of one thing: both are said. */
static void test_several(void **state)
{
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, false);
	bad_icrc_and_loss(&s);
	judge(&s);
	assert_int_equal(s.v.verdict, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s.v, REASON_CORRUPTION));
	assert_true(traffic_verdict_has(&s.v, REASON_LOST));
	make_scene(&s, TRAFFIC_OBSERVE, false);
	uncounted(&s);
	unread(&s);
	judge(&s);
	assert_int_equal(s.v.verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(reason_count(&s.v), 2); /* both ends */
	assert_int_equal(reason_at(&s.v, 0)->reason, REASON_NO_COUNTERS);
}

/* h3 sends to h2, too. */
static void add_sender(struct scene *s, struct verdict_pair pairs[2])
{
	make_end(&s->end[2], true);
	s->ends[2] = (struct verdict_end){"h3", &s->end[2]};
	pairs[0] = pairs[1] = s->pair;
	pairs[1].client = 2;
	s->in.pair = pairs;
	s->in.pair_count = 2;
	s->in.end_count = 3;
}

/* Three ports, two senders: the account is that of all. */
static void test_incast_account(void **state)
{
	struct verdict_pair pairs[2];
	struct scene s;

	(void)state;
	for (unsigned int lost = 0; lost < 2; lost++) {
		make_scene(&s, TRAFFIC_OBSERVE, true);
		add_sender(&s, pairs);
		grow_by(&s.end[2], METRIC_RDMA_TX_PACKETS, 0, 500);
		grow_by(&s.end[1], METRIC_RDMA_RX_PACKETS, 0, 500 - lost);
		grow_by(&s.end[2], METRIC_RETRANSMITS, 0, 2);
		judge(&s);
		expect("incast", &s.v, lost ? VERDICT_FAIL : VERDICT_PASS,
		       lost ? REASON_LOST : REASON_ACCOUNTED, NULL);
	}
}

/* Five packets without a buffer explain five messages, not five of each sender. */
static void test_no_buffer_of_two_senders(void **state)
{
	struct verdict_pair pairs[2];
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_COUNT, true);
	no_buffer_datagrams(&s);
	add_sender(&s, pairs);
	judge(&s);
	expect("two senders", &s.v, VERDICT_FAIL, REASON_LOST, "h3 -> h2: 5 messages of class 0");
}

static bool says(const struct traffic_verdict *v, enum reason_kind kind, int end)
{
	for (unsigned int i = 0; i < reason_count(v); i++)
		if (reason_at(v, i)->reason == kind && reason_at(v, i)->host[1] == '1' + end)
			return true;
	return false;
}

/* h1 and h3 send to h2, and each of them fails to: each is named, and nobody is gone. Then all
 * three: both ends of each pair are. */
static void test_several_senders_fail(void **state)
{
	struct verdict_pair pairs[2];
	struct scene s;

	(void)state;
	for (int all = 0; all < 2; all++) {
		make_scene(&s, TRAFFIC_OBSERVE, true);
		sends_nothing_any_more(&s);
		add_sender(&s, pairs);
		grow_by(&s.end[2], METRIC_SEND_ERRORS, 0, 5);
		if (all)
			grow_by(&s.end[1], METRIC_SEND_ERRORS, 0, 1);
		judge(&s);
		assert_false(traffic_verdict_has(&s.v, REASON_REMOTE_GONE));
		for (int end = 0; end < 3; end++)
			if (says(&s.v, REASON_LOST_IN_SENDER, end) != (end != 1 || all))
				fail_msg("%d of %s:%s", end, all ? "three" : "two",
					 all_reasons(&s.v));
		assert_int_equal(reason_count(&s.v), all ? 3 : 2);
	}
}

/* Send errors of a host whose peer is the one that lost. */
static void test_send_errors_of_both(void **state)
{
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, true);
	qdisc_612(&s);
	grow_by(&s.end[1], METRIC_SEND_ERRORS, 0, 4);
	judge(&s);
	assert_true(says(&s.v, REASON_LOST_IN_SENDER, 0));
	assert_false(says(&s.v, REASON_SEND_ERRORS, 0));
	assert_true(says(&s.v, REASON_SEND_ERRORS, 1));
}

static bool has_fault(unsigned int reason)
{
	for (size_t t = 0; t < ARRAY_SIZE(fault_tables); t++)
		for (size_t i = 0; i < fault_tables[t]->count; i++)
			if (fault_tables[t]->row[i].reason == (int)reason)
				return true;
	return false;
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int kind = 1; kind < REASON_COUNT; kind++) {
		const struct reason_info *info = &reason_table[kind];
		const struct rule *rule;
		bool tested = kind == REASON_NO_COUNTERS || kind == REASON_ACCOUNTED ||
			      kind == REASON_ACKS_LOST || kind == REASON_SPURIOUS;

		assert_non_null(info->word);
		assert_non_null(info->cause);
		rule = rule_find(info->rule);
		if (!rule)
			fail_msg("%s: no rule %s", info->word, info->rule);
		if (rule->severity < SEVERITY_ERROR && info->verdict != VERDICT_WARN &&
		    info->verdict != VERDICT_PASS && !info->weakens)
			fail_msg("%s: %s cannot decide the exit code", info->word, info->rule);
		for (unsigned int other = 1; other < kind; other++)
			assert_string_not_equal(info->word, reason_table[other].word);
		if (!tested && !has_fault(kind))
			fail_msg("%s: no case", info->word);
	}
}

static void test_json(void **state)
{
	struct scene s;
	json_t *json, *one;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, true);
	grow_by(&s.end[1], METRIC_OUT_OF_SEQUENCE, 0, 1);
	storm(&s);
	judge(&s);
	json = traffic_verdict_to_json(&s.v);
	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "verdict")), "FAIL");
	one = json_array_get(json_object_get(json, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "reason")), "lost");
	assert_string_equal(json_string_value(json_object_get(one, "cause")), "fabric-loss");
	assert_string_equal(json_string_value(json_object_get(one, "rule")), "RC-TRN-001");
	assert_string_equal(json_string_value(json_object_get(one, "host")), "h2");
	json_decref(json);
}

static void test_bad_input(void **state)
{
	struct err e = {0};
	struct scene s;

	(void)state;
	make_scene(&s, TRAFFIC_OBSERVE, true);
	s.pair.server = 2;
	assert_int_equal(traffic_verdict_make(&s.in, &s.v, &e), -EINVAL);
	s.pair.server = 1;
	s.in.end_count = VERDICT_ENDS_MAX + 1;
	assert_int_equal(traffic_verdict_make(&s.in, &s.v, &e), -EINVAL);
}

/* The last one: all of the above, byte for byte. */
static void test_frozen(void **state)
{
	(void)state;
	expect_frozen("tests/unit/reports/traffic/verdicts.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_soft_losses),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_incast_account),
		cmocka_unit_test(test_no_buffer_of_two_senders),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_several_senders_fail),
		cmocka_unit_test(test_send_errors_of_both),
		cmocka_unit_test(test_frozen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
