/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both ends of traffic in one process: every verb, transport, direction and check, paced, counted
 * and until stopped.
 */
#include "probe/traffic/traffic_worker.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

/* Every verb that a transport has, each way, with each check. */
static void test_verbs(void **state)
{
	static const struct {
		enum traffic_transport transport;
		enum traffic_verb verb;
	} kinds[] = {
		{TRAFFIC_RC, TRAFFIC_WRITE},	  {TRAFFIC_RC, TRAFFIC_WRITE_IMM},
		{TRAFFIC_RC, TRAFFIC_READ},	  {TRAFFIC_RC, TRAFFIC_SEND},
		{TRAFFIC_RC, TRAFFIC_SEND_IMM},	  {TRAFFIC_RC, TRAFFIC_ATOMIC},
		{TRAFFIC_UC, TRAFFIC_WRITE_IMM},  {TRAFFIC_UC, TRAFFIC_SEND},
		{TRAFFIC_UC, TRAFFIC_SEND_IMM},	  {TRAFFIC_UD, TRAFFIC_SEND},
		{TRAFFIC_UD, TRAFFIC_SEND_IMM},	  {TRAFFIC_XRC, TRAFFIC_WRITE},
		{TRAFFIC_XRC, TRAFFIC_WRITE_IMM}, {TRAFFIC_XRC, TRAFFIC_READ},
		{TRAFFIC_XRC, TRAFFIC_SEND},	  {TRAFFIC_XRC, TRAFFIC_SEND_IMM},
		{TRAFFIC_XRC, TRAFFIC_ATOMIC},
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

static void test_probe(void **state)
{
	static const enum traffic_verb verbs[] = {TRAFFIC_WRITE, TRAFFIC_WRITE_IMM, TRAFFIC_SEND};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(verbs); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.verb = verbs[i / 2];
		k.transport = i % 2 ? TRAFFIC_XRC : TRAFFIC_RC;
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

/* A probe of plain WRITE is seen in memory alone: also where nothing is checked, after all stamps
 * have come round, and what is wrong is found. */
static void test_polled_probe(void **state)
{
	static const struct {
		uint32_t bytes;
		enum traffic_check check;
		uint64_t spoil_at;
	} cases[] = {
		{2, TRAFFIC_CHECK_NONE, UINT64_MAX},	 {64, TRAFFIC_CHECK_EVERY, UINT64_MAX},
		{65, TRAFFIC_CHECK_SAMPLED, UINT64_MAX}, {9001, TRAFFIC_CHECK_EVERY, UINT64_MAX},
		{4096, TRAFFIC_CHECK_EVERY, 700},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.probe = true;
		k.message_bytes = cases[i].bytes;
		k.check = cases[i].check;
		k.count = 1100;
		p = pair_of(k, TRAFFIC_OBSERVE);
		fake.spoil_at = cases[i].spoil_at;
		run_pair(&p);
		if (cases[i].spoil_at == UINT64_MAX)
			expect_clean(&p, "polled");
		else
			assert_true(p.server.report.total.mismatches == 1 &&
				    p.client.report.total.mismatches == 1);
		expect_moved(&p, "polled");
		assert_int_equal(p.client.report.class->latency.count, k.count);
		close_pair(&p);
	}
}

/* A polled probe at a rate, many flows, of which one has always a message due later: its end comes
 * round soon, by its own time, in place of looking at memory where nothing can come. */
static void test_paced_probe(void **state)
{
	const uint64_t most_ns = NS_PER_MS / 10;
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);
	struct traffic_class *k = p.client.spec.class;
	const struct fake_cq *cq;

	(void)state;
	p.client.spec.class_count = 2;
	k[0].probe = true;
	k[0].message_bytes = 64;
	k[0].count = 0;
	k[1] = k[0];
	k[0].qps = 64;
	k[0].rate_bytes_per_s = 100 * k[0].qps * k[0].message_bytes;
	k[1].rate_bytes_per_s = 4 * k[1].message_bytes;
	p.client.spec.duration_ms = 200;
	p.server.spec = p.client.spec;
	fake.timed = true;
	open_pair(&p);
	p.client.traffic->soft = false; /* it polls, as on hardware */
	go_pair(&p);
	expect_clean(&p, "paced");
	cq = (const struct fake_cq *)p.client.traffic->worker[0].cq;
	assert_true(cq->polls > 0);
	if (cq->poller_ns / cq->polls > most_ns)
		fail_msg("%llu ns a turn", (unsigned long long)(cq->poller_ns / cq->polls));
	close_pair(&p);
}

/* The one asked for, when it is smaller than what the ports have; else theirs. */
static void test_mtu(void **state)
{
	static const uint16_t asked[] = {0, 512, 4096};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct traffic_class k = base;
		struct pair p;
		uint32_t want;

		k.count = 10;
		p = pair_of(k, TRAFFIC_OBSERVE);
		p.client.spec.mtu_bytes = asked[i]; /* one end is enough */
		run_pair(&p);
		want = p.server.report.total.mtu;
		assert_int_equal(p.client.report.total.mtu, want);
		assert_true(asked[i] == 512 ? want == 512 : want > 512);
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

/* The path dies, that of control included, and then both ends are stopped. */
static void *stop_cut(void *arg)
{
	struct pair *p = arg;

	usleep(100000);
	pthread_mutex_lock(&fake.lock);
	fake.mute = true;
	pthread_mutex_unlock(&fake.lock);
	p->client.stop = p->server.stop = 1;
	return NULL;
}

/* Both ends say what they waited for: of RC all was completed, and the credit did not come. */
static void expect_stall(const struct pair *p, enum traffic_transport transport)
{
	const struct traffic_stall *c = p->client.report.stall, *s = p->server.report.stall;

	assert_int_equal(p->client.report.stall_count, 1);
	assert_int_equal(p->server.report.stall_count, 1);
	assert_int_equal(c->posted, c->completed);
	assert_true(c->granted < c->completed);
	assert_true(c->control > 0);
	assert_in_range(c->completion_age_ns, 1500 * UINT64_C(1000000), c->run_ns);
	assert_in_range(s->arrival_age_ns, 1500 * UINT64_C(1000000), s->run_ns);
	assert_true(transport != TRAFFIC_RC || s->arrived == c->completed);
	assert_true(c->absent_ns < c->run_ns / 2);
}

/* A stop that does not come to its end says so, and what is known to be missing is counted. */
static void test_stop_cut(void **state)
{
	static const enum traffic_transport transports[] = {TRAFFIC_RC, TRAFFIC_UC, TRAFFIC_UD};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(transports); i++) {
		struct traffic_class k = base;
		pthread_t thread;
		struct pair p;

		k.verb = TRAFFIC_SEND;
		k.transport = transports[i];
		k.count = 0;
		p = pair_of(k, i ? TRAFFIC_COUNT : TRAFFIC_OBSERVE);
		p.client.spec.duration_ms = p.server.spec.duration_ms = 0;
		fake.lose_at = i ? 10 : UINT64_MAX;
		fake.lose_every = i ? 100 : 0;
		assert_int_equal(pthread_create(&thread, NULL, stop_cut, &p), 0);
		run_pair(&p);
		pthread_join(thread, NULL);
		assert_int_equal(p.client.report.total.cause, CAUSE_UNFINISHED);
		assert_int_equal(p.server.report.total.cause, CAUSE_UNFINISHED);
		expect_stall(&p, transports[i]);
		assert_true(!i || fake.lost > 1);
		assert_in_range(p.server.report.class->gaps, fake.lost - !!i, fake.lost);
		close_pair(&p);
	}
}

/* A rate is met by messages far enough apart for a busy processor to be in time, and is never
 * passed: time that is lost stays lost. */
static void test_rate(void **state)
{
	struct traffic_class k = base;
	struct pair p;
	double got, seconds;

	(void)state;
	k.count = 0;
	k.message_bytes = 65536;
	k.rate_bytes_per_s = 5000000; /* one each 13 ms */
	p = pair_of(k, TRAFFIC_OBSERVE);
	p.client.spec.duration_ms = p.server.spec.duration_ms = 500;
	run_pair(&p);
	expect_clean(&p, "rate");
	/* Longer where a processor was late to see that the time was over. */
	seconds = (double)p.client.report.total.duration_ns / 1e9;
	got = (double)p.client.report.total.bytes / (seconds > 0.5 ? seconds : 0.5);
	if (got < 0.8 * (double)k.rate_bytes_per_s || got > 1.03 * (double)k.rate_bytes_per_s)
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
	for (unsigned int i = 0; i < 2; i++) {
		const struct traffic_result *r = &(i ? &p.server : &p.client)->report.total;

		assert_in_range(r->control_messages, 1, 39);
		assert_int_equal(r->control_bytes, r->control_messages * 64); /* a cell */
	}
	close_pair(&p);
}

/* How much is under way does not depend on whether it is looked at: nothing is told of before the
 * time is over, so that what was posted is what may be under way. */
static void test_flight(void **state)
{
	static const struct {
		enum traffic_check check;
		uint32_t window, messages;
	} cases[] = {
		{TRAFFIC_CHECK_NONE, 0, 32},
		{TRAFFIC_CHECK_SAMPLED, 0, 32},
		{TRAFFIC_CHECK_EVERY, 0, 32},
		{TRAFFIC_CHECK_EVERY, 64, 64},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class k = base;
		struct pair p;

		k.check = cases[i].check;
		k.window = cases[i].window;
		k.message_bytes = 65536;
		k.count = 0;
		p = pair_of(k, TRAFFIC_OBSERVE);
		p.client.spec.duration_ms = p.server.spec.duration_ms = 500;
		fake.late_ms = 1500;
		run_pair(&p);
		expect_clean(&p, "flight");
		assert_int_equal(p.client.report.total.messages, cases[i].messages);
		close_pair(&p);
	}
}

/* What is not offered, and what does not fit the peer. */
static void test_refused(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);
	struct traffic_endpoint *self = calloc(1, sizeof(*self));
	struct traffic *t = NULL;
	struct err e = {0};

	(void)state;
	strcpy(p.client.spec.ibdev, "fake0");
	p.client.spec.bringup = TRAFFIC_CM;
	p.client.spec.mode = TRAFFIC_STRICT;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EINVAL);
	p.client.spec.bringup = TRAFFIC_RAW;
	p.client.spec.mode = TRAFFIC_OBSERVE;
	p.client.spec.class[0].transport = TRAFFIC_XRC;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -EOPNOTSUPP);
	assert_non_null(strstr(e.text, "fake0 does not support XRC: no IBV_DEVICE_XRC"));
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.posts, 0);
	p.client.spec.class[0].transport = TRAFFIC_RC;
	strcpy(p.client.spec.ibdev, "nonesuch");
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), -ENODEV);
	assert_null(t);
	strcpy(p.client.spec.ibdev, "fake0");
	p.client.spec.class[0].transport = TRAFFIC_UD;
	p.client.spec.class[0].verb = TRAFFIC_SEND;
	p.client.spec.class[0].message_bytes = 8192;
	assert_int_equal(traffic_open(&p.client.spec, &t, &e), 0);
	traffic_get_endpoint(t, self);
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
		cmocka_unit_test(test_verbs),	    cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_probe),	    cmocka_unit_test(test_polled_probe),
		cmocka_unit_test(test_classes),	    cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_stop),	    cmocka_unit_test(test_stop_cut),
		cmocka_unit_test(test_rate),	    cmocka_unit_test(test_no_inline),
		cmocka_unit_test(test_lists),	    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_paced_probe), cmocka_unit_test(test_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
