/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots: lossless through JSON and files, strict about foreign documents, ports and GIDs found
 * by name and address, the kind of a port by its facts, and the files under tests/golden/snapshots.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/decode/packet.h"
#include "dcb/kernel/dcb.h"
#include "probe/host/snapshot.h"

static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 198, [13] = 18, [15] = 1};
static const uint8_t local[16] = {[0] = 0xfe, [1] = 0x80, [15] = 1};
static const uint8_t global6[16] = {[0] = 0xfd, [15] = 7};

static void gid_add(struct port *p, uint16_t index, enum gid_type type, const uint8_t raw[16])
{
	struct gid *g = &p->gid[p->gid_count++];

	g->index = index;
	g->type = (uint8_t)type;
	memcpy(g->raw, raw, sizeof(g->raw));
}

/* One RDMA port with everything set, and one plain netdev with nothing. */
static void sample(struct snapshot *s)
{
	struct port *p;

	memset(s, 0, sizeof(*s));
	snprintf(s->host, sizeof(s->host), "h1");
	snprintf(s->kernel, sizeof(s->kernel), "6.1.0-40-amd64");
	snprintf(s->rdma_core, sizeof(s->rdma_core), "44.0");
	snprintf(s->version, sizeof(s->version), "0.1.0");
	s->read_unix_ns = 1763671234567890123;
	s->privileged = true;
	s->port = calloc(2, sizeof(*s->port));
	assert_non_null(s->port);
	s->port_count = 2;
	p = &s->port[0];
	snprintf(p->netdev, sizeof(p->netdev), "roce0");
	snprintf(p->ibdev, sizeof(p->ibdev), "rxe0");
	snprintf(p->driver, sizeof(p->driver), "labnic");
	snprintf(p->driver_version, sizeof(p->driver_version), "1.0");
	snprintf(p->firmware, sizeof(p->firmware), "1.0.0 (LAB \"0\")");
	snprintf(p->bus, sizeof(p->bus), "0000:00:04.0");
	snprintf(p->rdma_driver, sizeof(p->rdma_driver), "rxe");
	snprintf(p->mac, sizeof(p->mac), "02:00:00:00:00:01");
	snprintf(p->address[0], sizeof(p->address[0]), "198.18.0.1");
	snprintf(p->address[1], sizeof(p->address[1]), "fe80::1");
	p->address_count = 2;
	p->ib_port = 1;
	p->kind = PORT_SOFT_ROCE;
	p->up = p->ib_active = p->dcb = true;
	p->speed_mbps = 96;
	p->active_mtu = p->max_mtu = 4096;
	gid_add(p, 0, GID_ROCE_V1, local);
	gid_add(p, 1, GID_ROCE_V2, local);
	gid_add(p, 2, GID_ROCE_V1, mapped);
	gid_add(p, 3, GID_ROCE_V2, mapped);
	gid_add(p, 65535, GID_UNKNOWN, global6);
	p->qos.has = QOS_BIT(QOS_MTU) | QOS_BIT(QOS_IB_MTU) | QOS_BIT(QOS_PFC_ENABLED);
	p->qos.mtu = 4200;
	p->qos.ib_mtu = 4096;
	p->qos.pfc_enabled = 1 << 3;
	p->lldp_qos.has = QOS_BIT(QOS_PFC_ENABLED);
	p->lldp_qos.pfc_enabled = 1 << 4;
	snprintf(p->lldp_name, sizeof(p->lldp_name), "leaf2");
	snprintf(p->lldp_port, sizeof(p->lldp_port), "Eth1/7");
	snprintf(p->lldp_dialect, sizeof(p->lldp_dialect), "ieee");
	counters_clear(&p->counters);
	p->counters.when_ns = 77;
	p->counters.has[METRIC_RX_BYTES] = 1;
	p->counters.value[METRIC_RX_BYTES][0] = 4711;
	counters_clear(&s->port[1].counters);
	snprintf(s->port[1].netdev, sizeof(s->port[1].netdev), "eth0");
	s->port[1].kind = PORT_ETHERNET;
}

