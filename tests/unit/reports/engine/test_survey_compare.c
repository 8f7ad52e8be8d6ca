/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reports/engine/survey_compare.c: groups, norms, ties, counters and what is unknown, over literal
 * hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "reports/engine/survey_compare.h"
#include "tests/unit/fixture/fabric_run.h"

#define HOSTS 5
#define PORTS 2
#define BYTES UINT64_C(60000000000) /* of a job, in the 60 s between two readings */

static struct run run;
static struct run_host hosts[HOSTS];
static struct port before[HOSTS][PORTS], after[HOSTS][PORTS];
static struct survey survey;

/* Hosts h1 to h5 with one busy port each, whose counters are all there. */
static int set_up(void **state)
{
	(void)state;
	run = (struct run){.host = hosts, .host_count = HOSTS};
	memset(hosts, 0, sizeof(hosts));
	for (unsigned int h = 0; h < HOSTS; h++) {
		struct port *p = &before[h][0];

		snprintf(hosts[h].name, sizeof(hosts[h].name), "h%u", h + 1);
		hosts[h].has_before = hosts[h].has_after = true;
		good_port(0, p);
		p->kind = PORT_ROCE_PF;
		snprintf(p->firmware, sizeof(p->firmware), "28.41");
		p->counters.when_ns = 1000;
		for (unsigned int m = 0; m < METRIC_COUNT; m++)
			for (unsigned int i = 0; i < (metric_table[m].by_prio ? 8u : 1u); i++)
				count(&p->counters, m, i, 100);
		before[h][1] = *p;
		snprintf(before[h][1].netdev, sizeof(p->netdev), "roce1");
		snprintf(before[h][1].ibdev, sizeof(p->ibdev), "rxe1");
		for (unsigned int i = 0; i < PORTS; i++) {
			after[h][i] = before[h][i];
			after[h][i].counters.when_ns += UINT64_C(60000000000);
			after[h][i].counters.value[METRIC_PRIO_TX_BYTES][3] += BYTES;
			after[h][i].counters.value[METRIC_PRIO_RX_BYTES][3] += BYTES;
		}
		hosts[h].before =
			(struct snapshot){.port = before[h], .port_count = 1, .privileged = true};
		hosts[h].after =
			(struct snapshot){.port = after[h], .port_count = 1, .privileged = true};
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	survey_clear(&survey);
	return 0;
}

static void grows(unsigned int h, enum metric m, unsigned int prio, uint64_t by)
{
	after[h][0].counters.value[m][prio] += by;
}

/* "ITEM[ PRIO]=VALUE@h1,h2 (NORM x COUNT)", one after the other. */
static const char *outliers(void)
{
	static char text[2000];
	size_t used = 0;

	text[0] = '\0';
	assert_int_equal(survey_make(&run, &survey), 0);
	for (unsigned int i = 0; i < survey.outlier_count; i++) {
		const struct survey_outlier *o = &survey.outlier[i];

		used += snprintf(text + used, sizeof(text) - used, "%s%s", used ? "; " : "",
				 o->item);
		if (o->prio >= 0)
			used += snprintf(text + used, sizeof(text) - used, " %d", o->prio);
		used += snprintf(text + used, sizeof(text) - used, "=%s@", o->value);
		for (unsigned int m = 0; m < o->members.count; m++)
			used += snprintf(text + used, sizeof(text) - used, "%s%s", m ? "," : "",
					 run.host[o->members.list[m].host].name);
		used += snprintf(text + used, sizeof(text) - used, " (%s x %u)",
				 o->norm ? o->norm : "tie", o->norm_count);
		assert_true(used < sizeof(text));
	}
	return text;
}

static void test_equal_hosts(void **state)
{
	(void)state;
	assert_string_equal(outliers(), "");
	assert_int_equal(survey.group_count, 3);
	assert_int_equal(survey.answered, HOSTS);
	assert_int_equal(survey.port_count, HOSTS);
	assert_int_equal(survey.group[2].level, SURVEY_SPEED);
	assert_int_equal(survey.group[2].members.count, HOSTS);
	assert_int_equal(survey.group[2].tx_prio, 3);
	assert_int_equal(survey.group[2].norm.mtu, 4200);
	assert_int_equal(survey.common_count, 0);
	assert_true(survey.compared);
}

static void test_settings(void **state)
{
	(void)state;
	after[1][0].qos.dscp_prio[26] = 4;
	after[2][0].qos.mtu = 1500;
	snprintf(after[2][0].firmware, sizeof(after[2][0].firmware), "20.1");
	after[3][0].gid[0].index = 5;
	assert_string_equal(outliers(),
			    "firmware=20.1@h3 (28.41 x 4); gid_index=5@h4 (1 x 4); "
			    "app.dscp={26: 4}@h2 ({26: 3} x 4); mtu.netdev=1500@h3 (4200 x 4)");
	assert_int_equal(survey.group[2].norm.mtu, 4200);
	assert_int_equal(survey.group[2].norm.dscp_prio[26], 3);
}

static void test_tie(void **state)
{
	(void)state;
	run.host_count = 4;
	after[0][0].qos.mtu = after[1][0].qos.mtu = 1500;
	assert_string_equal(outliers(),
			    "mtu.netdev=1500@h1,h2 (tie x 0); mtu.netdev=4200@h3,h4 (tie x 0)");
	assert_false(qos_has(&survey.group[2].norm, QOS_MTU));
	survey_clear(&survey);
	/* Two small camps beside a large one are no tie. */
	run.host_count = 5;
	after[1][0].qos.mtu = 2000;
	assert_string_equal(outliers(),
			    "mtu.netdev=1500@h1 (4200 x 3); mtu.netdev=2000@h2 (4200 x 3)");
}

static void test_two_largest_camps_after_a_small_one(void **state)
{
	(void)state;
	after[0][0].qos.mtu = 9000;
	after[1][0].qos.mtu = after[2][0].qos.mtu = 1500;
	assert_string_equal(outliers(), "mtu.netdev=9000@h1 (tie x 0); mtu.netdev=1500@h2,h3 (tie "
					"x 0); mtu.netdev=4200@h4,h5 (tie x 0)");
}

static void test_many_values(void **state)
{
	static struct run_host many[40];
	static struct port ports[40];

	(void)state;
	for (unsigned int h = 0; h < ARRAY_SIZE(many); h++) {
		many[h] = hosts[0];
		ports[h] = after[0][0];
		ports[h].qos.mtu = 1000 + h;
		many[h].after.port = &ports[h];
	}
	run = (struct run){.host = many, .host_count = ARRAY_SIZE(many)};
	assert_int_equal(survey_make(&run, &survey), 0);
	assert_int_equal(survey.outlier_count,
			 15); /* the last camp, of 25 values, is the largest */
}

/* The host whose job sends DSCP 0, and an idle one, which has no main priority. */
static void test_priority_of_the_job(void **state)
{
	(void)state;
	after[3][0].counters.value[METRIC_PRIO_TX_BYTES][3] = 100;
	grows(3, METRIC_PRIO_TX_BYTES, 0, BYTES);
	after[4][0].counters = before[4][0].counters;
	after[4][0].counters.when_ns += UINT64_C(60000000000);
	grows(4, METRIC_PRIO_TX_BYTES, 0, 500);
	assert_string_equal(outliers(), "tx_prio=0@h4 (3 x 3)");
	assert_int_equal(survey.unknown_count, 1); /* driver_version */
}

/* One job of several sends DSCP 0. TCP of each host is nobody's fault, and so is a little of it. */
static void test_side_traffic(void **state)
{
	(void)state;
	grows(1, METRIC_PRIO_TX_BYTES, 0, BYTES / 4);
	grows(2, METRIC_PRIO_RX_BYTES, 0, BYTES / 4);
	grows(3, METRIC_PRIO_RX_BYTES, 0, BYTES / 3);
	grows(4, METRIC_PRIO_TX_BYTES, 1, BYTES / 20);
	for (unsigned int h = 0; h < HOSTS; h++)
		grows(h, METRIC_PRIO_TX_BYTES, 5, BYTES / 5);
	assert_string_equal(outliers(), "tx_side 0=17 %@h2 (less than 10 % x 4); "
					"rx_side 0=20 to 25 %@h3,h4 (less than 10 % x 3)");
}

static void test_counters(void **state)
{
	(void)state;
	grows(1, METRIC_RX_DISCARDS, 0, 12);
	grows(2, METRIC_RX_DISCARDS, 0, 340);
	grows(3, METRIC_PFC_TX_FRAMES, 3, 5);
	grows(3, METRIC_PFC_TX_PAUSE_US, 3, 5); /* of the same pauses */
	for (unsigned int h = 0; h < HOSTS; h++)
		grows(h, METRIC_CNP_RX, 0, h == 4 ? 60000 : 600 + h);
	for (unsigned int h = 0; h < HOSTS; h++)
		grows(h, METRIC_RETRANSMITS, 0, h == 4 ? 599 : 60);
	assert_string_equal(outliers(), "pfc_tx_frames 3=5 frames@h4 (none x 4); "
					"rx_discards=12 to 340 packets@h2,h3 (none x 3); "
					"cnp_rx=60000 packets@h5 (median 10 packets/s x 4)");
	assert_int_equal(survey.outlier[1].low, 12);
	assert_int_equal(survey.outlier[1].high, 340);
	assert_int_equal(survey.common_count, 2);
}

/* Most hosts are idle: the others have a job, and no fault. A busy fabric has a norm. */
static void test_volume(void **state)
{
	(void)state;
	grows(1, METRIC_TX_BYTES, 0, BYTES);
	assert_string_equal(outliers(), "");
	survey_clear(&survey);
	for (unsigned int h = 0; h < HOSTS; h++)
		grows(h, METRIC_TX_BYTES, 0, h == 1 ? 20 * BYTES : BYTES);
	assert_string_equal(outliers(),
			    "tx_bytes=1260000000000 bytes@h2 (median 1e+09 bytes/s x 4)");
}

static const struct survey_unknown *unknown_with(const char *item)
{
	for (unsigned int i = 0; i < survey.unknown_count; i++)
		for (unsigned int k = 0; k < survey.unknown[i].item_count; k++)
			if (!strcmp(survey.unknown[i].item[k], item))
				return &survey.unknown[i];
	return NULL;
}

/* What cannot be read is neither zero nor an outlier. */
static void test_unknown(void **state)
{
	(void)state;
	for (unsigned int h = 1; h < 3; h++) {
		after[h][0].qos.has &= ~(QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU));
		hosts[h].after.privileged = false;
		for (unsigned int m = 0; m < METRIC_COUNT; m++)
			if (metric_table[m].class == CLASS_CNP || m == METRIC_PRIO_TX_BYTES ||
			    m == METRIC_PRIO_TX_PACKETS)
				after[h][0].counters.has[m] = 0;
	}
	after[4][0].counters.when_ns = before[4][0].counters.when_ns; /* hostile: no interval */
	grows(4, METRIC_RX_DISCARDS, 0, 7);
	assert_string_equal(outliers(), "");
	assert_int_equal(survey.unprivileged, 2);
	assert_ptr_equal(unknown_with("pfc.enabled"), unknown_with("mtu.netdev"));
	assert_int_equal(unknown_with("pfc.enabled")->members.count, 2);
	assert_int_equal(unknown_with("tx_prio")->members.count, 3);
	assert_int_equal(unknown_with("cnps")->members.count, 3);
	assert_int_equal(unknown_with("drops")->members.count, 1);
	assert_int_equal(unknown_with("driver_version")->members.count, HOSTS);
	assert_null(unknown_with("app.dscp"));
}

