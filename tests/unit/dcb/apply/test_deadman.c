/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man as a process, over a machine in memory that it shares with the test: nobody
 * confirms, somebody does, the tool or the dead-man is killed or stopped, the state folder goes or
 * hangs. When it does what is in test_decide.c.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/dcb/apply/deadman_world.h"

static int open_nothing(struct dcb **dcb, struct err *e)
{
	(void)dcb;
	return err_set(e, -EACCES, "no machine here");
}

/* A port that takes nothing any more, from its next write on. */
static void refuse_writes(void)
{
	machine->fail_at = machine->writes + 1;
	machine->stuck = true;
}

static void accept_writes(void)
{
	machine->fail_at = 0;
	machine->stuck = false;
}

static bool writes_reach(unsigned int n)
{
	const volatile struct fake_machine *m = machine;

	for (int waited = 0; m->writes < n && waited < END_TIMEOUT_MS; waited += 20)
		(void)poll(NULL, 0, 20);
	return m->writes >= n;
}

static bool deadmen_end(void)
{
	for (int waited = 0; signal_deadmen(0) && waited < END_TIMEOUT_MS; waited += 100)
		(void)poll(NULL, 0, 100);
	return !signal_deadmen(0);
}

static int confirm(const char *id, struct err *e)
{
	struct dcb *dcb = NULL;
	struct tx tx;
	int err;

	assert_int_equal(open_fake(&dcb, e), 0);
	err = tx_confirm(dcb, AT(home), id, &tx, e);
	tx_clear(&tx);
	free(dcb);
	return err;
}

static int roll_back(const char *id, struct err *e)
{
	enum apply_outcome outcome;
	struct dcb *dcb = NULL;
	struct tx tx;
	int err;

	assert_int_equal(open_fake(&dcb, e), 0);
	err = tx_rollback(dcb, AT(home), id, &tx, &outcome, e);
	tx_clear(&tx);
	free(dcb);
	return err;
}

/* A tool of its own; its transaction is the only one. */
static pid_t start_tool(unsigned int seconds)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(apply_within(seconds, id, open_fake, &e) ? 1 : 0);
	return pid;
}

/* Until its tool has written `write` and is stopped there. */
static pid_t start_stopped(unsigned int seconds, unsigned int write)
{
	int status;
	pid_t pid;

	machine->stop_behind = write;
	pid = start_tool(seconds);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	machine->stop_behind = 0;
	return pid;
}

static void end_tool(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* On a busy machine its second may be over before this looks at the machine: what counts is that it
 * was changed, and changed back. */
static void test_nobody_confirms(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(1, id, open_fake, &e), 0);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->writes, 4); /* MTU and PFC, there and back */
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
	assert_int_equal(confirm(NULL, &e), -ECANCELED);
	assert_non_null(strstr(e.text, id));
	assert_non_null(strstr(e.text, "is undone: it was not confirmed in time"));
}

static void test_confirmed(void **state)
{
	char id[JOURNAL_ID_MAX], other[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(3, id, open_fake, &e), 0);
	/* As long as it waits no other one begins, and none that is older is undone. */
	assert_int_equal(apply_within(0, other, open_fake, &e), -EBUSY);
	assert_non_null(strstr(e.text, "waits for confirmation"));
	assert_int_equal(confirm(NULL, &e), 0);
	assert_int_equal(confirm(id, &e), -EALREADY);
	(void)poll(NULL, 0, 4000);
	assert_int_equal(state_of(id), TX_DONE);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_int_equal(signal_deadmen(0), 0);
}

/* What stands is not what is confirmed. */
static void test_confirmed_and_changed(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(600, id, open_fake, &e), 0);
	machine->port[0].qos.mtu = 4000;
	assert_int_equal(confirm(id, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "p0: mtu.netdev is 4000, expected 9000"));
	assert_non_null(strstr(e.hint, "rocecheck rollback"));
	machine->port[0].qos.mtu = 9000;
	assert_int_equal(confirm(id, &e), 0);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
}

/* The disk refuses the record of the undo: nobody confirms behind it, and no boot brings back what
 * was undone. */
