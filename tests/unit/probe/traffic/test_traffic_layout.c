/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How classes are laid out on queue pairs, and what a peer's cell may not say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "probe/traffic/traffic_worker.h"

/* Slots that are looked at are as many as the window has, else one is enough. Of RC the window
 * holds as much again as what is under way, so that the next need not wait for the look, unless
 * there are many queue pairs. A list is a whole part of it and no more than 256 KiB; at a rate it
 * is one message, and what is under way fits into the class's flight, of UC and UD by queue pair.
 */
#define PACED(bytes) .rate_bytes_per_s = 4096000, .flight_bytes = bytes
static const struct {
	struct traffic_class class;
	uint32_t window, flight, slots, stride, unit;
} layouts[] = {
	{{.verb = TRAFFIC_WRITE, .message_bytes = 65536}, 32, 32, 1, 65536, 4},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 64}, 128, 128, 1, 64, 16},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 8 << 20}, 2, 2, 1, 8 << 20, 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 65536, .check = TRAFFIC_CHECK_EVERY},
	 64,
	 32,
	 64,
	 65536,
	 4},
	{{.verb = TRAFFIC_SEND, .message_bytes = 65536}, 64, 32, 1, 65536, 4},
	{{.verb = TRAFFIC_SEND, .message_bytes = 65536, .qps = 16}, 64, 32, 1, 65536, 4},
	{{.verb = TRAFFIC_SEND, .message_bytes = 65536, .qps = 17}, 32, 32, 1, 65536, 4},
	{{.verb = TRAFFIC_WRITE_IMM,
	  .transport = TRAFFIC_UC,
	  .message_bytes = 65536,
	  .check = TRAFFIC_CHECK_EVERY},
	 32,
	 32,
	 32,
	 65536,
	 4},
	{{.verb = TRAFFIC_SEND, .message_bytes = 65, .check = TRAFFIC_CHECK_SAMPLED},
	 512,
	 512,
	 512,
	 128,
	 16},
	{{.verb = TRAFFIC_READ, .message_bytes = 4096}, 32, 32, 1, 4096, 8},
	{{.verb = TRAFFIC_ATOMIC, .message_bytes = 4096, .check = TRAFFIC_CHECK_EVERY},
	 32,
	 32,
	 32,
	 64,
	 8},
	{{.verb = TRAFFIC_SEND, .transport = TRAFFIC_UD, .message_bytes = 1024},
	 512,
	 512,
	 512,
	 1024,
	 16},
	{{.verb = TRAFFIC_SEND, .message_bytes = 64, .probe = true}, 2, 2, 2, 64, 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 4096, .window = 8}, 8, 8, 1, 4096, 2},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 4096, .window = 1}, 1, 1, 1, 4096, 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 4096, .rate_bytes_per_s = 4096000},
	 128,
	 128,
	 1,
	 4096,
	 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 4096, PACED(262144)}, 128, 64, 1, 4096, 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 65536, PACED(262144)}, 8, 4, 1, 65536, 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 262144, PACED(262144)}, 2, 1, 1, 262144, 1},
	{{.verb = TRAFFIC_SEND, .message_bytes = 65536, .qps = 16, PACED(100000)},
	 2,
	 1,
	 1,
	 65536,
	 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 65536, .window = 32, PACED(262144)},
	 8,
	 4,
	 1,
	 65536,
	 1},
	{{.verb = TRAFFIC_WRITE, .message_bytes = 65536, .window = 2, PACED(262144)},
	 2,
	 2,
	 1,
	 65536,
	 1},
	{{.verb = TRAFFIC_SEND,
	  .transport = TRAFFIC_UD,
	  .message_bytes = 1024,
	  .qps = 2,
	  PACED(262144)},
	 128,
	 128,
	 128,
	 1024,
	 1},
	{{.verb = TRAFFIC_SEND,
	  .transport = TRAFFIC_UD,
	  .message_bytes = 1024,
	  .qps = 200,
	  PACED(8192)},
	 1,
	 1,
	 1,
	 1024,
	 1},
	{{.verb = TRAFFIC_READ, .message_bytes = 4096, PACED(32768)}, 16, 8, 1, 4096, 1},
	{{.verb = TRAFFIC_SEND, .message_bytes = 16384, .qps = 4, PACED(262144)},
	 8,
	 4,
	 1,
	 16384,
	 1},
	{{.verb = TRAFFIC_SEND, .message_bytes = 64, .probe = true, PACED(262144)}, 2, 2, 2, 64, 1},
};

static void test_layout(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		struct traffic_class c = layouts[i].class;

		c.qps = c.qps ? c.qps : 1;
		if (class_window(&c) != layouts[i].window ||
		    class_flight(&c) != layouts[i].flight || class_slots(&c) != layouts[i].slots ||
		    class_stride(&c) != layouts[i].stride || class_post_list(&c) != layouts[i].unit)
			fail_msg("case %zu: window %u, %u under way, %u slots of %u, lists of %u",
				 i, class_window(&c), class_flight(&c), class_slots(&c),
				 class_stride(&c), class_post_list(&c));
	}
}

