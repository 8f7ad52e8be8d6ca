/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole switch (tests/lab/switch/) with real datagram sockets: two hosts that send to a third
 * at more than its rate, with PFC, without, and with ECN; pauses obeyed; a guest that does not
 * read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lab/switch/test/switch_scene.h"

/* Hosts 1 and 2 to host 3, as fast as they may, `count` frames each. */
static void overload(struct scene *s, unsigned int count, const uint8_t ecn[2])
{
	unsigned int done[2] = {0};

	s->host[2].received = 0;
	for (unsigned int idle = 0; idle < 400; idle++) {
		unsigned int before = s->host[2].received;

		for (unsigned int i = 0; i < 2; i++)
			while (done[i] < count && !(s->host[i].paused >> 3 & 1) &&
			       !send_frame(s, i, 2, ecn[i], 49152 + i))
				done[i]++;
		step_switch(s);
		for (unsigned int i = 0; i < s->host_count; i++)
			read_host(s, i, 1);
		if (s->host[2].received > before || done[0] < count || done[1] < count)
			idle = 0;
	}
	assert_int_equal(done[0], count);
	assert_int_equal(done[1], count);
}

static const uint8_t all_ect[2] = {2, 2}, second_ect[2] = {0, 2};

static void test_pfc_on(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	overload(&s, 1500, all_ect);
	assert_int_equal(drops(&s), 0);
	assert_int_equal(s.host[2].received, 3000);
	assert_int_equal(s.host[2].ce, 0);
	for (unsigned int i = 0; i < 2; i++) {
		const struct prio_stats *p = stats_of(&s, i);

		assert_true(p->pfc_xoff_sent > 3);
		assert_true(p->pfc_xon_sent > 3);
		/* What the host heard is what the switch says it sent. */
		assert_int_equal(p->pfc_xoff_sent + p->pfc_xon_sent, s.host[i].pfc_frames);
		assert_int_equal(p->rx_frames, s.host[i].sent);
		assert_int_equal(ingress_bytes(&s.lab->port[i].in[3]), 0);
		assert_true(s.lab->port[i].in[3].max_bytes > 40000);
	}
	assert_int_equal(s.lab->box[0].pool.shared_bytes + s.lab->box[0].pool.headroom_bytes, 0);
	close_scene(&s);
}

static void test_pfc_off(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: []\n"));
	introduce(&s);
	overload(&s, 1500, all_ect);
	assert_true(drops(&s) > 100);
	assert_int_equal(drops(&s), stats_of(&s, 0)->drops[DROP_DYNAMIC] +
					    stats_of(&s, 1)->drops[DROP_DYNAMIC]);
	assert_int_equal(s.host[2].received + drops(&s), 3000);
	assert_int_equal(s.host[0].pfc_frames, 0);
	close_scene(&s);
}

/* Senders that ignore XOFF lose what the headroom does not hold. */
static void test_headroom(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	for (unsigned int i = 0; i < 500; i++) {
		(void)send_frame(&s, 0, 2, 2, 1); /* what does not fit now comes later */
		step_switch(&s);
	}
	for (unsigned int i = 0; i < 400; i++) {
		while (!send_frame(&s, 0, 2, 2, 1))
			;
		step_switch(&s);
		assert_true(s.lab->port[0].in[3].headroom_bytes <= 60000);
		assert_true(s.lab->port[0].in[3].shared_bytes <= 40000);
	}
	assert_true(stats_of(&s, 0)->drops[DROP_HEADROOM] > 0);
	close_scene(&s);
}

static void test_ecn(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: []\n"
			  "      tc: {0: {ecn: {on: on, kmin: 10kB, kmax: 60kB, pmax: 20}}}\n"));
	introduce(&s);
	overload(&s, 1500, second_ect);
	assert_true(s.host[2].ce > 20);
	assert_int_equal(s.host[2].ce_not_ect, 0);
	assert_true(stats_of(&s, 2)->ecn_marked >= s.host[2].ce);
	assert_true(stats_of(&s, 0)->drops[DROP_RED] > 20);
	assert_int_equal(stats_of(&s, 1)->drops[DROP_RED], 0);
	close_scene(&s);
}

