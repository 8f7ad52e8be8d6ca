/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of traffic in one process: what is lost, spoilt, repeated and swapped on the way, in
 * each mode.
 */
#include "probe/traffic/traffic_worker.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

/* A stall ends after 1.5 s; its clock may have begun a moment before what is lost was posted. */
#define STALL_SEEN_NS (1400 * NS_PER_MS)
#define LAST_SEEN_NS  (4000 * NS_PER_MS) /* 2.5 s, and a machine that does much else */

/* A flipped byte, by verb: both ends say so, and the run goes on. */
static void test_spoilt(void **state)
{
	static const enum traffic_verb verbs[] = {TRAFFIC_WRITE, TRAFFIC_READ, TRAFFIC_SEND,
						  TRAFFIC_WRITE_IMM, TRAFFIC_ATOMIC};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(verbs); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i / 2];
		k.transport = i % 2 ? TRAFFIC_XRC : TRAFFIC_RC;
		k.message_bytes = 4001;
		p = pair_of(k, TRAFFIC_OBSERVE);
		fake.spoil_at = 321;
		run_pair(&p);
		if (p.client.report.total.mismatches + p.server.report.total.mismatches == 0)
			fail_msg("%s: nothing was found", traffic_verb_word(k.verb));
		assert_int_equal(p.client.report.total.cause, CAUSE_DATA);
		if (p.server.report.total.mismatches)
			assert_non_null(strstr(p.server.report.total.detail, "message 321 "));
		expect_moved(&p, traffic_verb_word(k.verb));
		close_pair(&p);
	}
}

/* Ends of two runs: all of it is wrong, to both. */
static void test_foreign(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);

	(void)state;
	p.server.spec.seed++;
	run_pair(&p);
	assert_int_equal(p.server.report.total.mismatches, base.count);
	assert_int_equal(p.server.report.total.cause, CAUSE_DATA);
	assert_int_equal(p.client.report.total.cause, CAUSE_DATA);
	close_pair(&p);
}

/* Count mode: exact numbers of what was lost, came twice, came late. */
static void test_count(void **state)
{
	static const struct {
		uint64_t lose_at, lose_every, repeat_at, swap_at;
		uint64_t gaps, reordered, mismatches;
	} cases[] = {
		{UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, 0, 0, 0},
		{0, 0, UINT64_MAX, UINT64_MAX, 1, 0, 0},
		{500, 0, UINT64_MAX, UINT64_MAX, 1, 0, 0},
		{999, 0, UINT64_MAX, UINT64_MAX, 1, 0, 0},
		{100, 100, UINT64_MAX, UINT64_MAX, 9, 0, 0},
		{0, 1, UINT64_MAX, UINT64_MAX, 1000, 0, 0}, /* a black hole */
		{UINT64_MAX, 0, UINT64_MAX, 642, 0, 1, 0},
		{UINT64_MAX, 0, 77, UINT64_MAX, 0, 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		struct traffic_class k = base;
		const struct traffic_class_result *r;
		struct pair p;

		k.verb = TRAFFIC_SEND;
		k.transport = i % 2 ? TRAFFIC_UD : TRAFFIC_UC;
		p = pair_of(k, TRAFFIC_COUNT);
		fake.lose_at = cases[i / 2].lose_at;
		fake.lose_every = cases[i / 2].lose_every;
		fake.repeat_at = cases[i / 2].repeat_at;
		fake.swap_at = cases[i / 2].swap_at;
		run_pair(&p);
		r = p.server.report.class;
		if (r->gaps != cases[i / 2].gaps || r->reordered != cases[i / 2].reordered ||
		    r->mismatches != cases[i / 2].mismatches ||
		    r->arrived != base.count - cases[i / 2].gaps)
			fail_msg("case %zu: '%s', %llu gaps, %llu reordered, %llu wrong, %llu "
				 "arrived",
				 i, p.server.report.total.detail, (unsigned long long)r->gaps,
				 (unsigned long long)r->reordered,
				 (unsigned long long)r->mismatches, (unsigned long long)r->arrived);
		close_pair(&p);
	}
}

/* Strict mode: each loss is an event, the queue pair lives again, all of it arrives. */
static void test_strict(void **state)
{
	static const enum traffic_verb verbs[] = {TRAFFIC_WRITE, TRAFFIC_READ, TRAFFIC_ATOMIC};
	static const uint64_t places[] = {0, 1, 500, 999};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(verbs) * ARRAY_SIZE(places); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i / 2 / ARRAY_SIZE(places)];
		k.transport = i % 2 ? TRAFFIC_XRC : TRAFFIC_RC;
		p = pair_of(k, TRAFFIC_STRICT);
		fake.lose_at = places[i / 2 % ARRAY_SIZE(places)];
		run_pair(&p);
		expect_clean(&p, traffic_verb_word(k.verb));
		expect_moved(&p, traffic_verb_word(k.verb));
		assert_int_equal(fake.lost, 1);
		assert_int_equal(p.client.report.class->losses, 1);
		assert_int_equal(p.client.report.failure_count, 1);
		assert_int_equal(p.client.report.failure[0].cause, CAUSE_RETRY_EXCEEDED);
		assert_true(p.client.report.failure[0].recovered);
		close_pair(&p);
	}
}

