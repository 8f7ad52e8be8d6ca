/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole switch (tests/lab/switch/): occupancy exact to the frame, marking by the curve, pauses
 * of a whole link, PFC by negotiation, tags, addresses that grow old.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lab/switch/test/switch_scene.h"

static const uint8_t mac3[6] = {2, 0, 0, 0, 0, 3};

/* Host 3 stops priority 3 of its port, or lets it go. */
static void pause_port3(struct scene *s, bool stop)
{
	const uint16_t quanta[QOS_PRIOS] = {[3] = stop ? 0xffff : 0};
	uint8_t pfc[PFC_FRAME_LEN];

	pfc_frame_make(mac3, 8, quanta, pfc);
	send_bytes(s, 2, pfc, sizeof(pfc));
	step_switch(s);
}

static uint64_t number_at(const json_t *o, const char *key)
{
	assert_true(json_is_integer(json_object_get(o, key)));
	return json_integer_value(json_object_get(o, key));
}

/* What statistics say is held: by the pool, the queue of port 3 and the ingress of 1 and 2. */
static void expect_held(struct scene *s, const uint64_t bytes[2], uint64_t frames)
{
	json_t *stats = ask(s, "{\"op\":\"stats\"}", true), *box, *ports, *prio;

	box = json_object_get(json_object_get(stats, "switches"), "s1");
	assert_true(json_is_true(json_object_get(box, "exact")));
	assert_int_equal(number_at(box, "shared_bytes") + number_at(box, "headroom_bytes"),
			 bytes[0] + bytes[1]);
	ports = json_object_get(box, "ports");
	prio = json_object_get(json_object_get(json_object_get(ports, "p3"), "prio"), "3");
	assert_int_equal(number_at(prio, "queue_bytes"), bytes[0] + bytes[1]);
	assert_int_equal(number_at(prio, "queue_frames"), frames);
	for (unsigned int i = 0; i < 2; i++) {
		prio = json_object_get(
			json_object_get(json_object_get(ports, i ? "p2" : "p1"), "prio"), "3");
		assert_int_equal(number_at(prio, "ingress_bytes"), bytes[i]);
	}
	json_decref(stats);
}

/* Frames of many lengths, from two hosts, at a port that is stopped. */
static void test_occupancy(void **state)
{
	uint8_t f[FRAME_LEN] = {0x02, 0, 0, 0, 0, 3, 0x02, 0, 0, 0, 0, 1, 8, 0, 0x45, 26 << 2};
	uint64_t bytes[2] = {0};
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	slow_down_port3(&s);
	pause_port3(&s, true);
	for (unsigned int i = 0; i < 90; i++) {
		size_t len = 60 + (i * 37) % (FRAME_LEN - 60);

		f[11] = i % 2 + 1;
		send_bytes(&s, i % 2, f, len);
		step_switch(&s);
		bytes[i % 2] += len;
		expect_held(&s, bytes, i + 1);
	}
	assert_int_equal(drops(&s), 0);
	pause_port3(&s, false);
	for (unsigned int i = 0; i < 30000 && s.lab->port[2].sched.queue[3].frames; i++) {
		uint8_t buf[FRAME_MAX];

		step_switch(&s);
		while (recv(s.host[2].fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
	for (unsigned int i = 0; i < 20; i++)
		step_switch(&s);
	expect_held(&s, (const uint64_t[2]){0}, 0);
	close_scene(&s);
}

/* What is marked while a stopped queue grows frame by frame, against the sum of the probabilities
 * of the curve: within four standard deviations. */
static void test_red_marks(void **state)
{
	double want = 0, variance = 0, marked;
	struct scene s;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: []\n"
			  "      tc: {0: {ecn: {on: on, kmin: 20kB, kmax: 120kB, pmax: 60}}}\n"));
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"s1.buffer\",\"value\":\"4MB\"}");
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p3.pfc\",\"value\":[3]}");
	introduce(&s);
	slow_down_port3(&s);
	for (unsigned int round = 0; round < 8; round++) {
		pause_port3(&s, true);
		/* The last ones are above kmax: each of them is marked. */
		for (unsigned int i = 0; i < 140; i++) {
			uint64_t queued = s.lab->port[2].sched.queue[3].bytes;
			double p = queued > 120000  ? 1
				   : queued > 20000 ? 0.6 * (queued - 20000) / 100000
						    : 0;

			assert_int_equal(queued, i * FRAME_LEN);
			want += p;
			variance += p * (1 - p);
			assert_int_equal(send_frame(&s, 0, 2, 2, 1), 0);
			while (s.lab->port[2].sched.queue[3].frames == i)
				step_switch(&s);
		}
		pause_port3(&s, false);
		while (s.lab->port[2].sched.queue[3].frames) {
			step_switch(&s);
			read_host(&s, 2, 0);
		}
	}
	for (unsigned int i = 0; i < 10; i++, read_host(&s, 2, 0))
		step_switch(&s);
	marked = stats_of(&s, 2)->ecn_marked;
	if ((marked - want) * (marked - want) > 16 * variance)
		fail_msg("%.0f marked, %.1f expected, variance %.1f", marked, want, variance);
	assert_int_equal(s.host[2].ce, (int)marked);
	close_scene(&s);
}

