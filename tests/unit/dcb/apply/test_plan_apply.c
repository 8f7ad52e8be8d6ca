/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Apply as a transaction, on a machine in memory: killed at every single point and rolled back,
 * refused at every write, lied to, stuck, signalled.
 */
#include "tests/unit/dcb/apply/apply_world.h"

#define POINTS_MAX 1000

/* What each test begins with: a world in which nothing was done. */
static struct world w;
static enum apply_outcome outcome;
static struct err e;

static int set_up(void **state)
{
	(void)state;
	memset(&e, 0, sizeof(e));
	world_open(&w);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	world_close(&w);
	return 0;
}

static void start_again(void)
{
	tear_down(NULL);
	set_up(NULL);
}

static void test_apply(void **state)
{
	(void)state;
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(outcome, APPLY_DONE);
	assert_true(is_applied(&w));
	assert_int_equal(w.machine->port[0].qos.dscp_prio[8], 1);
	make_plans(&w);
	assert_int_equal(plan_changes(&w.plan[0]) + plan_changes(&w.plan[1]), 0);
	w.machine->writes = 0;
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->writes, 0);
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
	assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
}

/* What was right already is not written, also when that shows only in the middle. */
static void test_unchanged(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct qos want;

		fill_want(&want);
		for (int id = 0; id < QOS_FIELD_COUNT; id++)
			if (qos_has(&want, id) && id != QOS_MTU)
				qos_copy_field(&w.machine->port[i].qos, &want, id);
	}
	make_plans(&w);
	assert_int_equal(plan_changes(&w.plan[0]), 3); /* MTU and the two that are hidden */
	assert_int_equal(apply(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->writes, 2);
}

static void test_killed_anywhere(void **state)
{
	unsigned int points = 0, done = 0;

	(void)state;
	for (bool dead = true; dead && points < POINTS_MAX;) {
		int err;

		start_again();
		dead = dies(&w, false, ++points);
		err = rollback(&w, &outcome, &e);
		if (err && err != -ENOENT)
			fail_msg("killed at %u: %s", points, e.text);
		if (!as_before(&w))
			fail_msg("killed at %u: not as before", points);
		/* And the way is free for the next. */
		make_plans(&w);
		assert_int_equal(apply(&w, &outcome, &e), 0);
		assert_true(is_applied(&w));
		done += err == 0;
	}
	/* The test is worth something: many points, most of them past the first write. */
	assert_true(points > 60 && points < POINTS_MAX);
	assert_true(done > 40);
}

static void test_rollback_killed_anywhere(void **state)
{
	static const unsigned int first[] = {0, 20, 45};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		unsigned int points = 0;

		for (bool dead = true; dead && points < POINTS_MAX;) {
			int err;

			start_again();
			assert_true(dies(&w, false, first[i]) == (first[i] != 0));
			dead = dies(&w, true, ++points);
			err = rollback(&w, &outcome, &e);
			if ((err && err != -ENOENT) || !as_before(&w))
				fail_msg("apply killed at %u, rollback at %u: %d %s", first[i],
					 points, err, e.text);
		}
		assert_true(points > 15 && points < POINTS_MAX);
	}
}

static void test_refused_anywhere(void **state)
{
	unsigned int failures = 0;

	(void)state;
	for (unsigned int write = 1;; write++) {
		int err;

		start_again();
		w.machine->fail_at = write;
		err = apply(&w, &outcome, &e);
		if (!err)
			break;
		failures++;
		assert_int_equal(err, -EINVAL);
		assert_int_equal(outcome, APPLY_UNDONE);
		assert_string_equal(e.text, "refused");
		if (!as_before(&w))
			fail_msg("refused at %u: not as before", write);
		assert_int_equal(rollback(&w, &outcome, &e), -ENOENT);
	}
	assert_int_equal(failures, 14); /* 7 objects on 2 ports */
}

