/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man looks at the journal once a second, which is all it needs to know: what the tool
 * does it announces there. Its clock is CLOCK_BOOTTIME, which no one sets and which goes on in
 * sleep.
 */
#include "dcb/deadman.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "dcb/baseline.h"

#define LOOK_MS	 1000
#define READY_MS 10000
#define TRIES	 20 /* a port that is just away comes back */
#define PAUSE_MS 3000
#define KEPT_FD	 3 /* what the dead-man keeps open: the pipe, then nothing */

/* What it tells the tool, once. */
struct ready {
	int err; /* -errno; 0: ready */
	pid_t pid;
	bool own_cgroup;
	char text[ERR_TEXT_MAX];
};

enum deadman_act deadman_next(const struct tx *tx, uint64_t now_ms, uint64_t hung_ms, bool busy)
{
	if (tx->confirmed || tx->state == TX_UNDONE || tx->state == TX_LOST)
		return DEADMAN_END;
	if (tx->state == TX_DONE) {
		if (now_ms < tx->confirm_by_ms)
			return DEADMAN_WAIT;
		return busy ? DEADMAN_WAIT : DEADMAN_UNDO;
	}
	/* The tool holds the lock as long as it lives. */
	if (!busy)
		return tx->state == TX_RUNNING ? DEADMAN_UNDO : DEADMAN_END;
	return now_ms > hung_ms ? DEADMAN_KILL : DEADMAN_WAIT;
}

/* Writes one line to a file of the cgroup tree. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* cgroup v2, what systemd has of it beside v1, and its own v1 hierarchy. */
static const char *const cgroup_roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					   "/sys/fs/cgroup/systemd"};

/* Moves this process; the cgroup of no name is the top of the tree. */
static int enter_cgroup(const char *root, const char *name)
{
	char path[192], pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/%s%scgroup.procs", root, name, name[0] ? "/" : "");
	return put(path, pid);
}

/* Cgroups at the top of the trees: what ends with the login is below user.slice. */
static bool leave_cgroups(const char *name)
{
	bool left = false;
	char dir[192];

	for (unsigned int i = 0; i < ARRAY_SIZE(cgroup_roots); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", cgroup_roots[i], name);
		if (mkdir(dir, 0755) && errno != EEXIST)
			continue;
		if (enter_cgroup(cgroup_roots[i], name))
			(void)rmdir(dir);
		else
			left = true;
	}
	return left;
}

static void remove_cgroups(const char *name)
{
	char dir[192];

	for (unsigned int i = 0; i < ARRAY_SIZE(cgroup_roots); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", cgroup_roots[i], name);
		if (access(dir, F_OK))
			continue;
		(void)enter_cgroup(cgroup_roots[i], "");
		(void)rmdir(dir);
	}
}

/* Nothing of the tool stays open: its lock would never be free, its terminal never be left. */
static void detach(int pipe_fd)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP};
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd < KEPT_FD; fd++)
		(void)dup2(null, fd);
	(void)dup2(pipe_fd, KEPT_FD);
	(void)close_range(KEPT_FD + 1, UINT_MAX, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)umask(022);
	if (chdir("/"))
		_exit(1);
}

/* Somebody else may have undone it by now, or confirmed it. */
static bool is_settled(int err)
{
	return !err || err == -ECANCELED || err == -ENOENT;
}

static int undo_once(const struct deadman *d, struct err *e)
{
	enum apply_outcome outcome;
	struct tx tx = {0};
	struct dcb *dcb;
	int err = d->open(&dcb, e);

	if (err)
		return err;
	err = journal_rollback_unconfirmed(dcb, d->state_dir, d->id, &tx, &outcome, e);
	dcb_close(dcb);
	tx_clear(&tx);
	return err;
}

static void undo(const struct deadman *d)
{
	struct err e = {0};
	int err = undo_once(d, &e);

	for (unsigned int i = 1; !is_settled(err) && i < TRIES; i++) {
		(void)poll(NULL, 0, PAUSE_MS);
		err = undo_once(d, &e);
	}
	if (!err)
		syslog(LOG_WARNING, "transaction %s was not confirmed: undone", d->id);
	else if (!is_settled(err))
		syslog(LOG_ERR, "transaction %s was not confirmed and is not undone: %s", d->id,
		       e.text);
}