static void test_undone_and_not_recorded(void **state)
{
	char id[JOURNAL_ID_MAX], command[256];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(1, id, open_fake, &e), 0);
	/* Appending is refused to root, too. */
	snprintf(command, sizeof(command), "mv %s/tx/%s/journal %s/j && mkdir %s/tx/%s/journal",
		 home, id, home, home, id);
	assert_int_equal(system(command), 0);
	assert_true(comes_back());
	assert_true(deadmen_end());
	snprintf(command, sizeof(command), "rmdir %s/tx/%s/journal && mv %s/j %s/tx/%s/journal",
		 home, id, home, home, id);
	assert_int_equal(system(command), 0);
	assert_int_equal(state_of(id), TX_DONE);
	assert_int_equal(confirm(id, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "was not confirmed in time"));
	/* And there is a way out. */
	assert_int_equal(apply_within(0, command, open_fake, &e), -EBUSY);
	assert_non_null(strstr(e.hint, "rocecheck rollback"));
	assert_int_equal(roll_back(id, &e), 0);
	assert_int_equal(state_of(id), TX_UNDONE);
}

/* What cannot be kept over a reboot is not confirmed: it is undone in time. */
static void test_confirmation_not_recorded(void **state)
{
	char id[JOURNAL_ID_MAX], command[256];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(3, id, open_fake, &e), 0);
	snprintf(command, sizeof(command), "chattr +i %s/tx/%s/journal 2>/dev/null", home, id);
	if (system(command))
		skip();
	assert_true(confirm(id, &e) < 0);
	assert_non_null(strstr(e.text, "would be lost at a reboot"));
	snprintf(command, sizeof(command), "chattr -i %s/tx/%s/journal", home, id);
	assert_int_equal(system(command), 0);
	assert_int_equal(state_of(id), TX_DONE);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

/* Long before its time: half a plan is of use to nobody. */
static void test_tool_killed(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	int status;
	pid_t pid;

	(void)state;
	machine->die_at = 4; /* behind the first write */
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(apply_within(600, id, open_fake, &e) ? 1 : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	machine->die_at = 0;
	assert_true(WIFSIGNALED(status));
	only_tx(home, id);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

static void test_cannot_start(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(60, id, open_nothing, &e), -EACCES);
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
		"sed -i 's/.plan.:/\"step\":/' %s",
	};
	char id[JOURNAL_ID_MAX], path[160], command[256];
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		if (i) {
			assert_int_equal(tear_down(state), 0);
			assert_int_equal(set_up(state), 0);
		}
		assert_int_equal(apply_within(2, id, open_fake, &e), 0);
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
	assert_int_equal(apply_within(3, id, open_fake, &e), 0);
	snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", home, home);
	assert_int_equal(system(command), 0);
	assert_true(comes_back());
}

/* The tool dies, and the journal has gone with it. */
static void test_tool_and_journal_gone(void **state)
{
	char command[64];
	pid_t pid;

	(void)state;
	pid = start_stopped(600, 1);
	snprintf(command, sizeof(command), "rm -rf %s/tx", home);
	assert_int_equal(system(command), 0);
	end_tool(pid);
	for (int waited = 0; machine->writes < 2 && waited < END_TIMEOUT_MS; waited += 20)
		(void)poll(NULL, 0, 20);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

static void check_fails_after(int number, const char *text)
{
	struct deadman *deadman = NULL;
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	assert_int_equal(apply_guarded(600, id, open_fake, &deadman, &e), 0);
	assert_non_null(deadman);
	assert_int_equal(deadman_check(deadman, &e), 0);
	assert_int_equal(signal_deadmen(number), 1);
	assert_int_equal(deadman_check(deadman, &e), -ECANCELED);
	assert_non_null(strstr(e.text, text));
	deadman_free(deadman);
	/* What the tool does then; it ends one that is stopped, too. */
	assert_int_equal(roll_back(id, &e), 0);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(signal_deadmen(0), 0);
}

static void test_deadman_killed(void **state)
{
	(void)state;
	check_fails_after(SIGKILL, "has ended");
}

static void test_deadman_stopped(void **state)
{
	(void)state;
	check_fails_after(SIGSTOP, "does not answer");
}

/* Killed behind the promise: nobody undoes it in this boot, so it can still be confirmed in time.
 */
static void test_confirmed_alone(void **state)
{
	struct deadman *deadman = NULL;
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_guarded(600, id, open_fake, &deadman, &e), 0);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	machine->port[0].qos.mtu = 4000;
	assert_int_equal(confirm(id, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "mtu.netdev is 4000, expected 9000"));
	machine->port[0].qos.mtu = 9000;
	assert_int_equal(confirm(id, &e), 0);
	assert_int_equal(deadman_check(deadman, &e), 0);
	deadman_free(deadman);
	assert_int_equal(deadman_check(NULL, &e), 0);
}

