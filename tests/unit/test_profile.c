/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/profile*.c and schema*.c: every field through profile syntax, every shipped profile,
 * every cross-field rule, inheritance, and findings that come all at once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiles/profile.h"
#include "tests/unit/qos_samples.h"

#define HEAD "schema: rocecheck.profile/1\nname: x\nintent: lossy\n"

static char dir[] = "/tmp/test_profile_XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void remove_file(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

/* Loads text as a file; d is filled and the caller's to clear. */
static int load(const char *text, struct profile *p, struct diags *d)
{
	struct err e = {0};
	char path[64];
	int err;

	write_file("p.yaml", text);
	snprintf(path, sizeof(path), "%s/p.yaml", dir);
	diags_init(d);
	err = profile_load(path, p, d, &e);
	remove_file("p.yaml");
	return err;
}

static const struct diag *find_rule(const struct diags *d, const char *rule)
{
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->list[i].rule, rule))
			return &d->list[i];
	return NULL;
}

/* "a.b.c" and a value as YAML: "a: {b: {c: value}}". */
static void nest(const char *key, const char *value, char *text, size_t size)
{
	size_t used = snprintf(text, size, HEAD);
	unsigned int depth = 0;
	const char *dot;

	for (; (dot = strchr(key, '.')); key = dot + 1, depth++)
		used += snprintf(text + used, size - used, "%.*s: {", (int)(dot - key), key);
	used += snprintf(text + used, size - used, "%s: %s", key, value);
	while (depth--)
		used += snprintf(text + used, size - used, "}");
	snprintf(text + used, size - used, "\n");
}

/* What qos_field_text() prints is what the loader reads. */
static void test_every_field_round_trips(void **state)
{
	struct qos q;

	(void)state;
	sample_qos(&q);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		char value[512], text[768];
		struct profile p;
		struct diags d;

		qos_field_text(&q, id, value, sizeof(value));
		nest(qos_fields[id].key, value, text, sizeof(text));
		if (load(text, &p, &d))
			fail_msg("%s: %s", text, d.count ? d.list[0].text : "?");
		if (p.qos.has != QOS_BIT(id) || !qos_field_equal(&p.qos, &q, id))
			fail_msg("%s is another value when read back", text);
		assert_int_equal(p.line[id], 4);
		assert_true(p.column[id] > 0);
		diags_clear(&d);
	}
}

/* clang-format off */

/* Forms that are read besides the one that is printed. */
static void test_other_forms(void **state)
{
	static const struct {
		const char *in;
		enum qos_field_id id;
		const char *want;
	} cases[] = {
		{"pfc: {enabled: [0-2, 5]}", QOS_PFC_ENABLED, "[0, 1, 2, 5]"},
		{"pfc: {enabled: []}", QOS_PFC_ENABLED, "[]"},
		{"ets: {prio_tc: {3: 3, 6: 6}}", QOS_PRIO_TC, "[0, 0, 0, 3, 0, 0, 6, 0]"},
		{"ets: {tc_tsa: [ets, strict, strict, ets, strict, strict, strict, strict]}",
		 QOS_TC_TSA, "{0: ets, 3: ets}"},
		{"ets: {tc_maxrate_kbps: {3: 25G, 4: 100}}", QOS_TC_MAXRATE,
		 "{3: 25000000, 4: 100}"},
		{"buffer: {size: {0: 64KiB}}", QOS_BUFFER_SIZE, "{0: 65536}"},
		{"app: {dscp: {24-26: 3}}", QOS_DSCP_PRIO, "{24: 3, 25: 3, 26: 3}"},
		{"app: {udp: {4791: 3}, ethertype: {35093: 3}}", QOS_APP,
		 "{ethertype: {35093: 3}, udp: {4791: 3}}"},
		{"app: {udp: {4791: [4, 3]}}", QOS_APP, "{udp: {4791: [3, 4]}}"},
		{"app: {udp: {}}", QOS_APP, "{}"},
		{"rdma: {cm_default_tos: 106}", QOS_CM_TOS, "{dscp: 26, ecn: ect0}"},
		{"pfc: {storm_prevention_ms: 0}", QOS_PFC_STORM, "off"},
		{"pfc: {storm_prevention_ms: 65535}", QOS_PFC_STORM, "auto"},
		{"pfc: {storm_prevention_ms: 80}", QOS_PFC_STORM, "80"},
		{"link_pause: {rx: true}", QOS_PAUSE_RX, "on"},
		{"link_pause: {rx: 'off'}", QOS_PAUSE_RX, "off"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[256], got[256];
		struct profile p;
		struct diags d;

		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].in);
		if (load(text, &p, &d))
			fail_msg("%s: %s", cases[i].in, d.count ? d.list[0].text : "?");
		qos_field_text(&p.qos, cases[i].id, got, sizeof(got));
		assert_string_equal(got, cases[i].want);
		diags_clear(&d);
	}
}

