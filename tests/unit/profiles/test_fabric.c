/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profiles/fabric*.c and nodeset.c: an inventory with everything in it, one with nothing but what
 * is required, and all that is refused because it would reach a command line or stand for two
 * things.
 */
#include <errno.h>
#include <string.h>

#include "profiles/base/nodeset.h"
#include "profiles/fabric.h"
#include "tests/unit/fixture/folder.h"

#define HEAD "schema: rocecheck.fabric/1\nname: lab\nprofile: ./p.yaml\n"
#define PORT "ports: [{interface: roce0}]"

static int set_up(void **state)
{
	if (make_dir(state))
		return -1;
	write_file("p.yaml", "schema: rocecheck.profile/1\nname: p\nintent: lossy\n");
	return 0;
}

static int tear_down(void **state)
{
	remove_file("p.yaml");
	remove_file("f.yaml");
	return remove_dir(state);
}

static int load(const char *text, struct fabric *f, struct diags *d)
{
	struct err e = {0};
	char path[64];

	write_file("f.yaml", text);
	snprintf(path, sizeof(path), "%s/f.yaml", dir);
	diags_init(d);
	return fabric_load(path, f, d, &e);
}

static void expect_tcp(const struct fabric *f)
{
	assert_int_equal(f->tcp_count, 2);
	assert_int_equal(f->tcp[0].tos, 32);
	assert_int_equal(f->tcp[0].streams, 4);
	assert_int_equal(f->tcp[0].rate_kbps, 2000000);
	assert_int_equal(f->tcp[0].direction, FABRIC_TCP_BOTH);
	assert_int_equal(f->tcp[1].tos, 0);
	assert_int_equal(f->tcp[1].streams, 1);
	assert_int_equal(f->tcp[1].rate_kbps, 0);
	assert_int_equal(f->tcp[1].direction, FABRIC_TCP_FORWARD);
}

static void test_everything(void **state)
{
	static const char text[] = HEAD
		"engine: local\nlauncher: srun -w {host} --overlap\nssh: {config: "
		"../ssh_config}\nagent: /opt/rocecheck\n"
		"capture: full\n"
		"hosts:\n"
		"  - name: h1\n"
		"    target: root@h1.lab\n"
		"    agent: /bin/rc\n"
		"    ports:\n"
		"      - {interface: roce0, rdma: rxe0, address: 198.18.0.1, rail: 2}\n"
		"      - {interface: roce1.100, address: 'fd00::1'}\n"
		"  - name: h2\n"
		"    ports: [{interface: roce0}]\n"
		"thresholds: {quiet: 1s, traffic: 2m, load: 50, min_load: 90, message: 128KiB,\n"
		"  connect_timeout: 30s, foreign: 0, incast_senders: 16,\n"
		"  tcp: [{tos: 32, streams: 4, rate: 2G, direction: both}, {}]}\n";
	char path[64];
	struct fabric f;
	struct diags d;

	(void)state;
	if (load(text, &f, &d))
		fail_msg("%s", d.list[0].text);
	assert_int_equal(d.count, 0);
	assert_string_equal(f.name, "lab");
	assert_string_equal(f.profile.name, "p");
	assert_string_equal(f.engine, "local");
	assert_string_equal(f.launcher, "srun -w {host} --overlap");
	snprintf(path, sizeof(path), "%s/../ssh_config", dir);
	assert_string_equal(f.ssh_config, path);
	snprintf(path, sizeof(path), "%s/f.yaml", dir);
	assert_string_equal(f.path, path);
	assert_int_equal(f.capture, CAPTURE_FULL);
	assert_int_equal(f.host_count, 2);
	assert_string_equal(f.host[0].target, "root@h1.lab");
	assert_string_equal(f.host[0].agent, "/bin/rc");
	assert_int_equal(f.host[0].port_count, 2);
	assert_string_equal(f.host[0].port[0].rdma, "rxe0");
	assert_string_equal(f.host[0].port[0].address, "198.18.0.1");
	assert_int_equal(f.host[0].port[0].rail, 2);
	assert_int_equal(f.host[0].port[0].line, 14);
	assert_string_equal(f.host[0].port[1].interface, "roce1.100");
	assert_string_equal(f.host[0].port[1].address, "fd00::1");
	assert_string_equal(f.host[1].target, "h2");
	assert_string_equal(f.host[1].agent, "/opt/rocecheck");
	assert_int_equal(f.host[1].line, 16);
	assert_int_equal(f.quiet_s, 1);
	assert_int_equal(f.traffic_s, 120);
	assert_int_equal(f.load_percent, 50);
	assert_int_equal(f.min_load_percent, 90);
	assert_int_equal(f.message_bytes, 128 << 10);
	assert_int_equal(f.connect_timeout_s, 30);
	assert_int_equal(f.foreign_percent, 0);
	assert_int_equal(f.incast_senders, 16);
	expect_tcp(&f);
	assert_int_equal(fabric_find_host(&f, "h2"), 1);
	assert_int_equal(fabric_find_host(&f, "h"), -ENOENT);
	fabric_clear(&f);
	fabric_clear(&f);
	fabric_clear(NULL);
	diags_clear(&d);
}