/* One that is stopped cannot answer; what a user can do is said. */
static void test_confirmed_while_stopped(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(600, id, open_fake, &e), 0);
	assert_int_equal(signal_deadmen(SIGSTOP), 1);
	assert_int_equal(confirm(id, &e), -ETIMEDOUT);
	assert_non_null(strstr(e.text, "does not answer"));
	assert_non_null(strstr(e.hint, "rocecheck rollback"));
	assert_int_equal(roll_back(id, &e), 0);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

/* What was asked of a dead-man that was stopped then is not answered behind the asker's back. */
static void test_late_answer(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply_within(600, id, open_fake, &e), 0);
	assert_int_equal(signal_deadmen(SIGSTOP), 1);
	assert_int_equal(confirm(id, &e), -ETIMEDOUT);
	assert_int_equal(signal_deadmen(SIGCONT), 1);
	(void)poll(NULL, 0, 500);
	assert_int_equal(load_tx(home, id, &tx, &e), 0);
	assert_false(tx.confirmed);
	tx_clear(&tx);
	assert_int_equal(confirm(id, &e), 0);
}

/* The tool's dead-man does not answer in time, and by then somebody has confirmed: it stands. */
static void test_confirmed_while_busy(void **state)
{
	struct deadman *deadman = NULL;
	enum apply_outcome outcome;
	char id[JOURNAL_ID_MAX];
	struct dcb *dcb = NULL;
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply_guarded(600, id, open_fake, &deadman, &e), 0);
	assert_int_equal(signal_deadmen(SIGSTOP), 1);
	assert_int_equal(deadman_check(deadman, &e), -ECANCELED);
	assert_int_equal(signal_deadmen(SIGCONT), 1);
	assert_int_equal(confirm(id, &e), 0);
	assert_int_equal(open_fake(&dcb, &e), 0);
	assert_int_equal(tx_undo_orphaned(dcb, AT(home), id, &tx, &outcome, &e), 0);
	assert_int_equal(outcome, APPLY_DONE);
	assert_int_equal(tx.state, TX_DONE);
	tx_clear(&tx);
	free(dcb);
	deadman_free(deadman);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
}

/* However many have looked at one that is stopped: a rollback ends it, also one that comes again.
 */
static void test_stopped_and_looked_at(void **state)
{
	char id[JOURNAL_ID_MAX], newer[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(600, id, open_fake, &e), 0);
	assert_int_equal(signal_deadmen(SIGSTOP), 1);
	for (unsigned int i = 0; i < 40; i++)
		assert_true(deadman_lives(home, id));
	/* One that was killed behind its record. */
	end_tx(home, id, TX_UNDONE);
	assert_int_equal(apply_within(0, newer, open_fake, &e), -EBUSY);
	assert_int_equal(roll_back(id, &e), -ENOENT);
	assert_int_equal(signal_deadmen(0), 0);
	machine->port[0].qos.mtu = 1500;
	assert_int_equal(apply_within(0, newer, open_fake, &e), 0);
}

/* The host was restarted while it waited: nobody is there who would have undone it. */
static void test_confirmed_after_restart(void **state)
{
	char id[JOURNAL_ID_MAX], path[160], command[256];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(600, id, open_fake, &e), 0);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	journal_of(id, path);
	snprintf(command, sizeof(command), "sed -i 's/\"boot\":\"./\"boot\":\"x/' %s", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(confirm(id, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "before the reboot"));
}

