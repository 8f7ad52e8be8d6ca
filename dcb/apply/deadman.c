/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dead-man has the transaction in memory since the fork, and reads two sockets: the one of
 * apply, whose close means that apply has ended, and RUN/ID of other processes. It reads no file
 * before its undo is over. Times are CLOCK_BOOTTIME: cannot be set, and runs during suspend.
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
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "dcb/apply/decide.h"
#include "dcb/apply/tx.h"
#include "dcb/kernel/sysfs.h"
#include "profiles/base/process.h"

#define READY_MS  10000
#define ASK_MS	  10000 /* for an answer: it may be in an undo or wait for storage */
#define CHECK_MS  2000
#define RECORD_MS 3000	/* a confirmation may hold up the deadline by that */
#define END_MS	  60000 /* for the record of an undo: nothing waits for that */
#define DIE_MS	  3000	/* what sleeps in the kernel for longer does not see SIGKILL */
#define TRIES	  20	/* a port that is just away comes back */
#define PAUSE_MS  3000

/* The first message to apply. */
struct ready {
	struct err e; /* code 0: ready */
	unsigned int lacks;
};

/* A request; the answer is a struct err. */
struct question {
	enum { ASK_DONE, ASK_CHECK, ASK_CONFIRM, ASK_STOP } what;
	uint64_t confirm_by_ms; /* ASK_DONE */
	uint64_t until_ms;	/* timeout of the client */
};

struct deadman {
	int sock;
	struct state_at at;
	struct tx tx; /* only id, deadline and state */
};

struct watcher {
	const struct deadman_start *d;
	struct state state;
	struct tx tx;
	int sock, listener; /* sock -1: apply has ended */
	pid_t tool;
	unsigned int tries;
	uint64_t retry_ms;
	bool recorded; /* by the process that undid it */
	bool unsure;   /* a refused confirmation may still reach the disk */
};

/* cgroup v2, systemd's v2 mount beside v1, and systemd's v1 hierarchy. */
static const char *const cgroup_roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					   "/sys/fs/cgroup/systemd"};

/* Moves this process; name "" is the root cgroup. */
static int deadman_enter_cgroup(const char *root, const char *name)
{
	char path[192], pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/%s%scgroup.procs", root, name, name[0] ? "/" : "");
	return sysfs_write(AT_FDCWD, path, pid);
}

/* Moves to a top-level cgroup: cgroups that end with the login are below user.slice. */
static bool deadman_leave_cgroups(const char *name)
{
	bool left = false;
	char dir[192];

	for (unsigned int i = 0; i < ARRAY_SIZE(cgroup_roots); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", cgroup_roots[i], name);
		if (mkdir(dir, 0755) && errno != EEXIST)
			continue;
		if (deadman_enter_cgroup(cgroup_roots[i], name))
			(void)rmdir(dir);
		else
			left = true;
	}
	return left;
}

static void deadman_remove_cgroups(const char *name)
{
	char dir[192];

	for (unsigned int i = 0; i < ARRAY_SIZE(cgroup_roots); i++) {
		snprintf(dir, sizeof(dir), "%s/%s", cgroup_roots[i], name);
		if (access(dir, F_OK))
			continue;
		(void)deadman_enter_cgroup(cgroup_roots[i], "");
		(void)rmdir(dir);
	}
}

/* Closes all files of apply: else its lock and terminal would stay in use. */
static int deadman_detach(struct watcher *w)
{
	int *const kept[] = {&w->sock, &w->state.dir.fd, &w->state.tx.fd};
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	process_ignore_signals();
	(void)umask(077);
	if (null < 0 || chdir("/"))
		return -errno;
	return process_keep_fds(STDERR_FILENO + 1, kept, ARRAY_SIZE(kept));
}

static int deadman_address(const char *run, const char *id, struct sockaddr_un *a)
{
	int n = snprintf(a->sun_path, sizeof(a->sun_path), "%s/%s", run, id);

	a->sun_family = AF_UNIX;
	return n < (int)sizeof(a->sun_path) ? 0 : -ENAMETOOLONG;
}

