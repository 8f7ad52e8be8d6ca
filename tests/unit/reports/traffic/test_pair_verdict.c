/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pair's record as a verdict: four classes at once in the counters by priority, the
 * direction of READs, what the record says of its own end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/traffic/probe_verdict.h"
#include "tests/unit/fixture/reasons.h"
#include "tests/unit/fixture/soft_port.h"

#define S   UINT64_C(1000000000)
#define MTU 4096u

struct class_row {
	uint8_t tos;
	enum traffic_verb verb;
	uint64_t messages;
};

/* Priorities 0, 3, 4 and 6 by the map below. */
static const struct class_row four[] = {
	{0, TRAFFIC_WRITE, 100},
	{104, TRAFFIC_SEND, 400},
	{136, TRAFFIC_WRITE_IMM, 200},
	{192, TRAFFIC_READ, 50},
};

struct record {
	struct pair t;
	struct run_host host[SIDES];
	struct run_port seen[SIDES];
	struct run_pair pair;
	struct run_ends ends;
	struct port port[SIDES];
	struct counters reading[SIDES][READ_COUNT];
	unsigned int has; /* readings */
	struct traffic_class_result result[SIDES][4];
	struct traffic_tcp_result tcp[SIDES];
};

static void make_port(struct port *p)
{
	make_soft_port(p);
	p->qos.dscp_prio[34] = 4;
	p->qos.dscp_prio[48] = 6;
}

static void make_readings(struct counters reading[READ_COUNT])
{
	static const enum metric counted[] = {METRIC_OUT_OF_SEQUENCE, METRIC_SEQ_NAK_RX,
					      METRIC_RDMA_TX_PACKETS, METRIC_RDMA_RX_PACKETS};

	for (unsigned int r = 0; r < READ_COUNT; r++) {
		struct counters *c = &reading[r];

		counters_clear(c);
		c->when_ns = r * 10 * S;
		c->has[METRIC_PRIO_RX_PACKETS] = 0xff;
		for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
			c->has[counted[i]] = 1;
	}
}

static void make_classes(struct record *r)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct traffic_class class = {
			.tos = four[i].tos, .verb = four[i].verb, .qps = 1, .message_bytes = 65536};

		for (unsigned int side = 0; side < SIDES; side++) {
			r->ends.side[side].spec.class[i] = class;
			rate_series_init(&r->result[side][i].goodput, S);
		}
		r->result[SIDE_CLIENT][i].messages = four[i].messages;
		r->result[SIDE_CLIENT][i].bytes = four[i].messages * 65536;
		if (four[i].verb != TRAFFIC_READ)
			r->result[SIDE_SERVER][i].arrived = four[i].messages;
	}
}

static void make_record(struct record *r)
{
	memset(r, 0, sizeof(*r));
	make_classes(r);
	r->t.run = (struct run){
		.host = r->host, .host_count = SIDES, .pair = &r->pair, .pair_count = 1};
	r->pair.ends = &r->ends;
	r->pair.server_host = SIDE_SERVER;
	for (unsigned int i = 0; i < SIDES; i++) {
		make_port(&r->port[i]);
		snprintf(r->host[i].name, sizeof(r->host[i].name), "h%u", i + 1);
		snprintf(r->seen[i].netdev, sizeof(r->seen[i].netdev), "roce0");
		r->host[i].port = &r->seen[i];
		r->host[i].port_count = 1;
		r->host[i].before.port = &r->port[i];
		r->host[i].before.port_count = 1;
		make_readings(r->reading[i]);
		r->t.ends.port[i] = &r->port[i];
		r->ends.side[i].has_report = true;
		r->ends.side[i].spec.class_count = r->ends.side[i].report.class_count = 4;
		r->ends.side[i].report.class = r->result[i];
		r->ends.side[i].report.total.bytes = 1;
		r->ends.side[i].report.total.mtu = MTU;
	}
	r->has = (1u << READ_COUNT) - 1;
	r->t.chosen = r->t.ran = true;
}

static void came(struct record *r, enum run_side side, unsigned int prio, uint64_t packets)
{
	r->reading[side][READ_LOAD_AFTER].value[METRIC_PRIO_RX_PACKETS][prio] += packets;
}

static void arrive(struct record *r, unsigned int prio_26, unsigned int prio_34)
{
	came(r, SIDE_SERVER, 0, 100 * 16 + 20);
	came(r, SIDE_SERVER, prio_26, 400 * 16 + 10);
	came(r, SIDE_SERVER, prio_34, 200 * 16);
	came(r, SIDE_SERVER, 6, 50);	  /* requests of the READs */
	came(r, SIDE_CLIENT, 6, 50 * 16); /* and their answers */
}

