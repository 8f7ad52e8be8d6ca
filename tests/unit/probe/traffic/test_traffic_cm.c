/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic over queue pairs that rdma_cm connects: it moves, and the ToS that each queue pair has
 * got is compared with what was asked for, as far as the device can be believed.
 */
#include "tests/unit/fixture/fake_cm.h"
#include "tests/unit/probe/traffic/traffic_pair.h"

struct connecting {
	struct end *end;
	struct traffic_endpoint *peer;
	struct err e;
	int err;
};

static void *connect_end(void *arg)
{
	struct connecting *c = arg;

	c->err = traffic_connect(c->end->traffic, c->peer, &c->e);
	return NULL;
}

/* Both at a time: each waits for the other one. */
static void connect_pair(struct pair *p)
{
	struct traffic_endpoint *self = calloc(2, sizeof(*self));
	struct connecting c[2] = {{.end = &p->client, .peer = &self[1]},
				  {.end = &p->server, .peer = &self[0]}};
	pthread_t thread;
	struct err e = {0};

	p->client.spec.bringup = p->server.spec.bringup = TRAFFIC_CM;
	if (open_ends(p, self, &e))
		fail_msg("%s", e.text);
	assert_int_equal(self[1].cm_port, 4791);
	assert_int_equal(pthread_create(&thread, NULL, connect_end, &c[1]), 0);
	connect_end(&c[0]);
	pthread_join(thread, NULL);
	for (unsigned int i = 0; i < 2; i++)
		if (c[i].err)
			fail_msg("%u: %s", i, c[i].e.text);
	free(self);
}

static void move(struct pair *p)
{
	connect_pair(p);
	go_pair(p);
}