static int deadman_listen(const char *run, const char *id, int *listener)
{
	struct sockaddr_un a = {0};
	int fd, err = deadman_address(run, id, &a);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, SOMAXCONN)) {
		err = -errno;
		close(fd);
		return err;
	}
	*listener = fd;
	return 0;
}

static void deadman_unlisten(const struct watcher *w)
{
	struct folder run;

	close(w->listener);
	if (folder_open(w->d->at.run, &run, NULL))
		return;
	(void)file_remove(&run, w->tx.id, NULL); /* a socket file that stays does no harm */
	folder_close(&run);
}

static bool deadman_poll(int fd, short events, int deadman_wait_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	while ((n = poll(&p, 1, deadman_wait_ms)) < 0 && errno == EINTR)
		;
	return n > 0 && p.revents;
}

static struct tx_view deadman_view(const struct watcher *w)
{
	struct tx_view v = tx_view(&w->tx, true, boottime_ms());

	v.tool_gone = w->sock < 0;
	return v;
}

static int deadman_on_done(struct watcher *w, uint64_t confirm_by_ms, struct err *e)
{
	struct dcb *dcb;
	int err;

	if (w->tx.state != TX_RUNNING)
		return err_set(e, -ECANCELED, "transaction %s is %s", w->tx.id,
			       tx_state_word(w->tx.state));
	err = w->d->open(&dcb, e);
	if (err)
		return err;
	err = tx_read_after(dcb, &w->tx, e);
	if (!err) {
		w->tx.state = TX_DONE;
		w->tx.confirm_by_ms = confirm_by_ms;
	}
	dcb_close(dcb);
	return err;
}

/* unsure: the record may still reach the disk. */
static int deadman_on_confirm(struct watcher *w, const struct question *q, struct err *e)
{
	struct dcb *dcb;
	int err = w->d->open(&dcb, e);

	if (err)
		return err;
	err = tx_confirm_alone(dcb, &w->state, &w->tx, RECORD_MS, q->until_ms, e);
	w->unsure |= err == -ETIMEDOUT;
	dcb_close(dcb);
	return err;
}

static void deadman_answer(struct watcher *w, int fd, const struct question *q)
{
	struct tx_view v = deadman_view(w);
	struct err e = {0};
	int err = 0;

	switch (q->what) {
	case ASK_DONE:
		err = deadman_on_done(w, q->confirm_by_ms, &e);
		break;
	case ASK_CHECK:
		err = tx_refuse(tx_decide(&v, TX_PROMISE), &w->tx, &e);
		break;
	case ASK_CONFIRM:
		err = deadman_on_confirm(w, q, &e);
		break;
	case ASK_STOP:
		w->tx.state = TX_UNDONE;
		w->recorded = true;
		break;
	}
	e.code = err; /* clears the text of an earlier failure */
	(void)send(fd, &e, sizeof(e), MSG_NOSIGNAL | MSG_DONTWAIT); /* the client may have ended */
}

static void deadman_answer_tool(struct watcher *w)
{
	struct question q;

	if (recv(w->sock, &q, sizeof(q), MSG_DONTWAIT) == sizeof(q)) {
		deadman_answer(w, w->sock, &q);
		return;
	}
	close(w->sock);
	w->sock = -1;
}

static void deadman_answer_client(struct watcher *w)
{
	int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC);
	struct question q;

	if (fd < 0)
		return;
	/* A pending message of apply comes first: it may have ended the transaction. */
	if (deadman_poll(fd, POLLIN, CHECK_MS) &&
	    recv(fd, &q, sizeof(q), MSG_DONTWAIT) == sizeof(q))
		deadman_answer(w, fd, &q);
	close(fd);
}

/* Time until the next timer. */
static int deadman_wait_ms(const struct watcher *w)
{
	uint64_t now = boottime_ms(), at = w->tx.deadline_ms;

	if (w->tx.state == TX_DONE)
		at = w->tx.confirm_by_ms;
	if (w->tries)
		at = w->retry_ms;
	return at <= now ? 0 : at - now > INT_MAX ? INT_MAX : (int)(at - now);
}