static void test_failure_groups(void **state)
{
	struct fabric f;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD "failure_group: rail\n"
				   "hosts: [{name: 'h[1-2]', rack: r7, " PORT "}]\n",
			      &f, &d),
			 0);
	assert_int_equal(f.failure_group, GROUP_RAIL);
	assert_string_equal(f.host[1].rack, "r7");
	fabric_clear(&f);
	assert_int_equal(load(HEAD "failure_group: row\nhosts: [{name: h1, " PORT "}]\n", &f, &d),
			 -EINVAL);
	diags_clear(&d);
}

static void test_defaults(void **state)
{
	struct fabric f;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD "hosts: [{name: h1, " PORT "}]\n", &f, &d), 0);
	assert_string_equal(f.engine, "ssh");
	assert_string_equal(f.ssh_config, "");
	assert_string_equal(f.agent, "rocecheck");
	assert_string_equal(f.host[0].agent, "rocecheck");
	assert_int_equal(f.capture, CAPTURE_HEADERS);
	assert_int_equal(f.failure_group, GROUP_FLEET);
	assert_string_equal(f.host[0].rack, "");
	assert_int_equal(f.connect_timeout_s, 10);
	assert_int_equal(f.quiet_s, 3);
	assert_int_equal(f.traffic_s, 3);
	assert_int_equal(f.load_percent, 5);
	assert_int_equal(f.message_bytes, 65536);
	assert_int_equal(f.min_load_percent, 80);
	assert_int_equal(f.foreign_percent, 1);
	assert_int_equal(f.incast_senders, 4);
	assert_int_equal(f.tcp_count, 0);
	fabric_clear(&f);
	diags_clear(&d);
}

static void test_exceptions(void **state)
{
	struct fabric f;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD "allow:\n"
				   "  - {rule: RC-PFC-004, hosts: 'h[1-2]', reason: no DCBX yet, "
				   "until: 2028-02-29}\n"
				   "  - {rule: RC-XXX-999, reason: 'x', until: 2026-12-31}\n"
				   "hosts: [{name: 'h[1-3]', " PORT "}]\n",
			      &f, &d),
			 0);
	assert_int_equal(d.count, 0);
	assert_int_equal(f.allow_count, 2);
	assert_string_equal(f.allow[0].rule, "RC-PFC-004");
	assert_string_equal(f.allow[0].hosts, "h[1-2]");
	assert_string_equal(f.allow[0].reason, "no DCBX yet");
	assert_string_equal(f.allow[0].until, "2028-02-29");
	assert_int_equal(f.allow[0].line, 5);
	assert_string_equal(f.allow[1].rule, "RC-XXX-999"); /* only reports know the rules */
	assert_string_equal(f.allow[1].hosts, "");
	fabric_clear(&f);
	diags_clear(&d);
}

