/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a pair without a machine: its verdict, its document, its text. What one
 * end did not say is never a pass.
 */
#include <errno.h>

#include "cmd/probe/probe_text.h"
#include "profiles/base/json.h"
#include "reports/write/writer.h"
#include "tests/unit/fixture/pair_scene.h"

static enum verdict judge(struct scene *s)
{
	static struct probe_verdict before;
	struct err e = {0};

	probe_verdict_clear(&before);
	if (pair_judge(&s->t, 0, &s->verdict, &e))
		fail_msg("%s", e.text);
	before = s->verdict;
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
	make_pair(s);
	if (judge(s) != VERDICT_PASS)
		fail_msg("%s", reason_text(&s->verdict.v));
	assert_int_equal(s->verdict.in.lossless, 1 << 3);
	assert_true(s->verdict.in.accountable);
	assert_int_equal(s->verdict.arrival[SIDE_SERVER].class[0].arrival, ARRIVAL_RIGHT);
	free(s);
}

static void test_lost(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_pair(s);
	put_growth(&s->run_port[SIDE_SERVER], METRIC_OUT_OF_SEQUENCE, 0, 1);
	put_growth(&s->run_port[SIDE_CLIENT], METRIC_SEQ_NAK_RX, 0, 1);
	assert_int_equal(judge(s), VERDICT_FAIL);
	assert_true(has(s, REASON_LOST));
	free(s);
}

static void test_wrong_priority(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_pair(s);
	put_growth(&s->run_port[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 3, 0);
	put_growth(&s->run_port[SIDE_SERVER], METRIC_PRIO_RX_BYTES, 0, 102 * MB);
	assert_int_equal(judge(s), VERDICT_FAIL);
	assert_true(has(s, REASON_WRONG_PRIORITY));
	free(s);
}

/* A READ brings its data to the client. */
static void test_read_arrives_at_the_client(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_pair(s);
	for (unsigned int i = 0; i < SIDES; i++)
		s->ends.side[i].spec.class[0].verb = TRAFFIC_READ;
	s->result[SIDE_SERVER][0].arrived = s->result[SIDE_SERVER][0].arrived_bytes = 0;
	make_seen(&s->run_port[SIDE_CLIENT], false);
	make_seen(&s->run_port[SIDE_SERVER], true);
	put_growth(&s->run_port[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 3, 102 * MB);
	if (judge(s) != VERDICT_PASS)
		fail_msg("%s", reason_text(&s->verdict.v));
	assert_int_equal(s->verdict.arrival[SIDE_CLIENT].class[0].arrival, ARRIVAL_RIGHT);
	put_growth(&s->run_port[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 3, 0);
	put_growth(&s->run_port[SIDE_CLIENT], METRIC_PRIO_RX_BYTES, 5, 102 * MB);
	assert_int_equal(judge(s), VERDICT_FAIL);
	free(s);
}

/* What is missing, and what others did, makes no pass of it. */
static void test_missing(void **state)
{
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_pair(s);
	s->ends.side[SIDE_SERVER].has_report = false;
	s->ends.partial = true;
	assert_int_not_equal(judge(s), VERDICT_PASS);
	assert_false(s->verdict.in.accountable);

	make_pair(s);
	s->ends.partial = s->ends.stopped = true;
	assert_int_equal(judge(s), VERDICT_INCONCLUSIVE);
	assert_true(has(s, REASON_ABORTED));

	make_pair(s); /* a stop that was meant */
	s->ends.stopped = true;
	assert_int_equal(judge(s), VERDICT_PASS);
	assert_false(s->verdict.in.accountable);

	make_pair(s);
	s->run_port[SIDE_CLIENT].user_count = 1;
	(void)judge(s);
	assert_false(s->verdict.in.accountable);

	make_pair(s);
	s->run_port[SIDE_CLIENT].has = s->run_port[SIDE_SERVER].has = 0;
	assert_int_not_equal(judge(s), VERDICT_PASS);
	make_pair(s);
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
	make_pair(s);
	doc = pair_to_json(&s->t);
	assert_non_null(doc);
	assert_string_equal(json_string_value(json_object_get(doc, "schema")), PROBE_SCHEMA);
	ends = json_object_get(doc, "ends");
	assert_int_equal(json_array_size(ends), SIDES);
	for (unsigned int i = 0; i < SIDES; i++) {
		const json_t *end = json_array_get(ends, i);
		struct traffic_report report = {0};
		struct traffic_spec spec;
		struct err e = {0};

		assert_string_equal(json_string_value(json_object_get(end, "role")),
				    run_side_word((enum run_side)i));
		assert_int_equal(
			traffic_report_from_json(json_object_get(end, "report"), &report, &e), 0);
		traffic_report_clear(&report);
		assert_string_equal(json_string_value(json_object_get(
					    json_object_get(end, "observed"), "netdev")),
				    s->run_port[i].netdev);
		assert_int_equal(traffic_spec_from_json(json_object_get(end, "spec"), &spec, &e),
				 0);
		assert_int_equal(spec.class[0].tos, 104);
	}
	json_decref(doc);
	s->t.chosen = s->t.ran = false; /* it failed before anything was chosen */
	s->t.run.pair_count = 0;
	doc = pair_to_json(&s->t);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(doc, "ends"), 0), "observed")));
	json_decref(doc);
	free(s);
}

