/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole switch (tests/lab/switch/) with real datagram sockets: LLDP, requests while it runs,
 * leaves and spines, bonds, the mirror's file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/decode/lldp.h"
#include "capture/file/pcapng.h"
#include "tests/lab/switch/test/switch_scene.h"

static void test_lldp(void **state)
{
	struct lldp_peer peer = {.seen = false};
	struct scene s;
	struct err e;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: [3]\n"
			  "      prio: {3: {tc: 1}}\n"
			  "      tc: {0: {dwrr: 30}, 1: {dwrr: 70}}\n"
			  "      lldp: {app: [{selector: udp, protocol: 4791, prio: 3}]}\n"));
	step_switch(&s);
	read_host(&s, 0, 0);
	assert_int_equal(s.host[0].lldp_frames, 1);
	assert_int_equal(lldp_decode(s.host[0].lldp, s.host[0].lldp_len, &peer, &e), 0);
	assert_string_equal(peer.system, "s1");
	assert_string_equal(peer.port, "p1");
	assert_string_equal(peer.dialect, "ieee");
	assert_int_equal(peer.ttl_s, 120);
	assert_int_equal(peer.qos.pfc_enabled, 8);
	assert_int_equal(peer.qos.prio_tc[3], 1);
	assert_int_equal(peer.qos.tc_tx_bw[0], 30);
	assert_int_equal(peer.qos.tc_tx_bw[1], 70);
	assert_int_equal(peer.recommended.tc_tx_bw[1], 70);
	assert_int_equal(peer.qos.tc_tsa[1], QOS_TSA_ETS);
	assert_int_equal(peer.qos.dscp_prio[26], 3);
	assert_int_equal(peer.qos.app[0].protocol, 4791);
	/* Its own frame back: a neighbour, and nothing is forwarded. */
	assert_true(sendto(s.host[0].fd, s.host[0].lldp, s.host[0].lldp_len, 0,
			   (struct sockaddr *)&s.host[0].to, sizeof(s.host[0].to)) > 0);
	for (unsigned int i = 0; i < 10; i++)
		step_switch(&s);
	read_host(&s, 1, 0);
	assert_int_equal(s.host[1].lldp_frames, 1);
	assert_true(s.lab->port[0].neighbour.seen);
	close_scene(&s);
}

static void test_control(void **state)
{
	struct scene s;
	json_t *stats, *port;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	json_decref(ask(&s, "{\"op\":\"set\",\"path\":\"port.p1.pfc\",\"value\":[]}", true));
	assert_int_equal(pfc_enabled(&s.lab->port[0]), 0);
	json_decref(
		ask(&s, "{\"op\":\"set\",\"path\":\"s1.port.p2.tc.2.dwrr\",\"value\":7}", true));
	assert_int_equal(s.lab->port[1].sched.tc[2].weight, 7);
	json_decref(ask(&s, "{\"op\":\"set\",\"path\":\"port.p9.pfc\",\"value\":[]}", false));
	json_decref(ask(&s, "{\"op\":\"set\"}", false));
	json_decref(ask(&s, "{\"op\":\"sing\"}", false));
	json_decref(ask(&s, "not json", false));
	json_decref(
		ask(&s, "{\"op\":\"fault\",\"add\":{\"kind\":\"pfc_off\",\"prio\":[3]}}", true));
	assert_int_equal(pfc_enabled(&s.lab->port[1]), 0);
	json_decref(ask(&s, "{\"op\":\"fault\",\"clear\":true}", true));
	assert_int_equal(pfc_enabled(&s.lab->port[1]), 8);
	stats = ask(&s, "{\"op\":\"stats\"}", true);
	port = json_object_get(
		json_object_get(json_object_get(json_object_get(stats, "switches"), "s1"), "ports"),
		"p1");
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(json_object_get(port, "prio"), "3"), "rx_frames")),
			 1);
	json_decref(stats);
	json_decref(ask(&s, "{\"op\":\"quit\"}", true));
	assert_true(s.lab->quit);
	close_scene(&s);
}