/* Each mistake stands at its key. */
static void test_bad_exceptions(void **state)
{
	static const struct {
		const char *in, *rule, *text;
		int column;
	} cases[] = {
		{"{rule: PFC-004, reason: x, until: 2026-12-31}", "RC-INP-004",
		 "rule: invalid rule 'PFC-004'", 12},
		{"{rule: RC-PFC-04, reason: x, until: 2026-12-31}", "RC-INP-004", "RC-PFC-04", 12},
		{"{rule: RC-PFC-0044, reason: x, until: 2026-12-31}", "RC-INP-004", "0044", 12},
		{"{rule: RC--004, reason: x, until: 2026-12-31}", "RC-INP-004", "RC--004", 12},
		{"{rule: RC-PFC, reason: x, until: 2026-12-31}", "RC-INP-004", "'RC-PFC'", 12},
		{"{rule: RC-PFCPFCPFCPFC-004, reason: x, until: 2026-12-31}", "RC-INP-004",
		 "PFCPFC", 12},
		{"{rule: [], reason: x, until: 2026-12-31}", "RC-INP-004", "the id of a rule", 12},
		{"{rule: RC-PFC-004, until: 2026-12-31}", "RC-INP-006", "key 'reason' is missing",
		 5},
		{"{rule: RC-PFC-004, reason: '', until: 2026-12-31}", "RC-INP-005", "reason", 32},
		{"{rule: RC-PFC-004, reason: \"\\e[2J\", until: 2026-12-31}", "RC-INP-004",
		 "control character", 32},
		{"{rule: RC-PFC-004, reason: x}", "RC-INP-006", "key 'until' is missing", 5},
		{"{reason: x, until: 2026-12-31}", "RC-INP-006", "key 'rule' is missing", 5},
		{"{rule: RC-PFC-004, reason: x, until: 2026-02-29}", "RC-INP-004",
		 "until: invalid date '2026-02-29'", 42},
		{"{rule: RC-PFC-004, reason: x, until: 1900-02-29}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026-04-31}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026-13-01}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026-00-01}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026-1-1}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026--1-01}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 31.12.2026}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: 2026-12-311}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, reason: x, until: never}", "RC-INP-004", "date", 42},
		{"{rule: RC-PFC-004, hosts: h4, reason: x, until: 2026-12-31}", "RC-INP-017",
		 "unknown host 'h4'", 31},
		{"{rule: RC-PFC-004, hosts: 'h[2-5]', reason: x, until: 2026-12-31}", "RC-INP-017",
		 "unknown host 'h4'", 31},
		{"{rule: RC-PFC-004, hosts: 'h[2', reason: x, until: 2026-12-31}", "RC-INP-004",
		 "invalid set of names", 31},
		{"{rule: RC-PFC-004, hosts: '', reason: x, until: 2026-12-31}", "RC-INP-013",
		 "invalid set of hosts", 31},
		{"{rule: RC-PFC-004, hosts: [h1], reason: x, until: 2026-12-31}", "RC-INP-004",
		 "expected a set of hosts", 31},
		{"{rule: RC-PFC-004, host: h1, reason: x, until: 2026-12-31}", "RC-INP-002",
		 "unknown key 'host'", 24},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fabric f = {.name = "untouched"};
		struct diags d;
		char text[512];

		snprintf(text, sizeof(text),
			 HEAD "hosts: [{name: 'h[1-3]', " PORT "}]\nallow:\n  - %s\n", cases[i].in);
		if (load(text, &f, &d) != -EINVAL)
			fail_msg("accepted: %s", cases[i].in);
		if (d.count != 1 || strcmp(d.list[0].rule, cases[i].rule) || d.list[0].line != 6 ||
		    d.list[0].column != cases[i].column || !strstr(d.list[0].text, cases[i].text))
			fail_msg("%s: %zu findings, line %d:%d %s %s", cases[i].in, d.count,
				 d.list[0].line, d.list[0].column, d.list[0].rule, d.list[0].text);
		assert_string_equal(f.name, "untouched");
		diags_clear(&d);
	}
}

static void test_sets_of_hosts(void **state)
{
	struct fabric f;
	struct diags d;

	(void)state;
	assert_int_equal(load(HEAD "hosts: [{name: 'gpu[08-11]', target: 'root@{name}.dc', " PORT
				   "}, {name: head, " PORT "}]\n",
			      &f, &d),
			 0);
	assert_int_equal(f.host_count, 5);
	assert_string_equal(f.host[0].name, "gpu08");
	assert_string_equal(f.host[3].name, "gpu11");
	assert_string_equal(f.host[3].target, "root@gpu11.dc");
	assert_string_equal(f.host[4].target, "head");
	assert_ptr_not_equal(f.host[0].port, f.host[1].port);
	assert_string_equal(f.host[2].port[0].interface, "roce0");
	fabric_clear(&f);
	diags_clear(&d);
}

