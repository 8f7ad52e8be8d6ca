/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/qos*.c: every row of the field table through text, JSON, copy and diff; what "satisfied"
 * means where it is not "equal"; hostile JSON.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fixture/qos_samples.h"

static void test_rows_are_complete(void **state)
{
	(void)state;
	assert_true(QOS_FIELD_COUNT <= 64);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		const struct qos_field *f = &qos_fields[id];

		assert_non_null(f->key);
		assert_non_null(f->help);
		assert_non_null(f->unit);
		assert_non_null(f->source);
		assert_true(f->source[0]);
		assert_true(f->min <= f->max);
		assert_int_equal(qos_field_find(f->key), id);
		for (int other = 0; other < id; other++)
			assert_int_not_equal(f->offset, qos_fields[other].offset);
	}
	assert_int_equal(qos_field_find("pfc"), -ENOENT);
	assert_int_equal(qos_field_find("pfc.enabledx"), -ENOENT);
	assert_int_equal(qos_field_find(""), -ENOENT);
}

static void test_json_round_trip(void **state)
{
	struct qos q, back;
	struct err e = {0};
	json_t *json;

	(void)state;
	sample_qos(&q);
	json = qos_to_json(&q);
	assert_non_null(json);
	assert_int_equal(qos_from_json(json, &back, &e), 0);
	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (!qos_field_equal(&q, &back, id))
			fail_msg("%s is lost in JSON", qos_fields[id].key);
	json_decref(json);
}

/* A field is unequal when it differs, or is unknown on one side or both. */
static void test_unequal(void **state)
{
	const uint64_t all = QOS_BIT(QOS_FIELD_COUNT) - 1;
	struct qos q, other, none = {.has = 0};

	(void)state;
	sample_qos(&q);
	assert_true(q.has == all);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		other = q;
		other.has &= ~QOS_BIT(id);
		assert_true(qos_unequal(&q, &other, all) == QOS_BIT(id));
		assert_true(qos_unequal(&other, &q, all & ~QOS_BIT(id)) == 0);
		other = q;
		memset(qos_slot(&other, &qos_fields[id]), 1, 1);
		if (memcmp(&other, &q, sizeof(q)))
			assert_true(qos_unequal(&other, &q, all) == QOS_BIT(id));
	}
	assert_true(qos_unequal(&none, &none, all) == all);
}

static void test_dscp_count(void **state)
{
	struct qos q;

	(void)state;
	memset(q.dscp_prio, QOS_UNMAPPED, sizeof(q.dscp_prio));
	assert_int_equal(qos_dscp_count(&q), 0);
	q.dscp_prio[0] = q.dscp_prio[63] = 0;
	assert_int_equal(qos_dscp_count(&q), 2);
}

/* A field that is unknown is null alone, absent from the object, "unknown" as text, and equal to
 * nothing.
 */
static void test_unknown(void **state)
{
	struct qos none = {.has = 0}, q;
	json_t *json = qos_to_json(&none);
	char text[8];

	(void)state;
	sample_qos(&q);
	assert_int_equal(json_object_size(json), 0);
	json_decref(json);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		assert_true(json_is_null(qos_field_json(&none, id)));
		assert_int_equal(qos_field_text(&none, id, text, sizeof(text)), strlen("unknown"));
		assert_string_equal(text, "unknown");
		assert_false(qos_field_equal(&none, &none, id));
		assert_false(qos_field_equal(&q, &none, id));
	}
}

static void test_copy_each_field(void **state)
{
	struct qos q;

	(void)state;
	sample_qos(&q);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		struct qos one = {.has = 0}, none = {.has = 0};

		qos_copy_field(&one, &q, id);
		assert_true(one.has == QOS_BIT(id));
		assert_true(qos_field_equal(&one, &q, id));
		qos_copy_field(&one, &none, id);
		assert_true(one.has == 0);
	}
}

/* Each settable wish that the device does not state is a difference; none is when all are equal. */
static void test_diff_each_field(void **state)
{
	struct qos q, none = {.has = 0};

	(void)state;
	sample_qos(&q);
	assert_true(qos_diff(&q, &q) == 0);
	assert_true(qos_diff(&none, &q) == 0);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		bool judged = !qos_fields[id].read_only || id == QOS_IB_MTU;
		struct qos want = {.has = 0};

		qos_copy_field(&want, &q, id);
		assert_true(qos_diff(&want, &none) == (judged ? QOS_BIT(id) : 0));
		assert_true(qos_diff(&want, &q) == 0);
	}
}

