/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man reads the journal once a second: the tool announces there what it does. What it read
 * last it keeps, and it ends only by what it has read: confirmed, or undone. A journal that cannot
 * be read any more, or that has gone, is no reason to wait or to end. The tool is watched by its
 * pidfd (pidfd_open(2)). The clock is CLOCK_BOOTTIME, which no one sets and which goes on in sleep.
 *
 * For its undo it takes the lock, and waits for it as long as the undo of another transaction may
 * take. Who holds it longer is a confirmation or a rollback that hangs or was stopped: a rollback
 * writes the same former values, a confirmation reads the journal again behind its line. So the
 * undo goes on without the lock then. Under the lock it reads once more and decides again.
 *
 * Storage that hangs is waited for DISK_MS at most: see deadman_disk.h.
 */
#include "dcb/apply/deadman.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "dcb/apply/deadman_disk.h"
#include "dcb/apply/journal_in.h"
#include "profiles/base/oom.h"

#define LOOK_MS	 1000
#define READY_MS 10000
#define ASK_MS	 2000
#define READ_MS	 500   /* for the journal of a look; the tool waits ASK_MS for two of them */
#define DISK_MS	 5000  /* for the journal and its lock before the undo */
#define END_MS	 60000 /* for the record of the undo behind it: nothing waits for that */
#define LOG_MS	 2000
#define STEP_MS	 100
#define TRIES	 20 /* a port that is just away comes back */
#define PAUSE_MS 3000
#define DIE_MS	 10000 /* what sleeps in the kernel for longer does not see SIGKILL */
#define KEPT_FD	 3     /* the first descriptor that the dead-man keeps */
#define FREE_FD	 64    /* none of those that it keeps is here or above */

/* The first message to the tool. */
struct ready {
	int err; /* -errno; 0: ready */
	pid_t pid;
	bool own_cgroup;
	char text[ERR_TEXT_MAX];
};

/* What the tool asks later, and the answer. */
struct question {
	uint64_t confirm_by_ms; /* 0: not done yet */
};

struct answer {
	enum deadman_act act;
};

/* The dead-man itself. */
struct watcher {
	const struct deadman *d;
	struct state state;
	struct disk *disk;
	struct tx known;
	struct tx guess; /* room for what was planned; see assume_planned() */
	int tool, talk;	 /* -1: the kernel has no pidfd; the tool has left */
	pid_t tool_pid;
	bool tool_gone, unreadable;
	bool hangs; /* the storage did not answer in time */
	bool whole; /* all steps are in known: the journal said that it is done */
	bool begun; /* the undo: it is brought to its end */
	uint64_t hung_at_ms;
};

enum deadman_act deadman_next(const struct tx *tx, const struct deadman_view *view)
{
	if (tx->confirmed || tx->state == TX_UNDONE)
		return DEADMAN_END;
	if (tx->state == TX_DONE)
		return view->now_ms < tx->confirm_by_ms ? DEADMAN_WAIT : DEADMAN_UNDO;
	/* It was done, and somebody did not come to the end of its undo. */
	if (tx->confirm_by_ms && view->now_ms >= tx->confirm_by_ms)
		return DEADMAN_UNDO;
	if (!view->tool_gone && view->now_ms > view->hung_at_ms + DIE_MS)
		return DEADMAN_UNDO;
	if (!view->tool_gone)
		return view->now_ms > view->hung_at_ms ? DEADMAN_KILL : DEADMAN_WAIT;
	/* Of a journal that cannot be read nobody knows what was announced since. */
	return tx->state == TX_RUNNING || tx->state == TX_LOST || view->unreadable ? DEADMAN_UNDO
										   : DEADMAN_END;
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

static int close_listed(int first)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd >= first && fd != dirfd(dir))
			close(fd);
	}
	closedir(dir);
	return 0;
}

/* Kernels before 5.9 and containers that filter calls have no close_range(2). */
static int close_from(int first)
{
	return close_range((unsigned int)first, UINT_MAX, 0) ? close_listed(first) : 0;
}

/* Moves what stays open to the first descriptors. */
static int keep_open(struct watcher *w)
{
	int *kept[] = {&w->talk, &w->state.dir.fd, &w->state.tx.fd, &w->tool};

	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++) {
		if (*kept[i] < 0)
			continue;
		*kept[i] = fcntl(*kept[i], F_DUPFD, FREE_FD);
		if (*kept[i] < 0)
			return -errno;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(kept); i++) {
		if (*kept[i] < 0) {
			(void)close(KEPT_FD + (int)i); /* of the tool, or none */
			continue;
		}
		*kept[i] = dup2(*kept[i], KEPT_FD + (int)i);
		if (*kept[i] < 0)
			return -errno;
	}
	return close_from(KEPT_FD + (int)ARRAY_SIZE(kept));
}

