/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic structs through JSON, and what a hostile other side may send in their place.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "probe/traffic/traffic_words.h"

static const struct traffic_spec spec = {
	.role = TRAFFIC_SERVER,
	.mode = TRAFFIC_OBSERVE,
	.bringup = TRAFFIC_RAW,
	.ibdev = "mlx5_0",
	.ib_port = 1,
	.gid_index = 3,
	.duration_ms = 1500,
	.seed = 0x7edcba9876543210,
	.timeout = 14,
	.threads = 4,
	.pin = true,
	.huge_pages = true,
	.senders = 8,
	.class_count = 2,
	.class = {{
			  .tos = 106,
			  .sl = 3,
			  .verb = TRAFFIC_SEND,
			  .check = TRAFFIC_CHECK_SAMPLED,
			  .qps = 16,
			  .message_bytes = 32768,
			  .window = 64,
			  .rate_bytes_per_s = 625000000,
			  .flight_bytes = 32768, /* not written: made of the rest */
		  },
		  {
			  .transport = TRAFFIC_UD,
			  .verb = TRAFFIC_SEND_IMM,
			  .direction = TRAFFIC_BOTH,
			  .qps = 1,
			  .message_bytes = 1024,
			  .count = 1000000,
		  }},
	.tcp_count = 2,
	.tcp = {{.tos = 32, .direction = TRAFFIC_BOTH, .streams = 64, .rate_bytes_per_s = 125000},
		{.streams = 1}},
};

static const struct traffic_endpoint peer = {
	.gid = {[10] = 0xff, [11] = 0xff, [12] = 198, [13] = 18, [15] = 2},
	.mtu = 4096,
	.cm_port = 7471,
	.tcp_port = {40000, 40001},
	.qp_count = 2,
	.qp = {{.qpn = 0xabcdef, .psn = 0x123456, .addr = 0x7f0012345000, .rkey = 0xdeadbeef},
	       {.qpn = 1, .target_qpn = 0xfedcba, .srqn = 0xffffff}},
};

static const struct traffic_result result = {
	.messages = 381,
	.bytes = 24969216,
	.duration_ns = 1499123456,
	.checked_bytes = 24969216,
	.mismatches = 2,
	.control_messages = 12,
	.control_bytes = 768,
	.mtu = 4096,
	.cause = CAUSE_DATA,
	.detail = "message 7 has a wrong byte (at byte 4096)",
};

/* Of one class and one failure; the caller clears it. */
static void make_report(struct traffic_report *r)
{
	memset(r, 0, sizeof(*r));
	r->total = result;
	r->class_count = 1;
	r->class = calloc(1, sizeof(*r->class));
	assert_non_null(r->class);
	*r->class = (struct traffic_class_result){
		.messages = 1,
		.bytes = 2,
		.arrived = 3,
		.arrived_bytes = 4,
		.checked_bytes = 5,
		.mismatches = 6,
		.gaps = 7,
		.reordered = 8,
		.losses = 9,
	};
	histogram_add(&r->class->latency, 1234567);
	rate_series_init(&r->class->goodput, 1000);
	rate_series_add(&r->class->goodput, 300000000, 65536);
	rate_series_stop(&r->class->goodput, 400000000);
	r->tcp_count = 1;
	r->tcp = calloc(1, sizeof(*r->tcp));
	assert_non_null(r->tcp);
	*r->tcp = (struct traffic_tcp_result){
		.sent_bytes = 1,
		.wire_bytes = 2,
		.retransmits = 3,
		.arrived_bytes = 4,
		.duration_ns = 5,
		.broken = 6,
		.mss = 1448,
		.tos_sent = 32,
		.detail = "Connection reset by peer after 0.1 s",
		.goodput = r->class->goodput,
	};
	r->failure_count = 1;
	r->failure[0] = (struct traffic_failure){
		.class = 1,
		.qp = 15,
		.cause = CAUSE_RETRY_EXCEEDED,
		.status = 12,
		.vendor_err = 0x81,
		.sequence = 77,
		.when_ns = 1200000000,
		.recovered = true,
	};
	r->stall_count = 1;
	r->stall[0] = (struct traffic_stall){1, 15, 308,	292,	    288,	7,
					     9, 2,  5000000000, 4900000000, 5300000000, 100000000};
}

