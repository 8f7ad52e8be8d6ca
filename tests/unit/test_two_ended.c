/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a two-ended probe without a machine: its verdict, its document, its text. What one
 * end did not say is never a pass.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/probe_text.h"
#include "reports/size_verdict.h"
#include "reports/two_ended_verdict.h"

#define S  UINT64_C(1000000000)
#define MB UINT64_C(1000000)

/* Pointers stay inside. */
struct scene {
	struct two_ended t;
	struct run_host host[SIDES];
	struct run_port run_port[SIDES];
	struct port port[SIDES];
	struct traffic_class_result result[SIDES][2];
	struct two_ended_verdict verdict;
};

static void put(struct observation *o, enum metric m, unsigned int prio, uint64_t growth)
{
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		o->reading[r].has[m] |= (uint8_t)(1u << prio);
		o->reading[r].value[m][prio] = 1000 + (r == READ_LOAD_AFTER ? growth : 0);
	}
}

static void make_seen(struct observation *o, const char *host, bool sends)
{
	static const enum metric quiet[] = {METRIC_OUT_OF_SEQUENCE, METRIC_SEQ_NAK_RX,
					    METRIC_RETRANSMITS,	    METRIC_DUPLICATE_REQUEST,
					    METRIC_RNR_NAK_RX,	    METRIC_RNR_NAK_TX,
					    METRIC_RETRY_EXCEEDED,  METRIC_SEND_ERRORS};

	memset(o, 0, sizeof(*o));
	snprintf(o->host, sizeof(o->host), "%s", host);
	snprintf(o->netdev, sizeof(o->netdev), "roce0");
	o->soft = true;
	for (unsigned int r = 0; r < READ_COUNT; r++) {
		counters_clear(&o->reading[r]);
		o->reading[r].when_ns = r * 10 * S;
		o->has |= 1u << r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++)
		put(o, quiet[i], 0, 0);
	put(o, METRIC_RDMA_TX_PACKETS, 0, sends ? 24416 : 3000);
	put(o, METRIC_RDMA_RX_PACKETS, 0, sends ? 3000 : 24416);
	put(o, METRIC_TX_BYTES, 0, sends ? 102 * MB : MB);
	put(o, METRIC_RX_BYTES, 0, sends ? MB : 102 * MB);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		put(o, METRIC_PRIO_RX_BYTES, prio, 0);
}

static void make_port(struct port *p)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->ibdev, sizeof(p->ibdev), "rxe0");
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	snprintf(p->rdma_driver, sizeof(p->rdma_driver), "rxe");
	p->ib_port = 1;
	p->active_mtu = 4096;
	p->gid_count = 1;
	p->gid[0] = (struct gid){.index = 1, .type = GID_ROCE_V2};
	p->gid[0].raw[10] = p->gid[0].raw[11] = 0xff;
	p->gid[0].raw[12] = 10;
	p->qos.has = QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_DSCP_PRIO);
	p->qos.trust = QOS_TRUST_DSCP;
	memset(p->qos.dscp_prio, QOS_UNMAPPED, sizeof(p->qos.dscp_prio));
	p->qos.dscp_prio[26] = 3;
}

