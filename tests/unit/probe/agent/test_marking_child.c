/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A marking echo between two traffic processes, here threads: the lines that an agent gives them,
 * and their answers. And traffic whose coordinator falls silent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "probe/agent/agent.h"
#include "probe/marking/marking.h"
#include "tests/unit/fixture/fake_objects.h"

struct child {
	int in[2], out[2];
	FILE *to, *from;
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct child *c = arg;

	(void)traffic_child(c->in[0], c->out[1], false);
	return NULL;
}

static void start(struct child *c)
{
	assert_int_equal(pipe(c->in), 0);
	assert_int_equal(pipe(c->out), 0);
	c->to = fdopen(c->in[1], "w");
	c->from = fdopen(c->out[0], "r");
	assert_int_equal(pthread_create(&c->thread, NULL, serve, c), 0);
}

static void tell(struct child *c, json_t *doc)
{
	json_dumpf(doc, c->to, JSON_COMPACT);
	fputc('\n', c->to);
	fflush(c->to);
	json_decref(doc);
}

/* The member of the answer. */
static json_t *hear(struct child *c, const char *key)
{
	char line[65536];
	json_t *doc;

	if (!fgets(line, sizeof(line), c->from))
		fail_msg("no answer");
	doc = json_loads(line, 0, NULL);
	if (!json_object_get(doc, key))
		fail_msg("no %s: %s", key, line);
	return doc;
}

static void finish(struct child *c)
{
	fclose(c->to);
	pthread_join(c->thread, NULL);
	fclose(c->from);
}

/* peer: what each of both said of itself. */
static void connect_and_run(struct child c[2], json_t *const peer[2])
{
	for (unsigned int i = 0; i < 2; i++)
		tell(&c[i], json_incref(json_object_get(peer[!i], "peer")));
	for (unsigned int i = 0; i < 2; i++)
		json_decref(hear(&c[i], "connected"));
	for (unsigned int i = 2; i-- > 0;)
		tell(&c[i], json_pack("{s:b}", "run", 1));
}

static void take_result(struct child *c, struct marking_result *r)
{
	json_t *doc = hear(c, "result");
	struct err e = {0};

	if (marking_result_from_json(json_object_get(doc, "result"), r, &e))
		fail_msg("%s", e.text);
	json_decref(doc);
}

static void test_two(void **state)
{
	struct marking_spec spec = {.ibdev = "fake0",
				    .ib_port = 1,
				    .seed = 99,
				    .duration_ms = 20000,
				    .count = 8,
				    .paths = 2,
				    .sizes = true,
				    .class_count = 1,
				    .class = {{.tos = 106, .sl = 3}}};
	struct marking_result *r = calloc(2, sizeof(*r));
	struct child c[2];
	json_t *peer[2];

	(void)state;
	fake_reset();
	for (unsigned int i = 0; i < 2; i++) {
		start(&c[i]);
		spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		tell(&c[i], json_pack("{s:o}", "echo", marking_spec_to_json(&spec)));
		peer[i] = hear(&c[i], "peer");
	}
	connect_and_run(c, peer);
	take_result(&c[0], &r[0]);
	tell(&c[1], json_pack("{s:b}", "stop", 1));
	take_result(&c[1], &r[1]);
	for (unsigned int i = 0; i < 2; i++) {
		finish(&c[i]);
		json_decref(peer[i]);
		assert_string_equal(r[i].detail, "");
		assert_int_equal(r[i].flow_count, 2 + 2 * 2 * MARKING_SIZES);
		assert_int_equal(r[i].flow[0].here.arrived, 8);
		assert_int_equal(r[i].flow[11].here.arrived, 4);
	}
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.ahs, 0);
	free(r);
}

static void expect_gone(struct child *c, const char *detail)
{
	json_t *doc = hear(c, "result");
	struct traffic_report report = {0};
	struct err e = {0};

	if (traffic_report_from_json(json_object_get(doc, "result"), &report, &e))
		fail_msg("%s", e.text);
	json_decref(doc);
	if (report.total.cause != CAUSE_REMOTE_GONE || !strstr(report.total.detail, detail))
		fail_msg("cause %d: %s", report.total.cause, report.total.detail);
	assert_true(report.total.messages > 0);
	traffic_report_clear(&report);
}

/* Traffic without end, of which one end has to stop because nobody is heard of: that is no end as
 * it should be, and the other one is told. */
static void test_unheard(void **state)
{
	struct traffic_spec spec;
	struct child c[2];
	json_t *peer[2];

	(void)state;
	fake_reset();
	traffic_spec_simple(&spec, TRAFFIC_WRITE_IMM, 4096, 0);
	snprintf(spec.ibdev, sizeof(spec.ibdev), "fake0");
	spec.ib_port = 1;
	for (unsigned int i = 0; i < 2; i++) {
		start(&c[i]);
		spec.role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		tell(&c[i], traffic_spec_to_json(&spec));
		peer[i] = hear(&c[i], "peer");
	}
	connect_and_run(c, peer);
	usleep(200000);
	tell(&c[1], json_pack("{s:b}", "unheard", 1));
	expect_gone(&c[1], "is silent, but its host answers");
	expect_gone(&c[0], "the peer aborted");
	for (unsigned int i = 0; i < 2; i++) {
		finish(&c[i]);
		json_decref(peer[i]);
	}
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.ahs, 0);
}

/* What is no spec is answered with an error, and nothing stays. */
static void test_refused(void **state)
{
	static const char *const bad[] = {"{\"echo\":{}}", "{\"echo\":7}", "{\"echo\":null}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct child c;

		start(&c);
		tell(&c, json_loads(bad[i], 0, NULL));
		json_decref(hear(&c, "error"));
		finish(&c);
	}
	assert_int_equal(fake.qps + fake.cqs + fake.mrs + fake.ahs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_unheard),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