static void check_report(const struct scene *s, int code, const char *const *parts, size_t count)
{
	static const struct fabric fabric = {.name = "probe"};
	const struct report report = {.fabric = &fabric,
				      .run = &s->verdict.run,
				      .findings = &s->verdict.v.findings,
				      .exit_code = code,
				      .load = "probe"};
	char *text = NULL;
	struct err e = {0};
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(write_text(&report, out, &e), 0);
	fclose(out);
	for (size_t i = 0; i < count; i++)
		if (!strstr(text, parts[i]))
			fail_msg("'%s' is not in: %s", parts[i], text);
	free(text);
}

static void test_text(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	make_pair(s);
	s->ends.side[SIDE_CLIENT].report.total.cause = CAUSE_RETRY_EXCEEDED;
	snprintf(s->ends.side[SIDE_CLIENT].report.total.detail, 160, "RETRY_EXC_ERR after 1.2 s");
	(void)judge(s);
	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	fclose(out);
	assert_non_null(strstr(text, "client  h1: rxe0 port 1 on roce0, 10.0.0.0 at GID 1"));
	assert_non_null(strstr(text, "80 Mb/s"));
	assert_non_null(strstr(text, "min 10.00 MB/s"));
	assert_non_null(strstr(text, "retry-exceeded: RETRY_EXC_ERR after 1.2 s"));
	assert_non_null(strstr(text, "rdma_tx_packets"));
	assert_non_null(strstr(text, "24416"));
	free(text);

	/* As much as a peer may tell. */
	s->result[SIDE_CLIENT][0].bytes = JSON_UINT_MAX;
	s->ends.side[SIDE_CLIENT].report.total.duration_ns = 1;
	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	fclose(out);
	assert_non_null(strstr(text, " 18446.74 PB/s"));
	free(text);
	free(s);
}

/* The report after the figures: causes lead, a warning about evidence takes the pass of RC-TRN-001,
 * and the exit code is that of the options. */
static void test_report(void **state)
{
	static const char *const failed[] = {
		"FAIL  probe of h1 with h2, run 20260101T000000Z-0001\n",
		"\nFAIL  RC-TRN-001  h2 roce0: packets to h2 were lost or reordered: 1 sequence "
		"gap",
		"\n      [C] out_of_sequence +1 ",
		"\n      advice       on h2: find the hop that drops: PFC of every hop, ",
		"1 failed",
	};
	static const char *const incomplete[] = {
		"INCOMPLETE  probe of h1 with h2, ",
		"\nWARN  RC-META-002  h1 roce0: h1: class 0 reached 10.0 of 20.0 MB/s asked\n",
		"\n  RC-TRN-001  h1 roce0: the load was not reached (RC-META-002) [required]\n",
		"Exit code 4.",
	};
	const char *const allow[] = {"RC-TRN-001"};
	struct scene *s = malloc(sizeof(*s));

	(void)state;
	make_pair(s);
	put_growth(&s->run_port[SIDE_SERVER], METRIC_OUT_OF_SEQUENCE, 0, 1);
	assert_int_equal(judge(s), VERDICT_FAIL);
	check_report(s, 1, failed, ARRAY_SIZE(failed));
	make_pair(s);
	s->ends.side[SIDE_CLIENT].spec.class[0].rate_bytes_per_s = 20 * MB;
	assert_int_equal(judge(s), VERDICT_INCONCLUSIVE);
	check_report(s, 4, incomplete, ARRAY_SIZE(incomplete));
	assert_int_equal(findings_exit(&s->verdict.v.findings, SEVERITY_ERROR, allow, 1), 0);
	assert_int_equal(findings_exit(&s->verdict.v.findings, SEVERITY_WARN, allow, 1), 1);
	free(s);
}