static void judge(struct record *r, struct probe_verdict *v)
{
	static struct probe_verdict before;
	struct err e = {0};

	for (unsigned int i = 0; i < SIDES; i++) {
		r->seen[i].has = 0;
		run_port_set_device(&r->seen[i], &r->port[i]);
		for (unsigned int k = 0; k < READ_COUNT; k++)
			if (r->has & 1u << k)
				run_port_set_reading(&r->seen[i], k, &r->reading[i][k]);
	}
	probe_verdict_clear(&before);
	if (pair_judge(&r->t, 0, v, &e))
		fail_msg("%s", e.text);
	before = *v;
	assert_int_equal(findings_exit(&v->v.findings, SEVERITY_ERROR, NULL, 0),
			 reason_exit(&v->v));
}

static void expect(struct record *r, enum verdict want, int reason, const char *says)
{
	static struct probe_verdict v;
	bool found = reason < 0;

	judge(r, &v);
	for (unsigned int i = 0; i < reason_count(&v.v); i++)
		found |= (int)reason_at(&v.v, i)->reason == reason &&
			 (!says || strstr(reason_at(&v.v, i)->text, says));
	if (v.v.verdict != want || !found)
		fail_msg("%s: %s", verdict_word(v.v.verdict), reason_text(&v.v));
}

static void test_four_classes(void **state)
{
	struct record r;

	(void)state;
	make_record(&r);
	arrive(&r, 3, 4);
	expect(&r, VERDICT_PASS, -1, NULL);
	make_record(&r);
	arrive(&r, 4, 3);
	expect(&r, VERDICT_FAIL, REASON_WRONG_PRIORITY, "priorities 3 and 4 are swapped");
	make_record(&r);
	arrive(&r, 0, 4);
	expect(&r, VERDICT_FAIL, REASON_WRONG_PRIORITY, "DSCP 26 belongs to priority 3");
}

/* A few packets of others in half a second before a load that is read after four: they make expect
 * more than came meanwhile, and no class is short for it. */
static void test_short_baseline(void **state)
{
	static const uint64_t when_ns[READ_COUNT] = {0, S / 2, S, 5 * S};
	struct record r;

	(void)state;
	make_record(&r);
	for (unsigned int k = 0; k < READ_COUNT; k++)
		r.reading[SIDE_SERVER][k].when_ns = when_ns[k];
	for (unsigned int k = READ_QUIET_AFTER; k < READ_COUNT; k++)
		r.reading[SIDE_SERVER][k].value[METRIC_PRIO_RX_PACKETS][0] = 30;
	arrive(&r, 3, 4);
	expect(&r, VERDICT_PASS, -1, NULL);
	make_record(&r); /* and one that is short is told so */
	arrive(&r, 3, 4);
	r.reading[SIDE_SERVER][READ_LOAD_AFTER].value[METRIC_PRIO_RX_PACKETS][0] -= 40;
	expect(&r, VERDICT_FAIL, REASON_WRONG_PRIORITY, "counted 1580 of 1600 packets");
}

static void with_tcp(struct record *r, uint8_t tos)
{
	make_record(r);
	for (unsigned int i = 0; i < SIDES; i++) {
		r->ends.side[i].spec.tcp_count = r->ends.side[i].report.tcp_count = 1;
		r->ends.side[i].spec.tcp[0] = (struct traffic_tcp){.tos = tos, .streams = 1};
		r->ends.side[i].report.tcp = &r->tcp[i];
		r->tcp[i].arrived_bytes = 1;
	}
}

/* Where TCP goes too, packets are not known to be RoCE's; other priorities are looked at as ever.
 */
static void test_tcp_beside(void **state)
{
	static struct probe_verdict v;
	struct record r;

	(void)state;
	with_tcp(&r, 136);
	arrive(&r, 3, 4);
	came(&r, SIDE_SERVER, 4, 100000);
	judge(&r, &v);
	assert_int_equal(v.in.tcp, 1 << 4);
	assert_int_equal(v.arrival[SIDE_SERVER].class[1].arrival, ARRIVAL_RIGHT);
	assert_int_equal(v.arrival[SIDE_SERVER].class[2].arrival, ARRIVAL_UNKNOWN);
	assert_int_equal(v.v.verdict, VERDICT_PASS);
	with_tcp(&r, 192); /* that of the READs, whose responses count at the client */
	arrive(&r, 4, 3);
	expect(&r, VERDICT_FAIL, REASON_WRONG_PRIORITY, "h2: priorities 3 and 4 are swapped");
	with_tcp(&r, 192);
	arrive(&r, 6, 4);
	expect(&r, VERDICT_INCONCLUSIVE, REASON_ALIKE, "h2: packets were counted only in");
	with_tcp(&r, 192);
	came(&r, SIDE_SERVER, 6, 700 * 16); /* all of them */
	expect(&r, VERDICT_INCONCLUSIVE, REASON_ALIKE, "h2: packets were counted only in");
	with_tcp(&r, 192); /* none is counted: as without TCP */
	expect(&r, VERDICT_PASS, -1, NULL);
}