/* The receiver pauses priority 3: nothing leaves for it until it says so, or time runs out. */
static void test_pause_obeyed(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 3};
	uint16_t quanta[QOS_PRIOS] = {[3] = 0xffff};
	uint8_t pfc[60];
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	slow_down_port3(&s);
	pfc_frame_make(mac, 8, quanta, pfc);
	assert_int_equal(sendto(s.host[2].fd, pfc, 60, 0, (struct sockaddr *)&s.host[2].to,
				sizeof(s.host[2].to)),
			 60);
	step_switch(&s);
	s.host[2].received = 0;
	assert_int_equal(send_frame(&s, 0, 2, 2, 1), 0);
	for (unsigned int i = 0; i < 50; i++)
		step_switch(&s);
	read_host(&s, 2, 0);
	assert_int_equal(s.host[2].received, 0);
	assert_int_equal(s.lab->port[2].sched.queue[3].frames, 1);
	quanta[3] = 0;
	pfc_frame_make(mac, 8, quanta, pfc);
	assert_int_equal(sendto(s.host[2].fd, pfc, 60, 0, (struct sockaddr *)&s.host[2].to,
				sizeof(s.host[2].to)),
			 60);
	for (unsigned int i = 0; i < 20; i++)
		step_switch(&s);
	read_host(&s, 2, 0);
	assert_int_equal(s.host[2].received, 1);
	assert_int_equal(stats_of(&s, 2)->pfc_received, 2);
	assert_true(stats_of(&s, 2)->paused_ns > 1000000);
	close_scene(&s);
}

/* A guest that does not read holds frames back; none is lost, all come in order. */
static void test_backpressure(void **state)
{
	unsigned int count = 0, after = 0;
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	s.host[1].received = 0;
	/* How many datagrams a socket holds is the system's choice (net.unix.max_dgram_qlen). */
	for (; count < 5000 && after<20; count++, after += s.lab->port[1].backpressure> 0) {
		assert_int_equal(send_frame(&s, 0, 1, 2, 1), 0);
		for (unsigned int k = 0; k < 3; k++)
			step_switch(&s);
	}
	assert_true(s.lab->port[1].backpressure > 0);
	assert_true(s.lab->port[1].blocked);
	for (unsigned int i = 0; i < 5000 && s.host[1].received < count; i++) {
		read_host(&s, 1, 0);
		step_switch(&s);
	}
	assert_int_equal(s.host[1].received, count);
	assert_int_equal(s.host[1].reordered, 0);
	assert_int_equal(drops(&s), 0);
	close_scene(&s);
}

/* Hosts 1 and 2 send all they can to host 3 for a while, in classes of their own. */
static double flood_for(struct scene *s, uint64_t ns)
{
	uint64_t begin_ns = s->lab->now_ns;

	memset(s->host[2].from, 0, sizeof(s->host[2].from));
	while (s->lab->now_ns < begin_ns + ns) {
		for (unsigned int i = 0; i < 2; i++)
			while (!send_frame(s, i, 2, 0, 49152))
				;
		step_switch(s);
		for (unsigned int i = 0; i < s->host_count; i++)
			read_host(s, i, 0);
	}
	return (s->lab->now_ns - begin_ns) / 1e9;
}

static void test_classes_share(void **state)
{
	struct scene s;
	double seconds, share;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: []\n"
			  "      prio: {3: {tc: 1}}\n"
			  "      tc: {0: {dwrr: 30}, 1: {dwrr: 70}}\n"));
	s.host[1].dscp = 0;
	introduce(&s);
	seconds = flood_for(&s, NS_PER_S / 2);
	share = 100.0 * s.host[2].from[0] / (s.host[2].from[0] + s.host[2].from[1]);
	assert_true(share > 65 && share < 75);
	/* 20 MB/s are never exceeded; a busy machine may stay below. */
	assert_true((s.host[2].from[0] + s.host[2].from[1]) * FRAME_LEN / seconds < 21e6);
	close_scene(&s);
}

static void test_class_maxrate(void **state)
{
	struct scene s;
	double seconds;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: []\n"
			  "      prio: {3: {tc: 1}}\n"
			  "      tc: {1: {maxrate: 16M}}\n"));
	s.host[1].dscp = 0;
	introduce(&s);
	seconds = flood_for(&s, NS_PER_S / 2);
	assert_true(s.host[2].from[0] > 0);
	assert_true(s.host[2].from[0] * FRAME_LEN / seconds < 2.1e6);
	assert_true(s.host[2].from[1] > 2 * s.host[2].from[0]); /* takes what is left */
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pfc_on),	      cmocka_unit_test(test_pfc_off),
		cmocka_unit_test(test_headroom),      cmocka_unit_test(test_ecn),
		cmocka_unit_test(test_pause_obeyed),  cmocka_unit_test(test_backpressure),
		cmocka_unit_test(test_classes_share), cmocka_unit_test(test_class_maxrate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