static void test_text(void **state)
{
	static const struct {
		enum qos_field_id id;
		const char *want;
	} cases[] = {
		{QOS_DCBX_MODE, "[host, cee, 64]"},
		{QOS_TRUST, "dscp"},
		{QOS_DSCP_PRIO, "{26: 3, 63: 7}"},
		{QOS_APP, "{ethertype: {35093: 3}, udp: {4791: [3, 4]}, any: {65535: 0}}"},
		{QOS_PRIO_TC, "[0, 0, 0, 3, 0, 0, 6, 0]"},
		{QOS_TC_TSA, "{0: ets, 3: 7, 6: vendor}"},
		{QOS_TC_TX_BW, "{0: 50, 3: 50}"},
		{QOS_TC_MAXRATE, "{1: 18446744073709551615}"},
		{QOS_PFC_ENABLED, "[3, 5]"},
		{QOS_PAUSE_RX, "on"},
		{QOS_MTU, "4200"},
		{QOS_ROCE_VERSION, "v2"},
		{QOS_CM_TOS, "{dscp: 26, ecn: ect0}"},
	};
	struct qos q;
	char text[128];

	(void)state;
	sample_qos(&q);
	q.dcbx_mode = 0x45;
	q.mtu = 4200;
	memcpy(q.prio_tc, (uint8_t[]){0, 0, 0, 3, 0, 0, 6, 0}, 8);
	memcpy(q.tc_tsa, (uint8_t[]){2, 0, 0, 7, 0, 0, 255, 0}, 8);
	memcpy(q.tc_tx_bw, (uint8_t[]){50, 0, 0, 50, 0, 0, 0, 0}, 8);
	memset(q.tc_maxrate_kbps, 0, sizeof(q.tc_maxrate_kbps));
	q.tc_maxrate_kbps[1] = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int n = qos_field_text(&q, cases[i].id, text, sizeof(text));

		assert_string_equal(text, cases[i].want);
		assert_int_equal(n, strlen(cases[i].want));
	}
}

/* As snprintf: terminated at every size, and the length that would have been. */
static void test_text_is_cut(void **state)
{
	struct qos q;
	char whole[512], part[512];

	(void)state;
	sample_qos(&q);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		int length = qos_field_text(&q, id, whole, sizeof(whole));

		assert_int_equal(length, strlen(whole));
		for (int size = 1; size <= length; size++) {
			memset(part, 'x', sizeof(part));
			assert_int_equal(qos_field_text(&q, id, part, size), length);
			assert_int_equal(strlen(part), size - 1);
			assert_memory_equal(part, whole, size - 1);
		}
		assert_int_equal(qos_field_text(&q, id, NULL, 0), length);
	}
}

static void test_prio_set_text(void **state)
{
	static const struct {
		uint8_t set;
		const char *want;
	} cases[] = {{0, "none"}, {0x08, "3"}, {0x18, "3,4"}, {0xff, "0,1,2,3,4,5,6,7"}};
	char text[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		qos_prio_set_text(cases[i].set, text, sizeof(text));
		assert_string_equal(text, cases[i].want);
	}
	qos_prio_set_text(0xff, text, 4);
	assert_string_equal(text, "0,1");
}

static void test_meaning_of_ib_mtu(void **state)
{
	struct qos want = {.has = QOS_BIT(QOS_IB_MTU), .ib_mtu = 2048}, have = want;

	(void)state;
	have.ib_mtu = 4096;
	assert_true(qos_diff(&want, &have) == 0);
	have.ib_mtu = 1024;
	assert_true(qos_diff(&want, &have) == QOS_BIT(QOS_IB_MTU));
}

