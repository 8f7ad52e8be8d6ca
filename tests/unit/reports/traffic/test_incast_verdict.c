/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verdict of an incast from literals: not stressed is no pass, a pause makes one, a loss at any
 * port fails, and what came to the client's priorities is the sum of all servers.
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

#include "reports/traffic/probe_verdict.h"
#include "tests/unit/fixture/reasons.h"
#include "tests/unit/fixture/soft_port.h"

#define S	 UINT64_C(1000000000)
#define SERVERS	 3u
#define MESSAGES 100u
#define BYTES	 65536u
#define MTU	 4096u
#define PACKETS	 (MESSAGES * BYTES / MTU)

struct scene {
	struct incast in;
	struct incast_one one[SERVERS];
	struct run_host host[SERVERS][SIDES];
	struct run_port seen[SERVERS][SIDES];
	struct run_pair pair[SERVERS];
	struct run_ends ends[SERVERS];
	struct port port[SERVERS + 1];
	struct traffic_class_result result[SERVERS][SIDES];
	struct probe_verdict v;
};

/* What a port has counted before and after the load. */
static void read_port(struct run_port *o, uint64_t came, uint64_t sent, uint64_t prio3,
		      uint64_t gaps, uint64_t pauses)
{
	struct counters c;

	counters_clear(&c);
	c.has[METRIC_OUT_OF_SEQUENCE] = c.has[METRIC_SEQ_NAK_RX] = 1;
	c.has[METRIC_RDMA_RX_PACKETS] = c.has[METRIC_RDMA_TX_PACKETS] = 1;
	c.has[METRIC_PRIO_RX_PACKETS] = c.has[METRIC_PFC_RX_FRAMES] = 0xff;
	c.when_ns = 10 * S;
	run_port_set_reading(o, READ_LOAD_BEFORE, &c);
	c.when_ns = 20 * S;
	c.value[METRIC_RDMA_RX_PACKETS][0] = came;
	c.value[METRIC_RDMA_TX_PACKETS][0] = sent;
	c.value[METRIC_PRIO_RX_PACKETS][3] = prio3;
	c.value[METRIC_OUT_OF_SEQUENCE][0] = gaps;
	c.value[METRIC_PFC_RX_FRAMES][3] = pauses;
	run_port_set_reading(o, READ_LOAD_AFTER, &c);
}

static void make_probe(struct scene *s, unsigned int i)
{
	struct pair *t = &s->one[i].t;

	t->run = (struct run){
		.host = s->host[i], .host_count = SIDES, .pair = &s->pair[i], .pair_count = 1};
	s->pair[i].ends = &s->ends[i];
	s->pair[i].server_host = SIDE_SERVER;
	for (unsigned int side = 0; side < SIDES; side++) {
		struct traffic_class_result *r = &s->result[i][side];
		struct run_end *end = &s->ends[i].side[side];
		struct run_host *host = &s->host[i][side];

		snprintf(host->name, sizeof(host->name), "h%u", side ? i + 2 : 1);
		host->port = &s->seen[i][side];
		host->before.port = &s->port[side ? i + 1 : 0];
		host->before.port_count = 1;
		snprintf(host->port->netdev, sizeof(host->port->netdev), "%s",
			 host->before.port->netdev);
		rate_series_init(&r->goodput, S);
		end->spec.class_count = 1;
		end->spec.class[0] = (struct traffic_class){
			.tos = 104,
			.direction = TRAFFIC_BACKWARD,
			.qps = 1,
			.message_bytes = BYTES,
		};
		t->ends.port[side] = &s->port[side ? i + 1 : 0];
		run_port_set_device(host->port, t->ends.port[side]);
		end->report.class_count = 1;
		end->report.class = r;
		end->report.total.bytes = MESSAGES * BYTES;
		end->report.total.mtu = MTU;
		end->has_report = true;
	}
	s->result[i][SIDE_SERVER].messages = s->result[i][SIDE_CLIENT].arrived = MESSAGES;
	s->result[i][SIDE_SERVER].bytes = s->result[i][SIDE_CLIENT].arrived_bytes = MESSAGES *
										    BYTES;
	t->chosen = t->ran = true;
}

/* Each server sends the same, and is answered with a packet a message. */
static struct scene *make(uint64_t gaps, uint64_t pauses)
{
	struct scene *s = calloc(1, sizeof(*s));