static void test_report(void **state)
{
	struct traffic_report in, out;
	struct err e = {0};
	json_t *json;

	(void)state;
	make_report(&in);
	json = traffic_report_to_json(&in);
	assert_int_equal(traffic_report_from_json(json, &out, &e), 0);
	assert_memory_equal(&out.total, &in.total, sizeof(in.total));
	assert_int_equal(out.class_count, 1);
	assert_memory_equal(out.class, in.class, sizeof(*in.class));
	assert_int_equal(out.failure_count, 1);
	assert_memory_equal(&out.failure, &in.failure, sizeof(in.failure));
	assert_int_equal(out.stall_count, 1);
	assert_memory_equal(&out.stall, &in.stall, sizeof(in.stall));
	assert_int_equal(out.tcp_count, 1);
	assert_memory_equal(out.tcp, in.tcp, sizeof(*in.tcp));
	json_decref(json);
	traffic_report_clear(&in);
	traffic_report_clear(&out);
	traffic_report_clear(&out);
}

static void test_round_trips(void **state)
{
	struct traffic_result r;
	struct traffic_spec s;
	struct traffic_endpoint p;
	struct err e = {0};
	json_t *json;

	(void)state;
	json = traffic_spec_to_json(&spec);
	assert_int_equal(traffic_spec_from_json(json, &s, &e), 0);
	assert_memory_equal(&s, &spec, sizeof(s));
	json_decref(json);
	json = traffic_endpoint_to_json(&peer);
	assert_int_equal(traffic_endpoint_from_json(json, &p, &e), 0);
	assert_memory_equal(&p, &peer, sizeof(p));
	json_decref(json);
	json = traffic_result_to_json(&result);
	assert_int_equal(traffic_result_from_json(json, &r, &e), 0);
	assert_memory_equal(&r, &result, sizeof(r));
	json_decref(json);
}