/* Sampled: the first and each 16th after it. */
static void test_whole_messages(void **state)
{
	static const struct {
		enum traffic_check check;
		uint64_t n;
		bool whole;
	} cases[] = {
		{TRAFFIC_CHECK_EVERY, 0, true},
		{TRAFFIC_CHECK_EVERY, 17, true},
		{TRAFFIC_CHECK_SAMPLED, 0, true},
		{TRAFFIC_CHECK_SAMPLED, 1, false},
		{TRAFFIC_CHECK_SAMPLED, 15, false},
		{TRAFFIC_CHECK_SAMPLED, 16, true},
		{TRAFFIC_CHECK_SAMPLED, 4294967312, true},
		{TRAFFIC_CHECK_NONE, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct traffic_class c = {.check = cases[i].check};

		if (class_checks_whole(&c, cases[i].n) != cases[i].whole)
			fail_msg("case %zu", i);
	}
}

/* Whatever is asked for: nothing is 0, all are powers of two that divide the window. */
static void test_all_sizes(void **state)
{
	(void)state;
	for (unsigned int verb = 0; verb < TRAFFIC_VERBS; verb++) {
		for (uint32_t bytes = TRAFFIC_MESSAGE_MIN; bytes <= TRAFFIC_MESSAGE_MAX;
		     bytes += bytes / 4 + 1) {
			struct traffic_class c = {
				.verb = (enum traffic_verb)verb,
				.message_bytes = bytes,
				.qps = 1 + bytes % 7,
				.check = (enum traffic_check)(bytes % 3),
				.rate_bytes_per_s = bytes % 2 ? bytes * UINT64_C(100) : 0,
			};
			uint32_t window, unit;

			c.flight_bytes = c.rate_bytes_per_s ? TRAFFIC_FLIGHT_BYTES / c.qps : 0;
			window = class_window(&c);
			unit = class_post_list(&c);
			assert_true(window && unit && !(window & (window - 1)));
			assert_int_equal(window % unit, 0);
			assert_in_range(class_flight(&c), unit, window);
			assert_int_equal(class_flight(&c) % unit, 0);
			assert_int_equal(window % class_slots(&c), 0);
			assert_true(class_stride(&c) % 64 == 0 && class_stride(&c) >= 8);
		}
	}
}

static void test_halves(void **state)
{
	static const struct {
		enum traffic_direction direction;
		bool probe, client_requests, server_requests;
	} cases[] = {
		{TRAFFIC_FORWARD, false, true, false},
		{TRAFFIC_BACKWARD, false, false, true},
		{TRAFFIC_BOTH, false, true, true},
		{TRAFFIC_FORWARD, true, true, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct traffic_class c = {.direction = cases[i].direction, .probe = cases[i].probe};

		assert_int_equal(class_requests(&c, TRAFFIC_CLIENT), cases[i].client_requests);
		assert_int_equal(class_responds(&c, TRAFFIC_SERVER), cases[i].client_requests);
		assert_int_equal(class_requests(&c, TRAFFIC_SERVER), cases[i].server_requests);
		assert_int_equal(class_responds(&c, TRAFFIC_CLIENT), cases[i].server_requests);
	}
}

/* An end in the middle of a run: 100 posted, 90 complete, 80 granted. */
struct scene {
	struct traffic t;
	struct traffic_report report;
	struct worker worker;
	struct credit_slot out;
	struct traffic_class class;
	struct traffic_class_result result;
	struct qp_flow flow;
};

static struct scene *make_scene(enum traffic_verb verb, enum traffic_transport transport)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	pthread_mutex_init(&s->t.lock, NULL);
	s->t.report = &s->report;
	s->worker = (struct worker){.t = &s->t, .out = &s->out, .now_ns = 1000 * NS_PER_MS};
	s->class = (struct traffic_class){.verb = verb,
					  .transport = transport,
					  .check = TRAFFIC_CHECK_EVERY,
					  .message_bytes = 64,
					  .qps = 1};
	s->flow = (struct qp_flow){
		.worker = &s->worker,
		.class = &s->class,
		.result = &s->result,
		.window = 32,
		.slots = 32,
		.tx = {.on = true,
		       .posted = 100,
		       .completed = 90,
		       .credited = 80,
		       .needs_credit = true},
		.rx = {.on = true, .announced = 50, .arrived = 50, .credited = 50, .next = 50},
	};
	return s;
}

static void test_hostile_cells(void **state)
{
	static const struct {
		enum traffic_verb verb;
		enum traffic_transport transport;
		struct credit_slot in;
		bool bad;
	} cases[] = {
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = 80, .completed = 50}, false},
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = 100, .completed = 50}, false},
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = 101, .completed = 50}, true},
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = 79, .completed = 50}, true},
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = UINT64_MAX, .completed = 50}, true},
		{TRAFFIC_SEND, TRAFFIC_RC, {.credited = 80, .completed = 49}, true},
		{TRAFFIC_WRITE, TRAFFIC_RC, {.credited = 80, .completed = 83}, true},
		{TRAFFIC_WRITE, TRAFFIC_RC, {.credited = 80, .completed = UINT64_MAX}, true},
		{TRAFFIC_SEND, TRAFFIC_UC, {.credited = 80, .completed = 82}, false},
		{TRAFFIC_SEND, TRAFFIC_UC, {.credited = 80, .completed = 83}, true},
		{TRAFFIC_SEND, TRAFFIC_UD, {.credited = 80, .completed = UINT64_MAX}, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene *s = make_scene(cases[i].verb, cases[i].transport);

		qp_flow_read_credit(&s->flow, &cases[i].in);
		qp_flow_read_completed(&s->flow, &cases[i].in);
		if (atomic_load(&s->t.failed) != cases[i].bad)
			fail_msg("case %zu: '%s'", i, s->report.total.detail);
		assert_int_equal(s->report.total.cause, cases[i].bad ? CAUSE_DATA : CAUSE_NONE);
		free(s);
	}
}