static void deadman_wait(struct watcher *w)
{
	/* poll(2) ignores negative descriptors. */
	struct pollfd fds[] = {{.fd = w->sock, .events = POLLIN},
			       {.fd = w->listener, .events = POLLIN}};

	if (poll(fds, ARRAY_SIZE(fds), deadman_wait_ms(w)) <= 0)
		return;
	if (fds[0].revents)
		deadman_answer_tool(w);
	if (fds[1].revents)
		deadman_answer_client(w);
}

/* Kills an apply that hangs, so that it does not write after the undo. Its pid cannot be reused
 * while its end of the socket is open. */
static void deadman_stop_tool(struct watcher *w)
{
	struct question q;

	if (w->sock < 0 || w->tx.state != TX_RUNNING)
		return;
	(void)kill(w->tool, SIGKILL);
	while (deadman_poll(w->sock, POLLIN, DIE_MS))
		if (recv(w->sock, &q, sizeof(q), MSG_DONTWAIT) <= 0)
			break;
	close(w->sock);
	w->sock = -1;
}

/* Runs after the undo, so that hanging storage does not delay it. */
static int deadman_record(struct watcher *w, unsigned int within_ms, const struct err *e)
{
	char log[ERR_TEXT_MAX];

	if (w->tx.state == TX_LOST)
		snprintf(log, sizeof(log),
			 "transaction %s was not confirmed, and undoing it failed: %.900s",
			 w->tx.id, e->text);
	else
		snprintf(log, sizeof(log), "transaction %s was not confirmed: undone", w->tx.id);
	return journal_append_within(&w->state, &w->tx, within_ms, log, NULL);
}

/* Records the undo; retries if a confirmation may be on the disk. */
static void deadman_record_result(struct watcher *w, const struct err *e)
{
	if (w->recorded || (w->tx.state != TX_UNDONE && w->tx.state != TX_LOST))
		return;
	while (deadman_record(w, END_MS, e) && w->unsure)
		(void)poll(NULL, 0, PAUSE_MS);
}

static void deadman_undo(struct watcher *w, struct err *e)
{
	struct dcb *dcb;
	int err;

	deadman_stop_tool(w);
	err = w->d->open(&dcb, e);
	if (!err) {
		err = tx_restore(dcb, &w->tx, TX_WAIT_LINK_S, e);
		dcb_close(dcb);
	}
	w->tx.state = err ? TX_LOST : TX_UNDONE;
	w->retry_ms = boottime_ms() + PAUSE_MS;
	w->tries++;
	if (err && w->tries == 1)
		(void)deadman_record(w, RECORD_MS, e);
}

/* Runs until the transaction is confirmed or undone, or all tries have failed. */
static void deadman_watch(struct watcher *w, struct err *e)
{
	enum tx_act act;

	for (;;) {
		const struct tx_view v = deadman_view(w);

		act = tx_decide(&v, TX_LOOK);
		if (act == TX_STOP || w->tries == TRIES)
			return;
		if (act == TX_UNDO && (!w->tries || boottime_ms() >= w->retry_ms))
			deadman_undo(w, e);
		else
			deadman_wait(w);
	}
}

/* Opens everything that an undo needs before anything is written. */
static int deadman_prepare(struct watcher *w, unsigned int *lacks, struct err *e)
{
	struct dcb *dcb;
	int err = deadman_detach(w);

	if (err)
		return err_sys(e, err, "closing inherited files");
	err = deadman_listen(w->d->at.run, w->tx.id, &w->listener);
	if (err)
		return err_sys(e, err, "%s/%s", w->d->at.run, w->tx.id);
	openlog("rocecheck", LOG_PID, LOG_DAEMON);
	/* Locking may be forbidden: the dead-man works without it, too. */
	(void)mlockall(MCL_CURRENT | MCL_FUTURE);
	(void)process_set_oom(PROCESS_OOM_NEVER);
	if (process_oom() != PROCESS_OOM_NEVER)
		*lacks |= DEADMAN_LACKS_OOM;
	err = w->d->open(&dcb, e);
	if (!err)
		dcb_close(dcb);
	return err;
}