/* Accepted and not done: the readback finds it. */
static void test_silent_success(void **state)
{
	(void)state;
	w.machine->lie_at = 5;
	assert_int_equal(apply(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_non_null(strstr(e.text, "but reads back"));
	assert_true(as_before(&w));
}

static void test_lost(void **state)
{
	(void)state;
	w.machine->fail_at = 3;
	w.machine->stuck = true;
	assert_int_equal(apply(&w, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "is not restored to"));
	assert_false(as_before(&w));
	/* It is not forgotten: later it can be done. */
	assert_int_equal(rollback(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_LOST);
	w.machine->stuck = false;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
}

/* What can go back does, and all that cannot is named. */
static void test_rdma_gone(void **state)
{
	(void)state;
	assert_int_equal(apply(&w, &outcome, &e), 0);
	w.machine->rdma_gone = true;
	assert_int_equal(rollback(&w, &outcome, &e), -EREMOTEIO);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "rdma.roce_version is not restored to"));
	assert_non_null(strstr(e.text, "rdma.cm_default_tos is not restored to"));
	assert_null(strstr(e.text, "pfc.enabled"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(w.machine->port[i].qos.pfc_enabled, w.before[i].qos.pfc_enabled);
		assert_int_equal(w.machine->port[i].qos.mtu, w.before[i].qos.mtu);
	}
	w.machine->rdma_gone = false;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_true(as_before(&w));
}

/* A former value nobody can read: success is success, failure is lost and named. */
static void test_unknown_before(void **state)
{
	(void)state;
	w.machine->port[0].qos.has &= ~QOS_BIT(QOS_PFC_ENABLED);
	make_plans(&w);
	for (unsigned int i = 0; i < w.plan[0].count; i++)
		w.plan[0].step[i].cannot = false; /* as on bnxt before the first set */
	w.machine->fail_at = 6;
	assert_int_equal(apply(&w, &outcome, &e), -EINVAL);
	assert_int_equal(outcome, APPLY_LOST);
	assert_non_null(strstr(e.text, "the former value of pfc.enabled is unknown"));
}

/* A device that changes more than it is told. */
static void test_side_effects(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		start_again();
		memset(w.machine->port[0].qos.dscp_prio, QOS_UNMAPPED, QOS_DSCPS);
		w.machine->port[0].qos.trust = QOS_TRUST_PCP;
		memcpy(w.before, w.machine->port, sizeof(w.before));
		w.machine->resets = true;
		make_plans(&w);
		w.machine->fail_at = how ? 0 : 4;
		assert_int_equal(apply(&w, &outcome, &e), how ? 0 : -EINVAL);
		if (how)
			assert_int_equal(rollback(&w, &outcome, &e), 0);
		assert_int_equal(outcome, APPLY_UNDONE);
		assert_true(as_before(&w));
	}
}

static void test_signal(void **state)
{
	(void)state;
	w.machine->signal_at = 4;
	assert_int_equal(apply(&w, &outcome, &e), -EINTR);
	assert_int_equal(outcome, APPLY_UNDONE);
	assert_true(as_before(&w));
}

/* A rollback over the very port that it flaps: the login ends in the midst of it. */
static void test_rollback_signal(void **state)
{
	(void)state;
	for (unsigned int write = 1; write < 8; write++) {
		struct tx tx;

		start_again();
		assert_int_equal(apply(&w, &outcome, &e), 0);
		w.machine->writes = 0;
		w.machine->signal_at = (int)write;
		if (dies(&w, true, 0))
			fail_msg("signal at write %u: killed", write);
		w.machine->signal_at = 0;
		assert_true(as_before(&w));
		assert_int_equal(newest_tx(w.dir, &tx, &e), -ENOENT);
	}
}

static void test_not_started(void **state)
{
	int lock;

	(void)state;
	assert_int_equal(lock_host(w.dir, &lock, &e), 0);
	assert_int_equal(apply(&w, &outcome, &e), -EBUSY);
	assert_int_equal(rollback(&w, &outcome, &e), -EBUSY);
	close(lock);
	w.machine->check = -ENOTUNIQ;
	assert_int_equal(apply(&w, &outcome, &e), -ENOTUNIQ);
	w.machine->check = 0;
	w.machine->port[1].qos.mtu = 1400; /* somebody was here since */
	assert_int_equal(apply(&w, &outcome, &e), -ESTALE);
	w.machine->port[1].qos.mtu = 1500;
	assert_int_equal(w.machine->writes, 0);
	assert_true(as_before(&w));
	/* A dead one in the way. */
	assert_true(dies(&w, false, 30));
	assert_int_equal(apply(&w, &outcome, &e), -EBUSY);
	assert_non_null(strstr(e.hint, "rollback"));
}

/* What somebody else set after a finished transaction is theirs. */
static void test_others_keep(void **state)
{
	(void)state;
	assert_int_equal(apply(&w, &outcome, &e), 0);
	w.machine->port[0].qos.tc_maxrate_kbps[1] = 7;
	assert_int_equal(rollback(&w, &outcome, &e), 0);
	assert_int_equal(w.machine->port[0].qos.tc_maxrate_kbps[1], 7);
	w.machine->port[0].qos.tc_maxrate_kbps[1] = 1000;
	assert_true(as_before(&w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_apply, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unchanged, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rollback_killed_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_anywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_silent_success, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rdma_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_before, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_side_effects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_signal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rollback_signal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_started, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_others_keep, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
