/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every fault of the emulated switch (tests/lab/switch/) before it starts, while it lasts and after
 * it healed: what it does, that nothing else happens, and that its statistics say how often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/lab/switch/test/switch_fault.h"

#define FRAMES 100

/* 100 frames from host 1 to host 2, until all that comes has come. */
static void send_hundred(struct scene *s)
{
	struct host *h = &s->host[1];
	unsigned int idle = 0;

	h->received = h->ce = h->reordered = h->not_ect = h->other_dscp = h->corrupt = 0;
	h->late_by = 0;
	for (unsigned int k = 0; idle < 60; k++, idle++) {
		unsigned int before = h->received;

		if (k < FRAMES)
			assert_int_equal(send_frame(s, 0, 1, 2, 7), 0);
		step_switch(s);
		read_host(s, 1, 0);
		if (k < FRAMES || h->received > before || s->lab->late_count ||
		    s->lab->held[0].frame)
			idle = 0;
	}
}

static void expect_healthy(struct scene *s, const char *fault)
{
	const struct host *h = &s->host[1];

	send_hundred(s);
	if (h->received != FRAMES || h->ce || h->reordered || h->not_ect || h->other_dscp ||
	    h->corrupt)
		fail_msg("%s: %u received while it should not act", fault, h->received);
}

struct frame_case {
	const char *fault;
	unsigned int received, hits;
	unsigned int ce, not_ect, other_dscp, corrupt;
	uint32_t late_by;
	uint8_t opcode;
};

static void check_frame_case(struct scene *s, const struct frame_case *c)
{
	const struct host *h = &s->host[1];

	s->host[0].opcode = c->opcode ? c->opcode : 0x0a;
	add_fault(s, c->fault);
	go_to(s, BEFORE_S);
	assert_int_equal(stat_of(s, "active"), 0);
	expect_healthy(s, c->fault);
	assert_int_equal(stat_of(s, "hits"), 0);
	go_to(s, DURING_S);
	assert_int_equal(stat_of(s, "active"), 1);
	send_hundred(s);
	if (h->received != c->received || h->ce != c->ce || h->not_ect != c->not_ect ||
	    h->other_dscp != c->other_dscp || h->corrupt != c->corrupt)
		fail_msg("%s: %u received, %u CE, %u not ECT, %u DSCP, %u corrupt", c->fault,
			 h->received, h->ce, h->not_ect, h->other_dscp, h->corrupt);
	if (h->late_by != c->late_by && (c->late_by || h->late_by))
		fail_msg("%s: late by %u", c->fault, h->late_by);
	if (stat_of(s, "hits") != c->hits)
		fail_msg("%s: %lu hits", c->fault, stat_of(s, "hits"));
	go_to(s, AFTER_S);
	assert_int_equal(stat_of(s, "active"), 0);
	expect_healthy(s, c->fault);
	assert_int_equal(stat_of(s, "hits"), c->hits);
	assert_int_equal(drops(s),
			 stats_of(s, 0)->drops[DROP_FAULT] + stats_of(s, 1)->drops[DROP_FAULT]);
	tell_switch(s, "{\"op\":\"fault\",\"clear\":\"x\"}");
}