static void assert_same(const struct snapshot *a, const struct snapshot *b)
{
	struct snapshot x = *a, y = *b;

	x.port = y.port = NULL;
	assert_memory_equal(&x, &y, sizeof(x));
	for (unsigned int i = 0; i < a->port_count; i++) {
		struct port p = a->port[i], q = b->port[i];

		for (unsigned int f = 0; f < QOS_FIELD_COUNT; f++) {
			assert_int_equal(qos_has(&p.qos, f), qos_has(&q.qos, f));
			assert_int_equal(qos_has(&p.lldp_qos, f), qos_has(&q.lldp_qos, f));
			assert_true(!qos_has(&p.qos, f) || qos_field_equal(&p.qos, &q.qos, f));
			assert_true(!qos_has(&p.lldp_qos, f) ||
				    qos_field_equal(&p.lldp_qos, &q.lldp_qos, f));
		}
		memset(&p.qos, 0, sizeof(p.qos));
		memset(&q.qos, 0, sizeof(q.qos));
		memset(&p.lldp_qos, 0, sizeof(p.lldp_qos));
		memset(&q.lldp_qos, 0, sizeof(q.lldp_qos));
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

static void test_round_trip(void **state)
{
	struct snapshot s, back = {0};
	json_t *json, *parsed;
	struct err e = {0};
	char *text;

	(void)state;
	sample(&s);
	json = snapshot_to_json(&s);
	assert_non_null(json);
	text = json_dumps(json, JSON_COMPACT);
	parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_int_equal(snapshot_from_json(parsed, &back, &e), 0);
	assert_same(&s, &back);
	assert_null(strstr(text, "\n"));
	free(text);
	json_decref(json);
	json_decref(parsed);
	snapshot_clear(&back);
	snapshot_clear(&s);
	snapshot_clear(&s); /* and once more */
	snapshot_clear(NULL);
}

/* What a neighbour chose to call itself need not be UTF-8. */
static void test_bad_utf8(void **state)
{
	struct snapshot s, back = {0};
	json_t *json;

	(void)state;
	sample(&s);
	snprintf(s.port[0].lldp_name, sizeof(s.port[0].lldp_name), "leaf\xff\xfe\x01");
	json = snapshot_to_json(&s);
	assert_int_equal(snapshot_from_json(json, &back, NULL), 0);
	assert_string_equal(back.port[0].lldp_name, "leaf???");
	json_decref(json);
	snapshot_clear(&back);
	snapshot_clear(&s);
}

/* A whole document with another host and ports. */
#define HOST(host, ports)                                                                          \
	"{\"schema\":\"rocecheck.snapshot/1\",\"taken_unix_ns\":1,\"host\":" host                  \
	",\"ports\":" ports "}"
#define HEAD "{\"schema\":\"rocecheck.snapshot/1\",\"host\":\"h\",\"taken_unix_ns\":1,\"ports\":["
#define TAIL "]}"
#define PORT HEAD "{\"netdev\":\"e\",\"kind\":\"ethernet\","
#define PEND "}" TAIL

static const struct {
	const char *name, *in, *want; /* want: in the error; NULL: accepted */
} bad_files[] = {
	{"no port", HEAD TAIL, NULL},
	{"unknown keys", PORT "\"warp\":9" PEND, NULL},
	{"unknown GID type", PORT "\"gids\":[{\"index\":1,\"type\":\"v9\",\"gid\":\"::\"}]" PEND,
	 NULL},
	{"null peer and counters", PORT "\"peer\":null,\"counters\":null" PEND, NULL},
	{"array", "[]", "schema"},
	{"other schema", "{\"schema\":\"rocecheck.run/1\"}", "schema"},
	{"no host", "{\"schema\":\"rocecheck.snapshot/1\",\"taken_unix_ns\":1,\"ports\":[]}",
	 "host"},
	{"host is a path", HOST("\"../x\"", "[]"), "host"},
	{"host is an option", HOST("\"-oX\"", "[]"), "host"},
	{"empty host", HOST("\"\"", "[]"), "host"},
	{"NUL in a name", HEAD "{\"netdev\":\"e\\u0000x\",\"kind\":\"iwarp\"}" TAIL,
	 "ports[0]: 'netdev'"},
	{"escape in a name", HEAD "{\"netdev\":\"e\\u001b[m\",\"kind\":\"iwarp\"}" TAIL, "netdev"},
	{"long name", HEAD "{\"netdev\":\"0123456789abcdef\",\"kind\":\"iwarp\"}" TAIL, "netdev"},
	{"port no object", HEAD "1" TAIL, "ports[0]"},
	{"ports no array", HOST("\"h\"", "1"), "ports"},
	{"no kind", HEAD "{\"netdev\":\"e\"}" TAIL, "kind"},
	{"bad kind", HEAD "{\"netdev\":\"e\",\"kind\":\"warp\"}" TAIL, "kind"},
	{"negative port", PORT "\"ib_port\":-1" PEND, "ib_port"},
	{"port number 256", PORT "\"ib_port\":256" PEND, "ib_port"},
	{"speed beyond 32 bits", PORT "\"speed_mbps\":4294967296" PEND, "speed_mbps"},
	{"MTU beyond IB", PORT "\"active_mtu\":8192" PEND, "active_mtu"},
	{"text for a flag", PORT "\"up\":\"yes\"" PEND, "up"},
	{"GID index", PORT "\"gids\":[{\"index\":65536,\"type\":\"ib\",\"gid\":\"::\"}]" PEND,
	 "ports[0]: gids[0]: 'index'"},
	{"GID text", PORT "\"gids\":[{\"index\":1,\"type\":\"ib\",\"gid\":\"x\"}]" PEND,
	 "gids[0]: gid"},
	{"GIDs no array", PORT "\"gids\":{}" PEND, "gids"},
	{"address text", PORT "\"addresses\":[\"198.18.0.1/24\"]" PEND, "addresses[0]"},
	{"qos", PORT "\"qos\":{\"mtu\":{\"netdev\":\"big\"}}" PEND, "qos"},
	{"peer qos", PORT "\"peer\":{\"qos\":7}" PEND, "peer: qos"},
	{"peer name", PORT "\"peer\":{\"name\":7}" PEND, "peer: 'name'"},
	{"escape in a text", PORT "\"firmware\":\"1\\u001b[2J\"" PEND, "firmware"},
	{"C1 control in a text", PORT "\"peer\":{\"name\":\"\\u009b2J\"}" PEND, "peer: 'name'"},
	{"other letters in a text", PORT "\"firmware\":\"\\u00e4\\u20ac\"" PEND, NULL},
	{"counters", PORT "\"counters\":{\"when_ns\":-1}" PEND, "counters: when_ns"},
};

static void test_hostile(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_files); i++) {
		json_t *json = json_loads(bad_files[i].in, JSON_ALLOW_NUL, NULL);
		struct snapshot s = {.port_count = 4711};
		struct err e = {0};
		int err;

		assert_non_null(json);
		err = snapshot_from_json(json, &s, &e);
		json_decref(json);
		if (bad_files[i].want && (err != -EINVAL || !strstr(e.text, bad_files[i].want)))
			fail_msg("%s: %d %s", bad_files[i].name, err, e.text);
		if (!bad_files[i].want && err)
			fail_msg("%s: %s", bad_files[i].name, e.text);
		if (err)
			assert_int_equal(s.port_count, 4711);
		else
			snapshot_clear(&s);
	}
}

