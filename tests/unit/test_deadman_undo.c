/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The undo of the dead-man when something is in its way: storage that hangs, a lock that somebody
 * has, an undo that failed, a newer transaction, a journal that comes back.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "deadman_world.h"

#define LOOK_MS 1500 /* the dead-man looks at the journal more often */

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

	for (int waited = 0; m->writes < n && waited < PATIENCE_MS; waited += 20)
		(void)poll(NULL, 0, 20);
	return m->writes >= n;
}

static bool deadmen_end(void)
{
	for (int waited = 0; signal_deadmen(0) && waited < PATIENCE_MS; waited += 100)
		(void)poll(NULL, 0, 100);
	return !signal_deadmen(0);
}

/* Between two of its tries, without the lock. */
static void stop_deadman(void)
{
	struct err e = {0};
	int lock;

	assert_int_equal(signal_deadmen(SIGSTOP), 1);
	for (int waited = 0; journal_lock(dir, &lock, &e) && waited < PATIENCE_MS; waited += 50) {
		assert_int_equal(signal_deadmen(SIGCONT), 1);
		(void)poll(NULL, 0, 50);
		assert_int_equal(signal_deadmen(SIGSTOP), 1);
	}
	close(lock);
}

/* A tool of its own; its transaction is the newest one. */
static pid_t start_tool(unsigned int seconds)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		_exit(apply(seconds, id, open_fake, &e) ? 1 : 0);
	return pid;
}

