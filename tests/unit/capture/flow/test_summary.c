/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_summary: through JSON and back without loss, and what another host may send instead.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/decode/opcode.h"
#include "capture/flow/summary.h"

static void fill(struct flow_table *t)
{
	struct packet p = {
		.kind = PACKET_ROCE,
		.encap = ENCAP_ROCE_V2_IPV4,
		.bth = true,
		.icrc = ICRC_GOOD,
		.opcode = 0x04,
		.headers = 0,
		.sport = 49444,
		.dest_qpn = 0xffffff,
		.dscp = 26,
		.ecn = 3,
		.payload_len = 1000,
		.src = {[10] = 0xff, [11] = 0xff, 198, 18, 0, 1},
		.dst = {[10] = 0xff, [11] = 0xff, 198, 18, 0, 2},
	};
	static const uint32_t psn[] = {5, 6, 9, 7, 7};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(psn); i++) {
		p.psn = psn[i];
		p.frame = i + 1;
		p.time_ns = 1700000000000000000 + i * 10000;
		assert_int_equal(flow_table_add(t, &p), 0);
	}
	p.encap = ENCAP_ROCE_V1;
	p.src[0] = 0xfe;
	p.opcode = OPCODE_CNP;
	assert_int_equal(flow_table_add(t, &p), 0);
	p = (struct packet){.kind = PACKET_PFC, .pfc_enable = 8};
	assert_int_equal(flow_table_add(t, &p), 0);
}

static void make(struct capture_summary *s, bool with_peer)
{
	struct flow_table *t = flow_table_new(0);
	struct lldp_peer peer = {
		.seen = with_peer,
		.chassis = "02:00:00:00:00:01",
		.system = "leaf1",
		.port = "swp1",
		.dialect = "ieee",
		.max_frame = 9216,
		.ttl_s = 120,
		.neighbours = 2,
	};

	peer.qos.has = QOS_BIT(QOS_PFC_ENABLED);
	peer.qos.pfc_enabled = 8;
	if (!with_peer)
		memset(&peer, 0, sizeof(peer));
	flow_table_set_link_speed(t, 25000, PAUSE_SPEED_FILE);
	fill(t);
	assert_int_equal(capture_summary_make(t, &peer, DROPS_SOME, 42, s), 0);
	flow_table_free(t);
}

static void round_trip(void **state)
{
	int with_peer;

	(void)state;
	for (with_peer = 0; with_peer <= 1; with_peer++) {
		struct capture_summary s, back;
		struct err e = {0};
		json_t *o, *again;

		make(&s, with_peer);
		o = capture_summary_to_json(&s);
		assert_non_null(o);
		assert_int_equal(capture_summary_from_json(o, &back, &e), 0);
		assert_memory_equal(&s.totals, &back.totals, sizeof(s.totals));
		assert_int_equal(back.drops, DROPS_SOME);
		assert_true(back.dropped == 42);
		assert_int_equal(back.flow_count, 2);
		assert_memory_equal(s.flow, back.flow, 2 * sizeof(*s.flow));
		assert_int_equal(back.lldp_peer.seen, with_peer);
		assert_string_equal(back.lldp_peer.system, s.lldp_peer.system);
		assert_int_equal(back.lldp_peer.qos.pfc_enabled, s.lldp_peer.qos.pfc_enabled);
		assert_int_equal(back.lldp_peer.neighbours, s.lldp_peer.neighbours);
		again = capture_summary_to_json(&back);
		assert_true(json_equal(o, again));
		json_decref(o);
		json_decref(again);
		capture_summary_clear(&s);
		capture_summary_clear(&back);
	}
}

static void counts(void **state)
{
	struct capture_summary s;

	(void)state;
	make(&s, false);
	assert_int_equal(s.flow[0].psn_gaps, 1);
	assert_int_equal(s.flow[0].psn_missing, 1);
	assert_int_equal(s.flow[0].duplicates, 1);
	assert_int_equal(s.flow[0].ecn[3], 5);
	assert_int_equal(s.flow[1].cnp, 1);
	assert_int_equal(s.totals.pfc_by_prio[3], 1);
	capture_summary_clear(&s);
	capture_summary_clear(&s); /* twice is harmless */
	capture_summary_clear(NULL);
}

