/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile may not say: values, items and keys that are wrong, fields that do not fit each
 * other, and findings that come all at once.
 */
#include "tests/unit/profiles/profile_load.h"

/* clang-format off */
static const struct {
	const char *in, *rule;
	int column;
} wrong_values[] = {
	{"pfc: {enabled: 3}", "RC-INP-004", 16},
	{"pfc: {enabled: [8]}", "RC-INP-005", 17},
	{"pfc: {enabled: [3, 3]}", "RC-INP-014", 20},
	{"pfc: {enabled: [0-3, 2]}", "RC-INP-014", 22},
	{"pfc: {enabled: [03]}", "RC-INP-004", 17},
	{"pfc: {enabled: [[3]]}", "RC-INP-004", 17},
	{"pfc: {enabled: {3: 3}}", "RC-INP-004", 16},
	{"pfc: {willing: no}", "RC-INP-009", 16},
	{"pfc: {willing: 0}", "RC-INP-009", 16},
	{"pfc: {delay: 65536}", "RC-INP-005", 14},
	{"pfc: [3]", "RC-INP-004", 6},
	{"pfc:", "RC-INP-004", 5},
	{"trust: DSCP", "RC-INP-009", 8},
	{"trust: [dscp]", "RC-INP-004", 8},
	{"dcbx: {mode: [os]}", "RC-INP-009", 15},
	{"dcbx: {mode: host}", "RC-INP-004", 14},
	{"ets: {prio_tc: [0, 0, 0]}", "RC-INP-004", 16},
	{"ets: {prio_tc: {8: 0}}", "RC-INP-005", 17},
	{"ets: {prio_tc: {0: 8}}", "RC-INP-005", 20},
	{"ets: {tc_tsa: {0: wrr}}", "RC-INP-009", 19},
	{"ets: {tc_tx_bw: {0: 101}}", "RC-INP-005", 21},
	{"ets: {tc_tx_bw: {0: 50%}}", "RC-INP-004", 21},
	{"ets: {tc_maxrate_kbps: {0: 5T}}", "RC-INP-005", 28},
	{"ets: {tc_maxrate_kbps: {0: fast}}", "RC-INP-004", 28},
	{"buffer: {size: {0: 5GiB}}", "RC-INP-005", 20},
	{"app: {dscp: [26]}", "RC-INP-004", 13},
	{"app: {dscp: {64: 3}}", "RC-INP-005", 14},
	{"app: {dscp: {26: 8}}", "RC-INP-005", 18},
	{"app: {dscp: {24-31: 3, 26: 4}}", "RC-INP-014", 24},
	{"app: {dscp_default: shift}", "RC-INP-004", 21},
	{"app: {dscp_default: 8}", "RC-INP-005", 21},
	{"app: {udp: {65536: 3}}", "RC-INP-005", 13},
	{"app: {udp: {4791: [3, 3]}}", "RC-INP-014", 23},
	{"app: {udp: {4791: 3}, entries: {udp: {4791: 3}}}", "RC-INP-014", 45},
	{"app: {entries: {dscp: {26: 3}}}", "RC-INP-009", 17},
	{"rdma: {cm_default_tos: 256}", "RC-INP-005", 24},
	{"rdma: {cm_default_tos: {dscp: 26}}", "RC-INP-004", 24},
	{"rdma: {cm_default_tos: {dscp: 26, ecn: 2}}", "RC-INP-009", 40},
	{"rdma: {cm_default_tos: {dscp: 64, ecn: ect0}}", "RC-INP-005", 31},
	{"rdma: {cm_default_tos: [26]}", "RC-INP-004", 24},
	{"mtu: {netdev: 67}", "RC-INP-005", 15},
	{"mtu: {netdev: 0x1000}", "RC-INP-004", 15},
	{"mtu: {ib_min: 1500}", "RC-INP-005", 15},
	{"select: {interfaces: eth0}", "RC-INP-004", 22},
	{"select: {interfaces: ['']}", "RC-INP-005", 23},
	{"policy: {rollback_timeout_s: 3601}", "RC-INP-005", 30},
	{"policy: {disruption: maybe}", "RC-INP-009", 22},
	{"vlan: {egress_qos_map: {16: 3}}", "RC-INP-005", 25},
	{"vendor: {ice: 3}", "RC-INP-004", 15},
	{"congestion_control: {params: {rtt: x}}", "RC-INP-004", 36},
	{"congestion_control: {params: {rpg_ai_rat: 5}}", "RC-INP-009", 31},
	{"congestion_control: {params: [rtt]}", "RC-INP-004", 30},
	{"pfc: {storm_prevention_ms: 1}", "RC-INP-005", 28},
	{"pfc: {storm_prevention_ms: 79}", "RC-INP-005", 28},
	{"pfc: {storm_prevention_ms: 8001}", "RC-INP-005", 28},
	{"pfc: {storm_prevention_ms: never}", "RC-INP-004", 28},
	{"dcbx: {peer: {match: [pfcs]}}", "RC-INP-009", 23},
	{"pfc.enabled: [3]", "RC-INP-002", 1},
	{"'': 3", "RC-INP-002", 1},
	{"extends: [a]", "RC-INP-004", 10},
	{"description: ''", "RC-INP-005", 14},
};
/* clang-format on */

