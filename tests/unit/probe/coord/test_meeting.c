/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that go step by step together: who is waited for, who is not, and the one start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>

#include "probe/coord/meeting.h"

static void test_steps(void **state)
{
	struct meeting *m;

	(void)state;
	assert_int_equal(meeting_open(3, &m), 0);
	for (int step = MEET_IDLE; step < MEET_LEFT; step++) {
		for (unsigned int i = 0; i < 3; i++) {
			assert_false(meeting_complete(m, step));
			meeting_come(m, i, step);
			meeting_come(m, i, MEET_NOTHING); /* never back */
		}
		assert_true(meeting_complete(m, step));
	}
	meeting_come(m, 7, MEET_LEFT); /* nobody */
	assert_false(meeting_broken(m));
	assert_false(meeting_complete(m, MEET_LEFT));
	meeting_close(m);
	meeting_close(NULL);
}

static void test_place(void **state)
{
	char theirs[MEETING_PLACE_MAX];
	struct meeting *m;

	(void)state;
	assert_int_equal(meeting_open(3, &m), 0);
	assert_true(meeting_agrees(m, "rxe1 port 1", theirs));
	assert_false(meeting_agrees(m, "rxe0 port 1", theirs));
	assert_string_equal(theirs, "rxe1 port 1");
	assert_true(meeting_agrees(m, "rxe1 port 1", theirs));
	meeting_close(m);
}

/* One that leaves is not waited for; before all are connected it takes the others with it. */
static void test_left(void **state)
{
	static const struct {
		enum meeting_step at, others;
		bool broken;
	} cases[] = {
		{MEET_NOTHING, MEET_NOTHING, true},	 {MEET_COUNTED, MEET_CONNECTED, true},
		{MEET_CONNECTED, MEET_COUNTED, true}, /* it was, and was lost while it waited */
		{MEET_CONNECTED, MEET_CONNECTED, false}, {MEET_READ, MEET_CONNECTED, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct meeting *m;

		assert_int_equal(meeting_open(2, &m), 0);
		meeting_come(m, 0, cases[i].at);
		meeting_come(m, 1, cases[i].others);
		meeting_come(m, 0, MEET_LEFT);
		assert_int_equal(meeting_broken(m), cases[i].broken);
		assert_false(meeting_complete(m, MEET_READ));
		meeting_come(m, 1, MEET_READ);
		assert_true(meeting_complete(m, MEET_READ));
		meeting_come(m, 1, MEET_LEFT);
		assert_int_equal(meeting_broken(m), cases[i].broken);
		meeting_close(m);
	}
}

static void *ask(void *arg)
{
	static uint64_t starts[4];
	static unsigned int n;
	uint64_t *out = &starts[__atomic_fetch_add(&n, 1, __ATOMIC_SEQ_CST)];

	*out = meeting_start_ns(arg);
	return out;
}

static void test_start(void **state)
{
	uint64_t now = monotonic_ns(), start;
	pthread_t thread[4];
	struct meeting *m;

	(void)state;
	assert_int_equal(meeting_open(4, &m), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ask, m), 0);
	start = meeting_start_ns(m);
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t *got;

		pthread_join(thread[i], (void **)&got);
		assert_true(*got == start);
	}
	assert_true(start >= now + MEETING_LEAD_MS * UINT64_C(1000000));
	meeting_close(m);
}

static void test_members(void **state)
{
	struct meeting *m;

	(void)state;
	assert_int_equal(meeting_open(0, &m), -EINVAL);
	assert_int_equal(meeting_open(MEETING_MAX + 1, &m), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),	cmocka_unit_test(test_place),
		cmocka_unit_test(test_left),	cmocka_unit_test(test_start),
		cmocka_unit_test(test_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