/* 802.3x sent: two hosts into one, every priority lossless, the link stopped as a whole. */
static void test_link_pause_sent(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pause: {tx: on}\n"));
	introduce(&s);
	for (unsigned int k = 0; k < 600; k++) {
		for (unsigned int i = 0; i < 2; i++)
			while (!s.host[i].paused && !send_frame(&s, i, 2, 2, 1))
				;
		step_switch(&s);
		for (unsigned int i = 0; i < 3; i++)
			read_host(&s, i, 0);
	}
	assert_int_equal(drops(&s), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(s.host[i].link_pauses > 0);
		assert_int_equal(s.host[i].link_pauses, s.lab->port[i].pause_sent);
		assert_int_equal(s.host[i].pfc_frames, 0);
	}
	close_scene(&s);
}

static void test_link_pause_obeyed(void **state)
{
	uint8_t pause[PFC_FRAME_LEN];
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: []\n"));
	introduce(&s);
	slow_down_port3(&s);
	pause_frame_make(mac3, 0xffff, pause);
	for (unsigned int obeyed = 0; obeyed < 2; obeyed++) {
		send_bytes(&s, 2, pause, sizeof(pause));
		for (unsigned int i = 0; i < 5; i++)
			step_switch(&s);
		s.host[2].received = 0;
		assert_int_equal(send_frame(&s, 0, 2, 2, 1), 0);
		for (unsigned int i = 0; i < 20; i++)
			step_switch(&s);
		read_host(&s, 2, 0);
		assert_int_equal(s.host[2].received, !obeyed);
		assert_int_equal(s.lab->port[2].pause_ignored, 1);
		tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p3.pause.rx\",\"value\":true}");
	}
	assert_int_equal(s.lab->port[2].pause_received, 2);
	pause_frame_make(mac3, 0, pause);
	send_bytes(&s, 2, pause, sizeof(pause));
	for (unsigned int i = 0; i < 20; i++)
		step_switch(&s);
	read_host(&s, 2, 0);
	assert_int_equal(s.host[2].received, 1);
	close_scene(&s);
}

/* Priority 3 on, 4 auto, by every dialect and willingness. */
static void test_negotiation(void **state)
{
	static const struct {
		unsigned int dialect;
		bool ieee, cee, willing, peer_willing, lower;
		uint8_t peer, want;
	} cases[] = {
		{DIALECT_IEEE, false, false, false, false, false, 0x10, 0x08},
		{DIALECT_IEEE, true, false, false, false, false, 0x10, 0x18},
		{DIALECT_IEEE, true, false, false, false, false, 0x00, 0x08},
		{DIALECT_IEEE, true, false, false, true, false, 0x00, 0x18}, /* it takes ours */
		{DIALECT_IEEE, true, false, true, false, true, 0x00, 0x08},  /* we take its */
		{DIALECT_IEEE, true, false, true, false, true, 0x10, 0x18},
		{DIALECT_IEEE, true, false, true, true, true, 0x00, 0x18}, /* the lower one keeps */
		{DIALECT_IEEE, true, false, true, true, false, 0x00, 0x08},
		{DIALECT_IEEE, false, true, false, false, false, 0x10, 0x08}, /* not understood */
		{DIALECT_CEE, false, true, false, false, false, 0x10, 0x18},
		{DIALECT_CEE, true, false, false, false, false, 0x10, 0x08},
		{DIALECT_BOTH, false, true, false, true, false, 0x00, 0x18},
		{DIALECT_BOTH, false, true, false, false, false, 0x00, 0x08},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct port p;

		memset(&p, 0, sizeof(p));
		p.config.prio[3].pfc = PFC_ON;
		p.config.prio[4].pfc = PFC_AUTO;
		port_configure(&p);
		p.config.lldp.dialect = cases[i].dialect;
		p.config.lldp.willing = cases[i].willing;
		p.mac[5] = 5;
		p.neighbour_mac[5] = cases[i].lower ? 6 : 4;
		if (cases[i].ieee)
			p.neighbour.qos = (struct qos){
				.has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_PFC_WILLING),
				.pfc_enabled = cases[i].peer,
				.pfc_willing = cases[i].peer_willing,
			};
		if (cases[i].cee)
			p.cee = (struct cee_peer){1, true, cases[i].peer_willing, cases[i].peer};
		if (pfc_enabled(&p) != cases[i].want)
			fail_msg("case %zu: %#x", i, pfc_enabled(&p));
	}
}