static void test_wrong_values(void **state)
{
	static const struct {
		const char *in, *rule;
		int column;
	} cases[] = {
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

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p = {.name = "untouched"};
		const struct diag *one;
		struct diags d;
		char text[256];

		snprintf(text, sizeof(text), HEAD "%s\n", cases[i].in);
		if (load(text, &p, &d) != -EINVAL)
			fail_msg("accepted: %s", cases[i].in);
		one = find_rule(&d, cases[i].rule);
		if (!one || one->line != 4 || one->column != cases[i].column)
			fail_msg("%s: %s at %d:%d", cases[i].in, d.list[0].text, d.list[0].line,
				 d.list[0].column);
		assert_string_equal(one->source, cases[i].in);
		assert_string_equal(p.name, "untouched");
		diags_clear(&d);
	}
}

/* clang-format on */

/* A whole file of mistakes is one run of findings. */
static void test_all_findings_at_once(void **state)
{
	static const char text[] = "schema: rocecheck.profile/2\n"
				   "nam: x\n"
				   "intent: losless\n"
				   "pfc: {enabeld: [3], willing: maybe}\n"
				   "mtu: {netdev: 010}\n"
				   "mtu: {netdev: 9000}\n";
	static const struct {
		const char *rule, *suggestion;
	} want[] = {
		{"RC-INP-003", NULL},	    {"RC-INP-010", NULL},      {"RC-INP-002", "name"},
		{"RC-INP-009", "lossless"}, {"RC-INP-002", "enabled"}, {"RC-INP-009", NULL},
		{"RC-INP-004", NULL},	    {"RC-INP-006", NULL},
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

/* clang-format off */

#define LOSSLESS "intent: lossless\ntrust: dscp\npfc: {enabled: [3]}\n"

static void test_cross_field_rules(void **state)
{
	static const struct {
		const char *in, *rule; /* NULL: no finding at all */
		int line;
	} cases[] = {
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

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct diag *one;
		struct profile p;
		struct diags d;
		char text[512];

		snprintf(text, sizeof(text), "schema: rocecheck.profile/1\nname: x\n%s",
			 cases[i].in);
		(void)load(text, &p, &d);
		if (!cases[i].rule && d.count)
			fail_msg("%s: %s", cases[i].in, d.list[0].text);
		one = cases[i].rule ? find_rule(&d, cases[i].rule) : NULL;
		if (cases[i].rule && (!one || one->line != cases[i].line))
			fail_msg("%s: no %s in line %d", cases[i].in, cases[i].rule, cases[i].line);
		if (one && one->line)
			assert_non_null(one->source);
		diags_clear(&d);
	}
}

/* clang-format on */

static void test_defaults_and_policy(void **state)
{
	struct profile p;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD, &p, &d), 0);
	assert_int_equal(d.count, 0);
	assert_true(p.qos.has == 0);
	assert_int_equal(p.intent, INTENT_LOSSY);
	assert_int_equal(p.on_unsupported, CHOICE_FAIL);
	assert_int_equal(p.disruption, CHOICE_ASK);
	assert_int_equal(p.confirm_within_s, 0);
	assert_true(p.persist);
	assert_true(profile_selects(&p, "anything"));
	assert_int_equal(profile_roce_tos(&p), -ENODATA);
	assert_int_equal(profile_roce_prio(&p), -ENODATA);
	assert_int_equal(load(HEAD "policy: {on_unsupported: skip, disruption: deny, "
				   "rollback_timeout_s: 60, persist: off}\n"
				   "select: {interfaces: ['ens*np?', roce0]}\n",
			      &p, &d),
			 0);
	assert_int_equal(p.on_unsupported, CHOICE_SKIP);
	assert_int_equal(p.disruption, CHOICE_DENY);
	assert_int_equal(p.confirm_within_s, 60);
	assert_false(p.persist);
	assert_true(profile_selects(&p, "ens1f0np0"));
	assert_true(profile_selects(&p, "roce0"));
	assert_false(profile_selects(&p, "roce01"));
	diags_clear(&d);
}