/* A counter that went back was reset: unknown. */
static void test_reset(void **state)
{
	(void)state;
	after[0][0].counters.value[METRIC_RX_DISCARDS][0] = 3;
	assert_string_equal(outliers(), "");
}

static void test_links(void **state)
{
	(void)state;
	after[0][0].speed_mbps = 25000;
	after[1][0].up = false;
	after[1][0].speed_mbps = 0;
	after[2][0].ib_active = false;
	assert_string_equal(outliers(), "link=down@h2 (up x 3); link=up, but the RDMA port is not "
					"active@h3 (up x 3); link_speed=25 Gb/s@h1 (10 Gb/s x 3)");
}

/* Ports are compared with those at their place, hosts by the number of their ports. */
static void test_rails(void **state)
{
	(void)state;
	for (unsigned int h = 0; h < 4; h++)
		hosts[h].before.port_count = hosts[h].after.port_count = 2;
	after[1][1].qos.mtu = 1500;
	for (unsigned int h = 0; h < 4; h++)
		after[h][0].qos.pfc_enabled = 1 << 4; /* another one on each rail: no outlier */
	after[4][0].qos.pfc_enabled = 1 << 4;
	assert_string_equal(outliers(), "roce_ports=1@h5 (2 x 4); mtu.netdev=1500@h2 (4200 x 3)");
	assert_int_equal(survey.group_count, 5);
	assert_int_equal(survey.port_count, 9);
}