static void test_check_undone(void **state)
{
	struct deadman *deadman = NULL;
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_guarded(600, id, open_fake, &deadman, &e), 0);
	assert_int_equal(deadman_check(deadman, &e), 0);
	assert_int_equal(roll_back(id, &e), 0);
	assert_int_equal(deadman_check(deadman, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "is undone"));
	deadman_free(deadman);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(signal_deadmen(0), 0);
}

static void test_check_too_late(void **state)
{
	struct deadman *deadman = NULL;
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_guarded(3, id, open_fake, &deadman, &e), 0);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	(void)poll(NULL, 0, 3100);
	assert_int_equal(deadman_check(deadman, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "was not confirmed in time"));
	deadman_free(deadman);
	assert_int_equal(machine->writes, 2);
}

/* Whoever undid it: nobody may be asked to confirm it any more. */
static void test_check_behind_the_undo(void **state)
{
	struct deadman *deadman = NULL;
	char id[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_guarded(1, id, open_fake, &deadman, &e), 0);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(deadman_check(deadman, &e), -ECANCELED);
	deadman_free(deadman);
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
		if (apply_within(600, id, open_fake, &e))
			_exit(1);
		_exit(lock_host(home, &lock, &e) ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Descriptors 3 to 40 are those of who started the tool; who reads the other end waits for all that
 * have them, and must not wait for the dead-man. */
static void test_inherits_nothing(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	struct pollfd end;
	int status, ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int writing = fcntl(ends[1], F_DUPFD, 100);

		for (int fd = 3; fd <= 40; fd++)
			if (dup2(writing, fd) < 0)
				_exit(78);
		close(writing);
		_exit(apply_within(600, id, open_fake, &e) != 0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	end = (struct pollfd){.fd = ends[0], .events = POLLIN};
	status = poll(&end, 1, 1000);
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	close(ends[0]);
	assert_int_equal(status, 1);
	assert_true(end.revents & POLLHUP);
}

/* The tool could not undo what it wrote, and ended: the dead-man tries until the port takes it. */
static void test_lost_is_tried_again(void **state)
{
	char id[JOURNAL_ID_MAX];
	int status;
	pid_t pid;

	(void)state;
	machine->fail_at = 2; /* the second write, and all behind it */
	machine->stuck = true;
	pid = start_tool(600);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	only_tx(home, id);
	assert_int_equal(state_of(id), TX_LOST);
	assert_true(writes_reach(4)); /* between two tries */
	accept_writes();
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

/* An undo that failed goes on, and nothing new begins meanwhile. */
static void test_nothing_begins_before_the_undo(void **state)
{
	char id[JOURNAL_ID_MAX], newer[JOURNAL_ID_MAX], command[64];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply_within(1, id, open_fake, &e), 0);
	refuse_writes();
	assert_true(writes_reach(3));
	assert_int_equal(apply_within(0, newer, open_fake, &e), -EBUSY);
	/* Not without its journal, either. */
	snprintf(command, sizeof(command), "rm -rf %s/tx", home);
	assert_int_equal(system(command), 0);
	assert_int_equal(apply_within(0, newer, open_fake, &e), -EBUSY);
	assert_non_null(strstr(e.text, "waits for confirmation"));
	accept_writes();
	assert_true(comes_back());
	assert_true(deadmen_end());
	assert_int_equal(apply_within(0, newer, open_fake, &e), 0);
}

/* Who is stopped with the lock holds up no undo. */
static void test_lock_is_not_waited_for(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	int lock;

	(void)state;
	assert_int_equal(apply_within(1, id, open_fake, &e), 0);
	assert_int_equal(lock_host(home, &lock, &e), 0);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	close(lock);
}

/* A half of the former state can be neither confirmed nor taken for done. */
static void test_killed_in_its_undo(void **state)
{
	char id[JOURNAL_ID_MAX], other[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	machine->stop_behind = 3; /* the first write of the undo */
	assert_int_equal(apply_within(1, id, open_fake, &e), 0);
	assert_true(writes_reach(3));
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	assert_true(deadmen_end());
	machine->stop_behind = 0;
	assert_int_equal(confirm(id, &e), -ECANCELED);
	assert_int_equal(apply_within(0, other, open_fake, &e), -EBUSY);
	assert_non_null(strstr(e.hint, "rocecheck rollback"));
	assert_int_equal(roll_back(NULL, &e), 0);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

/* Calls that reach the storage are asked of the listener: as long as it does not answer they hang.
 */
static int ask_for_storage(void)
{
	static const unsigned int asked[] = {SYS_openat,    SYS_newfstatat, SYS_pwrite64,
					     SYS_ftruncate, SYS_fsync,	    SYS_fdatasync};
	struct sock_filter code[2 * ARRAY_SIZE(asked) + 2];
	struct sock_fprog program = {ARRAY_SIZE(code), code};
	unsigned int n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (unsigned int i = 0; i < ARRAY_SIZE(asked); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, asked[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static int send_descriptor(int to, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &m, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int from)
{
	char room[CMSG_SPACE(sizeof(int))], byte;
	struct iovec data = {&byte, 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	int fd = -1;

	if (recvmsg(from, &m, 0) == 1 && CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/* The storage works until the tool has ended, or the machine was written so often. */
static int answer_until(int listener, pid_t tool, unsigned int writes)
{
	const volatile struct fake_machine *m = machine;
	struct pollfd p = {.fd = listener, .events = POLLIN};
	int status = 0;

	while (m->writes < writes && !waitpid(tool, &status, WNOHANG)) {
		struct seccomp_notif ask = {0};
		struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		if (poll(&p, 1, 10) <= 0 || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask))
			continue;
		answer.id = ask.id;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return status;
}

/* A tool whose storage hangs when somebody says so. */
static pid_t start_on_storage(unsigned int seconds, int *listener)
{
	int pair[2];
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char id[JOURNAL_ID_MAX];
		struct err e = {0};
		int fd = ask_for_storage();

		if (fd < 0 || send_descriptor(pair[1], fd))
			_exit(77);
		close(fd);
		_exit(apply_within(seconds, id, open_fake, &e) ? 1 : 0);
	}
	close(pair[1]);
	*listener = receive_descriptor(pair[0]);
	assert_true(*listener >= 0);
	close(pair[0]);
	return pid;
}

/* Behind the promise the storage hangs in every call: the port comes back all the same. */
static void test_storage_hangs(void **state)
{
	int listener, status;
	pid_t pid;

	(void)state;
	pid = start_on_storage(3, &listener);
	status = answer_until(listener, pid, UINT_MAX);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_true(comes_back());
	assert_true(signal_deadmen(SIGKILL) >= 1); /* it still wants to record its end */
	close(listener);
	assert_true(deadmen_end());
}

/* The tool hangs, or is stopped, before its end is recorded, and has the lock: the deadline holds.
 */
static void test_tool_hangs_in_its_record(void **state)
{
	uint64_t since;
	int listener;
	pid_t pid;

	(void)state;
	pid = start_on_storage(1, &listener);
	(void)answer_until(listener, pid, 2);
	since = monotonic_ms();
	assert_true(comes_back());
	if (monotonic_ms() - since > 6000)
		fail_msg("undone after %llu ms", (unsigned long long)(monotonic_ms() - since));
	end_tool(pid);
	assert_true(signal_deadmen(SIGKILL) >= 1);
	close(listener);
	assert_true(deadmen_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nobody_confirms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed_and_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undone_and_not_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmation_not_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cannot_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_state_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_and_journal_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deadman_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deadman_stopped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed_while_stopped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_late_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed_while_busy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stopped_and_looked_at, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed_after_restart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check_too_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_check_behind_the_undo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_close_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_inherits_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lost_is_tried_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing_begins_before_the_undo, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_lock_is_not_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_in_its_undo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_storage_hangs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_tool_hangs_in_its_record, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
