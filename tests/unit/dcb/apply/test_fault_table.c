/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A plan of twelve steps on a machine in memory, and a fault at each of them: refused, and killed
 * with the step carried out. Every time the end is the old state, byte for byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "dcb/apply/plan_apply.h"
#include "tests/unit/fixture/fake_machine.h"
#include "tests/unit/fixture/journal_scene.h"

#define STEPS 12

/* One field of each object, so that a step is a write. */
static const enum qos_field_id wished[STEPS] = {
	QOS_PAUSE_RX, QOS_MTU,	      QOS_DSCP_PRIO,	QOS_APP,
	QOS_PRIO_TC,  QOS_TC_MAXRATE, QOS_PFC_ENABLED,	QOS_PRIO_BUFFER,
	QOS_CNP_DSCP, QOS_CNP_PRIO,   QOS_CNP_INTERVAL, QOS_CM_TOS,
};

struct world {
	struct fake_machine *machine;
	struct dcb dcb;
	struct fake_port before;
	struct plan plan;
	char dir[40];
};

static void fill_port(struct qos *q)
{
	memset(q, 0, sizeof(*q));
	for (unsigned int i = 0; i < STEPS; i++)
		q->has |= QOS_BIT(wished[i]);
	q->has |= QOS_BIT(QOS_TRUST);
	memset(q->dscp_prio, QOS_UNMAPPED, sizeof(q->dscp_prio));
	q->dscp_prio[26] = 4;
	q->trust = QOS_TRUST_DSCP;
	q->pause_rx = 1;
	q->mtu = 1500;
	q->pfc_enabled = 0x10;
	q->tc_maxrate_kbps[1] = 100000;
}

static void fill_want(struct qos *want)
{
	fill_port(want);
	want->has &= ~QOS_BIT(QOS_TRUST);
	want->pause_rx = 0;
	want->mtu = 4096;
	want->dscp_prio[48] = 6;
	want->app[want->app_count++] = (struct qos_app){QOS_APP_DGRAM, 3, 4791};
	want->prio_tc[3] = 3;
	want->tc_maxrate_kbps[3] = 200000;
	want->pfc_enabled = 0x08;
	want->prio_buffer[3] = 1;
	want->cnp_dscp = 48;
	want->cnp_prio = 6;
	want->cnp_interval_us = 4;
	want->cm_tos = 106;
}

static void world_open(struct world *w)
{
	int line[QOS_FIELD_COUNT] = {0};
	struct qos want, have;

	memset(w, 0, sizeof(*w));
	strcpy(w->dir, "/tmp/test_fault_table.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->machine = fake_map();
	assert_non_null(w->machine);
	w->dcb = (struct dcb){.backend = &fake_backend, .machine = w->machine, .sysfs_fd = -1};
	fill_port(&w->machine->port[0].qos);
	w->before = w->machine->port[0];
	have = w->before.qos;
	have.has &= ~PLAN_RDMA_CM; /* behind its directory */
	fill_want(&want);
	plan_make(&want, line, &have, "fake", &w->plan);
	assert_int_equal(w->plan.count, STEPS);
	assert_int_equal(plan_changes(&w->plan), STEPS);
	strcpy(w->plan.ifname, "p0");
	strcpy(w->plan.ibdev, "rdma");
	w->plan.ib_port = 1;
}

static void world_close(struct world *w)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	munmap(w->machine, sizeof(*w->machine));
}

static int apply(struct world *w, enum apply_outcome *outcome, struct err *e)
{
	char id[JOURNAL_ID_MAX];

	return plan_apply(&w->dcb, &w->plan, 1, &(struct apply_options){.at = {w->dir, w->dir}}, id,
			  outcome, e);
}

static bool as_before(const struct world *w)
{
	return !memcmp(&w->machine->port[0], &w->before, sizeof(w->before));
}

static bool refused(unsigned int step)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	bool good;

	world_open(&w);
	w.machine->fail_at = step;
	good = apply(&w, &outcome, &e) == -EINVAL && outcome == APPLY_UNDONE && as_before(&w);
	world_close(&w);
	return good;
}

static bool killed(unsigned int step)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	struct tx tx;
	int status;
	bool good;
	pid_t pid;

	world_open(&w);
	w.machine->die_behind = step;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(apply(&w, &outcome, NULL) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	w.machine->die_behind = 0;
	good = WIFSIGNALED(status) && w.machine->writes == step && !as_before(&w);
	good = !tx_rollback(&w.dcb, AT(w.dir), NULL, &tx, &outcome, &e) && good && as_before(&w);
	tx_clear(&tx);
	world_close(&w);
	return good;
}

static void test_table(void **state)
{
	unsigned int good = 0;

	(void)state;
	for (unsigned int step = 1; step <= STEPS; step++) {
		bool one = refused(step), other = killed(step);

		good += one + other;
		if (!one || !other)
			print_error("step %u (%s): refused %s, killed %s\n", step,
				    qos_fields[wished[step - 1]].key, one ? "ok" : "WRONG",
				    other ? "ok" : "WRONG");
	}
	print_message("# %u of %u\n", good, 2 * STEPS);
	assert_int_equal(good, 2 * STEPS);
}

/* And without a fault all twelve are carried out, in twelve writes. */
static void test_no_fault(void **state)
{
	enum apply_outcome outcome;
	struct err e = {0};
	struct world w;
	struct qos want;

	(void)state;
	world_open(&w);
	if (apply(&w, &outcome, &e))
		fail_msg("%s", e.text);
	fill_want(&want);
	assert_int_equal(qos_diff(&want, &w.machine->port[0].qos), 0);
	assert_int_equal(w.machine->writes, STEPS);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