/* Lost hosts: without an answer, and with the first one alone. */
static void test_lost(void **state)
{
	(void)state;
	hosts[0].has_before = hosts[0].has_after = false;
	hosts[1].has_after = false;
	before[1][0].qos.mtu = 1500;
	before[1][0].counters.value[METRIC_RX_DISCARDS][0] = 7;
	assert_string_equal(outliers(), "mtu.netdev=1500@h2 (4200 x 3)");
	assert_int_equal(survey.answered, 4);
	assert_int_equal(survey.lost, 2);
	assert_int_equal(unknown_with("drops")->members.count, 1);
}

static void test_nobody(void **state)
{
	(void)state;
	run.host_count = 0;
	assert_string_equal(outliers(), "");
	survey_clear(&survey);
	run.host_count = 1;
	hosts[0].after.port_count = 0;
	assert_string_equal(outliers(), "");
	assert_int_equal(survey.group_count, 1);
	survey_clear(&survey);
	hosts[0].after.port_count = 2; /* on two rails */
	assert_string_equal(outliers(), "");
	assert_false(survey.compared);
}

static void test_order_of_ports(void **state)
{
	struct port ports[3];
	struct snapshot s = {.port = ports, .port_count = 3};
	const struct port **list;
	unsigned int count;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		ports[i] = before[0][0];
	snprintf(ports[0].netdev, sizeof(ports[0].netdev), "eth10");
	snprintf(ports[1].netdev, sizeof(ports[1].netdev), "eth2");
	ports[2].kind = PORT_IWARP;
	assert_int_equal(survey_sort_ports(&s, &list, &count), 0);
	assert_int_equal(count, 2);
	assert_ptr_equal(list[0], &ports[1]);
	assert_ptr_equal(list[1], &ports[0]);
	free(list);
	assert_string_equal(survey_item_text("tx_prio"), "main priority sent");
	assert_string_equal(survey_item_text("pfc.enabled"), "pfc.enabled");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_equal_hosts),	 TEST(test_settings),
		TEST(test_tie),		 TEST(test_two_largest_camps_after_a_small_one),
		TEST(test_many_values),	 TEST(test_priority_of_the_job),
		TEST(test_side_traffic), TEST(test_counters),
		TEST(test_volume),	 TEST(test_unknown),
		TEST(test_reset),	 TEST(test_links),
		TEST(test_rails),	 TEST(test_lost),
		TEST(test_nobody),	 TEST(test_order_of_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