static void test_frame_faults(void **state)
{
	static const struct frame_case cases[] = {
		{"\"kind\":\"drop\",\"every\":10,\"direction\":\"in\"", 90, .hits = 10},
		{"\"kind\":\"drop\",\"every\":10,\"times\":3,\"direction\":\"in\"", 97, .hits = 3},
		{"\"kind\":\"drop\",\"times\":1,\"direction\":\"in\"", 99, .hits = 1},
		{"\"kind\":\"drop\",\"port\":\"p2\",\"direction\":\"out\"", 0, .hits = 100},
		{"\"kind\":\"drop\",\"port\":\"p3\"", 100, .hits = 0},
		{"\"kind\":\"drop\",\"prio\":[3],\"port\":\"s1/p1\"", 0, .hits = 100},
		{"\"kind\":\"drop\",\"prio\":[4]", 100, .hits = 0},
		{"\"kind\":\"drop\",\"opcode\":17", 100, .hits = 0},
		{"\"kind\":\"drop\",\"opcode\":10,\"every\":50,\"direction\":\"in\"", 98,
		 .hits = 2},
		{"\"kind\":\"drop\",\"sport\":7,\"every\":4,\"direction\":\"in\"", 75, .hits = 25},
		{"\"kind\":\"drop\",\"sport\":8", 100, .hits = 0},
		{"\"kind\":\"drop_cnp\"", 100, .hits = 0},
		{"\"kind\":\"drop_cnp\"", 0, .hits = 100, .opcode = 0x81},
		{"\"kind\":\"drop_ack\"", 100, .hits = 0},
		{"\"kind\":\"drop_ack\",\"every\":2,\"direction\":\"in\"", 50, .hits = 50,
		 .opcode = 0x11},
		{"\"kind\":\"drop_ack\"", 0, .hits = 100, .opcode = 0x12},
		{"\"kind\":\"mark_ce\"", 100, .hits = 100, .ce = 100},
		{"\"kind\":\"clear_ecn\",\"every\":5,\"direction\":\"in\"", 100, .hits = 20,
		 .not_ect = 20},
		{"\"kind\":\"dscp\",\"value\":0,\"direction\":\"out\"", 100, .hits = 100,
		 .other_dscp = 100},
		{"\"kind\":\"dscp\",\"value\":26", 100, .hits = 0}, /* it has this one */
		{"\"kind\":\"corrupt\",\"every\":4,\"direction\":\"in\"", 100, .hits = 25,
		 .corrupt = 25},
		{"\"kind\":\"duplicate\",\"every\":2,\"direction\":\"in\"", 150, .hits = 50},
		{"\"kind\":\"delay\",\"delay\":\"5ms\",\"direction\":\"in\"", 100, .hits = 100},
		{"\"kind\":\"reorder\",\"every\":20,\"window\":3,\"direction\":\"in\"", 100,
		 .hits = 5, .late_by = 3},
		{"\"kind\":\"reorder\",\"every\":20,\"window\":12,\"direction\":\"out\"", 100,
		 .hits = 5, .late_by = 12},
		{"\"kind\":\"mtu\",\"value\":985", 0, .hits = 100},
		{"\"kind\":\"mtu\",\"value\":986", 100, .hits = 0}, /* as long as that */
		{"\"kind\":\"ecmp_loss\"", 100, .hits = 0}, /* no way has another beside it */
	};
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_frame_case(&s, &cases[i]);
	close_scene(&s);
}

/* Without a window the time decides how many overtake; frames that nothing overtakes come in time.
 */
static void test_reorder_by_time(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, "\"kind\":\"reorder\",\"every\":10,\"delay\":\"3ms\",\"direction\":\"out\"");
	go_to(&s, DURING_S);
	send_hundred(&s);
	assert_int_equal(s.host[1].received, FRAMES);
	assert_true(s.host[1].reordered > 0);
	assert_int_equal(stat_of(&s, "hits"), 10);
	/* The last frame of a window waits no longer than the delay. */
	tell_switch(&s,
		    "{\"op\":\"fault\",\"change\":{\"name\":\"x\",\"every\":100,\"window\":9}}");
	send_hundred(&s);
	assert_int_equal(s.host[1].received, FRAMES);
	close_scene(&s);
}

/* A fault that ends lets go of what it holds, whether its time is over or it is cleared. */
static void test_held_is_not_lost(void **state)
{
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, "\"kind\":\"reorder\",\"window\":9,\"delay\":\"1h\",\"direction\":\"in\"");
	for (unsigned int cleared = 0; cleared < 2; cleared++) {
		go_to(&s, DURING_S);
		s.host[1].received = 0;
		assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
		for (unsigned int i = 0; i < 20; i++)
			step_switch(&s);
		read_host(&s, 1, 0);
		assert_int_equal(s.host[1].received, 0);
		assert_non_null(s.lab->held[0].frame);
		if (cleared)
			tell_switch(&s, "{\"op\":\"fault\",\"clear\":\"x\"}");
		else
			go_to(&s, AFTER_S);
		for (unsigned int i = 0; i < 20; i++)
			step_switch(&s);
		read_host(&s, 1, 0);
		assert_int_equal(s.host[1].received, 1);
	}
	close_scene(&s);
}

static void test_delay(void **state)
{
	struct scene s;
	uint64_t begin_ns;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, "\"kind\":\"delay\",\"delay\":\"30ms\",\"direction\":\"in\"");
	go_to(&s, DURING_S);
	s.host[1].received = 0;
	assert_int_equal(send_frame(&s, 0, 1, 2, 7), 0);
	for (begin_ns = s.lab->now_ns; !s.host[1].received; read_host(&s, 1, 0))
		step_switch(&s);
	assert_true(s.lab->now_ns - begin_ns >= 30 * NS_PER_MS);
	close_scene(&s);
}

static uint64_t held(const struct scene *s)
{
	return s->lab->box[0].pool.shared_bytes + s->lab->box[0].pool.headroom_bytes;
}

/* Hosts 1 and 2 at host 3, more than it takes; they obey a pause late, by what their sockets hold.
 */