/* 100 MB in ten seconds from client to server, DSCP 26, all as it should be. */
static void make_scene(struct scene *s)
{
	struct two_ended *t = &s->t;

	memset(s, 0, sizeof(*s));
	t->run.host = s->host;
	t->run.host_count = SIDES;
	snprintf(t->run.id, sizeof(t->run.id), "20260101T000000Z-0001");
	t->chosen = t->ran = t->run.traffic = true;
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_class_result *r = &s->result[i][0];

		snprintf(s->host[i].name, sizeof(s->host[i].name), "%s", i ? "h2" : "h1");
		s->host[i].port = &s->run_port[i];
		s->host[i].port_count = 1;
		make_port(&s->port[i]);
		t->ends.port[i] = &s->port[i];
		t->ends.gid[i] = &s->port[i].gid[0];
		make_seen(&t->seen[i], s->host[i].name, i == SIDE_CLIENT);
		traffic_spec_simple(&t->spec[i], TRAFFIC_WRITE_IMM, 65536, 10000);
		t->spec[i].role = i ? TRAFFIC_SERVER : TRAFFIC_CLIENT;
		t->spec[i].class[0].tos = 104;
		t->spec[i].ib_port = 1;
		snprintf(t->spec[i].ibdev, sizeof(t->spec[i].ibdev), "rxe0");
		intervals_begin(&r->goodput, S);
		for (unsigned int k = 0; k < 100; k++)
			intervals_add(&r->goodput, S + k * S / 10, MB);
		intervals_end(&r->goodput, 11 * S);
		*(i ? &r->arrived : &r->messages) = 1526;
		*(i ? &r->arrived_bytes : &r->bytes) = 100 * MB;
		t->report[i].class = s->result[i];
		t->report[i].class_count = 1;
		t->report[i].total = (struct traffic_result){
			.messages = 1526, .bytes = 100 * MB, .duration_ns = 10 * S, .mtu = 4096};
		t->has_report[i] = true;
	}
	put(&t->seen[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 3, 102 * MB);
}

static enum verdict judge(struct scene *s)
{
	struct err e = {0};

	if (two_ended_judge(&s->t, &s->verdict, &e))
		fail_msg("%s", e.text);
	return s->verdict.v.verdict;
}

static bool has(const struct scene *s, enum reason_kind kind)
{
	return traffic_verdict_has(&s->verdict.v, kind);
}

static void test_good(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_scene(s);
	if (judge(s) != VERDICT_PASS)
		fail_msg("%s", s->verdict.v.reason[0].text);
	assert_int_equal(s->verdict.in.lossless, 1 << 3);
	assert_true(s->verdict.in.accountable);
	assert_int_equal(s->verdict.arrival[SIDE_SERVER].class[0].arrival, ARRIVAL_RIGHT);
	free(s);
}

static void test_lost(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_scene(s);
	put(&s->t.seen[SIDE_SERVER], METRIC_OUT_OF_SEQUENCE, 0, 1);
	put(&s->t.seen[SIDE_CLIENT], METRIC_SEQ_NAK_RX, 0, 1);
	assert_int_equal(judge(s), VERDICT_FAIL);
	assert_true(has(s, REASON_LOST));
	free(s);
}

