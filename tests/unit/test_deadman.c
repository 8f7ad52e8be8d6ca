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
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcb/apply/deadman.h"
#include "dcb/apply/guard.h"
#include "deadman_world.h"

struct act_case {
	const char *name;
	enum tx_state state;
	bool confirmed, tool_gone, unreadable;
	uint64_t now_ms;
	enum deadman_act act;
	uint64_t confirm_by_ms; /* 0: the tool did not come to its end */
};

/* Hung after 71000. */
static const struct act_case acts[] = {
	{"just armed", TX_PREPARED, false, false, false, 1000, DEADMAN_WAIT, 0},
	{"given up before the first write", TX_PREPARED, false, true, false, 1000, DEADMAN_END, 0},
	{"in the middle", TX_RUNNING, false, false, false, 15000, DEADMAN_WAIT, 0},
	{"died in the middle", TX_RUNNING, false, true, false, 2000, DEADMAN_UNDO, 0},
	{"slow", TX_RUNNING, false, false, false, 71000, DEADMAN_WAIT, 0},
	{"hung", TX_RUNNING, false, false, false, 71001, DEADMAN_KILL, 0},
	{"hung before the first write", TX_PREPARED, false, false, false, 71001, DEADMAN_KILL, 0},
	{"killed, and not dead yet", TX_RUNNING, false, false, false, 81000, DEADMAN_KILL, 0},
	{"killed, and does not die", TX_RUNNING, false, false, false, 81001, DEADMAN_UNDO, 0},
	{"done", TX_DONE, false, true, false, 19999, DEADMAN_WAIT, 20000},
	{"nobody came", TX_DONE, false, true, false, 20000, DEADMAN_UNDO, 20000},
	{"nobody came, and the tool is still there", TX_DONE, false, false, false, 20000,
	 DEADMAN_UNDO, 20000},
	{"confirmed", TX_DONE, true, true, false, 20000, DEADMAN_END, 20000},
	{"undone by the tool", TX_UNDONE, false, false, false, 2000, DEADMAN_END, 0},
	{"not undone by the tool, which is still there", TX_LOST, false, false, false, 60000,
	 DEADMAN_WAIT, 0},
	{"not undone by the tool, which has gone", TX_LOST, false, true, false, 2000, DEADMAN_UNDO,
	 0},
	{"not undone by the tool, which hangs", TX_LOST, false, false, false, 71001, DEADMAN_KILL,
	 0},
	{"not undone by somebody, and the tool is still there", TX_LOST, false, false, false, 19999,
	 DEADMAN_WAIT, 20000},
	{"not undone by somebody, and nobody came", TX_LOST, false, false, false, 20000,
	 DEADMAN_UNDO, 20000},
	{"an undo was interrupted, and the tool is still there", TX_RUNNING, false, false, false,
	 20000, DEADMAN_UNDO, 20000},
	{"unreadable in the middle", TX_RUNNING, false, false, true, 15000, DEADMAN_WAIT, 0},
	{"unreadable, and the tool died", TX_PREPARED, false, true, true, 2000, DEADMAN_UNDO, 0},
	{"unreadable before its time is up", TX_DONE, false, true, true, 19999, DEADMAN_WAIT,
	 20000},
	{"unreadable when its time is up", TX_DONE, false, true, true, 20000, DEADMAN_UNDO, 20000},
};

static void test_acts(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(acts); i++) {
		const struct act_case *c = &acts[i];
		const struct deadman_view view = {.tool_gone = c->tool_gone,
						  .unreadable = c->unreadable,
						  .now_ms = c->now_ms,
						  .hung_at_ms = 71000};
		struct tx tx = {.state = c->state,
				.confirmed = c->confirmed,
				.confirm_within_s = 10,
				.confirm_by_ms = c->confirm_by_ms};

		if (deadman_next(&tx, &view) != c->act)
			fail_msg("%s: wrong", c->name);
	}
}