static void overload(struct scene *s)
{
	for (unsigned int i = 0; i < 3; i++)
		s->host[i].pfc_frames = 0;
	for (unsigned int k = 0; k < 400; k++) {
		for (unsigned int i = 0; i < 2; i++)
			while (!(s->host[i].paused >> 3 & 1) && !send_frame(s, i, 2, 2, 1))
				;
		step_switch(s);
		for (unsigned int i = 0; i < 3; i++)
			read_host(s, i, 0);
	}
	for (unsigned int k = 0; k < 20000 && held(s); k++) {
		step_switch(s);
		for (unsigned int i = 0; i < 3; i++)
			read_host(s, i, 0);
	}
	assert_int_equal(held(s), 0);
	for (unsigned int i = 0; i < 3; i++) /* the last XON */
		read_host(s, i, 0);
}

struct buffer_case {
	const char *fault;
	bool pauses;
	enum drop_reason reason;
};

static void check_buffer_case(const struct buffer_case *c)
{
	struct scene s;
	uint64_t lost;

	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, c->fault);
	go_to(&s, BEFORE_S);
	overload(&s);
	assert_int_equal(drops(&s), 0);
	assert_true(s.host[0].pfc_frames > 0);
	assert_int_equal(stat_of(&s, "hits"), 0);
	go_to(&s, DURING_S);
	overload(&s);
	lost = drops(&s);
	if (!lost || lost != stats_of(&s, 0)->drops[c->reason])
		fail_msg("%s: %lu drops", c->fault, lost);
	assert_int_equal(s.host[0].pfc_frames > 0, c->pauses);
	assert_true(s.host[1].pfc_frames > 0); /* it is about p1 alone */
	if (c->reason == DROP_HEADROOM)
		assert_int_equal(stat_of(&s, "hits"), lost);
	assert_true(stat_of(&s, "hits") > 0);
	go_to(&s, AFTER_S);
	overload(&s);
	assert_int_equal(drops(&s), lost);
	assert_true(s.host[0].pfc_frames > 0);
	close_scene(&s);
}

static void test_buffer_faults(void **state)
{
	static const struct buffer_case cases[] = {
		{"\"kind\":\"pfc_off\",\"port\":\"p1\",\"prio\":[3]", false, DROP_DYNAMIC},
		/* The hosts say nothing of DCBX, so "auto" is off. */
		{"\"kind\":\"pfc_auto\",\"port\":\"p1\"", false, DROP_DYNAMIC},
		{"\"kind\":\"headroom_zero\",\"port\":\"p1\",\"prio\":[3]", true, DROP_HEADROOM},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_buffer_case(&cases[i]);
}

/* A pause that a switch without PFC does not obey. */
static void test_pause_ignored(void **state)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 3};
	const uint16_t quanta[QOS_PRIOS] = {[3] = 0xffff};
	uint8_t pfc[60];
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, "\"kind\":\"pfc_off\",\"port\":\"p3\"");
	go_to(&s, DURING_S);
	pfc_frame_make(mac, 8, quanta, pfc);
	assert_int_equal(sendto(s.host[2].fd, pfc, 60, 0, (struct sockaddr *)&s.host[2].to,
				sizeof(s.host[2].to)),
			 60);
	for (unsigned int i = 0; i < 10; i++)
		step_switch(&s);
	assert_int_equal(stats_of(&s, 2)->pfc_received, 1);
	assert_int_equal(stats_of(&s, 2)->pfc_ignored, 1);
	assert_int_equal(s.lab->port[2].paused, 0);
	assert_int_equal(stat_of(&s, "hits"), 1);
	close_scene(&s);
}

/* The storm repeats before its pause runs out: port 3 has 160 Mbit/s, so 105 ms. */
static void test_storm(void **state)
{
	unsigned int heard;
	struct scene s;

	(void)state;
	open_scene(&s, 3, INCAST("      pfc: [3]\n"));
	introduce(&s);
	add_fault(&s, "\"kind\":\"pause_storm\",\"port\":\"p3\",\"prio\":[3]");
	go_to(&s, BEFORE_S);
	assert_int_equal(s.host[2].pfc_frames, 0);
	go_to(&s, DURING_S);
	for (uint64_t end = s.lab->now_ns + 400 * NS_PER_MS; s.lab->now_ns < end;) {
		step_switch(&s);
		read_host(&s, 2, 0);
	}
	heard = s.host[2].pfc_frames;
	assert_in_range(heard, 2, 5);
	assert_int_equal(s.host[2].paused, 8);
	assert_int_equal(stat_of(&s, "hits"), heard);
	assert_int_equal(stats_of(&s, 2)->pfc_xoff_sent, heard);
	assert_int_equal(s.host[0].pfc_frames, 0);
	go_to(&s, AFTER_S);
	for (uint64_t end = s.lab->now_ns + 200 * NS_PER_MS; s.lab->now_ns < end; step_switch(&s))
		read_host(&s, 2, 0);
	assert_int_equal(s.host[2].pfc_frames, heard);
	close_scene(&s);
}