static const struct {
	const char *in, *rule;
} bad_fabrics[] = {
	{"hosts: []\n", "RC-INP-006"},
	{"hosts: [h1]\n", "RC-INP-004"},
	{"hosts: {h1: 1}\n", "RC-INP-004"},
	{"", "RC-INP-006"},
	{"hosts: [{name: h1}]\n", "RC-INP-006"},
	{"hosts: [{name: h1, ports: []}]\n", "RC-INP-006"},
	{"hosts: [{name: h1, ports: [{rdma: rxe0}]}]\n", "RC-INP-006"},
	{"hosts: [{name: h1, port: []}]\n", "RC-INP-002"},
	{"hosts: [{" PORT "}]\n", "RC-INP-006"},
	{"hosts: [{name: -oProxyCommand=x, " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: 'a b', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: 'a;b', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: '$(x)', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: '[1-2]', " PORT "}, {name: '1', " PORT "}]\n", "RC-INP-014"},
	{"hosts: [{name: '', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: \"a\\nb\", " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, " PORT "}, {name: h1, " PORT "}]\n", "RC-INP-014"},
	{"hosts: [{name: 'h[1-3]', " PORT "}, {name: h2, " PORT "}]\n", "RC-INP-014"},
	{"hosts: [{name: 'h[1-', " PORT "}]\n", "RC-INP-004"},
	{"hosts: [{name: 'h[1-9999]', " PORT "}]\n", "RC-INP-005"},
	{"hosts: [{name: 'a[1-4096]', " PORT "}, {name: 'b[1-4096]', " PORT
	 "}, {name: 'c[1-4096]', " PORT "}, {name: 'd[1-4096]', " PORT "}, {name: e, " PORT "}]\n",
	 "RC-INP-005"},
	{"hosts: [{name: h1, target: -x, " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: 'a b', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: u@-oProxyCommand=id, " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: u@-h1, " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: '-{name}', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: '{name}{name}', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: '{nam}', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: \"a\\u202eb\", " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: 'a;reboot', " PORT "}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, target: \"a\\x01\", " PORT "}]\n", "RC-INP-013"},
	{"agent: \"a\\e[2J\"\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"hosts: [{name: h1, ports: [{interface: -a}]}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, ports: [{interface: ../x}]}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, ports: [{interface: sixteenletters00}]}]\n", "RC-INP-005"},
	{"hosts: [{name: h1, ports: [{interface: a, rdma: a/b}]}]\n", "RC-INP-013"},
	{"hosts: [{name: h1, ports: [{interface: a, rail: 256}]}]\n", "RC-INP-005"},
	{"hosts: [{name: h1, ports: [{interface: a}, {interface: a}]}]\n", "RC-INP-014"},
	{"hosts: [{name: h1, ports: [{interface: a, address: 198.18.0.1/24}]}]\n", "RC-INP-015"},
	{"hosts: [{name: h1, ports: [{interface: a, address: h2}]}]\n", "RC-INP-015"},
	{"hosts: [{name: h1, ports: [{interface: a, address: 198.18.0.256}]}]\n", "RC-INP-015"},
	{"hosts: [{name: 'h[1-2]', ports: [{interface: a, address: 198.18.0.1}]}]\n", "RC-INP-014"},
	{"engine: mpi\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-009"},
	{"launcher: srun\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-013"},
	{"launcher: ''\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-013"},
	{"launcher: '{host}'\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-013"},
	{"launcher: [srun]\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"dcbx: maybe\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-009"},
	{"capture: some\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-009"},
	{"thresholds: {quiet: 3}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {quiet: 0s}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-005"},
	{"thresholds: {quiet: 1500ms}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {load: 101}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-005"},
	{"thresholds: {load: 5%}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {message: 0}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-005"},
	{"thresholds: {message: 2GiB}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-005"},
	{"thresholds: {tcp: 4}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {tcp: {tos: 0}}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {tcp: [tos]}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
	{"thresholds: {tcp: [{}, {}, {}, {}, {}]}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-005"},
	{"thresholds: {tcp: [{stream: 1}]}\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-002"},
	{"thresholds: [1]\nhosts: [{name: h1, " PORT "}]\n", "RC-INP-004"},
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_fabrics); i++) {
		struct fabric f = {.name = "untouched"};
		struct diags d;
		char text[512];
		bool found = false;

		snprintf(text, sizeof(text), HEAD "%s", bad_fabrics[i].in);
		if (load(text, &f, &d) != -EINVAL)
			fail_msg("accepted: %s", bad_fabrics[i].in);
		for (size_t k = 0; k < d.count; k++)
			found = found || !strcmp(d.list[k].rule, bad_fabrics[i].rule);
		if (!found)
			fail_msg("%s: %s %s", bad_fabrics[i].in, d.list[0].rule, d.list[0].text);
		assert_string_equal(f.name, "untouched");
		diags_clear(&d);
	}
}