/* A process of its own, asked over its socket, and told to end. */
static void test_control_socket(void **state)
{
	char path[PATH_SIZE], answer[512] = "";
	struct err e = {0};
	struct scene s;
	int status;
	pid_t pid;
	FILE *out;

	(void)state;
	open_scene(&s, 3, "control: @/ctl\n" INCAST("      pfc: [3]\n"));
	snprintf(path, sizeof(path), "%s/ctl", s.dir);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(lab_run(s.lab, &e) ? 1 : 0);
	out = fmemopen(answer, sizeof(answer), "w");
	assert_non_null(out);
	assert_int_equal(control_ask(path, "{\"op\":\"sing\"}", out, &e), 0);
	assert_int_equal(control_ask(path, "{\"op\":\"quit\"}", out, &e), 0);
	fclose(out);
	assert_non_null(strstr(answer, "\"ok\":false"));
	assert_non_null(strstr(answer, "\"ok\":true"));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close_scene(&s);
	assert_true(control_ask(path, "{}", stderr, &e) < 0);
}

static const char leaves[] = "schema: rocecheck.switch/1\n"
			     "mirror: {file: @/m.pcapng}\n"
			     "switches:\n"
			     "  - name: leaf1\n"
			     "    defaults: {dscp: {26: 3}, pfc: [3], mirror: on}\n"
			     "    ports:\n"
			     "      - {name: p1, local: @/p1.sw, remote: @/p1.vm}\n"
			     "      - {name: p2, local: @/p2.sw, remote: @/p2.vm}\n"
			     "      - {name: u1, uplink: on, latency: 100}\n"
			     "      - {name: u2, uplink: on}\n"
			     "  - name: leaf2\n"
			     "    defaults: {dscp: {26: 3}, pfc: [3]}\n"
			     "    ports:\n"
			     "      - {name: p1, local: @/p3.sw, remote: @/p3.vm}\n"
			     "      - {name: p2, local: @/p4.sw, remote: @/p4.vm}\n"
			     "      - {name: u1, uplink: on}\n"
			     "      - {name: u2, uplink: on}\n"
			     "  - name: spine1\n"
			     "    defaults: {dscp: {26: 3}, pfc: [3]}\n"
			     "    ports: [{name: l1}, {name: l2}]\n"
			     "  - name: spine2\n"
			     "    defaults: {dscp: {26: 3}, pfc: [3]}\n"
			     "    ports: [{name: l1}, {name: l2}]\n"
			     "links:\n"
			     "  - {a: leaf1/u1, b: spine1/l1}\n"
			     "  - {a: leaf1/u2, b: spine2/l1}\n"
			     "  - {a: leaf2/u1, b: spine1/l2}\n"
			     "  - {a: leaf2/u2, b: spine2/l2}\n";

/* Flows of many source ports over two spines; floods come once; nothing loops. */
static void test_leaves_and_spines(void **state)
{
	struct scene s;
	uint64_t up[2];

	(void)state;
	open_scene(&s, 4, leaves);
	introduce(&s);
	for (unsigned int i = 0; i < 4; i++)
		s.host[i].received = 0;
	for (unsigned int i = 0; i < 400; i++) {
		assert_int_equal(send_frame(&s, 0, 2, 2, 49152 + i * 7), 0);
		for (unsigned int k = 0; k < 3; k++)
			step_switch(&s);
		for (unsigned int k = 0; k < 4; k++)
			read_host(&s, k, 0);
	}
	for (unsigned int k = 0; k < 20; k++) {
		step_switch(&s);
		read_host(&s, 2, 0);
	}
	assert_int_equal(s.host[2].received, 400);
	assert_int_equal(s.host[0].received, 0);
	up[0] = stats_of(&s, 2)->tx_frames;
	up[1] = stats_of(&s, 3)->tx_frames;
	assert_true(up[0] > 130 && up[1] > 130);
	/* An address nobody has: everybody else gets one. */
	for (unsigned int i = 0; i < 4; i++)
		s.host[i].received = 0;
	assert_int_equal(send_frame(&s, 0, 99, 2, 5), 0);
	for (unsigned int k = 0; k < 40; k++)
		step_switch(&s);
	for (unsigned int i = 0; i < 4; i++) {
		read_host(&s, i, 0);
		assert_int_equal(s.host[i].received, i != 0);
	}
	/* Switches know each other. */
	assert_string_equal(s.lab->port[2].neighbour.system, "spine1");
	assert_int_equal(s.lab->port[2].neighbour.neighbours, 1);
	assert_int_equal(drops(&s), 0);
	close_scene(&s);
}

