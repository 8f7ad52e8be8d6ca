/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of traffic in one process, over verbs that are no device's: every verb, transport,
 * direction and mode, and what is lost, spoilt, repeated and swapped on the way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/traffic.h"
#include "tests/unit/fake_verbs.h"

struct end {
	struct traffic_spec spec;
	struct traffic *traffic;
	struct traffic_report report;
	volatile int stop;
	int err;
};

struct pair {
	struct end client, server;
};

static void *run_end(void *arg)
{
	struct end *end = arg;
	struct err e = {0};

	end->err = traffic_run(end->traffic, &end->stop, &end->report, &e);
	return NULL;
}

static void open_pair(struct pair *p)
{
	struct end *ends[] = {&p->client, &p->server};
	struct traffic_peer *self = calloc(2, sizeof(*self));
	struct err e = {0};

	for (unsigned int i = 0; i < 2; i++) {
		ends[i]->spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		strcpy(ends[i]->spec.ibdev, "fake0");
		ends[i]->spec.ib_port = 1;
		if (traffic_open(&ends[i]->spec, &ends[i]->traffic, &e))
			fail_msg("%s", e.text);
		traffic_self(ends[i]->traffic, &self[i]);
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (traffic_connect(ends[i]->traffic, &self[1 - i], &e))
			fail_msg("%s", e.text);
	}
	free(self);
}

static void run_pair(struct pair *p)
{
	pthread_t thread;

	open_pair(p);
	assert_int_equal(pthread_create(&thread, NULL, run_end, &p->server), 0);
	run_end(&p->client);
	pthread_join(thread, NULL);
	assert_int_equal(p->client.err, 0);
	assert_int_equal(p->server.err, 0);
}

static void close_pair(struct pair *p)
{
	traffic_close(p->client.traffic);
	traffic_close(p->server.traffic);
	traffic_report_clear(&p->client.report);
	traffic_report_clear(&p->server.report);
	assert_int_equal(fake.qps, 0);
	assert_int_equal(fake.cqs, 0);
	assert_int_equal(fake.mrs, 0);
}

/* One class on both ends, so many messages of each QP. */
static struct pair pair_of(struct traffic_class class, enum traffic_mode mode)
{
	struct pair p = {0};

	traffic_spec_simple(&p.client.spec, class.verb, class.message_bytes, 20000);
	p.client.spec.class[0] = class;
	p.client.spec.mode = mode;
	p.client.spec.seed = 0x1234567890abcdef;
	p.server.spec = p.client.spec;
	fake_reset();
	return p;
}

static const struct traffic_class base = {
	.verb = TRAFFIC_WRITE,
	.check = TRAFFIC_CHECK_EVERY,
	.qps = 1,
	.message_bytes = 4096,
	.count = 1000,
};

static void expect_clean(const struct pair *p, const char *what)
{
	const struct traffic_result *c = &p->client.report.total, *s = &p->server.report.total;

	if (c->cause || s->cause || c->mismatches || s->mismatches || fake.not_ready)
		fail_msg("%s: '%s' '%s', %u not ready", what, c->detail, s->detail, fake.not_ready);
}

/* Messages that moved forward and backward, at both ends. */
static void expect_moved(const struct pair *p, const char *what)
{
	const struct traffic_class *k = &p->client.spec.class[0];
	const struct traffic_class_result *c = p->client.report.class, *s = p->server.report.class;
	uint64_t want = k->count * k->qps;
	bool seen = k->verb != TRAFFIC_READ && k->verb != TRAFFIC_ATOMIC;
	uint64_t forth = k->direction == TRAFFIC_BACKWARD ? 0 : want;
	uint64_t back = k->direction == TRAFFIC_FORWARD && !k->probe ? 0 : want;

	if (c->messages != forth || s->messages != back || (seen && s->arrived != forth) ||
	    (seen && c->arrived != back))
		fail_msg("%s: client %llu out %llu in, server %llu out %llu in", what,
			 (unsigned long long)c->messages, (unsigned long long)c->arrived,
			 (unsigned long long)s->messages, (unsigned long long)s->arrived);
}