/* The switch's own CEE frame, come back from a peer: it is understood as it was meant. */
static void test_cee_heard(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: {3: on, 4: auto}\n      lldp: {dialect: cee}\n"));
	step_switch(&s);
	read_host(&s, 0, 0);
	assert_int_equal(s.host[0].lldp_frames, 1);
	assert_int_equal(pfc_enabled(&s.lab->port[1]), 0x08);
	send_bytes(&s, 1, s.host[0].lldp, s.host[0].lldp_len);
	for (unsigned int i = 0; i < 10; i++)
		step_switch(&s);
	assert_int_equal(s.lab->port[1].cee.pfc_prios, 0x18);
	assert_false(s.lab->port[1].cee.pfc_willing);
	assert_int_equal(s.lab->port[1].cee.seq, 1);
	assert_int_equal(pfc_enabled(&s.lab->port[1]), 0x18);
	close_scene(&s);
}

/* A frame at host 2 as it left the switch. */
static uint32_t take_raw(struct scene *s, uint8_t buf[FRAME_MAX])
{
	ssize_t len = -1;

	for (unsigned int i = 0; i < 1000 && len < 0; i++) {
		step_switch(s);
		len = recv(s->host[1].fd, buf, FRAME_MAX, MSG_DONTWAIT);
	}
	assert_true(len > 0);
	return len;
}

static void test_tags(void **state)
{
	static const uint8_t priority_tag[] = {0x81, 0, 0xa0, 0}, vlan_tag[] = {0x81, 0, 0xa0, 7};
	uint8_t plain[FRAME_MAX], buf[FRAME_MAX];
	uint32_t len;
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      lldp: {send: off}\n"));
	introduce(&s);
	assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
	assert_int_equal(take_raw(&s, plain), FRAME_LEN);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p2.tag\",\"value\":\"add\"}");
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p2.prio.3.pcp\",\"value\":5}");
	send_bytes(&s, 0, plain, FRAME_LEN);
	len = take_raw(&s, buf);
	assert_int_equal(len, FRAME_LEN + 4);
	assert_memory_equal(buf + 12, priority_tag, 4);
	assert_memory_equal(buf, plain, 12);
	assert_memory_equal(buf + 16, plain + 12, FRAME_LEN - 12);
	/* Into a port that trusts the PCP, and out of one that strips VLAN 0 and nothing else. */
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p1.trust\",\"value\":\"pcp\"}");
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"port.p2.tag\",\"value\":\"strip\"}");
	send_bytes(&s, 0, buf, len);
	assert_int_equal(take_raw(&s, buf), FRAME_LEN);
	assert_memory_equal(buf, plain, FRAME_LEN);
	assert_int_equal(s.lab->port[0].stats[5].rx_frames, 1);
	memmove(buf + 16, buf + 12, FRAME_LEN - 12);
	memcpy(buf + 12, vlan_tag, 4);
	send_bytes(&s, 0, buf, len);
	assert_int_equal(take_raw(&s, buf), len);
	assert_memory_equal(buf + 12, vlan_tag, 4);
	close_scene(&s);
}

static void test_ageing(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST(""));
	introduce(&s);
	tell_switch(&s, "{\"op\":\"set\",\"path\":\"s1.age\",\"value\":\"1s\"}");
	for (unsigned int old = 0; old < 2; old++) {
		s.host[2].received = 0;
		assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
		for (unsigned int i = 0; i < 10; i++)
			step_switch(&s);
		read_host(&s, 2, 0);
		assert_int_equal(s.host[2].received, old); /* flooded when forgotten */
		for (unsigned int i = 0; i < FDB_BUCKETS; i++)
			for (unsigned int k = 0; k < FDB_WAYS; k++)
				s.lab->box[0].fdb[i][k].seen_ns = 1;
	}
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_occupancy),
		cmocka_unit_test(test_red_marks),
		cmocka_unit_test(test_link_pause_sent),
		cmocka_unit_test(test_link_pause_obeyed),
		cmocka_unit_test(test_negotiation),
		cmocka_unit_test(test_cee_heard),
		cmocka_unit_test(test_tags),
		cmocka_unit_test(test_ageing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