/* 200 flows from host 1 to host 3, a frame each; how many arrived. */
static unsigned int send_flows(struct scene *s)
{
	s->host[2].received = 0;
	for (unsigned int i = 0; i < 200; i++) {
		assert_int_equal(send_frame(s, 0, 2, 2, 49152 + i * 7), 0);
		for (unsigned int k = 0; k < 5; k++)
			step_switch(s);
		read_host(s, 2, 0);
	}
	for (unsigned int k = 0; k < 50; k++)
		step_switch(s);
	read_host(s, 2, 0);
	return s->host[2].received;
}

/* A way that loses what it should pass on loses its own flows, and no others, while it lasts. */
static void test_ecmp_loss(void **state)
{
	uint64_t lost;
	struct scene s;

	(void)state;
	open_scene(&s, 4, leaves);
	introduce(&s);
	s.lab->start_ns = s.lab->now_ns;
	tell_switch(&s, "{\"op\":\"fault\",\"add\":{\"kind\":\"ecmp_loss\",\"port\":\"leaf1/u1\","
			"\"direction\":\"out\",\"start\":\"100s\",\"heal\":\"200s\"}}");
	assert_int_equal(send_flows(&s), 200);
	s.lab->start_ns = s.lab->now_ns - 150 * NS_PER_S;
	assert_in_range(send_flows(&s), 50, 150);
	lost = s.lab->config.fault[0].hits;
	assert_int_equal(s.host[2].received, 200 - lost);
	assert_int_equal(stats_of(&s, 2)->drops[DROP_FAULT], lost);
	assert_int_equal(drops(&s), lost);
	s.lab->start_ns = s.lab->now_ns - 250 * NS_PER_S;
	assert_int_equal(send_flows(&s), 200);
	close_scene(&s);
}

/* Two ports of one bond get one copy of what is flooded, and a flow keeps to one of them. */
static void test_bond(void **state)
{
	struct scene s;
	uint64_t tx[2];

	(void)state;
	open_scene(&s, 3,
		   "schema: rocecheck.switch/1\n"
		   "switches:\n"
		   "  - name: s1\n"
		   "    defaults: {dscp: {26: 3}}\n"
		   "    ports:\n"
		   "      - {name: p1, local: @/p1.sw, remote: @/p1.vm}\n"
		   "      - {name: p2, local: @/p2.sw, remote: @/p2.vm, lag: 1}\n"
		   "      - {name: p3, local: @/p3.sw, remote: @/p3.vm, lag: 1}\n");
	step_switch(&s);
	assert_int_equal(send_frame(&s, 0, 99, 2, 5), 0);
	for (unsigned int k = 0; k < 10; k++)
		step_switch(&s);
	for (unsigned int k = 0; k < 3; k++)
		read_host(&s, k, 0);
	assert_int_equal(s.host[1].received + s.host[2].received, 1);
	/* What one member sends never comes back by the other. */
	assert_int_equal(send_frame(&s, 1, 99, 2, 5), 0);
	for (unsigned int k = 0; k < 10; k++)
		step_switch(&s);
	for (unsigned int k = 0; k < 3; k++)
		read_host(&s, k, 0);
	assert_int_equal(s.host[0].received, 1);
	assert_int_equal(s.host[1].received + s.host[2].received, 1);
	for (unsigned int i = 0; i < 64; i++) {
		assert_int_equal(send_frame(&s, 0, 1, 2, 49152 + i), 0);
		for (unsigned int k = 0; k < 3; k++)
			step_switch(&s);
		read_host(&s, 1, 0);
		read_host(&s, 2, 0);
	}
	tx[0] = stats_of(&s, 1)->tx_frames;
	tx[1] = stats_of(&s, 2)->tx_frames;
	assert_int_equal(tx[0] + tx[1], 65);
	assert_true(tx[0] > 16 && tx[1] > 16);
	close_scene(&s);
}