/* Every verb that a transport has, each way, with each check. */
static void test_verbs(void **state)
{
	static const struct {
		enum traffic_transport transport;
		enum traffic_verb verb;
	} kinds[] = {
		{TRAFFIC_RC, TRAFFIC_WRITE},	 {TRAFFIC_RC, TRAFFIC_WRITE_IMM},
		{TRAFFIC_RC, TRAFFIC_READ},	 {TRAFFIC_RC, TRAFFIC_SEND},
		{TRAFFIC_RC, TRAFFIC_SEND_IMM},	 {TRAFFIC_RC, TRAFFIC_ATOMIC},
		{TRAFFIC_UC, TRAFFIC_WRITE_IMM}, {TRAFFIC_UC, TRAFFIC_SEND},
		{TRAFFIC_UC, TRAFFIC_SEND_IMM},	 {TRAFFIC_UD, TRAFFIC_SEND},
		{TRAFFIC_UD, TRAFFIC_SEND_IMM},
	};
	char what[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds) * 9; i++) {
		struct traffic_class k = base;
		struct pair p;

		k.transport = kinds[i / 9].transport;
		k.verb = kinds[i / 9].verb;
		k.direction = (enum traffic_direction)(i % 3);
		k.check = (enum traffic_check)(i / 3 % 3);
		k.message_bytes = i % 2 ? 64 : 4001;
		k.count = 997;
		k.qps = 3;
		snprintf(what, sizeof(what), "%s %s %s %s", traffic_transport_word(k.transport),
			 traffic_verb_word(k.verb), traffic_direction_word(k.direction),
			 traffic_check_word(k.check));
		p = pair_of(k, TRAFFIC_OBSERVE);
		p.client.spec.threads = p.server.spec.threads = 2;
		run_pair(&p);
		expect_clean(&p, what);
		expect_moved(&p, what);
		close_pair(&p);
	}
}

static void test_every_byte(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);

	(void)state;
	run_pair(&p);
	expect_clean(&p, "write");
	assert_int_equal(p.server.report.total.checked_bytes, base.count * base.message_bytes);
	close_pair(&p);
}

/* A flipped byte, by verb: both ends say so, and the run goes on. */
static void test_spoilt(void **state)
{
	static const enum traffic_verb verbs[] = {TRAFFIC_WRITE, TRAFFIC_READ, TRAFFIC_SEND,
						  TRAFFIC_WRITE_IMM, TRAFFIC_ATOMIC};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i];
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
	for (size_t i = 0; i < ARRAY_SIZE(verbs) * ARRAY_SIZE(places); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i / ARRAY_SIZE(places)];
		p = pair_of(k, TRAFFIC_STRICT);
		fake.lose_at = places[i % ARRAY_SIZE(places)];
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
	assert_int_equal(p.server.report.total.cause, CAUSE_PEER_GONE);
	assert_in_range(p.client.report.failure_count, 1, 3);
	for (unsigned int i = 0; i < p.client.report.failure_count; i++)
		assert_int_equal(p.client.report.failure[i].status, IBV_WC_RETRY_EXC_ERR);
	close_pair(&p);
}

static void test_probe(void **state)
{
	static const enum traffic_verb verbs[] = {TRAFFIC_WRITE, TRAFFIC_WRITE_IMM, TRAFFIC_SEND};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i];
		k.probe = true;
		k.message_bytes = 64;
		k.count = 200;
		p = pair_of(k, TRAFFIC_OBSERVE);
		run_pair(&p);
		expect_clean(&p, traffic_verb_word(k.verb));
		expect_moved(&p, traffic_verb_word(k.verb));
		assert_int_equal(p.client.report.class->latency.count, k.count);
		assert_int_equal(p.server.report.class->latency.count, 0);
		close_pair(&p);
	}
}

/* Several at once, each its own numbers. */
static void test_classes(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);
	struct traffic_class *k = p.client.spec.class;

	(void)state;
	p.client.spec.class_count = 3;
	k[1] = k[2] = base;
	k[0].count = 100;
	k[1].verb = TRAFFIC_SEND;
	k[1].direction = TRAFFIC_BACKWARD;
	k[1].qps = 5;
	k[1].count = 200;
	k[2].verb = TRAFFIC_READ;
	k[2].count = 300;
	p.client.spec.threads = 3;
	p.server.spec = p.client.spec;
	run_pair(&p);
	expect_clean(&p, "classes");
	assert_int_equal(p.client.report.class_count, 3);
	assert_int_equal(p.client.report.class[0].messages, 100);
	assert_int_equal(p.server.report.class[0].arrived, 100);
	assert_int_equal(p.server.report.class[1].messages, 1000);
	assert_int_equal(p.client.report.class[1].arrived, 1000);
	assert_int_equal(p.client.report.class[2].messages, 300);
	assert_int_equal(p.client.report.total.messages, 1400);
	close_pair(&p);
}

