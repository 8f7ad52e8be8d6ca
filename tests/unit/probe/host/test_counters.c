/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counter table (every row), names found by pattern, delta with resets, JSON both ways, and one
 * reading of a port that is a folder of files.
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

#include "dcb/kernel/dcb.h"
#include "probe/host/counters.h"
#include "probe/host/counters_index.h"

static void test_metrics(void **state)
{
	(void)state;
	for (unsigned int m = 0; m < METRIC_COUNT; m++) {
		const struct metric_info *info = &metric_table[m];
		bool has_row = false;

		assert_non_null(info->name);
		assert_non_null(info->unit);
		assert_non_null(info->help);
		assert_in_range(info->class, 0, CLASS_COUNT - 1);
		for (unsigned int other = 0; other < m; other++)
			assert_string_not_equal(info->name, metric_table[other].name);
		for (unsigned int row = 0; row < counter_def_count; row++)
			has_row |= counter_defs[row].metric == m;
		assert_true(has_row);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (unsigned int row = 0; row < counter_def_count; row++) {
		const struct counter_def *def = &counter_defs[row];
		bool pattern = strstr(def->name, "%u");

		assert_in_range(def->metric, 0, METRIC_COUNT - 1);
		assert_true(def->multiplier > 0);
		assert_true(def->name[0] && def->seen[0]);
		/* A name by priority belongs to a metric by priority, and the other way round. */
		if (def->source != COUNTER_DCBNL)
			assert_int_equal(pattern, metric_table[def->metric].by_prio);
		/* Rows of a metric stand together: the first that exists answers. */
		if (row)
			assert_true(def->metric >= def[-1].metric);
		for (unsigned int other = 0; other < row; other++)
			assert_false(counter_defs[other].metric == def->metric &&
				     counter_defs[other].source == def->source &&
				     !strcmp(counter_defs[other].name, def->name));
	}
}

static void test_classes(void **state)
{
	(void)state;
	for (unsigned int class = 0; class < CLASS_COUNT; class ++) {
		bool used = false;

		assert_string_not_equal(metric_class_word(class), "?");
		for (unsigned int other = 0; other < class; other++)
			assert_string_not_equal(metric_class_word(class), metric_class_word(other));
		for (unsigned int m = 0; m < METRIC_COUNT; m++)
			used |= metric_table[m].class == class;
		assert_true(used);
	}
	assert_string_equal(metric_class_word(CLASS_COUNT), "?");
}

static void test_index(void **state)
{
	static const struct {
		const char *name, *pattern;
		unsigned int prio;
		bool found;
		uint64_t want;
	} cases[] = {
		{"plain", "rx_bytes_phy", 0, true, 100},
		{"priority", "rx_prio%u_pause", 3, true, 33},
		{"other priority", "rx_prio%u_pause", 4, false, 0},
		{"sum", "rx_bytes_phy+rx_prio3_pause", 0, true, 133},
		{"sum, second is missing", "rx_bytes_phy+nothing", 0, true, 100},
		{"sum, first is missing", "nothing+rx_bytes_phy", 0, false, 0},
		{"blank at the end was dropped", "storm_warning", 0, true, 7},
		{"first of equal names", "twice", 0, true, 1},
		{"prefix of a name", "rx_bytes", 0, false, 0},
		{"longer than a name", "rx_bytes_physical", 0, false, 0},
		{"sum that overflows", "huge+huge2", 0, false, 0},
	};
	static const struct {
		const char *name;
		uint64_t value;
	} names[] = {
		{"rx_bytes_phy", 100},
		{"rx_prio3_pause", 33},
		{"storm_warning ", 7},
		{"twice", 1},
		{"twice", 2},
		{"", 9},
		{"   ", 9},
		{"huge", UINT64_MAX},
		{"huge2", UINT64_MAX},
	};
	struct counters_index index = {0};

	(void)state;
	assert_int_equal(counters_index_init(&index, ARRAY_SIZE(names)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		counters_index_add(&index, names[i].name, 32, names[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 0;
		bool found = counters_index_get(&index, cases[i].pattern, cases[i].prio, &value);

		if (found != cases[i].found || value != cases[i].want)
			fail_msg("%s: %d %llu", cases[i].name, found, (unsigned long long)value);
	}
	counters_index_clear(&index);
	assert_int_equal(counters_index_init(&index, UINT32_MAX), -E2BIG);
}

/* Thousands of names, as a NIC with many queues has. */
static void test_index_large(void **state)
{
	struct counters_index index = {0};
	uint64_t value;
	char name[32];

	(void)state;
	assert_int_equal(counters_index_init(&index, 5000), 0);
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "rx%u_packets", i);
		counters_index_add(&index, name, sizeof(name), i);
	}
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "rx%u_packets", i);
		assert_true(counters_index_get(&index, name, 0, &value));
		assert_int_equal(value, i);
	}
	assert_false(counters_index_get(&index, "rx5000_packets", 0, &value));
	counters_index_clear(&index);
}