/* A file that cannot be read now may be read in a second; one that is gone was taken away. */
static enum deadman_act look(const struct deadman *d, uint64_t hung_ms)
{
	enum deadman_act act = DEADMAN_WAIT;
	/* First: a tool that ends in between has written its end by then. */
	bool held = baseline_busy(NULL, d->state_dir) != 0;
	struct tx tx;
	int err = journal_load(d->state_dir, d->id, &tx, NULL);

	if (!err)
		act = deadman_next(&tx, journal_clock_ms(), hung_ms, held);
	else if (err == -ENOENT)
		act = DEADMAN_END;
	tx_clear(&tx);
	return act;
}

/* The tool is told apart from a later process of its number by a descriptor (pidfd_open(2)). */
static void kill_tool(int tool)
{
	if (tool >= 0)
		(void)syscall(SYS_pidfd_send_signal, tool, SIGKILL, NULL, 0);
}

static void watch(const struct deadman *d, int tool)
{
	uint64_t hung_ms = journal_clock_ms() + d->hung_ms;
	enum deadman_act act;

	while ((act = look(d, hung_ms)) != DEADMAN_END) {
		if (act == DEADMAN_KILL)
			kill_tool(tool);
		if (act == DEADMAN_UNDO)
			undo(d);
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static _Noreturn void live(const struct deadman *d, int pipe_fd, pid_t tool_pid)
{
	struct ready ready = {.pid = getpid()};
	struct err e = {0};
	struct dcb *dcb;
	char cgroup[JOURNAL_ID_MAX + 16];
	int tool;

	detach(pipe_fd);
	openlog("rocecheck", LOG_PID, LOG_DAEMON);
	tool = (int)syscall(SYS_pidfd_open, tool_pid, 0);
	snprintf(cgroup, sizeof(cgroup), "rocecheck-%s", d->id);
	ready.own_cgroup = leave_cgroups(cgroup);
	/* What cannot be opened now could not be undone then. */
	ready.err = d->open(&dcb, &e);
	if (!ready.err)
		dcb_close(dcb);
	snprintf(ready.text, sizeof(ready.text), "%s", e.text);
	if (write(KEPT_FD, &ready, sizeof(ready)) == sizeof(ready) && !ready.err) {
		close(KEPT_FD);
		watch(d, tool);
	}
	remove_cgroups(cgroup);
	_exit(0);
}

static int open_host(struct dcb **dcb, struct err *e)
{
	return dcb_open(NULL, dcb, e);
}

/* The child of a child: init is its parent, and nobody waits for it. */
static int start(const struct deadman *d, int pipe_fd)
{
	pid_t tool = getpid(), child = fork();
	int status;

	if (child < 0)
		return -errno;
	if (!child) {
		if (setsid() < 0)
			_exit(1);
		child = fork();
		if (child)
			_exit(child < 0);
		live(d, pipe_fd, tool);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

static int await_ready(int fd, struct ready *ready)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int n;

	while ((n = poll(&p, 1, READY_MS)) < 0 && errno == EINTR)
		;
	if (n <= 0)
		return n < 0 ? -errno : -ETIMEDOUT;
	return read(fd, ready, sizeof(*ready)) == sizeof(*ready) ? ready->err : -EPIPE;
}

int deadman_arm(const struct deadman *d, struct deadman_armed *armed, struct err *e)
{
	struct deadman mine = *d;
	struct ready ready = {0};
	int fd[2], err;

	if (!mine.open)
		mine.open = open_host;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_sys(e, -errno, "dead-man");
	err = start(&mine, fd[1]);
	close(fd[1]);
	if (!err)
		err = await_ready(fd[0], &ready);
	close(fd[0]);
	if (err && ready.text[0])
		return err_set(e, err, "the process that would undo this cannot start: %.400s",
			       ready.text);
	if (err)
		return err_sys(e, err, "the process that would undo this cannot start");
	*armed = (struct deadman_armed){ready.pid, ready.own_cgroup};
	return 0;
}