static void *stop_later(void *arg)
{
	struct pair *p = arg;

	usleep(100000);
	p->client.stop = 1;
	return NULL;
}

/* Until stopped: one end is told, both end, and nothing is missing. */
static void test_stop(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);
	pthread_t thread;

	(void)state;
	p.client.spec.class[0].count = 0;
	p.client.spec.class[0].direction = TRAFFIC_BOTH;
	p.client.spec.duration_ms = 0;
	p.server.spec = p.client.spec;
	assert_int_equal(pthread_create(&thread, NULL, stop_later, &p), 0);
	run_pair(&p);
	pthread_join(thread, NULL);
	expect_clean(&p, "until stopped");
	assert_true(p.client.report.class->messages > 0);
	assert_int_equal(p.client.report.class->messages, p.server.report.class->arrived);
	assert_int_equal(p.server.report.class->messages, p.client.report.class->arrived);
	close_pair(&p);
}

/* A rate is met, and not by bursts. */
static void test_rate(void **state)
{
	struct traffic_class k = base;
	struct pair p;
	double got;

	(void)state;
	k.count = 0;
	k.rate_bytes_per_s = 40960000;
	p = pair_of(k, TRAFFIC_OBSERVE);
	p.client.spec.duration_ms = p.server.spec.duration_ms = 500;
	run_pair(&p);
	expect_clean(&p, "rate");
	got = (double)p.client.report.total.bytes / 0.5;
	if (got < 0.8 * (double)k.rate_bytes_per_s || got > 1.05 * (double)k.rate_bytes_per_s)
		fail_msg("%.0f bytes/s", got);
	close_pair(&p);
}

static void test_no_inline(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.message_bytes = 64;
	p = pair_of(k, TRAFFIC_OBSERVE);
	fake.no_inline = true;
	run_pair(&p);
	expect_clean(&p, "no inline");
	expect_moved(&p, "no inline");
	close_pair(&p);
}

/* Many messages go in one post, and few are told of. */
static void test_lists(void **state)
{
	struct traffic_class k = base;
	struct pair p;

	(void)state;
	k.check = TRAFFIC_CHECK_NONE;
	k.message_bytes = 64;
	k.count = 16000;
	p = pair_of(k, TRAFFIC_OBSERVE);
	run_pair(&p);
	expect_clean(&p, "lists");
	assert_in_range(fake.post_lists, 1000, 1040); /* and control */
	close_pair(&p);
}

/* What is not offered, and what does not fit the peer. */
static void test_refused(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);
	struct traffic_peer *self = calloc(1, sizeof(*self));
	struct traffic *t = NULL;
	struct err e = {0};

	(void)state;
	strcpy(p.client.spec.ibdev, "fake0");
	p.client.spec.bringup = TRAFFIC_CM;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EOPNOTSUPP);
	p.client.spec.bringup = TRAFFIC_RAW;
	p.client.spec.class[0].transport = TRAFFIC_XRC;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EOPNOTSUPP);
	p.client.spec.class[0].transport = TRAFFIC_RC;
	strcpy(p.client.spec.ibdev, "nonesuch");
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -ENODEV);
	assert_null(t);
	strcpy(p.client.spec.ibdev, "fake0");
	p.client.spec.class[0].transport = TRAFFIC_UD;
	p.client.spec.class[0].verb = TRAFFIC_SEND;
	p.client.spec.class[0].message_bytes = 8192;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), 0);
	traffic_self(t, self);
	assert_int_equal(traffic_connect(t, self, &e), -EMSGSIZE);
	self->qp_count--;
	assert_int_equal(traffic_connect(t, self, &e), -EPROTO);
	assert_int_equal(traffic_run(t, &p.client.stop, &p.client.report, &e), -ENOTCONN);
	traffic_close(t);
	free(self);
	assert_int_equal(fake.qps + fake.cqs + fake.mrs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verbs),	     cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_spoilt),	     cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_count),	     cmocka_unit_test(test_strict),
		cmocka_unit_test(test_strict_often), cmocka_unit_test(test_strict_tail),
		cmocka_unit_test(test_observe),	     cmocka_unit_test(test_dead),
		cmocka_unit_test(test_probe),	     cmocka_unit_test(test_classes),
		cmocka_unit_test(test_stop),	     cmocka_unit_test(test_rate),
		cmocka_unit_test(test_no_inline),    cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
