/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tests/lab/switch/config.c: a whole configuration, every error at its place, changes at run time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/switch/config.h"

static const char good[] =
	"schema: rocecheck.switch/1\n"
	"control: /tmp/c\n"
	"mirror: {file: /tmp/m.pcapng, snaplen: 128}\n"
	"defaults: {rate: 32M, mtu: 4300}\n"
	"switches:\n"
	"  - name: leaf1\n"
	"    mac: 02:00:00:00:01:00\n"
	"    buffer: 400kB\n"
	"    alpha: 200\n"
	"    defaults:\n"
	"      rate: 64M\n"
	"      dscp: {26: 3, 40-47: 5}\n"
	"      pfc: [3]\n"
	"      xoff: 60kB\n"
	"      xon: 30kB\n"
	"      prio: {3: {tc: 1, headroom: 90kB}}\n"
	"      tc:\n"
	"        0: {dwrr: 40}\n"
	"        1: {dwrr: 60, maxrate: 8M, ecn: {on: on, kmin: 20kB, kmax: 80kB, pmax: 10}}\n"
	"      lldp:\n"
	"        dialect: both\n"
	"        app: [{selector: udp, protocol: 4791, prio: 3}]\n"
	"    ports:\n"
	"      - {name: p1, local: /tmp/p1.sw, remote: /tmp/p1.vm}\n"
	"      - {name: u1, uplink: on, pfc: {3: auto, 4: on}}\n"
	"  - name: spine1\n"
	"    ports:\n"
	"      - {name: p1}\n"
	"links:\n"
	"  - {a: leaf1/u1, b: spine1/p1}\n"
	"faults:\n"
	"  - {kind: drop, port: leaf1/p1, direction: in, prio: [3], every: 100, start: 3s}\n";

static void test_good(void **state)
{
	struct lab_config *c = calloc(1, sizeof(*c));
	const struct port_config *p;
	struct diags d;
	struct err e = {0};

	(void)state;
	diags_init(&d);
	if (config_parse("good", good, strlen(good), c, &d, &e)) {
		diags_print_gcc(&d, stderr);
		fail_msg("%s", e.text);
	}
	assert_int_equal(c->box_count, 2);
	assert_int_equal(c->port_count, 3);
	assert_int_equal(c->box[1].first_port, 2);
	assert_int_equal(c->box[0].mac[4], 1);
	p = &c->port[0];
	assert_int_equal(p->rate_kbps, 64000);
	assert_int_equal(p->mtu, 4300);
	assert_int_equal(c->port[2].rate_kbps, 32000);
	assert_int_equal(p->dscp_prio[26], 3);
	assert_int_equal(p->dscp_prio[47], 5);
	assert_int_equal(p->dscp_prio[48], 0);
	assert_int_equal(p->prio[3].pfc, PFC_ON);
	assert_int_equal(p->prio[3].tc, 1);
	assert_int_equal(p->prio[3].headroom_bytes, 90000);
	assert_int_equal(p->prio[2].headroom_bytes, 200000);
	assert_int_equal(p->tc[1].weight, 60);
	assert_int_equal(p->tc[1].maxrate_kbps, 8000);
	assert_int_equal(p->tc[1].ecn.kmax_bytes, 80000);
	assert_int_equal(p->lldp.app[0].protocol, 4791);
	assert_int_equal(c->port[1].prio[3].pfc, PFC_AUTO);
	assert_int_equal(c->port[1].prio[4].pfc, PFC_ON);
	assert_int_equal(c->link[0].port_a, 1);
	assert_int_equal(c->link[0].port_b, 2);
	assert_int_equal(c->fault[0].start_ms, 3000);
	assert_int_equal(c->fault[0].prios, 8);
	assert_int_equal(c->fault[0].sport, FAULT_ANY);
	diags_clear(&d);
	free(c);
}

#define HEAD "schema: rocecheck.switch/1\nswitches:\n  - name: s\n    ports:\n"

#define HOST1 HEAD "      - {name: a, local: h1.sw, remote: h1.wire}\n"