/* Who owed what, of a requester, of a responder, and of an end that owes nothing itself. */
static void test_stall_text(void **state)
{
	static const struct {
		struct traffic_stall in;
		const char *want;
	} cases[] = {
		{{.posted = 308,
		  .completed = 292,
		  .granted = 288,
		  .control = 2,
		  .completion_age_ns = 5000000000,
		  .arrival_age_ns = 5300000000,
		  .run_ns = 5300000000,
		  .absent_ns = 100000000},
		 "waits for 16 completions, 4 credits, 2 control acknowledgements; posted 308, "
		 "last completion 5.0 s ago; arrived 0, last 5.3 s ago; no CPU for 0.1 of "
		 "5.3 s"},
		{{.arrived = 292, .announced = 300, .run_ns = 4000000000},
		 "waits for 8 arrivals; posted 0, last completion 0.0 s ago; arrived 292, last "
		 "0.0 s ago; no CPU for 0.0 of 4.0 s"},
		{{.completed = 1, .granted = 2, .arrived = 1},
		 "waits for the peer; posted 0, last completion 0.0 s ago; arrived 1, last 0.0 s "
		 "ago; no CPU for 0.0 of 0.0 s"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_non_null(out);
		traffic_stall_print(&cases[i].in, out);
		fclose(out);
		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

static int read_spec(const json_t *json, struct err *e)
{
	struct traffic_spec s;

	return traffic_spec_from_json(json, &s, e);
}

static int read_peer(const json_t *json, struct err *e)
{
	struct traffic_endpoint p;

	return traffic_endpoint_from_json(json, &p, e);
}

static int read_result(const json_t *json, struct err *e)
{
	struct traffic_result r;

	return traffic_result_from_json(json, &r, e);
}

static int read_report(const json_t *json, struct err *e)
{
	struct traffic_report r = {0};
	int err = traffic_report_from_json(json, &r, e);

	traffic_report_clear(&r);
	return err;
}

enum document {
	SPEC,
	PEER,
	RESULT,
	REPORT,
	CLASS, /* the rest: the first member of a list of one of these */
	QP,
	SUMS,
	FAILURE,
	TCP,
	TCP_SUMS,
	STALL,
	DOCUMENTS,
};

static const struct {
	enum document in;
	const char *list; /* NULL: the document itself */
	int (*read)(const json_t *json, struct err *e);
} readers[DOCUMENTS] = {
	[SPEC] = {SPEC, NULL, read_spec},	   [PEER] = {PEER, NULL, read_peer},
	[RESULT] = {RESULT, NULL, read_result},	   [REPORT] = {REPORT, NULL, read_report},
	[CLASS] = {SPEC, "classes", read_spec},	   [QP] = {PEER, "qps", read_peer},
	[SUMS] = {REPORT, "classes", read_report}, [FAILURE] = {REPORT, "failures", read_report},
	[TCP] = {SPEC, "tcp", read_spec},	   [TCP_SUMS] = {REPORT, "tcp", read_report},
	[STALL] = {REPORT, "stalls", read_report},
};

static json_t *document(enum document which)
{
	struct traffic_report r;
	json_t *json;

	switch (readers[which].in) {
	case SPEC:
		return traffic_spec_to_json(&spec);
	case PEER:
		return traffic_endpoint_to_json(&peer);
	case RESULT:
		return traffic_result_to_json(&result);
	default:
		make_report(&r);
		json = traffic_report_to_json(&r);
		traffic_report_clear(&r);
		return json;
	}
}

/* The object within a document that `which` is about; borrowed. */
static json_t *object(enum document which, json_t *json)
{
	const char *list = readers[which].list;

	return list ? json_array_get(json_object_get(json, list), 0) : json;
}

/* Whoever has no TCP background, and no stall, need not say so. */
static bool may_be_missing(const char *key)
{
	return !strcmp(key, "tcp") || !strcmp(key, "senders") || !strcmp(key, "tcp_ports") ||
	       !strncmp(key, "control_", 8) || !strcmp(key, "stalls");
}

/* Every other member is needed, and none may have another type. */
static void test_members(void **state)
{
	(void)state;
	for (unsigned int which = 0; which < DOCUMENTS; which++) {
		json_t *whole = document(which), *value;
		const char *key;

		json_object_foreach (object(which, whole), key, value) {
			json_t *other = json_deep_copy(whole);
			json_t *part = object(which, other);
			struct err e = {0};

			json_object_del(part, key);
			assert_int_equal(readers[which].read(other, &e),
					 may_be_missing(key) ? 0 : -EINVAL);
			assert_int_equal(!strstr(e.text, key), may_be_missing(key));
			json_object_set_new(part, key, json_true());
			if (!json_is_boolean(value))
				assert_int_equal(readers[which].read(other, &e), -EINVAL);
			json_object_set_new(part, key, json_null());
			assert_int_equal(readers[which].read(other, &e), -EINVAL);
			assert_non_null(strstr(e.text, key));
			json_decref(other);
		}
		json_decref(whole);
		assert_int_equal(readers[which].read(NULL, NULL), -EINVAL);
	}
}

static const struct {
	enum document which;
	const char *key, *value;
} bad_ranges[] = {
	{SPEC, "role", "\"both\""},
	{SPEC, "classes", "[]"},
	{SPEC, "classes", "[7]"},
	{SPEC, "threads", "0"},
	{SPEC, "threads", "33"},
	{SPEC, "senders", "1025"},
	{SPEC, "senders", "9"},	      /* a message of the first class is more than its part */
	{SPEC, "mode", "\"strict\""}, /* not with UD */
	{CLASS, "verb", "\"READ\""},
	{CLASS, "transport", "\"RC\""},
	{CLASS, "qps", "0"},
	{CLASS, "qps", "257"},
	{CLASS, "qps", "256"}, /* and one of the other class */
	{CLASS, "window", "3"},
	{CLASS, "window", "8192"},
	{CLASS, "count", "-1"},
	{SPEC, "ibdev", "\"a\\u0007b\""},
	{SPEC, "ibdev", "\"0123456789012345678901234567890123456789012345678901234567890123\""},
	{SPEC, "ib_port", "0"},
	{SPEC, "ib_port", "256"},
	{SPEC, "gid_index", "-1"},
	{SPEC, "gid_index", "256"},
	{CLASS, "tos", "256"},
	{CLASS, "message_bytes", "63"},
	{CLASS, "message_bytes", "8388609"},
	{SPEC, "duration_ms", "86400001"},
	{CLASS, "rate_bytes_per_s", "-5"},
	{CLASS, "rate_bytes_per_s", "9223372036854775807"},
	{CLASS, "sl", "8"},
	{SPEC, "timeout", "32"},
	{SPEC, "seed", "-1"},
	{CLASS, "tos", "1.5"},
	{QP, "qpn", "16777216"},
	{QP, "psn", "-1"},
	{PEER, "mtu", "0"},
	{PEER, "mtu", "4097"},
	{PEER, "cm_port", "65536"},
	{PEER, "tcp_ports", "[0]"},
	{PEER, "tcp_ports", "[65536]"},
	{PEER, "tcp_ports", "[\"1\"]"},
	{PEER, "tcp_ports", "[1, 2, 3, 4, 5]"},
	{SPEC, "tcp", "[7]"},
	{TCP, "tos", "33"}, /* ECN bits */
	{TCP, "tos", "256"},
	{TCP, "streams", "0"},
	{TCP, "streams", "65"},
	{TCP, "direction", "\"up\""},
	{TCP, "rate_bytes_per_s", "-1"},
	{TCP_SUMS, "retransmits", "-1"},
	{TCP_SUMS, "tos_sent", "256"},
	{TCP_SUMS, "broken", "65"},
	{TCP_SUMS, "mss", "65536"},
	{TCP_SUMS, "detail", "\"line\\nbreak\""},
	{TCP_SUMS, "goodput", "{}"},
	{QP, "rkey", "4294967296"},
	{QP, "addr", "-1"},
	{PEER, "gid", "\"\""},
	{PEER, "gid", "\"0000000000000000000000000000000\""},
	{PEER, "gid", "\"000000000000000000000000000000000\""},
	{PEER, "gid", "\"0000000000000000000000000000000g\""},
	{RESULT, "cause", "\"weather\""},
	{RESULT, "messages", "-1"},
	{RESULT, "mtu", "65537"},
	{RESULT, "detail", "\"line\\nbreak\""},
	{SUMS, "gaps", "-1"},
	{SUMS, "tos_found", "256"},
	{SUMS, "tos_other", "257"},
	{FAILURE, "class", "16"},
	{FAILURE, "qp", "256"},
	{FAILURE, "status", "4294967296"},
	{REPORT, "failures", "[[]]"},
};

static void test_ranges(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_ranges); i++) {
		json_t *json = document(bad_ranges[i].which);
		json_t *value = json_loads(bad_ranges[i].value, JSON_DECODE_ANY, NULL);
		struct err e = {0};

		assert_non_null(value);
		json_object_set_new(object(bad_ranges[i].which, json), bad_ranges[i].key, value);
		if (readers[bad_ranges[i].which].read(json, &e) != -EINVAL)
			fail_msg("%s: %s was taken", bad_ranges[i].key, bad_ranges[i].value);
		json_decref(json);
	}
}

/* What XRC alone has: a number of 24 bits each, and no queue pair that receives without the receive
 * queue. */
static void test_xrc_numbers(void **state)
{
	static const struct {
		const char *target, *srqn, *names; /* NULL: left out; taken */
		uint32_t want;
	} cases[] = {
		{NULL, NULL, NULL, 0},
		{NULL, "5", NULL, 0},
		{"17", "0", NULL, 0},
		{"16777215", "16777215", NULL, 0xffffff},
		{"17", NULL, "srqn", 0},
		{"17", "null", "srqn", 0},
		{"17", "16777216", "srqn", 0},
		{"17", "4294967301", "srqn", 0},
		{"17", "-1", "srqn", 0},
		{"17", "1.5", "srqn", 0},
		{"17", "\"5\"", "srqn", 0},
		{"17", "[5]", "srqn", 0},
		{"16777216", "5", "target_qpn", 0},
		{"-1", "5", "target_qpn", 0},
		{"{}", "5", "target_qpn", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = traffic_endpoint_to_json(&peer);
		json_t *qp = json_array_get(json_object_get(json, "qps"), 0);
		struct traffic_endpoint p = {0};
		struct err e = {0};
		int err;

		if (cases[i].target)
			json_object_set_new(qp, "target_qpn",
					    json_loads(cases[i].target, JSON_DECODE_ANY, NULL));
		if (cases[i].srqn)
			json_object_set_new(qp, "srqn",
					    json_loads(cases[i].srqn, JSON_DECODE_ANY, NULL));
		err = traffic_endpoint_from_json(json, &p, &e);
		if (err != (cases[i].names ? -EINVAL : 0) || p.qp[0].srqn != cases[i].want ||
		    (err && (!strstr(e.text, cases[i].names) || !strstr(e.text, "qps[0]"))))
			fail_msg("case %zu: %d, '%s'", i, err, e.text);
		json_decref(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips), cmocka_unit_test(test_report),
		cmocka_unit_test(test_members),	    cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_xrc_numbers), cmocka_unit_test(test_stall_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