static void test_wrong_priority(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_scene(s);
	put(&s->t.seen[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 3, 0);
	put(&s->t.seen[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 0, 102 * MB);
	assert_int_equal(judge(s), VERDICT_FAIL);
	assert_true(has(s, REASON_WRONG_PRIORITY));
	free(s);
}

/* A READ brings its data to the client. */
static void test_read_arrives_at_the_client(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_scene(s);
	for (unsigned int i = 0; i < SIDES; i++)
		s->t.spec[i].class[0].verb = TRAFFIC_READ;
	s->result[SIDE_SERVER][0].arrived = s->result[SIDE_SERVER][0].arrived_bytes = 0;
	make_seen(&s->t.seen[SIDE_CLIENT], "h1", false);
	make_seen(&s->t.seen[SIDE_SERVER], "h2", true);
	put(&s->t.seen[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 3, 102 * MB);
	if (judge(s) != VERDICT_PASS)
		fail_msg("%s", s->verdict.v.reason[0].text);
	assert_int_equal(s->verdict.arrival[SIDE_CLIENT].class[0].arrival, ARRIVAL_RIGHT);
	put(&s->t.seen[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 3, 0);
	put(&s->t.seen[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 5, 102 * MB);
	assert_int_equal(judge(s), VERDICT_FAIL);
	free(s);
}

/* What is missing, and what others did, makes no pass of it. */
static void test_missing(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_scene(s);
	s->t.has_report[SIDE_SERVER] = false;
	s->t.partial = true;
	assert_int_not_equal(judge(s), VERDICT_PASS);
	assert_false(s->verdict.in.accountable);

	make_scene(s);
	s->t.partial = s->t.stopped = true;
	assert_int_equal(judge(s), VERDICT_INCONCLUSIVE);
	assert_true(has(s, REASON_ABORTED));

	make_scene(s); /* a stop that was meant */
	s->t.stopped = true;
	assert_int_equal(judge(s), VERDICT_PASS);
	assert_false(s->verdict.in.accountable);

	make_scene(s);
	s->t.seen[SIDE_CLIENT].user_count = 1;
	(void)judge(s);
	assert_false(s->verdict.in.accountable);

	make_scene(s);
	s->t.seen[SIDE_CLIENT].has = s->t.seen[SIDE_SERVER].has = 0;
	assert_int_not_equal(judge(s), VERDICT_PASS);
	make_scene(s);
	s->port[SIDE_CLIENT].qos.has = s->port[SIDE_SERVER].qos.has =
		0; /* no map is known: each priority counts */
	(void)judge(s);
	assert_int_equal(s->verdict.in.lossless, 0);
	free(s);
}

static void test_document(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	const json_t *ends;
	json_t *doc;

	(void)state;
	make_scene(s);
	doc = two_ended_to_json(&s->t);
	assert_non_null(doc);
	assert_string_equal(json_string_value(json_object_get(doc, "schema")), PROBE_SCHEMA);
	ends = json_object_get(doc, "ends");
	assert_int_equal(json_array_size(ends), SIDES);
	for (unsigned int i = 0; i < SIDES; i++) {
		const json_t *end = json_array_get(ends, i);
		struct traffic_report report = {0};
		struct observation seen;
		struct traffic_spec spec;
		struct err e = {0};

		assert_string_equal(json_string_value(json_object_get(end, "role")),
				    two_ended_side_word((enum two_ended_side)i));
		assert_int_equal(
			traffic_report_from_json(json_object_get(end, "report"), &report, &e), 0);
		traffic_report_clear(&report);
		assert_int_equal(observe_from_json(json_object_get(end, "observed"), &seen, &e), 0);
		assert_int_equal(traffic_spec_from_json(json_object_get(end, "spec"), &spec, &e),
				 0);
		assert_int_equal(spec.class[0].tos, 104);
	}
	json_decref(doc);
	s->t.chosen = s->t.ran = false; /* it failed before anything was chosen */
	s->t.has_report[0] = s->t.has_report[1] = false;
	doc = two_ended_to_json(&s->t);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(doc, "ends"), 0), "observed")));
	json_decref(doc);
	free(s);
}

static void test_text(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	make_scene(s);
	s->t.report[SIDE_CLIENT].total.cause = CAUSE_RETRY_EXCEEDED;
	snprintf(s->t.report[SIDE_CLIENT].total.detail, 160, "RETRY_EXC_ERR after 1.2 s");
	(void)judge(s);
	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	probe_print_verdict(&s->verdict.v, out);
	fclose(out);
	assert_non_null(strstr(text, "client  h1: rxe0 port 1 on roce0, 10.0.0.0 at GID 1"));
	assert_non_null(strstr(text, "80 Mb/s"));
	assert_non_null(strstr(text, "least 10.00 MB/s"));
	assert_non_null(strstr(text, "retry-exceeded: RETRY_EXC_ERR after 1.2 s"));
	assert_non_null(strstr(text, "rdma_tx_packets"));
	assert_non_null(strstr(text, "24416"));
	assert_non_null(strstr(text, "verdict  FAIL"));
	free(text);
	free(s);
}

/* A marking echo in which all came, and DSCP 26 became 0 from server to client. */
static void make_echo(struct scene *s)
{
	struct two_ended_echo *x = calloc(1, sizeof(*x));
	struct echo_flow flow[ECHO_FLOWS_MAX];

	s->t.echo = x;
	two_ended_echo_specs(&s->t, 8, x->spec);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct echo_result *r = &x->result[i];

		x->has_result[i] = true;
		r->mtu = 4096;
		r->path_count = echo_paths(&x->spec[i]);
		r->flow_count = echo_flows(&x->spec[i], flow);
		for (unsigned int k = 0; k < r->flow_count; k++) {
			struct echo_record *here = &r->flow[k].here;

			r->flow[k].sent = here->arrived = flow[k].count;
			here->seen_count = 1;
			here->seen[0] = (struct echo_seen){i == SIDE_CLIENT ? 2 : 106, 64,
							   flow[k].count};
		}
	}
}