static void test_tos(void **state)
{
	static const struct {
		const char *name;
		uint8_t asked;
		int given, from; /* -1: as asked */
		bool no_query;
		unsigned int shift;
		uint64_t read, other, found;
	} cases[] = {
		{"as asked", 104, -1, 0, false, 0, 3, 0, 0},
		{"none: a 0 proves nothing", 0, -1, 0, false, 0, 0, 0, 0},
		{"the device's default", 104, 8, 0, false, 0, 3, 3, 8},
		{"lost", 104, 0, 0, false, 0, 3, 3, 0},
		{"another one of none", 0, 106, 0, false, 0, 3, 3, 106},
		{"ECN bits", 104, 106, 0, false, 0, 3, 3, 106},
		{"one of them", 104, 32, 2, false, 0, 3, 1, 32},
		{"not told", 104, 8, 0, true, 0, 0, 0, 0},
		{"told as DSCP", 104, -1, 0, false, 2, 0, 0, 0},
		{"never told", 104, 8, 0, false, 8, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class class = base;
		struct pair p;

		class.tos = cases[i].asked;
		class.qps = 3;
		class.count = 50;
		p = pair_of(class, TRAFFIC_OBSERVE);
		p.client.spec.threads = p.server.spec.threads = 2;
		fake_cm_reset();
		fake_cm.tos = cases[i].given;
		fake_cm.tos_from = cases[i].from;
		fake.no_query = cases[i].no_query;
		fake.tos_shift = cases[i].shift;
		move(&p);
		expect_clean(&p, cases[i].name);
		expect_moved(&p, cases[i].name);
		for (unsigned int k = 0; k < 2; k++) {
			struct traffic_report *report = k ? &p.server.report : &p.client.report;
			const struct traffic_class_result *r = &report->class[0];

			if (r->tos_read != cases[i].read || r->tos_other != cases[i].other ||
			    r->tos_found != cases[i].found)
				fail_msg("%s, end %u: %u read, %u other, found %u", cases[i].name,
					 k, (unsigned int)r->tos_read, (unsigned int)r->tos_other,
					 (unsigned int)r->tos_found);
		}
		close_pair(&p);
	}
}

/* A class without ToS before one that has one: a device that tells 0 of the first, as asked, may
 * tell it of all. */
static void test_tos_of_two(void **state)
{
	static const struct {
		const char *name;
		unsigned int qps;
		int given;
		unsigned int shift;
		uint64_t read, other[2];
	} cases[] = {
		{"as asked", 3, -1, 0, 3, {0, 0}},	{"lost", 3, 0, 0, 3, {0, 3}},
		{"told as DSCP", 3, -1, 2, 0, {0, 0}},	{"never told", 3, -1, 8, 0, {0, 0}},
		{"a worker each", 1, -1, 0, 1, {0, 0}}, {"one of them lies", 1, -1, 2, 0, {0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair p = pair_of(base, TRAFFIC_OBSERVE);
		struct traffic_class *k = p.client.spec.class;

		k[0].qps = cases[i].qps;
		k[0].count = 50;
		k[1] = k[0];
		k[1].tos = 104;
		p.client.spec.class_count = 2;
		p.client.spec.threads = 2;
		p.server.spec = p.client.spec;
		fake_cm_reset();
		fake_cm.tos = cases[i].given;
		fake.tos_shift = cases[i].shift;
		move(&p);
		expect_clean(&p, cases[i].name);
		for (unsigned int n = 0; n < 4; n++) {
			const struct end *end = n / 2 ? &p.server : &p.client;
			const struct traffic_class_result *r = &end->report.class[n % 2];

			if (r->tos_read != cases[i].read || r->tos_other != cases[i].other[n % 2])
				fail_msg("%s, end %u, class %u: %u read, %u other", cases[i].name,
					 n / 2, n % 2, (unsigned int)r->tos_read,
					 (unsigned int)r->tos_other);
		}
		close_pair(&p);
	}
}

/* Strangers knock between the requests of the run, and say this and that: they are sent away, what
 * they leave is given back, and the run goes on. After it is set up nobody is heard. */
static void test_strangers(void **state)
{
	static const enum rdma_cm_event_type says[] = {
		RDMA_CM_EVENT_REJECTED,		RDMA_CM_EVENT_DISCONNECTED,
		RDMA_CM_EVENT_UNREACHABLE,	RDMA_CM_EVENT_CONNECT_ERROR,
		RDMA_CM_EVENT_ESTABLISHED,	RDMA_CM_EVENT_TIMEWAIT_EXIT,
		RDMA_CM_EVENT_CONNECT_RESPONSE,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(says); i++) {
		struct traffic_class class = base;
		struct pair p;

		class.qps = 3;
		class.count = 50;
		p = pair_of(class, TRAFFIC_OBSERVE);
		fake_cm_reset();
		fake_cm.strangers = true;
		fake_cm.stranger_says = says[i];
		connect_pair(&p);
		assert_null(fake_cm.listener);
		assert_int_equal(fake_cm.rejected, 3);
		go_pair(&p);
		expect_clean(&p, "strangers");
		expect_moved(&p, "strangers");
		assert_int_equal(fake_cm.gone_count, 3);
		for (unsigned int k = 0; k < fake_cm.gone_count; k++)
			rdma_destroy_id(fake_cm.gone[k]);
		close_pair(&p);
		assert_int_equal(fake_cm.ids, 0);
	}
}

/* The request has the two numbers of the ticket, and nothing of the stack. */
static void test_ticket(void **state)
{
	struct pair p = pair_of(base, TRAFFIC_OBSERVE);

	(void)state;
	fake_cm_reset();
	move(&p);
	assert_int_equal(fake_cm.words_most, 12);
	close_pair(&p);
}

/* A device with fewer READs than are wished is asked for what it has. */
static void test_few_reads(void **state)
{
	struct traffic_class class = base;
	struct pair p;

	(void)state;
	class.verb = TRAFFIC_READ;
	class.count = 50;
	p = pair_of(class, TRAFFIC_OBSERVE);
	fake_cm_reset();
	fake.reads = 4;
	move(&p);
	expect_clean(&p, "few reads");
	close_pair(&p);
}

/* Queue pairs of raw verbs have what was set: nothing is asked. */
static void test_raw(void **state)
{
	struct traffic_class class = base;
	struct pair p;

	(void)state;
	class.tos = 104;
	class.count = 50;
	p = pair_of(class, TRAFFIC_OBSERVE);
	run_pair(&p);
	assert_int_equal(p.client.report.class[0].tos_read, 0);
	close_pair(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tos),	  cmocka_unit_test(test_tos_of_two),
		cmocka_unit_test(test_strangers), cmocka_unit_test(test_ticket),
		cmocka_unit_test(test_few_reads), cmocka_unit_test(test_raw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