	s->in = (struct incast){SERVERS, s->one};
	for (unsigned int i = 0; i <= SERVERS; i++)
		make_soft_port(&s->port[i]);
	for (unsigned int i = 0; i < SERVERS; i++) {
		make_probe(s, i);
		read_port(&s->seen[i][SIDE_CLIENT], SERVERS * PACKETS, SERVERS * MESSAGES,
			  SERVERS * PACKETS, gaps, 0);
		read_port(&s->seen[i][SIDE_SERVER], MESSAGES, PACKETS, MESSAGES, 0,
			  i == 1 ? pauses : 0);
	}
	return s;
}

static void judge(struct scene *s, enum verdict want)
{
	static struct probe_verdict before;
	struct err e = {0};

	probe_verdict_clear(&before);
	if (incast_judge(&s->in, &s->v, &e))
		fail_msg("%s", e.text);
	if (s->v.v.verdict != want)
		fail_msg("%s: %s", verdict_word(s->v.v.verdict), reason_text(&s->v.v));
	assert_int_equal(findings_exit(&s->v.v.findings, SEVERITY_ERROR, NULL, 0),
			 reason_exit(&s->v.v));
	before = s->v;
}

static void test_stress(void **state)
{
	struct scene *s = make(0, 0);

	(void)state;
	judge(s, VERDICT_INCONCLUSIVE);
	assert_true(traffic_verdict_has(&s->v.v, REASON_NOT_STRESSED));
	assert_int_equal(reason_count(&s->v.v), 1);
	free(s);
	s = make(0, 7);
	judge(s, VERDICT_PASS);
	assert_int_equal(s->v.in.end_count, SERVERS + 1);
	assert_int_equal(s->v.arrival[0].wanted[3], SERVERS * PACKETS);
	free(s);
}

static void test_loss(void **state)
{
	struct scene *s = make(2, 7);

	(void)state;
	judge(s, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s->v.v, REASON_LOST));
	assert_string_equal(reason_at(&s->v.v, 0)->host, "h1");
	free(s);
	s = make(0, 7); /* a packet of one server is missing, and somebody had to repeat */
	s->seen[0][SIDE_CLIENT].reading[READ_LOAD_AFTER].value[METRIC_RDMA_RX_PACKETS][0]--;
	for (unsigned int r = 0; r < READ_COUNT; r++)
		s->seen[2][SIDE_SERVER].reading[r].has[METRIC_RETRANSMITS] = 1;
	s->seen[2][SIDE_SERVER].reading[READ_LOAD_AFTER].value[METRIC_RETRANSMITS][0] = 1;
	judge(s, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s->v.v, REASON_LOST));
	free(s);
}

static void test_wrong_priority(void **state)
{
	struct scene *s = make(0, 7);
	struct counters *after = &s->seen[0][SIDE_CLIENT].reading[READ_LOAD_AFTER];

	(void)state;
	after->value[METRIC_PRIO_RX_PACKETS][0] = PACKETS; /* one server's came in another one */
	after->value[METRIC_PRIO_RX_PACKETS][3] -= PACKETS;
	judge(s, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s->v.v, REASON_WRONG_PRIORITY));
	free(s);
}

/* A server whose map sends the DSCP in another priority, and a client that counts all in one: in
 * whichever order the servers are named. */
static void test_maps_differ(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SERVERS; i++) {
		struct scene *s = make(0, 7);

		s->port[i + 1].qos.dscp_prio[26] = 4;
		judge(s, VERDICT_FAIL);
		assert_true(traffic_verdict_has(&s->v.v, REASON_WRONG_PRIORITY));
		assert_int_equal(reason_at(&s->v.v, 0)->class, 0);
		assert_non_null(strstr(reason_text(&s->v.v),
				       "DSCP 26 belongs to priority 4 but is counted in "
				       "priority 3"));
		assert_int_equal(s->v.in.lossless, 1 << 3 | 1 << 4);
		assert_int_equal(s->v.arrival[0].wanted[3], (SERVERS - 1) * PACKETS);
		free(s);
	}
}