static void test_marking_specs(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct echo_spec spec[SIDES];
	struct err e = {0};

	(void)state;
	make_scene(s);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_spec *t = &s->t.spec[i];

		t->class_count = 4;
		t->class[1] = t->class[2] = t->class[3] = t->class[0];
		t->class[1].sl = 3;
		t->class[2].tos = 105; /* says ECT(1) itself */
		t->class[3].tos = 106; /* what class 0 becomes */
	}
	s->t.spec[SIDE_SERVER].class[0].tos = 40;
	two_ended_echo_specs(&s->t, 64, spec);
	for (unsigned int i = 0; i < SIDES; i++) {
		assert_int_equal(echo_spec_check(&spec[i], &e), 0);
		assert_int_equal(spec[i].class_count, 3);
		assert_int_equal(spec[i].class[0].tos, i ? 42 : 106);
		assert_int_equal(spec[i].class[1].sl, 3);
		assert_int_equal(spec[i].class[2].tos, 105);
		assert_int_equal(spec[i].sweep, 64);
		assert_int_equal(spec[i].role, i ? TRAFFIC_SERVER : TRAFFIC_CLIENT);
		assert_string_equal(spec[i].ibdev, "rxe0");
	}
	free(s);
}

static void test_marking(void **state)
{
	static const char *const lines[] = {
		"marking  1 class, 8 UDP source ports, 16 datagrams of each",
		"client to server: all arrived as it was sent",
		"server to client, class 0: DSCP 26 arrives as 0 (128 of 128), on all 8 source",
		"client to server: datagrams of 4096 bytes arrive; the ports have 4096 and 4096",
		"sweep    client to server: 8 of 8 source ports arrived",
		"sweep    server to client: 0 of 8 source ports arrived",
		"0x0000  marked: 16 of 16 arrived, 16 marked otherwise",
	};
	struct scene *s = malloc(sizeof(*s));
	char *text = NULL;
	json_t *doc, *whole;
	size_t size;
	FILE *out;

	(void)state;
	make_scene(s);
	doc = two_ended_to_json(&s->t);
	assert_true(json_is_null(json_object_get(doc, "marking")));
	json_decref(doc);
	make_echo(s);
	assert_int_equal(judge(s), VERDICT_FAIL);
	assert_true(has(s, REASON_REMARKED));
	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strstr(text, lines[i]))
			fail_msg("no '%s' in\n%s", lines[i], text);
	free(text);
	whole = two_ended_to_json(&s->t);
	doc = json_object_get(whole, "marking");
	assert_int_equal(json_array_size(json_object_get(doc, "findings")), 1);
	assert_int_equal(json_array_size(json_object_get(doc, "ends")), SIDES);
	assert_int_equal(json_array_size(json_array_get(json_object_get(doc, "ports"), 1)), 8);
	json_decref(whole);
	/* An end that gave nothing: what is known is judged, and nothing passes. */
	s->t.echo->has_result[SIDE_CLIENT] = false;
	snprintf(s->t.echo->why, sizeof(s->t.echo->why), "h1: lost");
	assert_int_equal(judge(s), VERDICT_INCONCLUSIVE);
	assert_true(has(s, REASON_UNSEEN));
	free(s->t.echo);
	free(s);
}

static void test_size_list(void **state)
{
	static const struct {
		uint32_t from, to;
		unsigned int count;
		uint32_t first, second, last;
	} cases[] = {
		{2, 8 << 20, 23, 2, 4, 8 << 20}, {3, (8 << 20) - 1, 23, 3, 4, (8 << 20) - 1},
		{64, 64, 1, 64, 0, 64},		 {64, 65, 2, 64, 65, 65},
		{96, 1024, 5, 96, 128, 1024},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t bytes[SIZES_MAX] = {0};

		assert_int_equal(two_ended_sizes_list(cases[i].from, cases[i].to, bytes),
				 cases[i].count);
		assert_int_equal(bytes[0], cases[i].first);
		assert_int_equal(bytes[1], cases[i].second);
		assert_int_equal(bytes[cases[i].count - 1], cases[i].last);
	}
}