/* A TCP background: what was sent and what arrived, each where it was. */
static void test_text_of_tcp(void **state)
{
	static const char *const lines[] = {
		"\nTCP 0    2 streams, no rate limit, ToS 32 (DSCP 8)\n",
		"\n  client, DSCP 8\n"
		"    sent          20.00 MB       2.00 MB/s       16 Mb/s  7 segments "
		"retransmitted\n",
		"\n  server, DSCP 8\n"
		"    arrived       19.00 MB       1.90 MB/s     15.2 Mb/s\n",
		"\n    failed    1 of 2 streams: closed by the peer after 1.0 s\n",
	};
	struct traffic_tcp_result tcp[SIDES] = {
		{.sent_bytes = 20000000, .retransmits = 7, .tos_sent = 32},
		{.arrived_bytes = 19000000, .tos_sent = 32, .broken = 1},
	};
	struct scene *s = malloc(sizeof(*s));
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	make_pair(s);
	snprintf(tcp[SIDE_SERVER].detail, sizeof(tcp[0].detail), "closed by the peer after 1.0 s");
	for (unsigned int i = 0; i < SIDES; i++) {
		s->ends.side[i].spec.tcp_count = s->ends.side[i].report.tcp_count = 1;
		s->ends.side[i].spec.tcp[0] = (struct traffic_tcp){.tos = 32, .streams = 2};
		tcp[i].duration_ns = UINT64_C(10000000000);
		s->ends.side[i].report.tcp = &tcp[i];
	}
	out = open_memstream(&text, &size);
	probe_print(&s->t, out);
	fclose(out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strstr(text, lines[i]))
			fail_msg("'%s' is not in: %s", lines[i], text);
	free(text);
	free(s);
}

static void make_echo_specs(const struct scene *s, unsigned int sweep, struct marking_spec spec[2])
{
	const struct traffic_spec traffic[] = {s->ends.side[0].spec, s->ends.side[1].spec};

	marking_specs_make(traffic, sweep, spec);
}

static void free_marking(struct scene *s)
{
	free(s->t.run.marking->finding);
	free(s->t.run.marking);
}

/* A marking echo in which all came, and DSCP 26 became 0 from server to client. */
static void make_echo(struct scene *s)
{
	struct pair_marking *x = calloc(1, sizeof(*x));
	struct marking_flow flow[MARKING_FLOWS_MAX];

	s->t.echo = x;
	make_echo_specs(s, 8, x->spec);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct marking_result *r = &x->result[i];

		x->has_result[i] = true;
		r->mtu = 4096;
		r->path_count = marking_paths(&x->spec[i]);
		r->flow_count = marking_flows(&x->spec[i], flow);
		for (unsigned int k = 0; k < r->flow_count; k++) {
			struct marking_record *here = &r->flow[k].here;

			r->flow[k].sent = here->arrived = flow[k].count;
			here->seen_count = 1;
			here->seen[0] = (struct marking_seen){i == SIDE_CLIENT ? 2 : 106, 64,
							      flow[k].count};
		}
	}
	pair_marking_add(&s->t.run, x);
}

static void test_marking_specs(void **state)
{
	struct scene *s = malloc(sizeof(*s));
	struct marking_spec spec[SIDES];
	struct err e = {0};

	(void)state;
	make_pair(s);
	for (unsigned int i = 0; i < SIDES; i++) {
		struct traffic_spec *t = &s->ends.side[i].spec;

		t->class_count = 4;
		t->class[1] = t->class[2] = t->class[3] = t->class[0];
		t->class[1].sl = 3;
		t->class[2].tos = 105; /* says ECT(1) itself */
		t->class[3].tos = 106; /* what class 0 becomes */
	}
	s->ends.side[SIDE_SERVER].spec.class[0].tos = 40;
	make_echo_specs(s, 64, spec);
	for (unsigned int i = 0; i < SIDES; i++) {
		assert_int_equal(marking_spec_check(&spec[i], &e), 0);
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
		"marking  1 class, 8 UDP source ports, 16 datagrams per port",
		"client to server: all datagrams arrived unchanged",
		"server to client, class 0: DSCP 26 arrives as 0 (128 of 128), on all 8 source",
		"client to server: 4096 bytes (RDMA MTU: client 4096, server 4096)",
		"sweep    client to server: 8 of 8 source ports without loss or change",
		"sweep    server to client: 0 of 8 source ports without loss or change",
		"0x0000  marked: 16 of 16 arrived, 16 with changed marking",
	};
	struct scene *s = malloc(sizeof(*s));
	char *text = NULL;
	json_t *doc, *whole;
	size_t size;
	FILE *out;

	(void)state;
	make_pair(s);
	doc = pair_to_json(&s->t);
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
	whole = pair_to_json(&s->t);
	doc = json_object_get(whole, "marking");
	assert_int_equal(json_array_size(json_object_get(doc, "findings")), 1);
	assert_int_equal(json_array_size(json_object_get(doc, "ends")), SIDES);
	assert_int_equal(json_array_size(json_array_get(json_object_get(doc, "ports"), 1)), 8);
	json_decref(whole);
	/* An end that gave nothing: what is known is judged, and nothing passes. */
	s->t.echo->has_result[SIDE_CLIENT] = false;
	snprintf(s->t.echo->why, sizeof(s->t.echo->why), "h1: lost");
	free_marking(s);
	pair_marking_add(&s->t.run, s->t.echo);
	assert_int_equal(judge(s), VERDICT_INCONCLUSIVE);
	assert_true(has(s, REASON_UNSEEN));
	free_marking(s);
	free(s->t.echo);
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
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_text_of_tcp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