/* Nothing of the tool stays open: its lock would never be free, its terminal never be left. */
static int detach(struct watcher *w)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP};
	int null = open("/dev/null", O_RDWR), err = 0;
	sigset_t none;

	for (int fd = 0; null >= 0 && fd < KEPT_FD; fd++)
		(void)dup2(null, fd);
	for (unsigned int i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)umask(077);
	if (null < 0 || chdir("/"))
		err = -errno;
	return err ? err : keep_open(w);
}

/* Whether a journal goes on where the known one is: what was announced is never taken back. Only an
 * undo that was begun follows the end, and leaves its time. */
static bool continues(const struct tx *known, const struct tx *fresh)
{
	if (fresh->port_count != known->port_count || fresh->step_count < known->step_count)
		return false;
	return known->state != TX_DONE || fresh->state >= TX_DONE ||
	       fresh->confirm_by_ms == known->confirm_by_ms;
}

static void read_journal(struct watcher *w, unsigned int wait_ms)
{
	struct tx fresh = {0};
	int err = disk_read(w->disk, wait_ms, &fresh);

	w->hangs = err == -ETIMEDOUT;
	w->unreadable = err || !continues(&w->known, &fresh);
	if (w->unreadable) {
		tx_clear(&fresh);
		return;
	}
	tx_clear(&w->known);
	w->known = fresh;
	w->whole |= fresh.state >= TX_DONE;
}

static bool is_ready(int fd, short events, int wait_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	while ((n = poll(&p, 1, wait_ms)) < 0 && errno == EINTR)
		;
	return n > 0 && p.revents;
}

/* Without a pidfd: its end of the talk closes with it. It closes it itself only behind its end. */
static void look_for_tool(struct watcher *w)
{
	if (w->tool >= 0)
		w->tool_gone |= is_ready(w->tool, POLLIN, 0);
	else
		w->tool_gone |= w->talk < 0;
}

static enum deadman_act decide(const struct watcher *w)
{
	const struct deadman_view view = {.tool_gone = w->tool_gone,
					  .unreadable = w->unreadable,
					  .now_ms = journal_clock_ms(),
					  .hung_at_ms = w->hung_at_ms};

	return deadman_next(&w->known, &view);
}

/* The tool first: one that ends in between has written its end by then. */
static enum deadman_act look(struct watcher *w)
{
	look_for_tool(w);
	read_journal(w, READ_MS);
	return decide(w);
}

static void answer_tool(struct watcher *w)
{
	struct question q;
	struct answer a;

	if (recv(w->talk, &q, sizeof(q), MSG_DONTWAIT) != sizeof(q)) {
		close(w->talk);
		w->talk = -1;
		return;
	}
	read_journal(w, READ_MS);
	if (q.confirm_by_ms && w->known.state < TX_DONE) {
		w->known.state = TX_DONE;
		w->known.confirm_by_ms = q.confirm_by_ms;
	}
	a.act = look(w);
	(void)send(w->talk, &a, sizeof(a), MSG_NOSIGNAL); /* it asks again, or is gone */
}

static void wait_for_news(struct watcher *w)
{
	/* poll(2) passes over negative descriptors. */
	struct pollfd fds[] = {{.fd = w->talk, .events = POLLIN},
			       {.fd = w->tool_gone ? -1 : w->tool, .events = POLLIN}};

	if (poll(fds, ARRAY_SIZE(fds), LOOK_MS) > 0 && fds[0].revents)
		answer_tool(w);
}

/* What was announced since nobody knows: all that was planned. Of what has no former value the
 * judgement says so. Not in what is known: a journal that can be read again is compared with that.
 */
static struct tx *assume_planned(struct watcher *w)
{
	const struct tx *known = &w->known;
	struct tx *tx = &w->guess;

	memcpy(tx->port, known->port, known->port_count * sizeof(*tx->port));
	memcpy(tx->step, known->step, known->step_count * sizeof(*tx->step));
	tx->step_count = known->step_count;
	for (unsigned int i = 0; i < tx->port_count; i++) {
		uint64_t fields = w->d->planned[i];

		if (fields && tx->step_count < JOURNAL_STEPS_MAX)
			tx->step[tx->step_count++] = (struct tx_step){i, fields};
	}
	return tx;
}

static void say(struct watcher *w, int priority, const char *what, const char *why)
{
	char text[ERR_TEXT_MAX];

	snprintf(text, sizeof(text), "transaction %s %s%.900s", w->known.id, what, why);
	disk_log(w->disk, LOG_MS, priority, text);
}