/* Every class in every priority has its row; the last one's is not lost. */
static void test_many_rows(void **state)
{
	struct scene *s = make(0, 7);
	struct traffic_class_result *r[SERVERS];

	(void)state;
	for (unsigned int i = 0; i < SERVERS; i++) {
		r[i] = calloc(TRAFFIC_CLASSES_MAX, sizeof(*r[i]));
		for (unsigned int side = 0; side < SIDES; side++) {
			struct traffic_spec *spec = &s->ends[i].side[side].spec;

			spec->class_count = TRAFFIC_CLASSES_MAX;
			for (unsigned int c = 1; c < TRAFFIC_CLASSES_MAX; c++)
				spec->class[c] = spec->class[0];
		}
		r[i][TRAFFIC_CLASSES_MAX - 1] = s->result[i][SIDE_CLIENT];
		s->ends[i].side[SIDE_CLIENT].report.class = r[i];
		s->ends[i].side[SIDE_CLIENT].report.class_count = TRAFFIC_CLASSES_MAX;
	}
	s->port[SERVERS].qos.dscp_prio[26] = 4;
	judge(s, VERDICT_FAIL);
	assert_true(traffic_verdict_has(&s->v.v, REASON_WRONG_PRIORITY));
	assert_int_equal(reason_at(&s->v.v, 0)->class, TRAFFIC_CLASSES_MAX - 1);
	for (unsigned int i = 0; i < SERVERS; i++)
		free(r[i]);
	free(s);
}

/* One probe whose priorities are not known: each counts. */
static void test_priorities_unknown(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < SERVERS; i++) {
		struct scene *s = make(0, 7);

		s->port[0].qos.has = s->port[i + 1].qos.has = 0;
		judge(s, VERDICT_PASS);
		assert_int_equal(s->v.in.lossless, 0);
		free(s);
	}
}

/* TCP beside the incast: of one server nothing came, and it is named; pauses of TCP's priority are
 * no sign. */
static void test_tcp(void **state)
{
	struct traffic_tcp_result tcp[SERVERS][SIDES] = {0};
	struct scene *s = make(0, 7);
	const struct finding *r;

	(void)state;
	for (unsigned int i = 0; i < SERVERS; i++) {
		tcp[i][SIDE_SERVER].sent_bytes = tcp[i][SIDE_CLIENT].arrived_bytes = BYTES;
		for (unsigned int side = 0; side < SIDES; side++) {
			struct run_end *end = &s->ends[i].side[side];

			end->spec.tcp_count = 1;
			end->spec.tcp[0] = (struct traffic_tcp){
				.tos = 192, .direction = TRAFFIC_BACKWARD, .streams = 2};
			end->report.tcp_count = 1;
			end->report.tcp = &tcp[i][side];
		}
	}
	judge(s, VERDICT_PASS);
	assert_int_equal(s->v.in.tcp, 1 << 0);
	tcp[1][SIDE_CLIENT].arrived_bytes = 0;
	judge(s, VERDICT_INCONCLUSIVE);
	r = reason_at(&s->v.v, 0);
	assert_int_equal(r->reason, REASON_BACKGROUND);
	assert_string_equal(r->text, "h1, with h3: no data of TCP background 0 arrived: the "
				     "port was not tested with it");
	tcp[1][SIDE_CLIENT].arrived_bytes = BYTES;
	tcp[2][SIDE_CLIENT].broken = 1;
	judge(s, VERDICT_INCONCLUSIVE);
	assert_non_null(
		strstr(reason_text(&s->v.v), "h1, with h4: 1 of 2 streams of TCP background 0"));
	free(s);
}

/* What one server's messages are is told with its name. */
static void test_wrong_data(void **state)
{
	struct scene *s = make(0, 7);

	(void)state;
	s->result[2][SIDE_CLIENT].mismatches = 3;
	judge(s, VERDICT_FAIL);
	assert_non_null(strstr(reason_text(&s->v.v), "h1, with h4: 3 messages of class 0"));
	free(s);
}

/* The first probe could not read: another one's reading of the same port does. One that was lost
 * makes it partial, and one that never began nothing to judge. */
static void test_parts(void **state)
{
	struct scene *s = make(0, 7);
	struct err e = {0};

	(void)state;
	s->seen[0][SIDE_CLIENT].has = 0;
	judge(s, VERDICT_PASS);
	s->ends[1].partial = true;
	judge(s, VERDICT_INCONCLUSIVE);
	assert_true(traffic_verdict_has(&s->v.v, REASON_ABORTED));
	s->one[2].t.ran = false;
	assert_int_equal(incast_judge(&s->in, &s->v, &e), -EINVAL);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stress),	       cmocka_unit_test(test_loss),
		cmocka_unit_test(test_wrong_priority), cmocka_unit_test(test_maps_differ),
		cmocka_unit_test(test_many_rows),      cmocka_unit_test(test_priorities_unknown),
		cmocka_unit_test(test_parts),	       cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_wrong_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