/* What is inherited stands where the profile says extends; a stated key replaces the whole value.
 */
static void test_extends(void **state)
{
	static const char text[] =
		"schema: rocecheck.profile/1\nname: child\nextends: ./base.yaml\n"
		"app: {udp: {1: 1}}\npfc: {enabled: [4]}\n";
	struct profile p;
	struct diags d;

	(void)state;
	write_file("base.yaml", HEAD "trust: dscp\npfc: {enabled: [3], willing: off}\n"
				     "app: {dscp_default: shift3, tcp: {2: 2}}\n"
				     "description: of the base\n");
	assert_int_equal(load(text, &p, &d), 0);
	assert_string_equal(p.name, "child");
	assert_string_equal(p.description, "of the base");
	assert_int_equal(p.intent, INTENT_LOSSY);
	assert_int_equal(p.qos.pfc_enabled, 0x10);
	assert_int_equal(p.line[QOS_PFC_ENABLED], 5);
	assert_true(qos_has(&p.qos, QOS_PFC_WILLING));
	assert_int_equal(p.line[QOS_PFC_WILLING], 3);
	assert_int_equal(p.column[QOS_PFC_WILLING], 10);
	assert_int_equal(p.qos.dscp_prio[26], 3);
	assert_int_equal(p.qos.app_count, 1);
	assert_int_equal(p.qos.app[0].protocol, 1);
	diags_clear(&d);
	remove_file("base.yaml");
}