static const struct {
	const char *name, *in;
	int line, column;
	const char *rule;
	size_t count;
} errors[] = {
	{"no schema", "switches: []\n", 0, 0, "RC-INP-006", 1},
	{"schema", "schema: x\nswitches: []\n", 1, 9, "RC-INP-010", 1},
	{"key", HEAD "      - {name: a, rat: 1G}\n", 5, 19, "RC-INP-002", 1},
	{"rate", HEAD "      - {name: a, rate: fast}\n", 5, 25, "RC-INP-004", 1},
	{"defaults", "schema: rocecheck.switch/1\ndefaults: {rat: 1G}\nswitches: []\n", 2, 12,
	 "RC-INP-002", 1},
	{"two errors", HEAD "      - {name: a, mtu: 5, trust: cos}\n", 5, 24, "RC-INP-005", 2},
	{"prio", HEAD "      - {name: a, pfc: [8]}\n", 5, 25, "RC-INP-005", 1},
	{"tc key", HEAD "      - {name: a, tc: {0: {wrr: 3}}}\n", 5, 28, "RC-INP-002", 1},
	{"xon", HEAD "      - {name: a, xon: 2MB}\n", 5, 9, "RC-INP-020", 1},
	{"kmin", HEAD "      - {name: a, tc: {1: {ecn: {on: on, kmin: 9, kmax: 9}}}}\n", 5, 9,
	 "RC-INP-020", 1},
	{"twice", HEAD "      - {name: a}\n      - {name: a}\n", 6, 9, "RC-INP-014", 1},
	{"no remote", HEAD "      - {name: a, local: /x}\n", 5, 9, "RC-INP-020", 1},
	{"no end", HEAD "      - {name: a}\n", 0, 0, "RC-INP-006", 1},
	{"no such link", HEAD "      - {name: a}\nlinks:\n  - {a: s/a, b: s/b}\n", 7, 17,
	 "RC-INP-013", 1},
	{"own link", HEAD "      - {name: a}\nlinks:\n  - {a: s/a, b: s/a}\n", 7, 5, "RC-INP-020",
	 1},
	{"fault", HEAD "      - {name: a}\nfaults:\n  - {kind: dorp}\n", 7, 12, "RC-INP-009", 1},
	{"no such host", HOST1 "hosts:\n  - {name: h2}\n", 7, 5, "RC-INP-013", 1},
	{"bond of one", HOST1 "hosts:\n  - {name: h1, bond: active-backup}\n", 7, 5, "RC-INP-020",
	 1},
	{"bond mode", HOST1 "hosts:\n  - {name: h1, bond: 802.3ad}\n", 7, 22, "RC-INP-009", 1},
	{"host twice", HOST1 "hosts:\n  - {name: h1}\n  - {name: h1}\n", 8, 5, "RC-INP-014", 1},
	{"ports twice", HEAD "      - {name: a, rat: 1G}\n    ports: [{name: b}, {name: c}]\n", 6,
	 5, "RC-INP-003", 1},
	{"mac",
	 "schema: rocecheck.switch/1\nswitches:\n  - name: s\n    mac: 01:00:00:00:00:00\n"
	 "    ports:\n      - {name: a, local: /x, remote: /y}\n",
	 4, 10, "RC-INP-004", 1},
};

static void test_errors(void **state)
{
	struct lab_config *c = calloc(1, sizeof(*c));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct diags d;
		struct err e = {0};
		int err;

		diags_init(&d);
		err = config_parse("f", errors[i].in, strlen(errors[i].in), c, &d, &e);
		if (err != -EINVAL || d.count != errors[i].count ||
		    d.list[0].line != errors[i].line || d.list[0].column != errors[i].column ||
		    strcmp(d.list[0].rule, errors[i].rule)) {
			diags_print_gcc(&d, stderr);
			fail_msg("%s: %d", errors[i].name, err);
		}
		diags_clear(&d);
	}
	free(c);
}