static void test_delta(void **state)
{
	static const struct {
		const char *name;
		bool before_has, after_has;
		uint64_t before, after;
		bool has, reset;
		uint64_t want;
	} cases[] = {
		{"grew", true, true, 10, 25, true, false, 15},
		{"stood still", true, true, 10, 10, true, false, 0},
		{"went back", true, true, 10, 9, false, true, 0},
		{"absent before", false, true, 0, 9, false, false, 0},
		{"absent after", true, false, 10, 0, false, false, 0},
		{"large", true, true, 1, INT64_MAX, true, false, INT64_MAX - 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counters before, after, delta;
		uint8_t reset[METRIC_COUNT];

		counters_clear(&before);
		counters_clear(&after);
		before.when_ns = 1000;
		after.when_ns = 5000;
		before.has[METRIC_PFC_RX_FRAMES] = cases[i].before_has ? 1 << 3 : 0;
		after.has[METRIC_PFC_RX_FRAMES] = cases[i].after_has ? 1 << 3 : 0;
		before.value[METRIC_PFC_RX_FRAMES][3] = cases[i].before;
		after.value[METRIC_PFC_RX_FRAMES][3] = cases[i].after;
		counters_delta(&before, &after, &delta, reset);
		assert_int_equal(delta.when_ns, 4000);
		if (counters_has(&delta, METRIC_PFC_RX_FRAMES, 3) != cases[i].has ||
		    delta.value[METRIC_PFC_RX_FRAMES][3] != cases[i].want ||
		    reset[METRIC_PFC_RX_FRAMES] != (cases[i].reset ? 1 << 3 : 0))
			fail_msg("%s", cases[i].name);
		assert_false(counters_has(&delta, METRIC_PFC_RX_FRAMES, 2));
		counters_delta(&before, &after, &after, NULL); /* in place, without resets */
		assert_memory_equal(&after, &delta, sizeof(delta));
	}
}

/* A driver that did not answer once: the kernel's own count of bytes took the place of the NIC's,
 * and the difference of the two is no traffic. */
static void test_delta_of_two_sources(void **state)
{
	struct counters before, after, delta;
	uint8_t reset[METRIC_COUNT];

	(void)state;
	counters_clear(&before);
	before.has[METRIC_RX_BYTES] = 1;
	before.value[METRIC_RX_BYTES][0] = 10;
	before.def[METRIC_RX_BYTES] = 1;
	after = before;
	after.value[METRIC_RX_BYTES][0] = 1000000;
	after.def[METRIC_RX_BYTES] = 2;
	counters_delta(&before, &after, &delta, reset);
	assert_false(counters_has(&delta, METRIC_RX_BYTES, 0));
	assert_int_equal(reset[METRIC_RX_BYTES], 0);
}

static unsigned int row_of(enum metric m, enum counter_source source)
{
	for (unsigned int row = 0; row < counter_def_count; row++)
		if (counter_defs[row].metric == m && counter_defs[row].source == source)
			return row;
	fail();
	return 0;
}

static int row_named(enum metric m, enum counter_source source, const char *name)
{
	for (unsigned int row = 0; row < counter_def_count; row++)
		if (counter_defs[row].metric == m && counter_defs[row].source == source &&
		    !strcmp(counter_defs[row].name, name))
			return (int)row;
	return -1;
}

/* A driver that writes its numbers to memory once a second is waited for; the sources decide, never
 * the name of the port. */
static void test_settle(void **state)
{
	static const struct {
		const char *name;
		enum metric metric;
		enum counter_source source;
		const char *row;
		unsigned int want;
	} cases[] = {
		{"rxe", METRIC_OUT_OF_SEQUENCE, COUNTER_RDMA, "out_of_seq_request", 50},
		{"mlx5", METRIC_OUT_OF_SEQUENCE, COUNTER_RDMA, "out_of_sequence", 50},
		{"bnxt_re", METRIC_OUT_OF_SEQUENCE, COUNTER_RDMA, "oos_drop_count", 2100},
		{"bnxt", METRIC_PRIO_RX_BYTES, COUNTER_ETHTOOL, "rx_bytes_pri%u", 2100},
		{"ice", METRIC_RX_DISCARDS, COUNTER_ETHTOOL, "rx_dropped.nic", 2100},
	};
	struct counters c;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int row = row_named(cases[i].metric, cases[i].source, cases[i].row);

		counters_clear(&c);
		assert_int_equal(counters_settle_ms(&c), 50);
		assert_true(row >= 0);
		c.def[cases[i].metric] = (uint16_t)row;
		assert_int_equal(counters_settle_ms(&c), 50); /* it did not answer */
		c.has[cases[i].metric] = 1;
		if (counters_settle_ms(&c) != cases[i].want)
			fail_msg("%s: %u ms", cases[i].name, counters_settle_ms(&c));
	}
}