static void newest_id(char id[JOURNAL_ID_MAX])
{
	char(*ids)[JOURNAL_ID_MAX];
	unsigned int n;

	assert_int_equal(journal_list(dir, &ids, &n, NULL), 0);
	assert_true(n > 0);
	memcpy(id, ids[n - 1], JOURNAL_ID_MAX);
	free(ids);
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
	newest_id(id);
	assert_true(becomes(id, TX_LOST)); /* between two tries */
	accept_writes();
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

/* An undo that failed is tried again, but not over what somebody has applied since. */
static void test_newer_transaction(void **state)
{
	char id[JOURNAL_ID_MAX], newer[JOURNAL_ID_MAX];
	struct err e = {0};

	(void)state;
	assert_int_equal(apply(1, id, open_fake, &e), 0);
	refuse_writes();
	assert_true(becomes(id, TX_LOST));
	stop_deadman();
	accept_writes();
	machine->port[0].qos.mtu = 2000;
	assert_int_equal(apply(0, newer, open_fake, &e), 0);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_int_equal(signal_deadmen(SIGCONT), 1);
	assert_true(deadmen_end());
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_int_equal(state_of(newer), TX_DONE);
	assert_int_equal(state_of(id), TX_LOST);
}

/* The journal was away when the tool died, so that all that was planned was taken for written. It
 * is back before the next try, and says that somebody has undone it. */
static void test_journal_comes_back(void **state)
{
	char id[JOURNAL_ID_MAX], command[256];
	enum apply_outcome outcome;
	struct dcb *dcb = NULL;
	struct err e = {0};
	struct tx tx;
	int status;
	pid_t pid;

	(void)state;
	machine->stop_behind = 1;
	pid = start_tool(600);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	machine->stop_behind = 0;
	newest_id(id);
	(void)poll(NULL, 0, LOOK_MS);
	snprintf(command, sizeof(command), "mv %s/tx/%s %s/aside", dir, id, dir);
	assert_int_equal(system(command), 0);
	refuse_writes();
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(writes_reach(2));
	stop_deadman();
	accept_writes();
	snprintf(command, sizeof(command), "mv %s/aside %s/tx/%s", dir, dir, id);
	assert_int_equal(system(command), 0);
	assert_int_equal(open_fake(&dcb, &e), 0);
	assert_int_equal(journal_rollback(dcb, dir, id, &tx, &outcome, &e), 0);
	tx_clear(&tx);
	free(dcb);
	machine->port[0].qos.mtu = 4000;
	assert_int_equal(signal_deadmen(SIGCONT), 1);
	assert_true(deadmen_end());
	assert_int_equal(machine->port[0].qos.mtu, 4000);
}

/* Somebody has the lock for as long as an undo of another port may take. */
static void test_lock_is_waited_for(void **state)
{
	char id[JOURNAL_ID_MAX];
	struct err e = {0};
	int lock;

	(void)state;
	assert_int_equal(apply(1, id, open_fake, &e), 0);
	assert_int_equal(journal_lock(dir, &lock, &e), 0);
	(void)poll(NULL, 0, 14000);
	assert_int_equal(machine->writes, 2);
	assert_int_equal(state_of(id), TX_DONE);
	close(lock);
	assert_true(becomes(id, TX_UNDONE));
	assert_int_equal(machine->port[0].qos.mtu, 1500);
}

/* A half of the former state can be neither confirmed nor taken for done. */
static void test_killed_in_its_undo(void **state)
{
	char id[JOURNAL_ID_MAX];
	enum apply_outcome outcome;
	struct dcb *dcb = NULL;
	struct err e = {0};
	struct tx tx;

	(void)state;
	machine->stop_behind = 3; /* the first write of the undo */
	assert_int_equal(apply(1, id, open_fake, &e), 0);
	assert_true(writes_reach(3));
	assert_int_equal(signal_deadmen(SIGKILL), 1);
	assert_true(deadmen_end());
	machine->stop_behind = 0;
	assert_int_equal(state_of(id), TX_RUNNING);
	assert_int_equal(journal_confirm(dir, id, &tx, &e), -ECANCELED);
	tx_clear(&tx);
	assert_int_equal(open_fake(&dcb, &e), 0);
	assert_int_equal(journal_rollback(dcb, dir, NULL, &tx, &outcome, &e), 0);
	assert_string_equal(tx.id, id);
	tx_clear(&tx);
	free(dcb);
	assert_int_equal(machine->port[0].qos.mtu, 1500);
	assert_int_equal(machine->port[0].qos.pfc_enabled, 0);
}

/* The dead-man does not write the lock file: storage that hangs would hold it up. */
static void test_lock_is_not_written(void **state)
{
	char id[JOURNAL_ID_MAX], path[64], text[16] = "";
	struct err e = {0};
	int fd;

	(void)state;
	assert_int_equal(apply(1, id, open_fake, &e), 0);
	assert_true(becomes(id, TX_UNDONE));
	snprintf(path, sizeof(path), "%s/lock", dir);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_int_equal(strtol(text, NULL, 10), getpid());
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

/* The storage works until the tool has ended. */
static int answer_until_exit(int listener, pid_t tool)
{
	struct pollfd p = {.fd = listener, .events = POLLIN};
	int status = 0;

	while (!waitpid(tool, &status, WNOHANG)) {
		struct seccomp_notif ask = {0};
		struct seccomp_notif_resp answer = {.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		if (poll(&p, 1, 10) <= 0 || ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &ask))
			continue;
		answer.id = ask.id;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return status;
}

/* Behind the promise the storage hangs in every call: the port comes back all the same. */
static void test_storage_hangs(void **state)
{
	int pair[2], listener, status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char id[JOURNAL_ID_MAX];
		struct err e = {0};

		listener = ask_for_storage();
		if (listener < 0 || send_descriptor(pair[1], listener))
			_exit(77);
		close(listener);
		_exit(apply(3, id, open_fake, &e) ? 1 : 0);
	}
	close(pair[1]);
	listener = receive_descriptor(pair[0]);
	assert_true(listener >= 0);
	status = answer_until_exit(listener, pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(machine->port[0].qos.mtu, 9000);
	assert_true(comes_back());
	assert_int_equal(signal_deadmen(SIGKILL), 1); /* it still wants to record its end */
	close(listener);
	close(pair[0]);
	assert_true(deadmen_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lost_is_tried_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_newer_transaction, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_journal_comes_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lock_is_waited_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed_in_its_undo, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lock_is_not_written, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_storage_hangs, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