static void test_wrong_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong_values); i++) {
		struct profile p = {.name = "untouched"};
		const struct diag *one;
		struct diags d;
		char text[256];

		snprintf(text, sizeof(text), HEAD "%s\n", wrong_values[i].in);
		if (load(text, &p, &d) != -EINVAL)
			fail_msg("accepted: %s", wrong_values[i].in);
		one = find_rule(&d, wrong_values[i].rule);
		if (!one || one->line != 4 || one->column != wrong_values[i].column)
			fail_msg("%s: %s at %d:%d", wrong_values[i].in, d.list[0].text,
				 d.list[0].line, d.list[0].column);
		assert_string_equal(one->source, wrong_values[i].in);
		assert_string_equal(p.name, "untouched");
		diags_clear(&d);
	}
}

/* A whole file of mistakes is one run of findings; of a file with a key given twice there is no
 * tree in which more could be found. */
static void test_all_findings_at_once(void **state)
{
	static const char text[] = "schema: rocecheck.profile/2\n"
				   "nam: x\n"
				   "intent: losless\n"
				   "pfc: {enabeld: [3], willing: maybe}\n"
				   "mtu: {netdev: 010}\n";
	static const char twice[] = "schema: rocecheck.profile/2\nnam: x\nmtu: {netdev: 010}\n"
				    "mtu: {netdev: 9000}\n";
	static const struct {
		const char *rule, *suggestion;
	} want[] = {
		{"RC-INP-010", NULL},	   {"RC-INP-002", "name"}, {"RC-INP-009", "lossless"},
		{"RC-INP-002", "enabled"}, {"RC-INP-009", NULL},   {"RC-INP-004", NULL},
		{"RC-INP-006", NULL},
	};
	struct profile p;
	struct diags d;

	(void)state;
	assert_int_equal(load(text, &p, &d), -EINVAL);
	assert_int_equal(d.count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		assert_string_equal(d.list[i].rule, want[i].rule);
		assert_int_equal(!d.list[i].suggestion, !want[i].suggestion);
		if (want[i].suggestion)
			assert_string_equal(d.list[i].suggestion, want[i].suggestion);
	}
	diags_clear(&d);
	assert_int_equal(load(twice, &p, &d), -EINVAL);
	assert_int_equal(d.count, 1);
	assert_string_equal(d.list[0].rule, "RC-INP-003");
	diags_clear(&d);
}

/* Nor does one item of a list or map hide the next. */
static void test_all_items_at_once(void **state)
{
	static const struct {
		const char *in;
		size_t findings;
	} cases[] = {
		{"pfc: {enabled: [9, 3, x, 3]}\n", 3},
		{"ets: {prio_tc: [0, 9, 10, 3, 0, 0, 6, 77]}\n", 3},
		{"ets: {prio_tc: {3: 9, 8: 1, x: 1}}\n", 3},
		{"app: {dscp: {26: 9, 99: 3, 40-41: 6, 41: 3, x: y}}\n", 5},
		{"app: {udp: {4791: 9, 99999: 3, 1: [8, 3, x]}}\n", 4},
		{"app: {entries: {upd: {1: 1}, udp: {1: 9}, tcp: [1]}}\n", 3},
		{"select: {interfaces: [[], {}, '']}\n", 3},
		{"vlan: {egress_qos_map: {x: 1, 3: 8, 2: 2}}\n", 2},
		{"dcbx: {peer: {match: [pcf, ets, x]}}\n", 2},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;
		struct diags d;
		char text[512];

		snprintf(text, sizeof(text),
			 "schema: rocecheck.profile/1\nname: x\nintent: lossy\n%s", cases[i].in);
		assert_int_equal(load(text, &p, &d), -EINVAL);
		if (d.count != cases[i].findings)
			fail_msg("%s: %zu findings, the first: %s", cases[i].in, d.count,
				 d.list[0].text);
		diags_clear(&d);
	}
}

#define LOSSLESS "intent: lossless\ntrust: dscp\npfc: {enabled: [3]}\n"