/* What is wrong with TCP names the key, its place and what it takes. */
static void test_refused_tcp(void **state)
{
	static const struct {
		const char *in, *rule, *text, *note;
	} cases[] = {
		{"tos: 105", "RC-INP-004", "tos: '105' sets ECN bits, but TCP sets ECN itself",
		 "use 104 (DSCP * 4)"},
		{"tos: 255", "RC-INP-004", "tos: '255' sets ECN bits", "use 252 (DSCP * 4)"},
		{"tos: 256", "RC-INP-005", "tos: '256' is out of range", "from 0 to 255"},
		{"tos: -4", "RC-INP-004", "tos: '-4' is not a decimal number", "from 0 to 255"},
		{"tos: 0x20", "RC-INP-004", "tos: '0x20' is not", "from 0 to 255"},
		{"tos: [0]", "RC-INP-004", "tos: expected a number, got a list", NULL},
		{"streams: 0", "RC-INP-005", "streams: '0' is out of range", "from 1 to 64"},
		{"streams: 65", "RC-INP-005", "streams: '65' is out of range", "from 1 to 64"},
		{"streams: many", "RC-INP-004", "streams: 'many' is not", "from 1 to 64"},
		{"rate: 0", "RC-INP-005", "rate: '0' is out of range", "25G, 100M or 500k"},
		{"rate: 5T", "RC-INP-005", "rate: '5T' is out of range", "25G, 100M or 500k"},
		{"rate: 10MB", "RC-INP-004", "rate: '10MB' is not a value", "25G, 100M or 500k"},
		{"rate: {}", "RC-INP-004", "rate: expected a rate, got a map", NULL},
		{"direction: there", "RC-INP-009", "direction: unknown word 'there'",
		 "forward, backward or both"},
		{"direction: Both", "RC-INP-009", "direction: unknown word 'Both'",
		 "forward, backward or both"},
		{"port: 5201", "RC-INP-002", "unknown key 'port'", "tos, streams, rate, direction"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fabric f = {.name = "untouched"};
		struct diags d;
		char text[512];

		snprintf(text, sizeof(text),
			 HEAD "hosts: [{name: h1, " PORT "}]\nthresholds:\n  tcp:\n    - {}\n"
			      "    - {%s}\n",
			 cases[i].in);
		if (load(text, &f, &d) != -EINVAL)
			fail_msg("accepted: %s", cases[i].in);
		assert_int_equal(d.count, 1);
		assert_int_equal(d.list[0].line, 8);
		assert_string_equal(d.list[0].rule, cases[i].rule);
		if (!strstr(d.list[0].text, cases[i].text) ||
		    (cases[i].note && !strstr(d.list[0].note, cases[i].note)))
			fail_msg("%s: %s (%s)", cases[i].in, d.list[0].text, d.list[0].note);
		assert_string_equal(f.name, "untouched");
		diags_clear(&d);
	}
}

/* Findings of the inventory and of its profile come in one run, each with its file. */
/* What is wrong with one host does not hide what is wrong with the next. */
static void test_all_findings_at_once(void **state)
{
	static const char text[] = HEAD "hosts:\n"
					"  - {name: a, ports: [{interface: e0}, {interface: e0}]}\n"
					"  - {name: a, ports: []}\n"
					"  - name: b\n"
					"    ports: [{interface: e0, address: 198.18.0.1}]\n"
					"  - name: 'c[1-4000]'\n"
					"    ports: [{interface: e0, address: 198.18.0.2}]\n"
					"  - {name: 'c[7-90]', " PORT "}\n"
					"  - name: d\n"
					"    ports: [{interface: e0, address: 198.18.0.1}]\n";
	static const char *const want[] = {
		"this port is given twice",
		"a host needs at least one port",
		"host 'a' is given twice",
		"c[1-4000]: another port already has address 198.18.0.2",
		"host 'c7' is given twice",
		"d: another port already has address 198.18.0.1",
	};
	struct fabric f;
	struct diags d;

	(void)state;
	assert_int_equal(load(text, &f, &d), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(d.list[i].text, want[i]);
	assert_int_equal(d.count, ARRAY_SIZE(want));
	assert_int_equal(d.list[5].column, 38);
	diags_clear(&d);
}

/* A key given twice is no inventory, whatever else stands in it: the lists of both keys would be
 * one array of hosts, or of ports, beside the nodes of the first. */
static void test_key_twice(void **state)
{
	static const struct {
		const char *in, *key;
		int line;
	} cases[] = {
		{HEAD "hosts: [{name: a, " PORT "}]\nhosts: [{name: b, " PORT "}]\n", "hosts", 5},
		{HEAD "hosts: [{name: a, " PORT "}]\nhosts:\n  - {name: b, " PORT "}\n"
		      "  - {name: c, " PORT "}\n  - {name: d, " PORT "}\n",
		 "hosts", 5},
		{HEAD "hosts: [{name: a, " PORT ",\n  " PORT "}]\n", "ports", 5},
		{HEAD "hosts: [{name: a, " PORT
		      ",\n  ports: [{interface: e1}, {interface: e2}]}]\n",
		 "ports", 5},
		{HEAD "hosts: [{name: a,\n  name: b, " PORT "}]\n", "name", 5},
		{HEAD "hosts: [{name: a, " PORT "}]\nthresholds: {tcp: [{}],\n  tcp: [{}, {}]}\n",
		 "tcp", 6},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fabric f = {.name = "untouched"};
		char text[64];
		struct diags d;

		snprintf(text, sizeof(text), "key '%s' is given twice", cases[i].key);
		assert_int_equal(load(cases[i].in, &f, &d), -EINVAL);
		assert_int_equal(d.count, 1);
		assert_string_equal(d.list[0].rule, "RC-INP-003");
		assert_string_equal(d.list[0].text, text);
		assert_int_equal(d.list[0].line, cases[i].line);
		assert_string_equal(f.name, "untouched");
		diags_clear(&d);
	}
}

static void test_profile_of_the_inventory(void **state)
{
	static const char hosts[] = "hosts: [{name: h1, " PORT "}]\n";
	struct fabric f;
	struct diags d;
	char text[256], path[64];

	(void)state;
	snprintf(text, sizeof(text), "schema: rocecheck.fabric/1\nname: x\nprofile: none\n%s",
		 hosts);
	assert_int_equal(load(text, &f, &d), -EINVAL);
	assert_string_equal(d.list[0].rule, "RC-INP-011");
	assert_int_equal(d.list[0].line, 3);
	diags_clear(&d);

	write_file("p.yaml", "schema: rocecheck.profile/1\nname: p\nintent: lossy\npfc: 3\n");
	assert_int_equal(load(HEAD "hosts: []\n", &f, &d), -EINVAL);
	assert_int_equal(d.count, 2);
	snprintf(path, sizeof(path), "%s/f.yaml", dir);
	assert_string_equal(d.list[0].path, path);
	snprintf(path, sizeof(path), "%s/./p.yaml", dir);
	assert_string_equal(d.list[1].path, path);
	diags_clear(&d);
	write_file("p.yaml", "schema: rocecheck.profile/1\nname: p\nintent: lossy\n");
}

static void test_kind_of_file(void **state)
{
	struct fabric f;
	struct diags d;
	struct err e = {0};
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/p.yaml", dir);
	assert_false(fabric_is_inventory(path));
	diags_init(&d);
	assert_int_equal(fabric_load(path, &f, &d, &e), -EINVAL);
	assert_string_equal(d.list[0].rule, "RC-INP-010");
	diags_clear(&d);
	(void)load(HEAD, &f, &d);
	diags_clear(&d);
	snprintf(path, sizeof(path), "%s/f.yaml", dir);
	assert_true(fabric_is_inventory(path));
	assert_false(fabric_is_inventory("/nonexistent"));
	assert_int_equal(fabric_load("/nonexistent", &f, &d, &e), -ENOENT);
}

static void test_nodeset(void **state)
{
	static const struct {
		const char *in;
		int count;
		const char *first, *last;
	} cases[] = {
		{"h1", 1, "h1", "h1"},
		{"h[1-3]", 3, "h1", "h3"},
		{"h[08-11]", 4, "h08", "h11"},
		{"h[1-2,7]x", 3, "h1x", "h7x"},
		{"r[1-2]n[01-04]", 8, "r1n01", "r2n04"},
		{"[1-2][3-4]", 4, "13", "24"},
		{"h[1-4096]", 4096, "h1", "h4096"},
	};
	char name[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(nodeset_count(cases[i].in, NULL), cases[i].count);
		assert_int_equal(nodeset_name(cases[i].in, 0, name, sizeof(name)), 0);
		assert_string_equal(name, cases[i].first);
		assert_int_equal(nodeset_name(cases[i].in, cases[i].count - 1, name, sizeof(name)),
				 0);
		assert_string_equal(name, cases[i].last);
		for (int k = 0; k < cases[i].count; k++) {
			nodeset_name(cases[i].in, (unsigned int)k, name, sizeof(name));
			assert_true(nodeset_has(cases[i].in, name));
		}
	}
	assert_int_equal(nodeset_name("r[1-2]n[01-04]", 3, name, sizeof(name)), 0);
	assert_string_equal(name, "r1n04");
	assert_int_equal(nodeset_name("r[1-2]n[01-04]", 4, name, sizeof(name)), 0);
	assert_string_equal(name, "r2n01");
	for (size_t size = 0; size < strlen("gpu08") + 1; size++)
		assert_int_equal(nodeset_name("gpu[08-11]", 0, name, size), -ENAMETOOLONG);
}

static void test_nodeset_has(void **state)
{
	static const struct {
		const char *set, *name;
		bool want;
	} cases[] = {
		{"h1", "h1", true},
		{"h1", "h", false},
		{"h1", "h11", false},
		{"h[1-3]", "h", false},
		{"h[1-3]", "h4", false},
		{"h[1-3]", "h01", false},
		{"h[01-11]", "h1", false},
		{"h[01-11]", "h011", false},
		{"h[8-11]", "h10", true},
		{"h[8-11]", "h110", false},
		{"h[1-2]0", "h10", true},
		{"h[1-2]0", "h20", true},
		{"h[1-2]0", "h100", false},
		{"h[1-20]0", "h100", true},
		{"[1-2][3-40]", "1", false},
		{"[1-2][3-40]", "140", true},
		{"h[1-2]x", "h1", false},
		{"h[1-2]x", "h1x", true},
		{"h[1-2", "h1", false},
		{"h[1-9]", "", false},
		{"h[1-3]", "hx", false},
		{"h[1-3]", "h9999999", false},
		{"r[1-2]n[01-04]", "r2n04", true},
		{"r[1-2]n[01-04]", "r2n4", false},
		{"", "", true},
		{"", "h1", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (nodeset_has(cases[i].set, cases[i].name) != cases[i].want)
			fail_msg("%s has %s: want %d", cases[i].set, cases[i].name, cases[i].want);
}

static void test_bad_nodesets(void **state)
{
	static const struct {
		const char *in;
		int want;
	} cases[] = {
		{"h[", -EINVAL},
		{"h]", -EINVAL},
		{"h[]", -EINVAL},
		{"h[1", -EINVAL},
		{"h[a]", -EINVAL},
		{"h[3-1]", -EINVAL},
		{"h[1-]", -EINVAL},
		{"h[-1]", -EINVAL},
		{"h[1,]", -EINVAL},
		{"h[,1]", -EINVAL},
		{"h[1--2]", -EINVAL},
		{"h[[1]]", -EINVAL},
		{"h[1-4097]", -ERANGE},
		{"h[1-100][1-100]", -ERANGE},
		{"h[1 2]", -EINVAL},
		{"h[1-9999999]", -EINVAL},
		{"[1][1][1][1][1]", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = {0};

		if (nodeset_count(cases[i].in, &e) != cases[i].want)
			fail_msg("'%s': %s", cases[i].in, e.text);
		assert_true(e.hint[0]);
	}
}

static void test_nodeset_fold(void **state)
{
	static const struct {
		const char *names[6], *want;
	} cases[] = {
		{{NULL}, ""},
		{{"h1"}, "h1"},
		{{"h1", "h1"}, "h1"},
		{{"h2", "h1"}, "h[1-2]"},
		{{"h10", "h9", "h1", "h11"}, "h[1,9-11]"},
		{{"h08", "h09", "h10", "h11"}, "h[08-11]"},
		{{"h9", "h010"}, "h[9,010]"},
		{{"h1", "login", "h2", "login2"}, "h[1-2],login,login2"},
		{{"r1n01", "r1n02", "r2n01", "r2n02"}, "r[1-2]n[01-02]"},
		{{"r1n01", "r1n02", "r2n01"}, "r1n[01-02],r2n01"},
		{{"n1.dc2.org", "n3.dc2.org", "n2.dc2.org"}, "n[1-3].dc2.org"},
		{{"enp101s0f0np0", "enp133s0f0np0"}, "enp[101,133]s0f0np0"},
		{{"a1b1c1d1e1f1", "a2b1c1d1e1f1"}, "a1b1c1d1e1f1,a2b1c1d1e1f1"},
		{{"h9999998", "h9999999"}, "h9999998,h9999999"},
		{{"h[1-2]", "h[1-3]", "a,b1", "a,b2"}, "a,b1,a,b2,h[1-2],h[1-3]"},
		{{"", "", "7", "8"}, ",[7-8]"},
		{{"h]1", "h]2", "h[1", "h[2"}, "h[1,h[2,h]1,h]2"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t count = 0;
		char *text;

		while (count < ARRAY_SIZE(cases[i].names) && cases[i].names[count])
			count++;
		assert_int_equal(nodeset_fold(cases[i].names, count, &text), 0);
		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

/* Folding a set's names gives the set. */
static void test_nodeset_round(void **state)
{
	static const char *const sets[] = {"h[1-4096]", "r[1-8]n[01-16]", "x[098-102]p[0-7]y"};
	static char names[NODESET_MAX][16];
	static const char *list[NODESET_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		unsigned int count = (unsigned int)nodeset_count(sets[i], NULL);
		char *text;

		for (unsigned int k = 0; k < count; k++) {
			/* 4097 is prime to the counts: each name once, in another order */
			assert_int_equal(nodeset_name(sets[i], (k * 4097u + 5) % count, names[k],
						      sizeof(names[k])),
					 0);
			list[k] = names[k];
		}
		assert_int_equal(nodeset_fold(list, count, &text), 0);
		assert_string_equal(text, sets[i]);
		free(text);
	}
}

/* A comma inside brackets belongs to the node set. */
static void test_hosts_of_a_list(void **state)
{
	static const char *const names[] = {"h1", "h2", "h5", "g1"};
	static const char *const bad[] = {"",	  ",",	       "h1,",  "h1,h1",	  "h[1-2,2]",
					  "h[1-", "-oProxy=x", "a b,", "h[1,2],", "h]1,2["};
	struct fabric f = {.host = NULL};
	struct err e = {0};

	(void)state;
	assert_int_equal(fabric_add_hosts(&f, "h[1-2,5],root@g1", &e), 0);
	assert_int_equal(f.host_count, ARRAY_SIZE(names));
	for (unsigned int i = 0; i < f.host_count; i++)
		assert_string_equal(f.host[i].name, names[i]);
	assert_string_equal(f.host[3].target, "root@g1");
	fabric_clear(&f);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(fabric_add_hosts(&f, bad[i], &e), -EINVAL);
		assert_true(e.text[0]);
		fabric_clear(&f);
	}
	assert_int_equal(fabric_add_hosts(&f, "h[1-4096],x", &e), -E2BIG);
	fabric_clear(&f);
}

static void test_json_schema(void **state)
{
	json_t *schema = fabric_schema(), *host, *port;

	(void)state;
	host = json_object_get(json_object_get(schema, "properties"), "hosts");
	host = json_object_get(host, "items");
	assert_int_equal(json_array_size(json_object_get(host, "required")), 2);
	port = json_object_get(json_object_get(host, "properties"), "ports");
	port = json_object_get(json_object_get(port, "items"), "properties");
	assert_int_equal(json_object_size(port), 4);
	json_decref(schema);
}

/* An inventory is limited by its bytes, not by its hosts. */
static void test_many_hosts(void **state)
{
	enum { HOSTS = 5000 };
	char *text = malloc(64 + HOSTS * 96), *at = text;
	struct fabric f;
	struct diags d;

	(void)state;
	at += sprintf(at, "schema: rocecheck.fabric/1\nname: lab\nprofile: p.yaml\nhosts:\n");
	for (unsigned int i = 0; i < HOSTS; i++)
		at += sprintf(
			at, "  - {name: h%u, ports: [{interface: eth0}, {interface: eth1}]}\n", i);
	if (load(text, &f, &d))
		fail_msg("%s", d.count ? d.list[0].text : "no finding");
	assert_int_equal(f.host_count, HOSTS);
	assert_string_equal(f.host[HOSTS - 1].name, "h4999");
	assert_string_equal(f.host[HOSTS - 1].port[1].interface, "eth1");
	fabric_clear(&f);
	diags_clear(&d);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_failure_groups),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_sets_of_hosts),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_tcp),
		cmocka_unit_test(test_all_findings_at_once),
		cmocka_unit_test(test_key_twice),
		cmocka_unit_test(test_profile_of_the_inventory),
		cmocka_unit_test(test_kind_of_file),
		cmocka_unit_test(test_nodeset),
		cmocka_unit_test(test_nodeset_has),
		cmocka_unit_test(test_bad_nodesets),
		cmocka_unit_test(test_nodeset_fold),
		cmocka_unit_test(test_nodeset_round),
		cmocka_unit_test(test_hosts_of_a_list),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_bad_exceptions),
		cmocka_unit_test(test_json_schema),
		cmocka_unit_test(test_many_hosts),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