static void test_size_class(void **state)
{
	struct traffic_class c = {.check = TRAFFIC_CHECK_EVERY};

	(void)state;
	two_ended_size_class(&c, 64);
	assert_int_equal(c.check, TRAFFIC_CHECK_EVERY);
	two_ended_size_class(&c, 63);
	assert_int_equal(c.message_bytes, 63);
	assert_int_equal(c.check, TRAFFIC_CHECK_NONE);
}

/* Three sizes of the scene's traffic, as duo_sizes() leaves them. */
static void make_sizes(struct scene *s)
{
	static const uint32_t bytes[] = {32, 65536, 1 << 20};
	struct two_ended *t = &s->t;

	t->size = calloc(ARRAY_SIZE(bytes), sizeof(*t->size));
	t->size_count = ARRAY_SIZE(bytes);
	for (unsigned int i = 0; i < t->size_count; i++) {
		struct two_ended_size *z = &t->size[i];

		z->bytes = bytes[i];
		for (unsigned int k = 0; k < SIDES; k++) {
			z->spec[k] = t->spec[k];
			two_ended_size_class(&z->spec[k].class[0], bytes[i]);
			z->seen[k] = t->seen[k];
			z->has_report[k] = true;
			z->report[k] = t->report[k];
		}
	}
	t->has_report[0] = t->has_report[1] = false;
}

/* The whole is as bad as the worst, each size has its own, and the echo belongs to the last. */
static void test_sizes(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct size_verdicts *v = NULL;
	const json_t *row, *reason;
	json_t *doc, *sum;
	char *text = NULL;
	struct err e = {0};
	size_t size;
	FILE *out;

	(void)state;
	make_scene(s);
	make_sizes(s);
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	if (v->verdict != VERDICT_PASS)
		fail_msg("%s", v->size[0].of.v.reason[0].text);
	size_verdicts_free(v);

	put(&s->t.size[1].seen[SIDE_SERVER], METRIC_OUT_OF_SEQUENCE, 0, 1);
	put(&s->t.size[1].seen[SIDE_CLIENT], METRIC_SEQ_NAK_RX, 0, 1);
	s->t.size[2].partial = s->t.partial = true;
	assert_int_equal(size_verdicts_make(&s->t, &v, &e), 0);
	assert_int_equal(v->verdict, VERDICT_FAIL);
	assert_int_equal(v->size[0].of.v.verdict, VERDICT_PASS);
	assert_int_equal(v->size[1].of.v.verdict, VERDICT_FAIL);
	assert_int_equal(v->size[2].of.v.verdict, VERDICT_INCONCLUSIVE);

	doc = two_ended_to_json(&s->t);
	sum = size_verdicts_to_json(v, json_object_get(doc, "sizes"));
	reason = json_array_get(json_object_get(sum, "reasons"), 0);
	assert_string_equal(json_string_value(json_object_get(sum, "verdict")), "FAIL");
	assert_int_equal(json_integer_value(json_object_get(reason, "message_bytes")), 65536);
	row = json_array_get(json_object_get(doc, "sizes"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "check")), "none");
	assert_int_equal(json_integer_value(json_object_get(row, "messages")), 1526);
	assert_int_equal(json_integer_value(json_object_get(row, "goodput_bytes_per_s")), 10 * MB);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(row, "verdict"), "verdict")),
		"PASS");
	json_decref(sum);
	json_decref(doc);

	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	probe_print_sizes(&s->t, v, out);
	fclose(out);
	assert_non_null(strstr(text, "       32 B        1526     10.00 MB/s"));
	assert_non_null(strstr(text, "\n64 KiB\n  FAIL         lost (RC-TRN-001): "));
	assert_non_null(strstr(text, "verdict  FAIL"));
	assert_null(strstr(text, "no report"));
	free(text);
	size_verdicts_free(v);
	free(s->t.size);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_marking_specs),
		cmocka_unit_test(test_marking),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_wrong_priority),
		cmocka_unit_test(test_read_arrives_at_the_client),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_size_list),
		cmocka_unit_test(test_size_class),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