/* Where the RDMA device does not count CNPs its netdev may, under the same names: each metric by
 * itself, and the RDMA device first. */
static void test_cnp_by_netdev(void **state)
{
	static const struct {
		enum metric metric;
		const char *name;
	} cases[] = {
		{METRIC_ECN_MARKED_RX, "np_ecn_marked_roce_packets"},
		{METRIC_ECN_MARKED_RX, "rx_ecn_marked_pkts"},
		{METRIC_CNP_TX, "np_cnp_sent"},
		{METRIC_CNP_TX, "tx_cnp_pkts"},
		{METRIC_CNP_RX, "rp_cnp_handled"},
		{METRIC_CNP_RX, "rx_cnp_pkts"},
		{METRIC_CNP_IGNORED, "rp_cnp_ignored"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int rdma = row_named(cases[i].metric, COUNTER_RDMA, cases[i].name);
		int netdev = row_named(cases[i].metric, COUNTER_ETHTOOL, cases[i].name);

		if (rdma < 0 || netdev < rdma)
			fail_msg("%s: rows %d and %d", cases[i].name, rdma, netdev);
		for (unsigned int row = (unsigned int)netdev; row < counter_def_count; row++)
			assert_false(counter_defs[row].metric == cases[i].metric &&
				     counter_defs[row].source == COUNTER_RDMA);
	}
}

static void sample(struct counters *c)
{
	counters_clear(c);
	c->when_ns = 123456789;
	c->has[METRIC_PFC_RX_FRAMES] = 0xff;
	c->def[METRIC_PFC_RX_FRAMES] = (uint16_t)row_of(METRIC_PFC_RX_FRAMES, COUNTER_DCBNL);
	c->value[METRIC_PFC_RX_FRAMES][3] = 449;
	c->has[METRIC_PRIO_TX_BYTES] = 1 << 3;
	c->def[METRIC_PRIO_TX_BYTES] = (uint16_t)row_of(METRIC_PRIO_TX_BYTES, COUNTER_ETHTOOL);
	c->value[METRIC_PRIO_TX_BYTES][3] = INT64_MAX;
	c->has[METRIC_RETRY_EXCEEDED] = 1;
	c->def[METRIC_RETRY_EXCEEDED] = (uint16_t)row_of(METRIC_RETRY_EXCEEDED, COUNTER_RDMA);
}

static void test_json(void **state)
{
	struct counters c, back;
	json_t *json;

	(void)state;
	sample(&c);
	json = counters_to_json(&c);
	assert_non_null(json);
	assert_true(json_is_null(json_object_get(json, "cnp_rx")));
	assert_true(json_is_null(json_array_get(json_object_get(json, "prio_tx_bytes"), 2)));
	assert_string_equal("dcbnl indications",
			    json_string_value(json_object_get(json_object_get(json, "sources"),
							      "pfc_rx_frames")));
	memset(&back, 0xee, sizeof(back));
	assert_int_equal(counters_from_json(json, &back, NULL), 0);
	assert_memory_equal(&c, &back, sizeof(c));
	json_decref(json);
}

static void test_json_hostile(void **state)
{
	static const struct {
		const char *name, *in;
		int want;
	} cases[] = {
		{"least", "{\"when_ns\": 0}", 0},
		{"unknown key", "{\"when_ns\": 0, \"warp\": 9}", 0},
		{"unknown source",
		 "{\"when_ns\":0,\"rx_bytes\":1,\"sources\":{\"rx_bytes\":\"x\"}}", 0},
		{"source of another type",
		 "{\"when_ns\":0,\"rx_bytes\":1,\"sources\":{\"rx_bytes\":[]}}", 0},
		{"no object", "[]", -EINVAL},
		{"no time", "{}", -EINVAL},
		{"negative", "{\"when_ns\": 0, \"rx_bytes\": -1}", -EINVAL},
		{"real", "{\"when_ns\": 0, \"rx_bytes\": 1.5}", -EINVAL},
		{"array for a port metric", "{\"when_ns\": 0, \"rx_bytes\": [1]}", -EINVAL},
		{"number for a priority metric", "{\"when_ns\": 0, \"pfc_rx_frames\": 1}", -EINVAL},
		{"nine priorities", "{\"when_ns\":0,\"pfc_rx_frames\":[1,1,1,1,1,1,1,1,1]}",
		 -EINVAL},
		{"text in an array", "{\"when_ns\":0,\"pfc_rx_frames\":[1,1,1,\"1\",1,1,1,1]}",
		 -EINVAL},
		{"sources no object", "{\"when_ns\": 0, \"sources\": []}", -EINVAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *json = json_loads(cases[i].in, 0, NULL);
		struct counters c, before;
		struct err e = {0};

		assert_non_null(json);
		memset(&c, 0x5a, sizeof(c));
		before = c;
		if (counters_from_json(json, &c, &e) != cases[i].want)
			fail_msg("%s: %s", cases[i].name, e.text);
		if (cases[i].want) {
			assert_memory_equal(&c, &before, sizeof(c));
			assert_true(e.text[0]);
		}
		json_decref(json);
	}
}

static void test_source_text(void **state)
{
	struct counters c;
	char text[128];

	(void)state;
	sample(&c);
	counters_source_text(&c, METRIC_PRIO_TX_BYTES, 3, text, sizeof(text));
	assert_string_equal(text, "ethtool tx_prio3_bytes");
	counters_source_text(&c, METRIC_PFC_RX_FRAMES, 3, text, sizeof(text));
	assert_string_equal(text, "dcbnl indications[3]");
	counters_source_text(&c, METRIC_CNP_RX, 0, text, sizeof(text));
	assert_string_equal(text, "unknown source");
}

static void put(const char *root, const char *path, const char *text)
{
	char file[512];
	FILE *f;

	for (size_t i = 0; path[i]; i++) {
		if (path[i] != '/')
			continue;
		snprintf(file, sizeof(file), "%s/%.*s", root, (int)i, path);
		mkdir(file, 0755);
	}
	snprintf(file, sizeof(file), "%s/%s", root, path);
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A port without ethtool and dcbnl: the netdev's files answer, RDMA counters come from sysfs, and
 * PFC is absent, not zero. The register that could not be read (all ones) is absent, too. */
static void test_take(void **state)
{
	char root[] = "/tmp/test_counters.XXXXXX", command[64], text[64];
	struct dcb_roots roots = {.sysfs = root, .proc = root};
	struct counters c;
	struct dcb *dcb;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(root));
	put(root, "class/net/nonic0/ifindex", "99\n");
	put(root, "class/net/nonic0/statistics/rx_bytes", "1000\n");
	put(root, "class/net/nonic0/statistics/tx_bytes", "18446744073709551615\n");
	put(root, "class/net/nonic0/carrier_down_count", "2\n");
	put(root, "class/infiniband/nordma0/ports/1/hw_counters/out_of_seq_request", "7\n");
	put(root, "class/infiniband/nordma0/ports/1/hw_counters/retry_exceeded_err", "1\n");
	put(root, "class/infiniband/nordma0/ports/1/hw_counters/retry_rnr_exceeded_err", "2\n");
	put(root, "class/infiniband/nordma0/ports/1/hw_counters/lifespan", "10\n");
	put(root, "class/infiniband/nordma0/hw_counters/sent_cnps", "5\n");
	put(root, "net/netstat",
	    "TcpExt: SyncookiesSent InCEPkts\nTcpExt: 1 1\n"
	    "IpExt: InNoRoutes InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts\nIpExt: 0 900 4 30 "
	    "9600\n");
	put(root, "net/snmp6", "Ip6InReceives \t5\nIp6InECT0Pkts \t12\nIp6InCEPkts \t3\n");
	assert_int_equal(dcb_open(&roots, &dcb, &e), 0);
	assert_int_equal(counters_read(dcb, "nonic1", NULL, 0, &c, &e), -ENODEV);
	assert_int_equal(counters_read(dcb, "../net/nonic0", NULL, 0, &c, &e), -ENODEV);
	assert_int_equal(counters_read(dcb, "nonic0", "nordma0", 1, &c, &e), 0);
	assert_true(c.when_ns);
	assert_true(counters_has(&c, METRIC_RX_BYTES, 0));
	assert_int_equal(c.value[METRIC_RX_BYTES][0], 1000);
	assert_false(counters_has(&c, METRIC_TX_BYTES, 0));
	assert_int_equal(c.value[METRIC_LINK_DOWN][0], 2);
	assert_int_equal(c.value[METRIC_OUT_OF_SEQUENCE][0], 7);
	assert_int_equal(c.value[METRIC_RETRY_EXCEEDED][0], 3);
	assert_int_equal(c.value[METRIC_CNP_TX][0], 5);
	assert_int_equal(c.value[METRIC_HOST_CE_RX][0], 9603);
	assert_int_equal(c.value[METRIC_HOST_ECT0_RX][0], 42);
	assert_int_equal(c.value[METRIC_HOST_ECT1_RX][0], 4);
	counters_source_text(&c, METRIC_HOST_CE_RX, 0, text, sizeof(text));
	assert_string_equal(text, "ip InCEPkts+Ip6InCEPkts");
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		assert_false(counters_has(&c, METRIC_PFC_RX_FRAMES, prio));
	dcb_close(dcb);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),	      cmocka_unit_test(test_rows),
		cmocka_unit_test(test_index),	      cmocka_unit_test(test_index_large),
		cmocka_unit_test(test_delta),	      cmocka_unit_test(test_delta_of_two_sources),
		cmocka_unit_test(test_json),	      cmocka_unit_test(test_json_hostile),
		cmocka_unit_test(test_source_text),   cmocka_unit_test(test_take),
		cmocka_unit_test(test_cnp_by_netdev), cmocka_unit_test(test_classes),
		cmocka_unit_test(test_settle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