static void test_strict_often(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_STRICT);

	(void)state;
	fake.lose_at = 3;
	fake.lose_every = 50;
	run_pair(&p);
	expect_clean(&p, "write");
	expect_moved(&p, "write");
	assert_true(fake.lost > 10);
	assert_int_equal(p.client.report.class->losses, fake.lost);
	assert_int_equal(p.client.report.failure_count, TRAFFIC_FAILURES_MAX);
	close_pair(&p);
}

/* The last packet of a stream: nothing that follows tells of it, our own clock does. */
static void test_strict_tail(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_STRICT);

	(void)state;
	fake.lose_at = base.count - 1;
	fake.silent = true;
	run_pair(&p);
	expect_clean(&p, "write");
	expect_moved(&p, "write");
	assert_int_equal(p.client.report.class->losses, 1);
	close_pair(&p);
}

/* The last message of one queue pair, a large one: as soon as the others have what they wait for,
 * no more than the time of its own is left to it. */
static void test_strict_last(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_STRICT);
	struct traffic_class *k = p.client.spec.class;

	(void)state;
	p.client.spec.class_count = 2;
	k[0].check = TRAFFIC_CHECK_NONE;
	k[0].message_bytes = 4 << 20;
	k[1] = k[0];
	k[0].count = 2;
	k[1].count = 1;
	k[1].qps = 3;
	p.server.spec = p.client.spec;
	fake.lose_at = 1;
	fake.silent = true;
	run_pair(&p);
	expect_clean(&p, "write");
	assert_int_equal(fake.lost, 1);
	assert_int_equal(p.client.report.class[0].losses, 1);
	assert_int_equal(p.client.report.class[0].messages, k[0].count);
	assert_in_range(p.client.report.failure[0].when_ns, STALL_SEEN_NS, LAST_SEEN_NS);
	close_pair(&p);
}

/* What is answered late is not lost: the queue pairs wait for each other, or the host stood still
 * and has the answers before it. */
static void test_strict_slow(void **state)
{
	static const struct {
		const char *name;
		uint32_t qps, bytes, count;
		unsigned int late_ms, still_ms;
	} cases[] = {
		{"large messages", 4, 8 << 20, 2, 1700, 0},
		{"many queue pairs", 128, 65536, 32, 1700, 0},
		{"the host stood still", 64, 4096, 1, 0, 1700},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.qps = cases[i].qps;
		k.message_bytes = cases[i].bytes;
		k.count = cases[i].count;
		k.check = TRAFFIC_CHECK_NONE;
		p = pair_of(k, TRAFFIC_STRICT);
		fake.late_ms = cases[i].late_ms;
		fake.still_ms = cases[i].still_ms;
		run_pair(&p);
		assert_int_equal(fake.still_ms, 0);
		expect_clean(&p, cases[i].name);
		expect_moved(&p, cases[i].name);
		if (p.client.report.class->losses)
			fail_msg("%s: %llu losses", cases[i].name,
				 (unsigned long long)p.client.report.class->losses);
		close_pair(&p);
	}
}

/* Nothing passes at all: that much was lost is known before the run is given up. */
static void test_strict_hole(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.qps = 64;
	k.message_bytes = 65536;
	k.check = TRAFFIC_CHECK_NONE;
	p = pair_of(k, TRAFFIC_STRICT);
	fake.lose_at = 0;
	fake.lose_every = 1;
	fake.silent = true;
	run_pair(&p);
	assert_int_equal(p.client.report.total.cause, CAUSE_TIMEOUT);
	assert_int_equal(p.client.report.class->losses, k.qps);
	close_pair(&p);
}

/* A latency probe goes both ways on its queue pair. What is lost of either way, and of both at a
 * time, is an event at the end that lost it; all of it is done in the end, and no round trip is
 * left out, nor the time it took. An end that lost an ACK may be asked for a reset before it reads
 * so: then only the other one tells of it. */