static int open_nothing(struct dcb **dcb, struct err *e)
{
	(void)dcb;
	return err_set(e, -EACCES, "no machine here");
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

/* As a bad disk or a foreign hand leaves it before its time is up. */
static void test_unreadable(void **state)
{
	static const char *const damages[] = {
		"printf '\\0\\0\\0\\0\\n' >>%s",
		": >%s",
		"rm %s",
		"sed -i '$d' %s", /* its end is lost, and so is its time */
		"sed -i 's/.step.:0/\"step\":7/' %s",
	};
	char id[JOURNAL_ID_MAX], path[160], command[256];
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		if (i) {
			assert_int_equal(tear_down(state), 0);
			assert_int_equal(set_up(state), 0);
		}
		assert_int_equal(apply(2, id, open_fake, &e), 0);
		journal_of(id, path);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(command, sizeof(command), damages[i], path);
#pragma GCC diagnostic pop
		assert_int_equal(system(command), 0);
		assert_int_equal(machine->port[0].qos.mtu, 9000);
		if (!comes_back())
			fail_msg("%s: not undone", command);
	}
}

static void test_state_gone(void **state)
{
	char id[JOURNAL_ID_MAX], command[128];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(3, id, open_fake, &e), 0);
	snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", dir, dir);
	assert_int_equal(system(command), 0);
	assert_true(comes_back());
}

/* Nothing of what was announced can be read: the tool dies, and the journal has gone with it. */
static void test_tool_and_journal_gone(void **state)
{
	char id[JOURNAL_ID_MAX], command[64];
	struct err e = {0};
	int status;
	pid_t pid;

	(void)state;
	machine->stop_behind = 1;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(apply(600, id, open_fake, &e) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	machine->stop_behind = 0;
	snprintf(command, sizeof(command), "rm -rf %s/tx", dir);
	assert_int_equal(system(command), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int waited = 0; machine->writes < 2 && waited < PATIENCE_MS; waited += 20)
		(void)poll(NULL, 0, 20);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

static void replaced_after(int number)
{
	char id[JOURNAL_ID_MAX];
	struct guard *guard = NULL;
	struct err e = {0};

	assert_int_equal(apply_guarded(5, id, open_fake, &guard, &e), 0);
	assert_non_null(guard);
	assert_int_equal(guard_check(guard, &e), 0);
	assert_int_equal(signal_deadmen(number), 1);
	assert_int_equal(guard_check(guard, &e), 0);
	guard_free(guard);
	assert_int_equal(signal_deadmen(0), 1);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

static void test_deadman_killed(void **state)
{
	(void)state;
	replaced_after(SIGKILL);
}

static void test_deadman_stopped(void **state)
{
	(void)state;
	replaced_after(SIGSTOP);
}

static bool openable;

static int open_at_first(struct dcb **dcb, struct err *e)
{
	return openable ? open_fake(dcb, e) : open_nothing(dcb, e);
}

/* Killed, and no other one can be started: said, so that the tool undoes. Confirmed before it was
 * killed: nothing is wrong. */
static void test_not_replaced(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct guard *guard = NULL;
	struct err e = {0};
	struct tx tx;

	(void)state;
	openable = true;
	assert_int_equal(apply_guarded(600, id, open_at_first, &guard, &e), 0);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	openable = false;
	assert_int_equal(guard_check(guard, &e), -EACCES);
	assert_non_null(strstr(e.text, "cannot start"));
	assert_int_equal(journal_confirm(dir, id, &tx, &e), 0);
	tx_clear(&tx);
	assert_int_equal(guard_check(guard, &e), 0);
	guard_free(guard);
	assert_int_equal(guard_check(NULL, &e), 0);
}

/* The host was restarted while it waited: nobody is there who would have undone it. */
static void test_confirmed_after_restart(void **state)
{
	char id[JOURNAL_ID_MAX], path[160], command[256];
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply(600, id, open_fake, &e), 0);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	journal_of(id, path);
	snprintf(command, sizeof(command), "sed -i 's/\"boot\":\"./\"boot\":\"x/' %s", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(journal_confirm(dir, id, &tx, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "before the host was restarted"));
	assert_false(tx.confirmed);
	tx_clear(&tx);
}

/* As an old kernel, or the filter of a container. */
static int refuse_close_range(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The dead-man has let go of the lock of the tool all the same. */
static void test_no_close_range(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	int status, lock;
	pid_t pid;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* What the dead-man keeps open takes no place of a lock then. */
		for (unsigned int i = 0; i < 20; i++)
			if (open("/dev/null", O_RDONLY) < 0)
				_exit(78);
		if (refuse_close_range())
			_exit(77);
		if (apply(600, id, open_fake, &e))
			_exit(1);
		_exit(journal_lock(dir, &lock, &e) ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acts),
		cmocka_unit_test_setup_teardown(test_confirmed_after_restart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nobody_confirms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cannot_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_state_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_and_journal_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deadman_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deadman_stopped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_replaced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_close_range, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