/* No map says where TCP or the classes go: what is dropped may be of either, at any priority. */
static void test_tcp_prio_unknown(void **state)
{
	static struct probe_verdict v;
	struct record r;

	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		with_tcp(&r, 136);
		for (unsigned int k = 0; k < READ_COUNT; k++)
			r.reading[SIDE_SERVER][k].has[METRIC_PRIO_RX_DISCARDS] = 0xff;
		r.reading[SIDE_SERVER][READ_LOAD_AFTER].value[METRIC_PRIO_RX_DISCARDS][4] = 9;
		for (unsigned int i = known; i < SIDES; i++)
			r.port[i].qos.has = 0;
		judge(&r, &v);
		assert_int_equal(v.in.tcp, 0xff);
		expect(&r, VERDICT_WARN, REASON_PORT_DISCARDS, "share");
	}
}

/* The receiver's map is swapped, and it counts by that; both may be, and then they agree. */
static void test_swapped_map(void **state)
{
	struct record r;

	(void)state;
	make_record(&r);
	r.port[SIDE_SERVER].qos.dscp_prio[26] = 4;
	r.port[SIDE_SERVER].qos.dscp_prio[34] = 3;
	arrive(&r, 4, 3);
	expect(&r, VERDICT_FAIL, REASON_WRONG_PRIORITY, "h2: priorities 3 and 4 are swapped");
	r.port[SIDE_CLIENT].qos = r.port[SIDE_SERVER].qos;
	expect(&r, VERDICT_PASS, -1, NULL);
}

/* Answers of READs go to the client, and nothing else does; the sender's marking counts, and where
 * PCP is trusted the priority it was sent with. */
static void test_flows(void **state)
{
	static struct probe_verdict v;
	struct record r;

	(void)state;
	make_record(&r);
	arrive(&r, 3, 4);
	r.ends.side[SIDE_SERVER].spec.class[1].tos = 8; /* answers are marked otherwise */
	judge(&r, &v);
	assert_int_equal(v.arrival[SIDE_SERVER].wanted[3], 400 * 16);
	assert_int_equal(v.arrival[SIDE_SERVER].wanted[6], 0);
	assert_int_equal(v.arrival[SIDE_CLIENT].wanted[6], 50 * 16);
	assert_int_equal(v.arrival[SIDE_CLIENT].wanted[3], 0);
	r.port[SIDE_CLIENT].qos.has = 0;
	judge(&r, &v); /* the receiver's own map is better than none */
	assert_int_equal(v.arrival[SIDE_SERVER].wanted[3], 400 * 16);
	r.port[SIDE_SERVER].qos.has = 0;
	judge(&r, &v);
	assert_false(v.arrival[SIDE_SERVER].known);
	assert_int_equal(v.in.lossless, 0);
	make_record(&r);
	came(&r, SIDE_SERVER, 5, 700 * 16);
	r.port[SIDE_CLIENT].qos.has = QOS_BIT(QOS_TRUST);
	r.port[SIDE_CLIENT].qos.trust = QOS_TRUST_PCP;
	for (unsigned int i = 0; i < 4; i++)
		r.ends.side[SIDE_CLIENT].spec.class[i].sl = 5;
	judge(&r, &v);
	assert_int_equal(v.arrival[SIDE_SERVER].wanted[5], 700 * 16);
	assert_int_equal(v.arrival[SIDE_SERVER].class[1].arrival, ARRIVAL_RIGHT);
}

/* Queue pairs are there at the last reading: what is missing is known. */
static void test_account(void **state)
{
	struct record r;

	(void)state;
	for (unsigned int lost = 0; lost < 2; lost++) {
		make_record(&r);
		arrive(&r, 3, 4);
		r.reading[0][READ_LOAD_AFTER].value[METRIC_RDMA_TX_PACKETS][0] = 11000;
		r.reading[1][READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0] = 11000 - lost;
		if (lost)
			expect(&r, VERDICT_WARN, REASON_ACKS_LOST, "1 from h1 to h2");
		else
			expect(&r, VERDICT_PASS, -1, NULL);
	}
}

static void test_ends_early(void **state)
{
	struct record r;

	(void)state;
	make_record(&r);
	r.ends.partial = true;
	r.ends.side[SIDE_SERVER].has_report = false;
	expect(&r, VERDICT_INCONCLUSIVE, REASON_ABORTED, NULL);
	expect(&r, VERDICT_INCONCLUSIVE, REASON_REMOTE_GONE, "h2 reported no result");
	make_record(&r);
	arrive(&r, 3, 4);
	r.has &= ~(1u << READ_LOAD_AFTER);
	expect(&r, VERDICT_INCONCLUSIVE, REASON_NO_COUNTERS, "h2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_four_classes), cmocka_unit_test(test_short_baseline),
		cmocka_unit_test(test_tcp_beside),   cmocka_unit_test(test_flows),
		cmocka_unit_test(test_swapped_map),  cmocka_unit_test(test_account),
		cmocka_unit_test(test_ends_early),   cmocka_unit_test(test_tcp_prio_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
