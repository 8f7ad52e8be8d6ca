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

#include "probe/traffic.h"

static const struct traffic_spec spec = {
	.role = TRAFFIC_SERVER,
	.verb = TRAFFIC_SEND,
	.ibdev = "mlx5_0",
	.ib_port = 1,
	.gid_index = 3,
	.tos = 106,
	.message_bytes = 65536,
	.duration_ms = 1500,
	.rate_bytes_per_s = 625000000,
	.seed = 0x7edcba9876543210,
	.sl = 3,
	.timeout = 14,
};

static const struct traffic_peer peer = {
	.qpn = 0xabcdef,
	.psn = 0x123456,
	.gid = {[10] = 0xff, [11] = 0xff, [12] = 198, [13] = 18, [15] = 2},
	.mtu = 4096,
	.addr = 0x7f0012345000,
	.rkey = 0xdeadbeef,
	.slots = 32,
};

static const struct traffic_result result = {
	.messages = 381,
	.bytes = 24969216,
	.duration_ns = 1499123456,
	.checked_bytes = 24969216,
	.mismatches = 2,
	.mtu = 4096,
	.cause = CAUSE_DATA,
	.detail = "message 7 has a wrong byte (at byte 4096)",
};

static void test_round_trips(void **state)
{
	struct traffic_result r;
	struct traffic_spec s;
	struct traffic_peer p;
	struct err e = {0};
	json_t *json;

	(void)state;
	json = traffic_spec_to_json(&spec);
	assert_int_equal(traffic_spec_from_json(json, &s, &e), 0);
	assert_memory_equal(&s, &spec, sizeof(s));
	json_decref(json);
	json = traffic_peer_to_json(&peer);
	assert_int_equal(traffic_peer_from_json(json, &p, &e), 0);
	assert_memory_equal(&p, &peer, sizeof(p));
	json_decref(json);
	json = traffic_result_to_json(&result);
	assert_int_equal(traffic_result_from_json(json, &r, &e), 0);
	assert_memory_equal(&r, &result, sizeof(r));
	json_decref(json);
}

static int read_spec(const json_t *json, struct err *e)
{
	struct traffic_spec s;

	return traffic_spec_from_json(json, &s, e);
}

static int read_peer(const json_t *json, struct err *e)
{
	struct traffic_peer p;

	return traffic_peer_from_json(json, &p, e);
}

static int read_result(const json_t *json, struct err *e)
{
	struct traffic_result r;

	return traffic_result_from_json(json, &r, e);
}

enum document {
	SPEC,
	PEER,
	RESULT,
};

static int (*const readers[])(const json_t *json, struct err *e) = {read_spec, read_peer,
								    read_result};

static json_t *document(enum document which)
{
	switch (which) {
	case SPEC:
		return traffic_spec_to_json(&spec);
	case PEER:
		return traffic_peer_to_json(&peer);
	case RESULT:
		return traffic_result_to_json(&result);
	}
	return NULL;
}

/* Every member is needed, and none may have another type. */
static void test_members(void **state)
{
	(void)state;
	for (unsigned int which = SPEC; which <= RESULT; which++) {
		json_t *whole = document(which), *value;
		const char *key;

		json_object_foreach (whole, key, value) {
			json_t *other = json_deep_copy(whole);
			struct err e = {0};

			json_object_del(other, key);
			assert_int_equal(readers[which](other, &e), -EINVAL);
			assert_non_null(strstr(e.text, key));
			json_object_set_new(other, key, json_array());
			assert_int_equal(readers[which](other, &e), -EINVAL);
			assert_non_null(strstr(e.text, key));
			json_object_set_new(other, key, json_null());
			assert_int_equal(readers[which](other, &e), -EINVAL);
			json_decref(other);
		}
		json_decref(whole);
		assert_int_equal(readers[which](NULL, NULL), -EINVAL);
	}
}

static void test_ranges(void **state)
{
	static const struct {
		enum document which;
		const char *key, *value;
	} cases[] = {
		{SPEC, "role", "\"both\""},
		{SPEC, "verb", "\"READ\""},
		{SPEC, "ibdev", "\"a\\u0007b\""},
		{SPEC, "ibdev",
		 "\"0123456789012345678901234567890123456789012345678901234567890123\""},
		{SPEC, "ib_port", "0"},
		{SPEC, "ib_port", "256"},
		{SPEC, "gid_index", "-1"},
		{SPEC, "gid_index", "256"},
		{SPEC, "tos", "256"},
		{SPEC, "message_bytes", "63"},
		{SPEC, "message_bytes", "8388609"},
		{SPEC, "duration_ms", "0"},
		{SPEC, "duration_ms", "86400001"},
		{SPEC, "rate_bytes_per_s", "-5"},
		{SPEC, "rate_bytes_per_s", "9223372036854775807"},
		{SPEC, "sl", "8"},
		{SPEC, "timeout", "32"},
		{SPEC, "seed", "-1"},
		{SPEC, "tos", "1.5"},
		{PEER, "qpn", "16777216"},
		{PEER, "psn", "-1"},
		{PEER, "mtu", "0"},
		{PEER, "mtu", "4097"},
		{PEER, "slots", "0"},
		{PEER, "slots", "1"},
		{PEER, "slots", "65"},
		{PEER, "rkey", "4294967296"},
		{PEER, "addr", "-1"},
		{PEER, "gid", "\"\""},
		{PEER, "gid", "\"0000000000000000000000000000000\""},
		{PEER, "gid", "\"000000000000000000000000000000000\""},
		{PEER, "gid", "\"0000000000000000000000000000000g\""},
		{RESULT, "cause", "\"weather\""},
		{RESULT, "messages", "-1"},
		{RESULT, "mtu", "65537"},
		{RESULT, "detail", "\"line\\nbreak\""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = document(cases[i].which);
		json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		struct err e = {0};

		assert_non_null(value);
		json_object_set_new(json, cases[i].key, value);
		if (readers[cases[i].which](json, &e) != -EINVAL)
			fail_msg("%s: %s was taken", cases[i].key, cases[i].value);
		json_decref(json);
	}
}

static void test_words(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CAUSE_COUNT; i++) {
		assert_true(*traffic_cause_word(i));
		assert_true(i == CAUSE_NONE || *traffic_cause_advice(i));
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(traffic_cause_word(i), traffic_cause_word(k));
	}
	assert_string_equal(traffic_cause_word(CAUSE_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