static void test_strict_probe(void **state)
{
	static const struct {
		const char *name;
		uint64_t lose_at, lose_every, unacked_at;
		bool silent;
		uint64_t client[2], server[2]; /* losses, least and most */
	} cases[] = {
		{"clean", UINT64_MAX, 0, UINT64_MAX, false, {0, 0}, {0, 0}},
		{"the first", 0, 0, UINT64_MAX, false, {1, 1}, {1, 1}},
		{"in the middle", 70, 0, UINT64_MAX, false, {1, 1}, {1, 1}},
		{"the last", 199, 0, UINT64_MAX, false, {1, 1}, {1, 1}},
		{"often", 3, 9, UINT64_MAX, false, {20, 30}, {20, 30}},
		{"ACKs", UINT64_MAX, 0, 70, false, {1, 1}, {0, 1}},
		{"the last ACKs", UINT64_MAX, 0, 199, false, {1, 1}, {0, 1}},
		{"the last, no timer", 199, 0, UINT64_MAX, true, {1, 1}, {1, 1}},
		{"both at once, no timer", 70, 0, 69, true, {0, 1}, {0, 1}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class k = base;
		const struct traffic_class_result *c, *s;
		struct pair p;

		k.probe = true;
		k.message_bytes = 64;
		k.count = 200;
		p = pair_of(k, TRAFFIC_STRICT);
		fake.lose_at = cases[i].lose_at;
		fake.lose_every = cases[i].lose_every;
		fake.unacked_at = cases[i].unacked_at;
		fake.silent = cases[i].silent;
		run_pair(&p);
		c = p.client.report.class;
		s = p.server.report.class;
		expect_clean(&p, cases[i].name);
		expect_moved(&p, cases[i].name);
		if (c->losses < cases[i].client[0] || c->losses > cases[i].client[1] ||
		    s->losses < cases[i].server[0] || s->losses > cases[i].server[1])
			fail_msg("%s: %llu and %llu losses", cases[i].name,
				 (unsigned long long)c->losses, (unsigned long long)s->losses);
		assert_true(c->losses + s->losses > 0 || !i);
		assert_int_equal(c->latency.count, k.count);
		if (cases[i].silent && c->latency.max_ns < STALL_SEEN_NS)
			fail_msg("%s: %llu ns at most", cases[i].name,
				 (unsigned long long)c->latency.max_ns);
		close_pair(&p);
	}
}

/* By time, and it is over with a message that is lost: that one is repeated and comes back, and no
 * other one follows. */
static void test_strict_end(void **state)
{
	struct traffic_class k = base;
	const struct traffic_class_result *c;
	struct pair p;

	(void)state;
	k.probe = true;
	k.message_bytes = 64;
	k.count = 0;
	p = pair_of(k, TRAFFIC_STRICT);
	fake.lose_at = 70;
	open_pair(&p);
	fake.ends_at_loss = &p.client.traffic->end_ns;
	go_pair(&p);
	c = p.client.report.class;
	expect_clean(&p, "probe");
	assert_int_equal(c->losses, 1);
	assert_int_equal(c->messages, fake.lose_at + 1);
	assert_int_equal(c->latency.count, fake.lose_at + 1);
	close_pair(&p);
}

/* A device that repeats hides a loss; one that gives up ends the run with the cause. */
static void test_observe(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);

	(void)state;
	fake.lose_at = 500;
	run_pair(&p);
	expect_clean(&p, "write");
	assert_int_equal(fake.lost, 1);
	assert_int_equal(p.client.report.class->losses, 0);
	close_pair(&p);
}

/* A queue pair that dies ends the run at both ends, with its first error alone. */
static void test_dead(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.verb = TRAFFIC_SEND;
	k.qps = 3;
	p = pair_of(k, TRAFFIC_OBSERVE);
	fake.kill_at = 300;
	run_pair(&p);
	assert_int_equal(p.client.report.total.cause, CAUSE_RETRY_EXCEEDED);
	assert_non_null(strstr(p.client.report.total.detail, "RETRY_EXC_ERR"));
	assert_int_equal(p.server.report.total.cause, CAUSE_REMOTE_GONE);
	assert_in_range(p.client.report.failure_count, 1, 3);
	for (unsigned int i = 0; i < p.client.report.failure_count; i++)
		assert_int_equal(p.client.report.failure[i].status, IBV_WC_RETRY_EXC_ERR);
	close_pair(&p);
}

/* The port is to blame, not the queue pairs that die of it. */
static void test_port_down(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.qps = 4;
	p = pair_of(k, TRAFFIC_OBSERVE);
	fake.down_at = 600;
	run_pair(&p);
	assert_int_equal(p.client.report.total.cause, CAUSE_PORT_DOWN);
	assert_true(p.client.report.total.messages > 0);
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spoilt),	     cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_count),	     cmocka_unit_test(test_strict),
		cmocka_unit_test(test_strict_often), cmocka_unit_test(test_strict_tail),
		cmocka_unit_test(test_strict_last),  cmocka_unit_test(test_strict_slow),
		cmocka_unit_test(test_strict_hole),  cmocka_unit_test(test_strict_probe),
		cmocka_unit_test(test_strict_end),   cmocka_unit_test(test_observe),
		cmocka_unit_test(test_dead),	     cmocka_unit_test(test_port_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