static _Noreturn void deadman_main(const struct deadman_start *d, int talk, pid_t tool)
{
	struct watcher w = {.d = d,
			    .state = *d->state,
			    .tx = *d->tx,
			    .sock = talk,
			    .listener = -1,
			    .tool = tool};
	struct ready ready = {0};
	struct err e = {0};
	char cgroup[JOURNAL_ID_MAX + 16];

	ready.e.code = deadman_prepare(&w, &ready.lacks, &ready.e);
	snprintf(cgroup, sizeof(cgroup), "rocecheck-%s", d->tx->id);
	if (!deadman_leave_cgroups(cgroup))
		ready.lacks |= DEADMAN_LACKS_CGROUP;
	(void)send(w.sock, &ready, sizeof(ready),
		   MSG_NOSIGNAL); /* an ended apply is undone later */
	if (!ready.e.code)
		deadman_watch(&w, &e);
	if (w.listener >= 0)
		deadman_unlisten(&w);
	deadman_record_result(&w, &e);
	deadman_remove_cgroups(cgroup);
	_exit(0);
}

static int deadman_open_host(struct dcb **dcb, struct err *e)
{
	return dcb_open(NULL, dcb, e);
}

/* Forks twice, so that init becomes the parent and reaps it. */
static int deadman_fork(const struct deadman_start *d, int talk)
{
	pid_t tool = getpid(), child = fork();
	int status;

	if (!child) {
		if (setsid() < 0)
			_exit(1);
		child = fork();
		if (child)
			_exit(child < 0);
		deadman_main(d, talk, tool);
	}
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}

/* Sends a request and reads the answer. -EPIPE: the dead-man has ended; -ETIMEDOUT. */
static int deadman_request(int fd, struct question q, int wait, struct err *e)
{
	struct err reply;
	ssize_t n;

	q.until_ms = boottime_ms() + wait;
	if (send(fd, &q, sizeof(q), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(q))
		return -EPIPE;
	if (!deadman_poll(fd, POLLIN, wait))
		return -ETIMEDOUT;
	n = recv(fd, &reply, sizeof(reply), MSG_DONTWAIT);
	if (n != sizeof(reply))
		return -EPIPE;
	if (reply.code && e)
		*e = reply;
	return reply.code;
}

static int deadman_await_ready(int talk, struct ready *ready)
{
	ssize_t n;

	if (!deadman_poll(talk, POLLIN, READY_MS))
		return -ETIMEDOUT;
	n = recv(talk, ready, sizeof(*ready), MSG_DONTWAIT);
	return n == sizeof(*ready) ? ready->e.code : -EPIPE;
}

int deadman_arm(const struct deadman_start *start_of, struct deadman **d, unsigned int *lacks,
		struct err *e)
{
	struct deadman_start mine = *start_of;
	struct deadman *made = calloc(1, sizeof(*made));
	struct ready ready = {0};
	int talk[2], err;

	if (!made)
		return err_sys(e, -ENOMEM, "rollback process");
	if (!mine.open)
		mine.open = deadman_open_host;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0) {
		free(made);
		return err_sys(e, -errno, "rollback process");
	}
	err = deadman_fork(&mine, talk[1]);
	close(talk[1]);
	if (!err)
		err = deadman_await_ready(talk[0], &ready);
	if (err) {
		close(talk[0]);
		free(made);
		if (ready.e.text[0])
			return err_set(e, err, "cannot start the rollback process: %.400s",
				       ready.e.text);
		return err_sys(e, err, "cannot start the rollback process");
	}
	made->sock = talk[0];
	made->at = start_of->at;
	made->tx = *start_of->tx;
	*lacks = ready.lacks;
	*d = made;
	return 0;
}