/* A shut uplink's flows go by the other, a shut port passes nothing either way; both come back. */
static void test_shut(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 4, leaves);
	introduce(&s);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"spine1.port.l1.shut\",\"value\":\"on\"}");
	for (unsigned int round = 0; round < 2; round++) {
		uint64_t first = stats_of(&s, 2)->tx_frames;

		s.host[2].received = 0;
		for (unsigned int i = 0; i < 100; i++) {
			assert_int_equal(send_frame(&s, 0, 2, 2, 49152 + i * 7), 0);
			for (unsigned int k = 0; k < 5; k++)
				step_switch(&s);
			read_host(&s, 2, 0);
		}
		assert_int_equal(s.host[2].received, 100);
		assert_int_equal(stats_of(&s, 2)->tx_frames > first, round);
		tell_switch(&s,
			    "{\"op\":\"set\",\"path\":\"spine1.port.l1.shut\",\"value\":\"off\"}");
	}
	assert_int_equal(drops(&s), 0);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"leaf1.port.p1.shut\",\"value\":\"on\"}");
	s.host[0].received = s.host[2].received = 0;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(send_frame(&s, 0, 2, 2, 5), 0);
		assert_int_equal(send_frame(&s, 2, 0, 2, 5), 0);
		for (unsigned int k = 0; k < 20; k++)
			step_switch(&s);
		read_host(&s, 0, 0);
		read_host(&s, 2, 0);
		assert_int_equal(s.host[0].received, i);
		assert_int_equal(s.host[2].received, i);
		tell_switch(&s,
			    "{\"op\":\"set\",\"path\":\"leaf1.port.p1.shut\",\"value\":\"off\"}");
		for (unsigned int k = 0; k < 500 && !s.lab->port[0].linked; k++) {
			usleep(1000);
			step_switch(&s);
		}
	}
	close_scene(&s);
}

static unsigned int count_blocks(FILE *in, uint32_t type)
{
	unsigned int count = 0;
	uint32_t head[2];

	rewind(in);
	while (fread(head, sizeof(head), 1, in) == 1) {
		count += head[0] == type;
		assert_int_equal(head[1] % 4, 0);
		assert_int_equal(fseek(in, head[1] - sizeof(head), SEEK_CUR), 0);
	}
	return count;
}

/* The file of the mirror: an interface a port, both directions, and counts that say all is there.
 */
static void test_mirror(void **state)
{
	char path[PATH_SIZE];
	uint64_t dropped = 1;
	struct scene s;
	FILE *in;

	(void)state;
	open_scene(&s, 3,
		   "mirror: {file: @/m.pcapng}\n" INCAST(
			   "      mirror: on\n      lldp: {send: off}\n"));
	introduce(&s);
	snprintf(path, sizeof(path), "%s/m.pcapng", s.dir);
	mirror_close(s.lab->mirror);
	s.lab->mirror = NULL;
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(pcapng_drops(fileno(in), &dropped), DROPS_ZERO);
	assert_int_equal(dropped, 0);
	assert_int_equal(count_blocks(in, 1), 3);
	assert_int_equal(count_blocks(in, 5), 3);
	/* Three frames in; the first two are flooded to two ports, the third goes to one. */
	assert_int_equal(count_blocks(in, 6), 3 + 5);
	fclose(in);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lldp),	       cmocka_unit_test(test_control),
		cmocka_unit_test(test_control_socket), cmocka_unit_test(test_leaves_and_spines),
		cmocka_unit_test(test_ecmp_loss),      cmocka_unit_test(test_bond),
		cmocka_unit_test(test_shut),	       cmocka_unit_test(test_mirror),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