/* An end is not believed before this end has ended its own half. */
static void test_early_end(void **state)
{
	struct scene *s = make_scene(TRAFFIC_SEND, TRAFFIC_RC);
	const struct credit_slot in = {.credited = 100, .completed = 50, .flags = CREDIT_SEEN};

	(void)state;
	qp_flow_read_credit(&s->flow, &in);
	assert_false(s->flow.tx.seen);
	s->flow.tx.ended = true;
	qp_flow_read_credit(&s->flow, &in);
	assert_true(s->flow.tx.seen);
	free(s);
}

/* What did not come is missing after 200 ms in which the worker looked; not when the host stood
 * still for longer. */
static void test_stood_still(void **state)
{
	struct scene *s = make_scene(TRAFFIC_SEND, TRAFFIC_UC);
	const struct credit_slot in = {.credited = 80, .completed = 51, .flags = CREDIT_ENDED};

	(void)state;
	qp_flow_read_completed(&s->flow, &in);
	s->worker.now_ns += 10000 * NS_PER_MS;
	s->worker.awake_ns += 20 * NS_PER_MS;
	qp_flow_send_credit(&s->flow);
	assert_false(s->flow.rx.done);
	s->worker.awake_ns += 181 * NS_PER_MS;
	qp_flow_send_credit(&s->flow);
	assert_true(s->flow.rx.done);
	assert_int_equal(s->result.gaps, 1);
	free(s);
}

/* Each verb and transport that there is has its names. */
static void test_verbs_text(void **state)
{
	char text[400];

	(void)state;
	for (unsigned int verb = 0; verb < TRAFFIC_VERBS; verb++) {
		for (unsigned int transport = 0; transport < TRAFFIC_TRANSPORTS; transport++) {
			struct traffic_class c = {
				.verb = (enum traffic_verb)verb,
				.transport = (enum traffic_transport)transport,
				.message_bytes = 4096,
				.qps = 1,
			};

			traffic_class_verbs(&c, text, sizeof(text));
			assert_null(strchr(text, '?'));
			assert_non_null(strstr(text, "IBV_QPT_"));
			assert_non_null(strstr(text, "IBV_WR_"));
		}
	}
	traffic_class_verbs(&(struct traffic_class){.probe = true, .message_bytes = 64}, text,
			    sizeof(text));
	assert_non_null(strstr(text, "IBV_WR_RDMA_WRITE in lists of "));
	assert_non_null(strstr(text, "polls"));
	assert_null(strstr(text, "ibv_post_recv"));
	traffic_class_verbs(&(struct traffic_class){.verb = TRAFFIC_SEND, .message_bytes = 65536},
			    text, sizeof(text));
	assert_string_equal(
		text,
		"IBV_QPT_RC; ibv_post_send of IBV_WR_SEND in lists of 4, the last "
		"one signaled, at most 32 outstanding; ibv_post_recv on the peer; "
		"ibv_poll_cq; the receiver returns credits with IBV_WR_RDMA_WRITE_WITH_IMM on a "
		"separate queue pair");
	traffic_class_verbs(&(struct traffic_class){.transport = TRAFFIC_XRC,
						    .verb = TRAFFIC_SEND,
						    .message_bytes = 65536},
			    text, sizeof(text));
	assert_non_null(strstr(text, "IBV_QPT_XRC_SEND to IBV_QPT_XRC_RECV; "));
	assert_non_null(strstr(text, "; ibv_post_srq_recv (IBV_SRQT_XRC) on the peer; "));
	assert_null(strstr(text, "ibv_post_recv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),	       cmocka_unit_test(test_all_sizes),
		cmocka_unit_test(test_whole_messages), cmocka_unit_test(test_halves),
		cmocka_unit_test(test_hostile_cells),  cmocka_unit_test(test_early_end),
		cmocka_unit_test(test_verbs_text),     cmocka_unit_test(test_stood_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
