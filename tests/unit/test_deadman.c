/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man: what it does when, as a table; and the real process over a machine in memory that
 * it shares with the test: nobody confirms, somebody does, the tool is killed in the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "dcb/deadman.h"
#include "fake_machine.h"

#define PATIENCE_MS 30000

struct act_case {
	const char *name;
	enum tx_state state;
	bool confirmed, busy;
	uint64_t now_ms;
	enum deadman_act act;
};

/* Hung after 71000; to be confirmed by 20000 once it is done. */
static const struct act_case acts[] = {
	{"just armed", TX_PREPARED, false, true, 1000, DEADMAN_WAIT},
	{"given up before the first write", TX_PREPARED, false, false, 1000, DEADMAN_END},
	{"in the middle", TX_RUNNING, false, true, 15000, DEADMAN_WAIT},
	{"died in the middle", TX_RUNNING, false, false, 2000, DEADMAN_UNDO},
	{"slow", TX_RUNNING, false, true, 71000, DEADMAN_WAIT},
	{"hung", TX_RUNNING, false, true, 71001, DEADMAN_KILL},
	{"hung before the first write", TX_PREPARED, false, true, 71001, DEADMAN_KILL},
	{"done", TX_DONE, false, false, 19999, DEADMAN_WAIT},
	{"nobody came", TX_DONE, false, false, 20000, DEADMAN_UNDO},
	{"somebody is about to", TX_DONE, false, true, 20000, DEADMAN_WAIT},
	{"confirmed", TX_DONE, true, false, 20000, DEADMAN_END},
	{"undone by the tool", TX_UNDONE, false, true, 2000, DEADMAN_END},
	{"lost", TX_LOST, false, false, 90000, DEADMAN_END},
};

static void test_acts(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(acts); i++) {
		const struct act_case *c = &acts[i];
		struct tx tx = {.state = c->state,
				.confirmed = c->confirmed,
				.confirm_within_s = 10,
				.confirm_by_ms = 20000};

		if (deadman_next(&tx, c->now_ms, 71000, c->busy) != c->act)
			fail_msg("%s: wrong", c->name);
	}
}

/* The one machine of this process and of the dead-men it starts. */
static struct fake_machine *machine;
static char dir[32];

static int open_fake(struct dcb **dcb, struct err *e)
{
	static const struct dcb fake = {.backend = &fake_backend,
					.ethtool_family = -ENOENT,
					.ioctl_fd = -1,
					.sysfs_fd = -1,
					.configfs_fd = -1,
					.debugfs_fd = -1};
	struct dcb *d = malloc(sizeof(*d));

	if (!d)
		return err_sys(e, -ENOMEM, "fake");
	*d = fake;
	d->machine = machine;
	*dcb = d;
	return 0;
}

static int open_nothing(struct dcb **dcb, struct err *e)
{
	(void)dcb;
	return err_set(e, -EACCES, "no machine here");
}

static struct plan make_plan(void)
{
	struct qos have = machine->port[0].qos, want = have;
	int line[QOS_FIELD_COUNT] = {0};
	struct plan p;

	want.pfc_enabled = 8;
	want.mtu = 9000;
	plan_make(&want, line, &have, "fake", &p);
	strcpy(p.ifname, "p0");
	return p;
}

static int set_up(void **state)
{
	struct qos *q;

	(void)state;
	strcpy(dir, "/tmp/test_deadman.XXXXXX");
	machine = fake_map();
	if (!machine || !mkdtemp(dir))
		return -1;
	q = &machine->port[0].qos;
	q->has = QOS_BIT(QOS_PFC_ENABLED) | QOS_BIT(QOS_MTU);
	q->mtu = 1500;
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	munmap(machine, sizeof(*machine));
	return system(command);
}

static int apply(unsigned int seconds, char id[JOURNAL_ID_MAX],
		 int (*open)(struct dcb **dcb, struct err *e), struct err *e)
{
	struct plan_run how = {.state_dir = dir, .confirm_within_s = seconds, .open = open};
	struct plan plan = make_plan();
	enum apply_outcome outcome;
	struct dcb *dcb;
	int err;

	assert_int_equal(open_fake(&dcb, e), 0);
	err = plan_apply(dcb, &plan, 1, &how, id, &outcome, e);
	free(dcb);
	return err;
}

static enum tx_state state_of(const char *id)
{
	enum tx_state now = TX_EMPTY;
	struct tx tx;

	if (!journal_load(dir, id, &tx, NULL))
		now = tx.state;
	tx_clear(&tx);
	return now;
}

/* The journal says so, within what is patience on a busy machine. */
static bool becomes(const char *id, enum tx_state state)
{
	for (int waited = 0; waited < PATIENCE_MS; waited += 20) {
		if (state_of(id) == state)
			return true;
		(void)poll(NULL, 0, 20);
	}
	return false;
}

/* What a confirmation is answered once nobody else has the lock: the one who undid it says so in
 * the journal while it holds it. */
static int confirm(const char *id, struct tx *tx, struct err *e)
{
	int err = journal_confirm(dir, id, tx, e);

	for (int waited = 0; err == -EBUSY && waited < PATIENCE_MS; waited += 20) {
		(void)poll(NULL, 0, 20);
		tx_clear(tx);
		err = journal_confirm(dir, id, tx, e);
	}
	return err;
}

/* On a busy machine its second may be over before this looks at the machine: what counts is that it
 * was changed, and changed back. */
static void test_nobody_confirms(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply(1, id, open_fake, &e), 0);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->writes, 4); /* MTU and PFC, there and back */
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
	assert_int_equal(confirm(id, &tx, &e), -ECANCELED);
	tx_clear(&tx);
}

static void test_confirmed(void **state)
{
	char id[JOURNAL_ID_MAX], other[JOURNAL_ID_MAX];
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply(3, id, open_fake, &e), 0);
	/* As long as it waits no other one begins. */
	assert_int_equal(apply(0, other, open_fake, &e), -EBUSY);
	assert_non_null(strstr(e.text, "waits for confirmation"));
	assert_int_equal(journal_confirm(dir, NULL, &tx, &e), 0);
	assert_string_equal(tx.id, id);
	tx_clear(&tx);
	assert_int_equal(journal_confirm(dir, id, &tx, &e), -EALREADY);
	tx_clear(&tx);
	(void)poll(NULL, 0, 5000);
	assert_int_equal(state_of(id), TX_DONE);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
}

/* Long before its time: half a plan is of use to nobody. */
static void test_tool_killed(void **state)
{
	char(*ids)[JOURNAL_ID_MAX];
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	unsigned int n;
	int status;
	pid_t pid;

	(void)state;
	machine->die_at = 4; /* behind the first write */
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(apply(600, id, open_fake, &e) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	machine->die_at = 0;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(journal_list(dir, &ids, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_true(becomes(ids[0], TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	free(ids);
}

static void test_cannot_start(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(60, id, open_nothing, &e), -EACCES);
	assert_non_null(strstr(e.text, "no machine here"));
	assert_int_equal(machine->writes, 0);
	assert_string_equal(id, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acts),
		cmocka_unit_test_setup_teardown(test_nobody_confirms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cannot_start, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