/* One entry more than there is room for. */
static void test_too_many(void **state)
{
	static const struct {
		const char *key, *item;
		unsigned int max;
	} cases[] = {
		{"gids", "{\"index\":1,\"type\":\"ib\",\"gid\":\"::\"}", PORT_GIDS_MAX},
		{"addresses", "\"198.18.0.1\"", PORT_ADDRS_MAX},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases) * 2; i++) {
		unsigned int over = i & 1, n = cases[i / 2].max + over;
		json_t *json = json_loads(PORT "\"up\":true" PEND, 0, NULL), *list = json_array();
		json_t *port = json_array_get(json_object_get(json, "ports"), 0);
		struct snapshot s = {0};
		struct err e = {0};

		while (json_array_size(list) < n)
			json_array_append_new(list,
					      json_loads(cases[i / 2].item, JSON_DECODE_ANY, NULL));
		json_object_set_new(port, cases[i / 2].key, list);
		assert_int_equal(snapshot_from_json(json, &s, &e), over ? -EINVAL : 0);
		json_decref(json);
		snapshot_clear(&s);
	}
}

static void test_file(void **state)
{
	char dir[] = "/tmp/test_snapshot.XXXXXX", path[64], bad[64];
	struct snapshot s, back = {0};
	struct err e = {0};
	mode_t mask = umask(022);
	struct stat st;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/h1.json", dir);
	snprintf(bad, sizeof(bad), "%s/bad.json", dir);
	sample(&s);
	assert_int_equal(snapshot_save(&s, path, &e), 0);
	assert_int_equal(snapshot_save(&s, path, &e), 0); /* over the former one */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	umask(mask);
	assert_int_equal(snapshot_load(path, &back, &e), 0);
	assert_same(&s, &back);
	snapshot_clear(&back);
	f = fopen(bad, "w");
	fputs("{\n \"schema\": ]\n", f);
	fclose(f);
	assert_int_equal(snapshot_load(bad, &back, &e), -EINVAL);
	assert_non_null(strstr(e.text, "bad.json:2:"));
	assert_int_equal(unlink(bad), 0);
	assert_int_equal(snapshot_load(bad, &back, &e), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
	assert_int_equal(snapshot_save(&s, path, &e), -ENOENT);
	snapshot_clear(&s);
}

static void test_lookup(void **state)
{
	static const struct {
		const char *address;
		int want; /* GID index, -1 none */
		const char *text;
	} cases[] = {
		{"", 3, "198.18.0.1"},
		{"198.18.0.1", 3, "198.18.0.1"},
		{"::ffff:198.18.0.1", 3, "198.18.0.1"},
		{"fe80::1", 1, "fe80::1"},
		{"198.18.0.2", -1, NULL},
		{"fd00::7", -1, NULL}, /* there, but not RoCE v2 */
		{"nonsense", -1, NULL},
	};
	struct snapshot s;
	char text[64];

	(void)state;
	sample(&s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct gid *g = port_gid(&s.port[0], cases[i].address);

		assert_int_equal(g ? g->index : -1, cases[i].want);
		if (!g)
			continue;
		packet_addr_text(g->raw, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	assert_ptr_equal(snapshot_port(&s, "roce0"), &s.port[0]);
	assert_ptr_equal(snapshot_port(&s, "rxe0"), &s.port[0]);
	assert_ptr_equal(snapshot_port(&s, "eth0"), &s.port[1]);
	assert_null(snapshot_port(&s, "eth1"));
	assert_null(snapshot_port(&s, ""));
	/* An IPv4 address is preferred, wherever it stands. */
	s.port[0].gid[0].type = GID_ROCE_V2;
	memcpy(s.port[0].gid[0].raw, global6, sizeof(global6));
	assert_int_equal(port_gid(&s.port[0], "")->index, 3);
	s.port[0].gid_count = 2;
	assert_int_equal(port_gid(&s.port[0], "")->index, 0);
	snapshot_clear(&s);
}

static void test_kind(void **state)
{
	static const struct {
		struct port_facts facts;
		enum port_kind want;
	} cases[] = {
		{{.driver = "", .parent = ""}, PORT_ETHERNET},
		{{.driver = "mlx5_ib", .parent = "mlx5_core"}, PORT_ROCE_PF},
		{{.vf = true, .driver = "mlx5_ib", .parent = "mlx5_core"}, PORT_ROCE_VF},
		{{.driver = "mana_ib", .parent = "mana"}, PORT_GUEST},
		{{.driver = "20", .parent = "mana"}, PORT_GUEST},
		{{.driver = "vmw_pvrdma", .parent = "vmw_pvrdma"}, PORT_GUEST},
		{{.driver = "rxe", .parent = ""}, PORT_SOFT_ROCE},
		{{.iwarp = true, .driver = "irdma", .parent = "ice"}, PORT_IWARP},
		{{.iwarp = true, .driver = "siw", .parent = ""}, PORT_IWARP},
		{{.driver = "irdma", .parent = "ice"}, PORT_ROCE_PF},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(port_kind_of(&cases[i].facts), cases[i].want);
	for (unsigned int kind = PORT_ROCE_PF; kind <= PORT_ETHERNET; kind++)
		assert_int_equal(qos_word_value(port_kind_words, port_kind_word(kind)), kind);
	assert_int_equal(qos_word_value(port_kind_words, "warp"), -ENOENT);
	assert_string_equal(port_kind_word(PORT_ETHERNET + 1), "unknown");
}

static void test_fixtures(void **state)
{
	static const struct {
		const char *path;
		enum port_kind kind;
		enum metric has, has_not;
		unsigned int prio;
		const char *source;
	} cases[] = {
		{"tests/golden/snapshots/guest-mana.json", PORT_GUEST, METRIC_CNP_RX,
		 METRIC_PFC_RX_FRAMES, 0, "rdma received_cnps"},
		{"tests/golden/snapshots/sriov-vf.json", PORT_ROCE_VF, METRIC_OUT_OF_SEQUENCE,
		 METRIC_PFC_RX_FRAMES, 0, "rdma out_of_sequence"},
		{"tests/golden/snapshots/iwarp.json", PORT_IWARP, METRIC_PFC_RX_FRAMES,
		 METRIC_CNP_RX, 3, "ethtool rx_priority_3_xoff.nic"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snapshot s, again = {0};
		struct err e = {0};
		json_t *json;
		char text[64];

		if (snapshot_load(cases[i].path, &s, &e))
			fail_msg("%s", e.text);
		assert_int_equal(s.port[0].kind, cases[i].kind);
		assert_true(counters_has(&s.port[0].counters, cases[i].has, cases[i].prio));
		assert_false(counters_has(&s.port[0].counters, cases[i].has_not, cases[i].prio));
		counters_source_text(&s.port[0].counters, cases[i].has, cases[i].prio, text,
				     sizeof(text));
		assert_string_equal(text, cases[i].source);
		json = snapshot_to_json(&s);
		assert_int_equal(snapshot_from_json(json, &again, &e), 0);
		assert_same(&s, &again);
		json_decref(json);
		snapshot_clear(&again);
		snapshot_clear(&s);
	}
}

/* This machine, whatever it is: the loopback is there, and the result goes through JSON unchanged.
 */
static void test_take(void **state)
{
	static const char *const also[] = {"lo"}, *const gone[] = {"nonic9"};
	struct snapshot s, back = {0};
	const struct port *lo;
	struct err e = {0};
	struct dcb *dcb;
	json_t *json;

	(void)state;
	assert_int_equal(dcb_open(NULL, &dcb, &e), 0);
	if (snapshot_read(dcb, also, 1, &s, &e))
		fail_msg("%s", e.text);
	lo = snapshot_port(&s, "lo");
	assert_non_null(lo);
	assert_int_equal(lo->kind, PORT_ETHERNET);
	assert_true(counters_has(&lo->counters, METRIC_RX_BYTES, 0));
	assert_true(s.host[0] && s.kernel[0] && s.read_unix_ns > 0);
	json = snapshot_to_json(&s);
	assert_int_equal(snapshot_from_json(json, &back, &e), 0);
	assert_same(&s, &back);
	json_decref(json);
	snapshot_clear(&back);
	snapshot_clear(&s);
	assert_int_equal(snapshot_read(dcb, gone, 1, &s, &e), -ENODEV);
	assert_non_null(strstr(e.text, "nonic9"));
	dcb_close(dcb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad_utf8),
		cmocka_unit_test(test_hostile),	   cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_file),	   cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_kind),	   cmocka_unit_test(test_fixtures),
		cmocka_unit_test(test_take),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