int deadman_done(struct deadman *d, uint64_t confirm_by_ms, struct err *e)
{
	const struct question q = {.what = ASK_DONE, .confirm_by_ms = confirm_by_ms};
	struct err why = {0};
	int err = deadman_request(d->sock, q, ASK_MS, &why);

	d->tx.state = TX_DONE;
	d->tx.confirm_by_ms = confirm_by_ms;
	if (!err)
		return 0;
	return why.text[0] ? err_set(e, err, "%s", why.text) : err_sys(e, err, "rollback process");
}

/* If the dead-man has ended, the journal has the reason. */
int deadman_check(struct deadman *d, struct err *e)
{
	const struct question q = {.what = ASK_CHECK};
	struct state s = {0};
	struct tx_view v;
	struct tx now = {0};
	enum tx_act act;
	int err = d ? deadman_request(d->sock, q, CHECK_MS, e) : 0;

	if (err != -EPIPE && err != -ETIMEDOUT)
		return err;
	v = tx_view(&d->tx, false, boottime_ms());
	if (!state_open(&d->at, &s, NULL) && !journal_read(&s, d->tx.id, &now, NULL)) {
		v.state = now.state == TX_RUNNING ? d->tx.state : now.state;
		v.confirmed = now.confirmed;
		d->tx.state = v.state;
	}
	tx_clear(&now);
	state_close(&s);
	act = tx_decide(&v, TX_PROMISE);
	if (act == TX_UNDO)
		return err_set(e, -ECANCELED, "the rollback process of transaction %s %s", d->tx.id,
			       err == -EPIPE ? "has ended" : "does not answer");
	return tx_refuse(act, &d->tx, e);
}

void deadman_free(struct deadman *d)
{
	if (!d)
		return;
	close(d->sock);
	free(d);
}

static int deadman_connect(const char *run, const char *id, int *fd)
{
	struct sockaddr_un a = {0};
	int s, err = deadman_address(run, id, &a);

	if (err)
		return err;
	s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s < 0)
		return -errno;
	if (connect(s, (struct sockaddr *)&a, sizeof(a))) {
		err = errno == ENOENT ? -ECONNREFUSED : -errno;
		close(s);
		return err;
	}
	*fd = s;
	return 0;
}

bool deadman_lives(const char *run, const char *id)
{
	int fd, err = deadman_connect(run, id, &fd);

	if (!err)
		close(fd);
	return !err || err == -EAGAIN; /* its backlog is full */
}

bool deadman_find(const char *run, char id[JOURNAL_ID_MAX])
{
	DIR *dir = opendir(run);
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		if (strlen(d->d_name) >= JOURNAL_ID_MAX || d->d_name[0] == '.')
			continue;
		found = deadman_lives(run, d->d_name);
		if (found)
			memcpy(id, d->d_name, strlen(d->d_name) + 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

int deadman_confirm(const char *run, const char *id, struct err *e)
{
	const struct question q = {.what = ASK_CONFIRM};
	struct err why = {0};
	int fd, err = deadman_connect(run, id, &fd);

	if (err)
		return err == -ECONNREFUSED ? err : err_sys(e, err, "%s/%s", run, id);
	err = deadman_request(fd, q, ASK_MS, &why);
	close(fd);
	if (why.code && e)
		*e = why;
	if (err == -ETIMEDOUT && !why.code) {
		err_set(e, err, "the rollback process of transaction %s does not answer", id);
		err_hint(e, "to restore the former settings: rocecheck rollback %s", id);
	}
	return err == -EPIPE ? -ECONNREFUSED : err;
}

void deadman_stop(const char *run, const char *id)
{
	const struct question q = {.what = ASK_STOP};
	socklen_t size = sizeof(struct ucred);
	struct ucred peer;
	uint64_t end = boottime_ms() + 2 * CHECK_MS;
	int fd;

	if (deadman_connect(run, id, &fd))
		return;
	/* The pid of the listening process cannot be reused while the connection is open. */
	if (deadman_request(fd, q, CHECK_MS, NULL) == -ETIMEDOUT &&
	    !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid > 0)
		(void)kill(peer.pid, SIGKILL);
	close(fd);
	/* Waits for its end: no other transaction can begin before. */
	while (deadman_lives(run, id) && boottime_ms() < end)
		(void)poll(NULL, 0, 5);
}