static void test_meaning_of_dcbx(void **state)
{
	static const struct {
		uint8_t want, have;
		bool differs;
	} cases[] = {
		{0x09, 0x09, false}, {0x09, 0x0d, false}, {0x09, 0x08, true}, {0x09, 0x0b, true},
		{0x0a, 0x0a, false}, {0x09, 0x19, false}, {0x00, 0x02, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct qos want = {.has = QOS_BIT(QOS_DCBX_MODE)}, have = want;

		want.dcbx_mode = cases[i].want;
		have.dcbx_mode = cases[i].have;
		assert_int_equal(qos_diff(&want, &have) != 0, cases[i].differs);
	}
}

static void test_meaning_of_maps(void **state)
{
	struct qos want, have;

	(void)state;
	sample_qos(&have);
	want = have;
	have.dscp_prio[10] = 1;
	assert_true(qos_diff(&want, &have) == 0);
	have.dscp_prio[26] = 4;
	assert_true(qos_diff(&want, &have) == QOS_BIT(QOS_DSCP_PRIO));

	have = want;
	assert_int_equal(qos_app_add(&have, (struct qos_app){QOS_APP_STREAM, 1, 3260}), 0);
	assert_true(qos_diff(&want, &have) == 0);
	assert_true(qos_diff(&have, &want) == QOS_BIT(QOS_APP));
	assert_false(qos_field_equal(&want, &have, QOS_APP));
}

/* Shares of classes that are not ETS do not count, and the wish says which are. */
static void test_meaning_of_shares(void **state)
{
	struct qos want = {.has = QOS_BIT(QOS_TC_TSA) | QOS_BIT(QOS_TC_TX_BW)}, have;

	(void)state;
	want.tc_tsa[3] = QOS_TSA_ETS;
	want.tc_tx_bw[3] = 100;
	have = want;
	have.tc_tx_bw[5] = 12;
	assert_true(qos_diff(&want, &have) == 0);
	have.tc_tx_bw[3] = 99;
	assert_true(qos_diff(&want, &have) == QOS_BIT(QOS_TC_TX_BW));
	want.has = QOS_BIT(QOS_TC_TX_BW);
	want.tc_tx_bw[3] = 99;
	assert_true(qos_diff(&want, &have) == 0);
	have.has = QOS_BIT(QOS_TC_TX_BW);
	assert_true(qos_diff(&want, &have) == QOS_BIT(QOS_TC_TX_BW));
}

static void test_app_add(void **state)
{
	struct qos q = {.has = 0};

	(void)state;
	q.app_count = 17; /* means nothing while has is not set */
	assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_DGRAM, 3, 4791}), 0);
	assert_int_equal(q.app_count, 1);
	assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_DGRAM, 3, 4791}), -EEXIST);
	assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_DGRAM, 8, 4791}), -EINVAL);
	assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_DSCP, 3, 26}), -EINVAL);
	assert_int_equal(qos_app_add(&q, (struct qos_app){0, 3, 26}), -EINVAL);
	for (uint16_t port = QOS_APPS_MAX; port > 1; port--)
		assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_STREAM, 1, port}), 0);
	assert_int_equal(qos_app_add(&q, (struct qos_app){QOS_APP_STREAM, 1, 1}), -ENOSPC);
	assert_int_equal(q.app_count, QOS_APPS_MAX);
	for (unsigned int i = 0; i + 1 < QOS_APPS_MAX - 1u; i++)
		assert_int_equal(q.app[i].protocol, i + 2);
	assert_int_equal(q.app[QOS_APPS_MAX - 1].protocol, 4791);
}

static void test_dscp_to_prio(void **state)
{
	struct qos q = {.has = 0};

	(void)state;
	assert_int_equal(qos_dscp_to_prio(&q, 26), -ENODATA);
	q.has = QOS_BIT(QOS_TRUST);
	assert_int_equal(qos_dscp_to_prio(&q, 26), 0);
	q.trust = QOS_TRUST_DSCP;
	assert_int_equal(qos_dscp_to_prio(&q, 26), -ENODATA);
	q.has |= QOS_BIT(QOS_DSCP_PRIO);
	memset(q.dscp_prio, QOS_UNMAPPED, sizeof(q.dscp_prio));
	q.dscp_prio[26] = 3;
	assert_int_equal(qos_dscp_to_prio(&q, 26), 3);
	assert_int_equal(qos_dscp_to_prio(&q, 27), 0);
	assert_int_equal(qos_dscp_to_prio(&q, 64), -EINVAL);
}