/* From here on it is neither done nor to be confirmed, also when this process is killed. Storage
 * that hangs does not hold up the undo. */
static void record_begin(struct watcher *w)
{
	if (!w->hangs && !disk_record(w->disk, DISK_MS, TX_RUNNING, NULL) && !w->unreadable)
		w->known.state = TX_RUNNING;
	w->begun = true;
}

/* The machine counts, not the record of it. */
static void record_end(struct watcher *w, enum tx_state end)
{
	struct err e = {0};

	if (disk_record(w->disk, end == TX_UNDONE ? END_MS : DISK_MS, end, &e))
		say(w, LOG_ERR, "has an end that is not recorded: ", e.text);
}

static int restore(struct watcher *w, struct err *e)
{
	struct tx *tx = &w->known;
	struct dcb *dcb;
	int err = w->d->open(&dcb, e);

	if (err)
		return err;
	record_begin(w);
	if (w->unreadable && !w->whole)
		tx = assume_planned(w);
	err = tx_restore(dcb, tx, JOURNAL_WAIT_S, e);
	dcb_close(dcb);
	record_end(w, err ? TX_LOST : TX_UNDONE);
	return err;
}

/* A tool that hangs in its midst does not give its lock back. */
static void await_lock(struct watcher *w)
{
	bool held_by_tool = !w->tool_gone && !w->known.confirm_by_ms;
	uint64_t end = journal_clock_ms() + (held_by_tool ? STATE_LOCK_MS : tx_lock_ms(&w->known));

	while (disk_lock(w->disk, DISK_MS) == -EBUSY && journal_clock_ms() < end)
		(void)poll(NULL, 0, STEP_MS);
}

/* Somebody has changed the same port since: what was before ours is of no use any more. */
static bool is_overtaken(struct watcher *w)
{
	char newer[JOURNAL_ID_MAX];

	if (w->hangs || disk_find_newer(w->disk, DISK_MS, newer))
		return false;
	say(w, LOG_ERR, "is not undone, its ports were changed since by transaction ", newer);
	return true;
}

/* By now somebody else may have undone or confirmed it, or the tool may have come to its end. */
static enum deadman_act decide_again(struct watcher *w)
{
	enum deadman_act act = decide(w);

	if (w->begun && act != DEADMAN_END)
		act = DEADMAN_UNDO;
	return act == DEADMAN_UNDO && is_overtaken(w) ? DEADMAN_END : act;
}

/* *act: DEADMAN_UNDO when it was tried. */
static int undo_once(struct watcher *w, enum deadman_act *act, struct err *e)
{
	int err = 0;

	await_lock(w);
	read_journal(w, DISK_MS);
	*act = decide_again(w);
	if (*act == DEADMAN_UNDO)
		err = restore(w, e);
	disk_unlock(w->disk, LOG_MS);
	return err;
}

/* What to do now. */
static enum deadman_act undo(struct watcher *w)
{
	enum deadman_act act;
	struct err e = {0};
	int err = undo_once(w, &act, &e);

	for (unsigned int i = 1; err && i < TRIES; i++) {
		(void)poll(NULL, 0, PAUSE_MS);
		err = undo_once(w, &act, &e);
	}
	if (act != DEADMAN_UNDO)
		return act;
	if (err)
		say(w, LOG_ERR, "was not confirmed and is not undone: ", e.text);
	else
		say(w, LOG_WARNING, "was not confirmed: undone", "");
	return DEADMAN_END;
}

