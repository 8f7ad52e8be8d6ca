/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man as the tool asks it: a transaction that somebody undid, one whose time is over, and
 * what a dead-man keeps open.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dcb/apply/guard.h"
#include "fake_machine.h"

#define PATIENCE_MS 30000

static struct fake_machine *machine;
static char dir[32];
static bool openable;
static uint64_t more; /* that the plan wants, besides the MTU */

static int open_fake(struct dcb **dcb, struct err *e)
{
	static const struct dcb fake = {.backend = &fake_backend,
					.ethtool_family = -ENOENT,
					.ioctl_fd = -1,
					.sysfs_fd = -1,
					.configfs_fd = -1,
					.debugfs_fd = -1};
	struct dcb *d = openable ? malloc(sizeof(*d)) : NULL;

	if (!d)
		return err_set(e, -EACCES, "no machine here");
	*d = fake;
	d->machine = machine;
	*dcb = d;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/test_guard.XXXXXX");
	machine = fake_map();
	if (!machine || !mkdtemp(dir))
		return -1;
	openable = true;
	more = 0;
	machine->port[0].qos.has = QOS_BIT(QOS_MTU);
	machine->port[0].qos.mtu = 1500;
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

/* The dead-man of a test is the one that has its folder open. */
static void signal_deadman(int number)
{
	FILE *f = popen("pgrep -x test_guard", "r");
	unsigned int n = 0;
	int pid;

	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1) {
		char path[64], link[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/4", pid);
		if (pid != getpid() && readlink(path, link, sizeof(link) - 1) > 0 &&
		    !strcmp(link, dir))
			n += !kill(pid, number);
	}
	pclose(f);
	assert_int_equal(n, 1);
}

/* What the tool writes to its journal the dead-man has not read. */
static void stop_deadman(const char *tx_id, void *arg)
{
	(void)tx_id;
	(void)arg;
	signal_deadman(SIGSTOP);
}

/* p0 from MTU 1500 to 9000. */
static int apply(unsigned int seconds, char id[JOURNAL_ID_MAX], struct guard **guard)
{
	const struct plan_run how = {.state_dir = dir,
				     .confirm_within_s = seconds,
				     .guard = guard,
				     .open = open_fake,
				     .prepared = more ? stop_deadman : NULL};
	struct qos have = machine->port[0].qos, want = have;
	const int line[QOS_FIELD_COUNT] = {0};
	enum apply_outcome outcome;
	struct plan plan;
	struct dcb *dcb;
	int err;

	want.mtu = 9000;
	want.has |= more;
	want.cm_tos = 104;
	plan_make(&want, line, &have, "fake", &plan);
	strcpy(plan.ifname, "p0");
	if (more) {
		strcpy(plan.ibdev, "rxe0");
		plan.ib_port = 1;
	}
	assert_int_equal(open_fake(&dcb, NULL), 0);
	err = plan_apply(dcb, &plan, 1, &how, id, &outcome, NULL);
	free(dcb);
	return err;
}

static bool is_undone(const char *id)
{
	struct tx tx;
	bool undone = !journal_load(dir, id, &tx, NULL) && tx.state == TX_UNDONE;

	tx_clear(&tx);
	return undone;
}

static void await_undone(const char *id)
{
	for (int waited = 0; !is_undone(id) && waited < PATIENCE_MS; waited += 20)
		(void)poll(NULL, 0, 20);
	assert_true(is_undone(id));
}

/* Nobody may be asked to confirm it. */
static void test_undone(void **state)
{
	char id[JOURNAL_ID_MAX];
	enum apply_outcome outcome;
	struct guard *guard = NULL;
	struct err e = {0};
	struct dcb *dcb;
	struct tx tx;

	(void)state;
	assert_int_equal(apply(600, id, &guard), 0);
	assert_int_equal(guard_check(guard, &e), 0);
	assert_int_equal(open_fake(&dcb, NULL), 0);
	assert_int_equal(journal_rollback(dcb, dir, id, &tx, &outcome, &e), 0);
	tx_clear(&tx);
	free(dcb);
	assert_int_equal(guard_check(guard, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "is undone"));
	guard_free(guard);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

/* Killed, and its time is over: it is too late for another one, whether it could begin or not. */
static void test_too_late(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct guard *guard = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(3, id, &guard), 0);
	signal_deadman(SIGKILL);
	(void)poll(NULL, 0, 3100);
	assert_int_equal(guard_check(guard, &e), -ECANCELED);
	assert_non_null(strstr(e.text, "was not confirmed in time"));
	guard_free(guard);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_int_equal(machine->writes, 1);
}

static void test_undone_by_deadman(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct guard *guard = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(1, id, &guard), 0);
	await_undone(id);
	openable = false; /* another one cannot begin */
	assert_int_equal(guard_check(guard, &e), -ECANCELED);
	guard_free(guard);
}

static void test_confirmed(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct guard *guard = NULL;
	struct err e = {0};
	struct tx tx;

	(void)state;
	assert_int_equal(apply(3, id, &guard), 0);
	assert_int_equal(journal_confirm(dir, id, &tx, &e), 0);
	tx_clear(&tx);
	(void)poll(NULL, 0, 3100);
	assert_int_equal(guard_check(guard, &e), 0);
	guard_free(guard);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
}

static bool journal_says(const char *id, const char *text)
{
	char command[160];

	snprintf(command, sizeof(command), "grep -aq '%s' %s/tx/%s/journal", text, dir, id);
	return !system(command);
}

/* Nobody knows which steps were taken, and of one of them no former value: not called undone.
 */
static void test_no_former_value(void **state)
{
	char(*ids)[JOURNAL_ID_MAX], id[JOURNAL_ID_MAX], command[128];
	unsigned int n;
	int status;
	pid_t pid;

	(void)state;
	more = QOS_BIT(QOS_CM_TOS);
	machine->stop_behind = 1;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(apply(600, id, NULL) != 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	machine->stop_behind = 0;
	assert_int_equal(journal_list(dir, &ids, &n, NULL), 0);
	assert_int_equal(n, 1);
	snprintf(command, sizeof(command), "sed -i '1!s/^/x/' %s/tx/%s/journal", dir, ids[0]);
	assert_int_equal(system(command), 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	signal_deadman(SIGCONT);
	for (int waited = 0;
	     !journal_says(ids[0], "\"state\":\"\\(lost\\|undone\\)") && waited < PATIENCE_MS;
	     waited += 50)
		(void)poll(NULL, 0, 50);
	assert_true(journal_says(ids[0], "\"state\":\"lost\""));
	signal_deadman(SIGKILL);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	free(ids);
}

/* As a kernel before 5.3. */
static int refuse_pidfd(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Descriptors 3 to 40 are those of who started the tool; who reads the other end waits for all that
 * have them, and must not wait for the dead-man. */
static void test_inherits_nothing(void **state)
{
	char id[JOURNAL_ID_MAX];
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
		_exit(refuse_pidfd() ? 77 : apply(600, id, NULL) != 0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	end = (struct pollfd){.fd = ends[0], .events = POLLIN};
	status = poll(&end, 1, 1000);
	signal_deadman(SIGKILL);
	close(ends[0]);
	assert_int_equal(status, 1);
	assert_true(end.revents & POLLHUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undone_by_deadman, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_confirmed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_former_value, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_inherits_nothing, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