static void test_extends_wrongly(void **state)
{
	static const struct {
		const char *base, *extends, *rule;
	} cases[] = {
		{HEAD, "./nowhere.yaml", "RC-INP-011"},
		{HEAD, "no-such-profile", "RC-INP-011"},
		{HEAD, "'../..'", "RC-INP-011"},
		{HEAD, "'$x'", "RC-INP-011"},
		{HEAD "pfc: {enabeld: [3]}\n", "./base.yaml", "RC-INP-002"},
		{HEAD, "./p.yaml", "RC-INP-012"},
		{HEAD "extends: ./p.yaml\n", "./base.yaml", "RC-INP-012"},
		{"[", "./base.yaml", "RC-INP-001"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;
		struct diags d;
		char text[256];

		snprintf(text, sizeof(text), HEAD "extends: %s\n", cases[i].extends);
		write_file("base.yaml", cases[i].base);
		assert_int_equal(load(text, &p, &d), -EINVAL);
		if (!find_rule(&d, cases[i].rule))
			fail_msg("%s: %s", cases[i].extends, d.list[0].text);
		diags_clear(&d);
		remove_file("base.yaml");
	}
}

static void test_shipped(void **state)
{
	static const char *const names[] = {
		"amd-mori", "azure-local-s2d",	    "broadcom-thor2", "intel-e810-dscp",
		"lab",	    "nvidia-nvue-lossless", "sonic-azure",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile p;
		struct diags d;
		struct err e = {0};
		char path[128];

		diags_init(&d);
		if (profile_load(names[i], &p, &d, &e))
			fail_msg("%s: %s", names[i], d.count ? d.list[0].text : e.text);
		assert_string_equal(p.name, names[i]);
		snprintf(path, sizeof(path), "builtin:%s", names[i]);
		assert_string_equal(p.path, path);
		assert_int_equal(p.intent, INTENT_LOSSLESS);
		assert_true(p.qos.pfc_enabled);
		/* One warning is known and explained in the file. */
		assert_int_equal(d.count, strcmp(names[i], "azure-local-s2d") ? 0 : 1);
		if (qos_has(&p.qos, QOS_CM_TOS))
			assert_true(p.qos.pfc_enabled & (1u << profile_roce_prio(&p)));
		diags_clear(&d);
	}
}

static void test_lab_values(void **state)
{
	struct profile p;
	struct diags d;
	struct err e;

	(void)state;
	diags_init(&d);
	assert_int_equal(profile_load("lab", &p, &d, &e), 0);
	assert_int_equal(p.qos.pfc_enabled, 0x08);
	assert_int_equal(profile_roce_tos(&p), 106);
	assert_int_equal(profile_roce_prio(&p), 3);
	assert_int_equal(qos_dscp_to_prio(&p.qos, 48), 6);
	assert_int_equal(p.qos.mtu, 4200);
	diags_clear(&d);
}

static void test_names_and_paths(void **state)
{
	static const struct {
		const char *in;
		int want;
	} cases[] = {
		{"no-such-profile", -ENOENT},
		{"", -EINVAL},
		{"-x", -EINVAL},
		{"..", -EINVAL},
		{"a b", -EINVAL},
		{"/nonexistent", -ENOENT},
		{"./nonexistent", -ENOENT},
		{"gone.yaml", -ENOENT},
		{"/", -EISDIR},
	};
	char path[24];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile p;
		struct diags d;
		struct err e = {0};

		diags_init(&d);
		assert_int_equal(profile_load(cases[i].in, &p, &d, &e), cases[i].want);
		assert_int_equal(e.code, cases[i].want);
		assert_int_equal(d.count, 0);
	}
	assert_int_equal(profile_relative("a/b/c.yaml", "d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "a/b/d.yaml");
	assert_int_equal(profile_relative("a/b/c.yaml", "/d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "/d.yaml");
	assert_int_equal(profile_relative("c.yaml", "../d.yaml", path, sizeof(path)), 0);
	assert_string_equal(path, "../d.yaml");
	assert_int_equal(profile_relative("abcdefghijk/c", "abcdefghijkl", path, sizeof(path)),
			 -ENAMETOOLONG);
}

/* Every field and key of the loader is in the JSON Schema, at its place. */
static void test_json_schema(void **state)
{
	json_t *schema = profile_schema();

	(void)state;
	assert_non_null(schema);
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		const json_t *at = schema;
		char key[64], *part, *rest = key;

		snprintf(key, sizeof(key), "%s", qos_fields[id].key);
		while ((part = strsep(&rest, ".")))
			at = json_object_get(json_object_get(at, "properties"), part);
		assert_string_equal(json_string_value(json_object_get(at, "description")),
				    qos_fields[id].help);
	}
	assert_int_equal(json_array_size(json_object_get(schema, "required")), 2);
	json_decref(schema);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_round_trips),
		cmocka_unit_test(test_other_forms),
		cmocka_unit_test(test_wrong_values),
		cmocka_unit_test(test_all_findings_at_once),
		cmocka_unit_test(test_all_items_at_once),
		cmocka_unit_test(test_cross_field_rules),
		cmocka_unit_test(test_defaults_and_policy),
		cmocka_unit_test(test_extends),
		cmocka_unit_test(test_extends_wrongly),
		cmocka_unit_test(test_shipped),
		cmocka_unit_test(test_lab_values),
		cmocka_unit_test(test_names_and_paths),
		cmocka_unit_test(test_json_schema),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