static void kill_by(int pidfd)
{
	if (pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
}

/* A pid whose end of the talk is still open is its own. */
static void kill_tool(const struct watcher *w)
{
	if (w->tool >= 0)
		kill_by(w->tool);
	else if (w->talk >= 0)
		(void)kill(w->tool_pid, SIGKILL);
}

static void watch(struct watcher *w)
{
	enum deadman_act act;

	for (;;) {
		act = look(w);
		if (act == DEADMAN_UNDO)
			act = undo(w);
		if (act == DEADMAN_END)
			break;
		if (act == DEADMAN_KILL)
			kill_tool(w);
		wait_for_news(w);
	}
}

/* What cannot be opened now could not be undone then. */
static int prepare(struct watcher *w, struct err *e)
{
	struct dcb *dcb;
	int err = detach(w);

	if (err)
		return err_sys(e, err, "leaving what the tool has open");
	err = tx_copy(w->d->tx, &w->known);
	if (!err)
		err = tx_copy(w->d->tx, &w->guess);
	if (err)
		return err_sys(e, err, "transaction");
	openlog("rocecheck", LOG_PID, LOG_DAEMON);
	/* Before memory is locked: its stack may be more than a user may lock. */
	err = disk_start(&w->state, w->d->tx, &w->disk, e);
	if (err)
		return err;
	/* Without the right to lock memory it waits all the same. */
	(void)mlockall(MCL_CURRENT | MCL_FUTURE);
	(void)oom_set(OOM_NEVER);
	err = w->d->open(&dcb, e);
	if (!err)
		dcb_close(dcb);
	return err;
}

static _Noreturn void live(const struct deadman *d, int talk, int tool, pid_t tool_pid)
{
	struct watcher w = {
		.d = d, .state = *d->state, .tool = tool, .talk = talk, .tool_pid = tool_pid};
	struct ready ready = {.pid = getpid()};
	struct err e = {0};
	char cgroup[JOURNAL_ID_MAX + 16];

	w.hung_at_ms = journal_clock_ms() + d->hung_ms;
	ready.err = prepare(&w, &e);
	snprintf(cgroup, sizeof(cgroup), "rocecheck-%s", d->tx->id);
	ready.own_cgroup = leave_cgroups(cgroup);
	snprintf(ready.text, sizeof(ready.text), "%s", e.text);
	if (send(w.talk, &ready, sizeof(ready), MSG_NOSIGNAL) == sizeof(ready) && !ready.err)
		watch(&w);
	remove_cgroups(cgroup);
	_exit(0);
}

static int open_host(struct dcb **dcb, struct err *e)
{
	return dcb_open(NULL, dcb, e);
}

/* The child of a child: init is its parent, and nobody waits for it. */
static int start(const struct deadman *d, int talk)
{
	/* Before the fork: it is of this process and of no later one with its number. */
	int tool = (int)syscall(SYS_pidfd_open, getpid(), 0), status, err = 0;
	pid_t tool_pid = getpid(), child = fork();

	if (!child) {
		if (setsid() < 0)
			_exit(1);
		child = fork();
		if (child)
			_exit(child < 0);
		live(d, talk, tool, tool_pid);
	}
	if (child < 0)
		err = -errno;
	if (tool >= 0)
		close(tool);
	while (!err && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (err)
		return err;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

static int await_ready(int talk, struct ready *ready)
{
	ssize_t n;

	if (!is_ready(talk, POLLIN, READY_MS))
		return -ETIMEDOUT;
	n = recv(talk, ready, sizeof(*ready), MSG_DONTWAIT);
	return n == sizeof(*ready) ? ready->err : -EPIPE;
}

int deadman_arm(const struct deadman *d, struct deadman_armed *armed, struct err *e)
{
	struct deadman mine = *d;
	struct ready ready = {0};
	int talk[2], err;

	if (!mine.open)
		mine.open = open_host;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
		return err_sys(e, -errno, "dead-man");
	err = start(&mine, talk[1]);
	close(talk[1]);
	if (!err)
		err = await_ready(talk[0], &ready);
	if (!err) {
		*armed = (struct deadman_armed){.pid = ready.pid,
						.pidfd = (int)syscall(SYS_pidfd_open, ready.pid, 0),
						.talk = talk[0],
						.own_cgroup = ready.own_cgroup};
		return 0;
	}
	close(talk[0]);
	if (ready.text[0])
		return err_set(e, err, "the process that would undo this cannot start: %.400s",
			       ready.text);
	return err_sys(e, err, "the process that would undo this cannot start");
}

int deadman_ask(const struct deadman_armed *armed, uint64_t confirm_by_ms)
{
	struct question q = {.confirm_by_ms = confirm_by_ms};
	struct answer a;

	if (send(armed->talk, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(q))
		return -EPIPE;
	if (!is_ready(armed->talk, POLLIN, ASK_MS))
		return -ETIMEDOUT;
	if (recv(armed->talk, &a, sizeof(a), MSG_DONTWAIT) != sizeof(a))
		return -EPIPE;
	return a.act == DEADMAN_WAIT ? 0 : -ECANCELED;
}

void deadman_leave(struct deadman_armed *armed)
{
	if (armed->pidfd >= 0)
		close(armed->pidfd);
	if (armed->talk >= 0)
		close(armed->talk);
	armed->pidfd = armed->talk = -1;
}

void deadman_end(struct deadman_armed *armed)
{
	/* A pid whose end of the talk is still open is its own. */
	if (armed->pidfd >= 0 && !is_ready(armed->talk, 0, 0))
		kill_by(armed->pidfd);
	deadman_leave(armed);
}