/* clang-format off */
static const struct {
	const char *in, *rule; /* NULL: no finding at all */
	int line;
} cross_fields[] = {
	{LOSSLESS "app: {dscp: {26: 3}}\nrdma: {cm_default_tos: 106}\n", NULL, 0},
	{LOSSLESS "app: {dscp: {26: 4}}\nrdma: {cm_default_tos: 106}\n", "RC-INP-020", 7},
	{LOSSLESS "app: {dscp: {48: 3}}\nrdma: {cm_default_tos: 106}\n", "RC-INP-020", 7},
	{LOSSLESS "app: {dscp_default: shift3}\nrdma: {cm_default_tos: 106}\n", NULL, 0},
	{LOSSLESS "app: {dscp_default: 0}\nrdma: {cm_default_tos: 106}\n", "RC-INP-020", 7},
	{"intent: lossy\ntrust: dscp\napp: {dscp: {26: 4}}\nrdma: {cm_default_tos: 106}\n",
	 NULL, 0},
	{"intent: lossless\n", "RC-INP-029", 0},
	{"intent: lossless\npfc: {enabled: []}\n", "RC-INP-029", 4},
	{"intent: lossy\npfc: {enabled: [3]}\n", "RC-INP-029", 4},
	{"intent: sprayed\npfc: {enabled: []}\n", NULL, 0},
	{LOSSLESS, "RC-INP-032", 4},
	{"intent: lossy\ntrust: pcp\n", "RC-INP-025", 4},
	{"intent: lossy\ntrust: pcp\nvlan: {egress_qos_map: {}}\n", "RC-INP-025", 4},
	{"intent: lossy\ntrust: pcp\nvlan: {egress_qos_map: {2: 3}}\n", NULL, 0},
	{"intent: lossless\ntrust: pcp\npfc: {enabled: [3]}\n"
	 "vlan: {egress_qos_map: {2: 4}}\n"
	 "rdma: {cm_default_tos: 106}\n", "RC-INP-020", 7},
	{"intent: lossless\npfc: {enabled: [3]}\n"
	 "congestion_control: {np: {cnp_prio: 3}}\n", "RC-INP-021", 5},
	{LOSSLESS "app: {dscp: {26: 3, 48: 3}}\ncongestion_control: {np: {cnp_dscp: 48}}\n",
	 "RC-INP-021", 7},
	{LOSSLESS "app: {dscp: {26: 3, 48: 6}}\ncongestion_control: {np: {cnp_dscp: 48}}\n",
	 NULL, 0},
	{"intent: lossless\npfc: {enabled: [3]}\n"
	 "ets: {prio_tc: [0, 0, 0, 3, 3, 0, 6, 0]}\n",
	 "RC-INP-022", 5},
	{"intent: lossless\npfc: {enabled: [3, 4]}\n"
	 "ets: {prio_tc: [0, 0, 0, 3, 3, 0, 6, 0]}\n", NULL, 0},
	{"intent: lossy\nets: {tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 50, 3: 49}}\n",
	 "RC-INP-023", 4},
	{"intent: lossy\nets: {tc_tsa: {0: ets, 3: ets}, tc_tx_bw: {0: 100}}\n",
	 "RC-INP-024", 4},
	{"intent: lossy\nets: {tc_tsa: {0: ets}, tc_tx_bw: {0: 100, 3: 1}}\n",
	 "RC-INP-031", 4},
	{"intent: lossy\nets: {tc_tsa: {}, tc_tx_bw: {}}\n", NULL, 0},
	{"intent: lossy\nrdma: {cm_default_tos: 104}\n", "RC-INP-026", 4},
	{"intent: lossy\nrdma: {cm_default_tos: 107}\n", "RC-INP-026", 4},
	{"intent: lossy\nrdma: {cm_default_tos: 104}\n"
	 "congestion_control: {rp: {enable: []}}\n", NULL, 0},
	{"intent: lossy\nmtu: {netdev: 4192, ib_min: 4096}\n", NULL, 0},
	{"intent: lossy\nmtu: {netdev: 4191, ib_min: 4096}\n", "RC-INP-027", 4},
	{"intent: lossy\nmtu: {netdev: 1120, ib_min: 1024}\n", NULL, 0},
	{"intent: lossy\nmtu: {netdev: 1119, ib_min: 1024}\n", "RC-INP-027", 4},
	{"intent: lossless\npfc: {enabled: [3]}\nlink_pause: {rx: off, tx: on}\n",
	 "RC-INP-028", 5},
	{"intent: lossless\npfc: {enabled: [3]}\nlink_pause: {rx: on}\n", "RC-INP-028", 5},
	{"intent: lossless\npfc: {enabled: [3]}\n"
	 "ets: {prio_tc: {3: 3}, tc_tsa: {0: ets}}\n",
	 "RC-INP-030", 5},
	{"intent: lossless\npfc: {enabled: [3]}\n"
	 "ets: {prio_tc: {3: 3}, tc_tsa: {0: ets}, tc_maxrate_kbps: {3: 1G}}\n", NULL, 0},
	{"intent: lossy\nets: {cap: 8}\n", "RC-INP-016", 4},
};
/* clang-format on */

static void test_cross_field_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cross_fields); i++) {
		const struct diag *one;
		struct profile p;
		struct diags d;
		char text[512];

		snprintf(text, sizeof(text), "schema: rocecheck.profile/1\nname: x\n%s",
			 cross_fields[i].in);
		(void)load(text, &p, &d);
		if (!cross_fields[i].rule && d.count)
			fail_msg("%s: %s", cross_fields[i].in, d.list[0].text);
		one = cross_fields[i].rule ? find_rule(&d, cross_fields[i].rule) : NULL;
		if (cross_fields[i].rule && (!one || one->line != cross_fields[i].line))
			fail_msg("%s: no %s in line %d", cross_fields[i].in, cross_fields[i].rule,
				 cross_fields[i].line);
		if (one && one->line)
			assert_non_null(one->source);
		diags_clear(&d);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_all_findings_at_once),
		cmocka_unit_test(test_all_items_at_once),
		cmocka_unit_test(test_cross_field_rules),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