/* Lets the switch tell its neighbours again, and takes what host 1 hears. */
static void hear(struct scene *s)
{
	struct host *h = &s->host[0];

	h->lldp_frames = 0;
	memset(&h->heard, 0, sizeof(h->heard));
	s->lab->port[0].lldp_next_ns = 0;
	for (unsigned int k = 0; k < 10; k++) {
		step_switch(s);
		read_host(s, 0, 0);
	}
}

struct lldp_case {
	const char *fault;
	unsigned int frames, neighbours;
	uint64_t missing; /* QOS_BIT()s of what is not stated */
	uint8_t pfc, share, app_prio;
};

static void check_lldp_case(struct scene *s, const struct lldp_case *c)
{
	static const enum qos_field_id stated[] = {QOS_PFC_ENABLED, QOS_TC_TX_BW, QOS_APP};
	static const struct lldp_case healthy = {"healthy", 1, 1, 0, 8, 70, 3};
	const struct lldp_case *phases[] = {&healthy, c, &healthy};
	static const unsigned int when[] = {BEFORE_S, DURING_S, AFTER_S};

	add_fault(s, c->fault);
	for (unsigned int i = 0; i < 3; i++) {
		const struct lldp_peer *h = &s->host[0].heard;

		go_to(s, when[i]);
		hear(s);
		assert_int_equal(s->host[0].lldp_frames, phases[i]->frames);
		assert_int_equal(h->neighbours, phases[i]->neighbours);
		for (unsigned int k = 0; h->seen && k < ARRAY_SIZE(stated); k++)
			if (qos_has(&h->qos, stated[k]) ==
			    !!(phases[i]->missing & QOS_BIT(stated[k])))
				fail_msg("%s: %s", c->fault, qos_fields[stated[k]].key);
		assert_int_equal(h->qos.pfc_enabled, phases[i]->pfc);
		assert_int_equal(h->qos.tc_tx_bw[1], phases[i]->share);
		assert_int_equal(h->qos.app[0].prio, phases[i]->app_prio);
	}
	/* Once when it began, unless the port is another one, and once when asked. */
	assert_int_equal(stat_of(s, "hits"), strstr(c->fault, "p2") ? 1 : 2);
	tell_switch(s, "{\"op\":\"fault\",\"clear\":\"x\"}");
}

static void test_lldp_faults(void **state)
{
#define P1 "\"port\":\"p1\",\"kind\":"
	static const struct lldp_case cases[] = {
		{P1 "\"lldp_second\"", 2, 2, 0, 8, 70, 3},
		{P1 "\"lldp_wrong\"", 1, 1, 0, 0x80, 70, 3},
		{P1 "\"lldp_wrong\",\"tlv\":[\"ets\"]", 1, 1, 0, 8, 0, 3},
		{P1 "\"lldp_wrong\",\"tlv\":[\"app\",\"pfc\"]", 1, 1, 0, 0x80, 70, 7},
		{P1 "\"lldp_absent\"", 0, 0, 0, 0, 0, 0},
		{P1 "\"lldp_absent\",\"tlv\":[\"pfc\"]", 1, 1, QOS_BIT(QOS_PFC_ENABLED), 0, 70, 3},
		{P1 "\"lldp_absent\",\"tlv\":[\"ets\",\"app\"]", 1, 1,
		 QOS_BIT(QOS_TC_TX_BW) | QOS_BIT(QOS_APP), 8, 0, 0},
		{"\"port\":\"p2\",\"kind\":\"lldp_wrong\"", 1, 1, 0, 8, 70, 3},
	};
	struct scene s;

	(void)state;
	open_scene(&s, 3,
		   INCAST("      pfc: [3]\n"
			  "      prio: {3: {tc: 1}}\n"
			  "      tc: {0: {dwrr: 30}, 1: {dwrr: 70}}\n"
			  "      lldp: {app: [{selector: udp, protocol: 4791, prio: 3}]}\n"));
	introduce(&s);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_lldp_case(&s, &cases[i]);
	close_scene(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_faults),  cmocka_unit_test(test_reorder_by_time),
		cmocka_unit_test(test_delay),	      cmocka_unit_test(test_buffer_faults),
		cmocka_unit_test(test_pause_ignored), cmocka_unit_test(test_storm),
		cmocka_unit_test(test_lldp_faults),   cmocka_unit_test(test_held_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
