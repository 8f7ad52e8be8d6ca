/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What traffic_pair.h declares.
 */
#include "tests/unit/probe/traffic/traffic_pair.h"

static void *run_end(void *arg)
{
	struct end *end = arg;
	struct err e = {0};

	end->err = traffic_run(end->traffic, &end->stop, &end->report, &e);
	return NULL;
}

int open_ends(struct pair *p, struct traffic_endpoint self[2], struct err *e)
{
	struct end *ends[] = {&p->client, &p->server};
	int err = 0;

	for (unsigned int i = 0; i < 2 && !err; i++) {
		ends[i]->spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		strcpy(ends[i]->spec.ibdev, "fake0");
		ends[i]->spec.ib_port = 1;
		err = traffic_open(&ends[i]->spec, &ends[i]->traffic, e);
		if (!err)
			traffic_get_endpoint(ends[i]->traffic, &self[i]);
	}
	return err;
}

int try_pair(struct pair *p, struct err *e)
{
	struct traffic_endpoint *self = calloc(2, sizeof(*self));
	int err = open_ends(p, self, e);

	if (!err)
		err = traffic_connect(p->client.traffic, &self[1], e);
	if (!err)
		err = traffic_connect(p->server.traffic, &self[0], e);
	free(self);
	return err;
}

void open_pair(struct pair *p)
{
	struct err e = {0};

	if (try_pair(p, &e))
		fail_msg("%s", e.text);
}

void go_pair(struct pair *p)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_end, &p->server), 0);
	run_end(&p->client);
	pthread_join(thread, NULL);
	assert_int_equal(p->client.err, 0);
	assert_int_equal(p->server.err, 0);
}

void run_pair(struct pair *p)
{
	open_pair(p);
	go_pair(p);
}

void close_pair(struct pair *p)
{
	traffic_close(p->client.traffic);
	traffic_close(p->server.traffic);
	traffic_report_clear(&p->client.report);
	traffic_report_clear(&p->server.report);
	assert_int_equal(fake.qps, 0);
	assert_int_equal(fake.cqs, 0);
	assert_int_equal(fake.mrs, 0);
	assert_int_equal(fake.ahs + fake.srqs + fake.xrcds + fake.pds, 0);
	assert_int_equal(fake.busy, 0);
	assert_int_equal(fake.bad_state, 0);
}

struct pair pair_of(struct traffic_class class, enum traffic_mode mode)
{
	struct pair p = {0};

	traffic_spec_simple(&p.client.spec, class.verb, class.message_bytes, 20000);
	p.client.spec.class[0] = class;
	p.client.spec.mode = mode;
	p.client.spec.seed = 0x1234567890abcdef;
	p.server.spec = p.client.spec;
	fake_reset();
	fake.xrc = class.transport == TRAFFIC_XRC;
	return p;
}

const struct traffic_class base = {
	.verb = TRAFFIC_WRITE,
	.check = TRAFFIC_CHECK_EVERY,
	.qps = 1,
	.message_bytes = 4096,
	.count = 1000,
};

void expect_clean(const struct pair *p, const char *what)
{
	const struct traffic_result *c = &p->client.report.total, *s = &p->server.report.total;

	if (c->cause || s->cause || c->mismatches || s->mismatches || fake.not_ready)
		fail_msg("%s: '%s' '%s', %u not ready", what, c->detail, s->detail, fake.not_ready);
}

void expect_moved(const struct pair *p, const char *what)
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