static const char *const bad_json[] = {
	"[]",
	"1",
	"{\"trust\": 3}",
	"{\"trust\": \"DSCP\"}",
	"{\"trust\": [1]}",
	"{\"pfc\": {\"enabled\": 8}}",
	"{\"pfc\": {\"enabled\": [8]}}",
	"{\"pfc\": {\"enabled\": [-1]}}",
	"{\"pfc\": {\"enabled\": [\"3\"]}}",
	"{\"pfc\": {\"delay\": 65536}}",
	"{\"pfc\": {\"delay\": 1.5}}",
	"{\"pfc\": {\"willing\": 1}}",
	"{\"pfc\": {\"willing\": \"on\"}}",
	"{\"ets\": {\"prio_tc\": [0,0,0,0,0,0,0]}}",
	"{\"ets\": {\"prio_tc\": [0,0,0,0,0,0,0,0,0]}}",
	"{\"ets\": {\"prio_tc\": [0,0,0,0,0,0,0,8]}}",
	"{\"ets\": {\"tc_tsa\": [0,0,0,0,0,0,0,256]}}",
	"{\"ets\": {\"tc_tsa\": [0,0,0,0,0,0,0,\"x\"]}}",
	"{\"ets\": {\"tc_maxrate_kbps\": [0,0,0,0,0,0,0,-1]}}",
	"{\"buffer\": {\"size\": [0,0,0,0,0,0,0,4294967296]}}",
	"{\"app\": {\"dscp\": {\"64\": 3}}}",
	"{\"app\": {\"dscp\": {\"026\": 3}}}",
	"{\"app\": {\"dscp\": {\" 1\": 3}}}",
	"{\"app\": {\"dscp\": {\"\": 3}}}",
	"{\"app\": {\"dscp\": {\"-1\": 3}}}",
	"{\"app\": {\"dscp\": {\"26\": 255}}}",
	"{\"app\": {\"dscp\": {\"99999999999999999999\": 3}}}",
	"{\"app\": {\"dscp\": [3]}}",
	"{\"app\": {\"entries\": {}}}",
	"{\"app\": {\"entries\": [{}]}}",
	"{\"app\": {\"entries\": [3]}}",
	"{\"app\": {\"entries\": [{\"selector\":5,\"protocol\":26,\"prio\":3}]}}",
	"{\"app\": {\"entries\": [{\"selector\":\"udp\",\"protocol\":65536,\"prio\":3}]}}",
	"{\"app\": {\"entries\": [{\"selector\":\"udp\",\"protocol\":1,\"prio\":8}]}}",
	"{\"app\": {\"entries\": [{\"selector\":\"udp\",\"protocol\":1,\"prio\":1},"
	"{\"selector\":\"udp\",\"protocol\":1,\"prio\":1}]}}",
	"{\"vlan\": {\"egress_qos_map\": [3]}}",
	"{\"vlan\": {\"egress_qos_map\": {\"16\": 3}}}",
	"{\"vlan\": {\"egress_qos_map\": {\"02\": 3}}}",
	"{\"vlan\": {\"egress_qos_map\": {\"2\": 8}}}",
	"{\"mtu\": {\"netdev\": 67}}",
	"{\"mtu\": {\"netdev\": \"9000\"}}",
	"{\"rdma\": {\"cm_default_tos\": 106}}",
	"{\"rdma\": {\"cm_default_tos\": {\"dscp\": 64, \"ecn\": \"ect0\"}}}",
	"{\"rdma\": {\"cm_default_tos\": {\"dscp\": 26, \"ecn\": 4}}}",
	"{\"rdma\": {\"roce_version\": \"v3\"}}",
	"{\"rdma\": {\"roce_version\": 3}}",
	"{\"dcbx\": {\"mode\": \"host\"}}",
	"{\"dcbx\": {\"mode\": [\"os\"]}}",
};

static void test_hostile_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_json); i++) {
		json_t *json = json_loads(bad_json[i], JSON_DECODE_ANY, NULL);
		struct qos q = {.has = 42};
		struct err e = {0};

		assert_non_null(json);
		if (qos_from_json(json, &q, &e) != -EINVAL)
			fail_msg("accepted: %s", bad_json[i]);
		assert_true(q.has == 42);
		assert_true(e.text[0]);
		json_decref(json);
	}
}

/* Too many entries, unknown keys of a newer writer, groups of another type. */
static void test_unusual_json(void **state)
{
	json_t *json = json_loads("{\"new\": {\"key\": 1}, \"pfc\": {\"mbc\": 1, \"cap\": null},"
				  " \"ets\": 7, \"mtu\": {\"netdev\": 1500}}",
				  0, NULL);
	json_t *entries = json_array();
	struct err e = {0};
	struct qos q;

	(void)state;
	assert_int_equal(qos_from_json(json, &q, &e), 0);
	assert_true(q.has == QOS_BIT(QOS_MTU));
	for (int i = 0; i <= QOS_APPS_MAX; i++)
		json_array_append_new(entries, json_pack("{s:s, s:i, s:i}", "selector", "udp",
							 "protocol", i, "prio", 3));
	json_object_set_new(json, "app", json_pack("{s:o}", "entries", entries));
	assert_int_equal(qos_from_json(json, &q, &e), -EINVAL);
	json_decref(json);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(qos_word_text(qos_app_words, QOS_APP_DGRAM), "udp");
	assert_null(qos_word_text(qos_app_words, 200));
	assert_int_equal(qos_word_value(qos_switch_words, "on"), 1);
	assert_int_equal(qos_word_value(qos_switch_words, "off"), 0);
	assert_int_equal(qos_word_value(qos_switch_words, "yes"), -ENOENT);
	assert_int_equal(qos_word_value(qos_switch_words, "On"), -ENOENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_json_round_trip),
		cmocka_unit_test(test_unequal),
		cmocka_unit_test(test_dscp_count),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_copy_each_field),
		cmocka_unit_test(test_diff_each_field),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_is_cut),
		cmocka_unit_test(test_prio_set_text),
		cmocka_unit_test(test_meaning_of_ib_mtu),
		cmocka_unit_test(test_meaning_of_dcbx),
		cmocka_unit_test(test_meaning_of_maps),
		cmocka_unit_test(test_meaning_of_shares),
		cmocka_unit_test(test_app_add),
		cmocka_unit_test(test_dscp_to_prio),
		cmocka_unit_test(test_hostile_json),
		cmocka_unit_test(test_unusual_json),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