static void test_hosts(void **state)
{
	static const struct {
		const char *name, *in, *want; /* NULL: refused */
	} cases[] = {
		{"one wire", HOST1, "h1 1 -\n"},
		{"two wires", HOST1 "      - {name: b, local: h1.b.sw, remote: h1.b.wire}\n",
		 "h1 2 -\n"},
		{"two hosts",
		 HOST1 "      - {name: b, local: h2.b.sw, remote: h2.b.wire}\n"
		       "      - {name: c, local: h2.sw, remote: h2.wire}\n"
		       "hosts: [{name: h2, bond: balance-xor}, {name: h1, bond: none}]\n",
		 "h1 1 -\nh2 2 balance-xor\n"},
		{"no host", HEAD "      - {name: a, local: /x, remote: /y}\n", ""},
		{"second wire alone",
		 HOST1 "      - {name: b, local: h2.b.sw, remote: h2.b.wire}\n", NULL},
	};
	struct lab_config *c = calloc(1, sizeof(*c));

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t size = 0;
		char *text = NULL;
		FILE *out = open_memstream(&text, &size);
		struct err e = {0};
		struct diags d;
		int err;

		diags_init(&d);
		assert_int_equal(config_parse("f", cases[i].in, strlen(cases[i].in), c, &d, &e), 0);
		err = config_print_hosts(c, out, &e);
		fclose(out);
		if (err != (cases[i].want ? 0 : -EINVAL) ||
		    (cases[i].want && strcmp(text, cases[i].want)))
			fail_msg("%s: %d, '%s', '%s'", cases[i].name, err, text, e.text);
		free(text);
		diags_clear(&d);
	}
	free(c);
}

static void test_set(void **state)
{
	static const struct {
		const char *path, *value;
		int want;
	} cases[] = {
		{"pfc", "[4]", 0},
		{"rate", "\"1G\"", 0},
		{"tc.1.ecn.on", "true", -EINVAL}, /* kmin and kmax are equal */
		{"tc.1.ecn", "{\"kmin\": 10, \"kmax\": 20, \"on\": true}", 0},
		{"prio.3.xoff", "70000", 0},
		{"name", "\"other\"", -EINVAL},
		{"lldp.send", "\"off\"", 0},
		{"lldp.send.now", "\"off\"", -EINVAL},
		{"", "1", -EINVAL},
		{"nonsense", "1", -EINVAL},
	};
	struct port_config p = {.name = "p1", .tc = {[0] = {.weight = 1}}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		struct port_config before = p;
		struct err e = {0};

		assert_non_null(value);
		if (config_set_port(&p, cases[i].path, value, &e) != cases[i].want)
			fail_msg("%s: %s", cases[i].path, e.text);
		if (cases[i].want) {
			assert_true(e.text[0]);
			assert_memory_equal(&before, &p, sizeof(p));
		}
		json_decref(value);
	}
	assert_int_equal(p.prio[4].pfc, PFC_ON);
	assert_int_equal(p.rate_kbps, 1000000);
	assert_int_equal(p.tc[1].ecn.kmax_bytes, 20);
	assert_int_equal(p.prio[3].xoff_bytes, 70000);
}

static void test_fault(void **state)
{
	json_t *json = json_loads("{\"kind\": \"delay\", \"delay\": \"5ms\", \"opcode\": 17}", 0,
				  NULL);
	struct fault f = {.kind = FAULT_DROP};
	struct err e = {0};

	(void)state;
	assert_int_equal(config_fault(json, &f, &e), 0);
	assert_int_equal(f.kind, FAULT_DELAY);
	assert_int_equal(f.delay_ms, 5);
	assert_int_equal(f.opcode, 17);
	json_object_set_new(json, "kind", json_string("nothing"));
	assert_int_equal(config_fault(json, &f, &e), -EINVAL);
	assert_int_equal(f.kind, FAULT_DELAY);
	json_decref(json);
}

/* Every kind of fault has a word, once. */
static void test_fault_words(void **state)
{
	unsigned int count = 0;

	(void)state;
	for (const struct qos_word *w = fault_words; w->word; w++, count++)
		assert_int_equal(w->value, count);
	assert_int_equal(count, FAULT_KINDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),	    cmocka_unit_test(test_errors),
		cmocka_unit_test(test_set),	    cmocka_unit_test(test_fault),
		cmocka_unit_test(test_fault_words), cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
