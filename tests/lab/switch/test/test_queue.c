/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tests/lab/switch/queue.c: order, shares within 1 % of the weights, rate limits, pauses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lab/switch/queue.h"

/* Only the head of a frame is used. */
static struct frame *new_frame(uint8_t prio, uint32_t len)
{
	struct frame *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->prio = prio;
	f->len = len;
	return f;
}

static void drain(struct sched *s)
{
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		for (struct frame *f; (f = queue_pop(&s->queue[prio]));)
			free(f);
}

static void one_class_a_prio(struct sched *s)
{
	sched_init(s);
	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		s->prio_tc[i] = i;
}

static void test_queue_order(void **state)
{
	struct queue q = {.head = NULL};
	struct frame *a = new_frame(0, 10), *b = new_frame(0, 20);

	(void)state;
	assert_null(queue_pop(&q));
	queue_push(&q, a);
	queue_push(&q, b);
	assert_int_equal(q.bytes, 30);
	assert_int_equal(q.frames, 2);
	assert_ptr_equal(queue_pop(&q), a);
	assert_ptr_equal(queue_pop(&q), b);
	assert_null(queue_pop(&q));
	assert_int_equal(q.bytes, 0);
	assert_int_equal(q.max_bytes, 30);
	free(a);
	free(b);
}

static void test_strict_first(void **state)
{
	static const uint8_t order[] = {6, 5, 0};
	struct sched s;

	(void)state;
	one_class_a_prio(&s);
	s.tc[5].strict = s.tc[6].strict = true;
	for (unsigned int i = 0; i < 3; i++)
		sched_push(&s, new_frame(order[2 - i], 100));
	for (unsigned int i = 0; i < 3; i++) {
		struct frame *f = sched_pop(&s, 0, 0);

		assert_non_null(f);
		assert_int_equal(f->prio, order[i]);
		free(f);
	}
	assert_null(sched_pop(&s, 0, 0));
}

/* Shares by bytes, whatever the lengths of the frames. */
static void test_shares(void **state)
{
	static const struct {
		unsigned int weight[3];
		uint32_t len[3];
	} cases[] = {
		{{50, 50, 0}, {1000, 1000, 0}},	   {{70, 30, 0}, {4170, 4170, 0}},
		{{50, 50, 0}, {64, 9000, 0}},	   {{1, 99, 0}, {1500, 1500, 0}},
		{{20, 30, 50}, {256, 1082, 4170}},
	};

	(void)state;
	for (unsigned int n = 0; n < ARRAY_SIZE(cases); n++) {
		uint64_t sent[3] = {0}, total = 0;
		struct sched s;

		one_class_a_prio(&s);
		for (unsigned int tc = 0; tc < 3; tc++) {
			s.tc[tc].weight = cases[n].weight[tc] ? cases[n].weight[tc] : 1;
			for (unsigned int i = 0; cases[n].weight[tc] && i < 3; i++)
				sched_push(&s, new_frame(tc, cases[n].len[tc]));
		}
		while (total < 20000000) {
			struct frame *f = sched_pop(&s, 0, 0);

			assert_non_null(f);
			sent[f->prio] += f->len;
			total += f->len;
			sched_push(&s, f); /* always something to send */
		}
		for (unsigned int tc = 0; tc < 3; tc++) {
			double share = 100.0 * sent[tc] / total;

			assert_true(share > cases[n].weight[tc] - 1.0);
			assert_true(share < cases[n].weight[tc] + 1.0);
		}
		drain(&s);
	}
}

static void test_pause_holds_one_prio(void **state)
{
	struct sched s;
	struct frame *f;

	(void)state;
	sched_init(&s); /* all priorities in class 0 */
	sched_push(&s, new_frame(3, 100));
	sched_push(&s, new_frame(4, 100));
	f = sched_pop(&s, 1 << 3, 0);
	assert_non_null(f);
	assert_int_equal(f->prio, 4);
	free(f);
	assert_null(sched_pop(&s, 1 << 3, 0));
	assert_true(sched_next_ns(&s, 1 << 3) == UINT64_MAX);
	assert_int_equal(sched_next_ns(&s, 0), 0);
	f = sched_pop(&s, 0, 0);
	assert_int_equal(f->prio, 3);
	free(f);
}

/* 1 MB/s for a second of steps of 100 us. */
static void test_maxrate(void **state)
{
	uint64_t sent = 0;
	struct sched s;

	(void)state;
	one_class_a_prio(&s);
	s.tc[2].rate_bytes = 1000000;
	for (unsigned int i = 0; i < 4; i++)
		sched_push(&s, new_frame(2, 1000));
	for (uint64_t now_ns = 1000000000; now_ns < 2000000000; now_ns += 100000)
		for (struct frame *f; (f = sched_pop(&s, 0, now_ns)); sched_push(&s, f)) {
			assert_true(s.tc[2].next_ns > now_ns - 1000000);
			sent += f->len;
		}
	assert_true(sent > 990000);
	assert_true(sent < 1010000);
	drain(&s);
}

static void test_pace(void **state)
{
	static const struct {
		uint64_t next, now, burst, rate, want;
		uint32_t len;
	} cases[] = {
		{0, 5000000, 1000000, 1000000, 5000000, 1000}, /* lag is cut to the burst */
		{4500000, 5000000, 1000000, 1000000, 5500000, 1000},
		{6000000, 5000000, 1000000, 1000000, 7000000, 1000},
		{6000000, 5000000, 1000000, 0, 0, 1000}, /* no limit */
		{0, 10, 1000000, 1000000000, 1000, 1000},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(pace_next_ns(cases[i].next, cases[i].now, cases[i].burst,
					      cases[i].len, cases[i].rate),
				 cases[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_order), cmocka_unit_test(test_strict_first),
		cmocka_unit_test(test_shares),	    cmocka_unit_test(test_pause_holds_one_prio),
		cmocka_unit_test(test_maxrate),	    cmocka_unit_test(test_pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