/* A pcapng file states its drops in 64 bits, JSON integers have a sign. */
static void many_drops(void **state)
{
	struct capture_summary s, back;
	struct err e = {0};
	json_t *o;

	(void)state;
	make(&s, false);
	s.dropped = UINT64_MAX;
	o = capture_summary_to_json(&s);
	assert_int_equal(capture_summary_from_json(o, &back, &e), 0);
	assert_true(back.dropped == INT64_MAX);
	json_decref(o);
	capture_summary_clear(&s);
	capture_summary_clear(&back);
}

/* Each row replaces one value by another at a path of keys; the flow is the first one. */
static const struct {
	const char *object, *key, *json, *want;
} bad_members[] = {
	{"totals", "frames", "-1", "'frames'"},
	{"totals", "frames", "\"7\"", "'frames'"},
	{"totals", "pfc_by_prio", "[1,2]", "'pfc_by_prio'"},
	{"totals", "pfc_by_prio", "[1,2,3,4,5,6,7,-8]", "'pfc_by_prio'"},
	{"", "totals", "null", "'frames'"},
	{"", "drops", "\"maybe\"", "'drops'"},
	{"", "dropped", "1.5", "'dropped'"},
	{"", "flows", "{}", "'flows'"},
	{"", "flows", "[[]]", "flows[0]"},
	{"", "lldp", "[]", "'chassis'"},
	{"flow", "encap", "7", "flows[0]: 'encap'"},
	{"flow", "src", "\"300.1.1.1\"", "flows[0]: src: "},
	{"flow", "dst", "7", "flows[0]: dst: "},
	{"flow", "sport", "65536", "'sport'"},
	{"flow", "dest_qpn", "16777216", "'dest_qpn'"},
	{"flow", "packets", "null", "'packets'"},
	{"flow", "ecn", "[0,0,0,0,0]", "'ecn'"},
	{"flow", "dscp", "{\"64\": 1}", "flows[0]: dscp: "},
	{"flow", "dscp", "{\"26\": -1}", "'26'"},
	{"flow", "max_payload", "4294967296", "'max_payload'"},
	{"lldp", "chassis",
	 "\"0123456789012345678901234567890123456789012345678901234567890"
	 "1234\"",
	 "'chassis'"},
	{"lldp", "system", "\"a\\u0000b\"", "'system'"},
	{"lldp", "port", "\"\\u001b[2J\"", "'port'"},
	{"lldp", "dialect", "\"klingon\"", "lldp: dialect: "},
	{"lldp", "ttl_s", "65536", "'ttl_s'"},
	{"lldp", "qos", "{\"pfc\": {\"enabled\": 3}}", "pfc"},
};

static void hostile(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad_members); i++) {
		struct capture_summary s, back = {.dropped = 99};
		struct err e = {0};
		json_t *o, *at, *value;
		int err;

		make(&s, true);
		o = capture_summary_to_json(&s);
		at = !*bad_members[i].object ? o : json_object_get(o, bad_members[i].object);
		if (!strcmp(bad_members[i].object, "flow"))
			at = json_array_get(json_object_get(o, "flows"), 0);
		value = json_loads(bad_members[i].json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(value);
		assert_int_equal(json_object_set_new(at, bad_members[i].key, value), 0);
		err = capture_summary_from_json(o, &back, &e);
		if (err != -EINVAL || !strstr(e.text, bad_members[i].want))
			fail_msg("%s: %d %s", bad_members[i].key, err, e.text);
		assert_true(back.dropped == 99); /* untouched */
		json_decref(o);
		capture_summary_clear(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(counts),
		cmocka_unit_test(many_drops),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
