/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fork(2) without exec: the child reads and decodes. It calls nothing that a thread of the parent
 * could have locked, except malloc(3) and stdio, which glibc resets in the child.
 */
#include "capture/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/process.h"
#include "profiles/base/sandbox.h"

#define READY_MS 30000 /* allocating a ring of 64 MB takes time */
#define END_MS	 3000
#define SEND_S	 10 /* messages are small: only a stuck process blocks them */
#define TEXT_MIN 4096U

/* Above the fixed descriptors, and low enough for a small RLIMIT_NOFILE. */
#define FIRST_FREE (CONFINED_FILE_FD + 1)

static int confined_wait(int fd, short events, uint64_t until_ms)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = events};
		uint64_t now_ms = monotonic_ms();
		int n = poll(&p, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);

		if (n > 0)
			return 0;
		if (!n)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int confined_read(int fd, void *bytes, size_t size, int timeout_ms)
{
	uint64_t until_ms = monotonic_ms() + (uint64_t)timeout_ms;
	uint8_t *at = bytes;

	while (size) {
		int err = confined_wait(fd, POLLIN, until_ms);
		ssize_t n;

		if (err)
			return err;
		n = recv(fd, at, size, 0);
		if (!n || (n < 0 && errno != EINTR))
			return -EPIPE;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int confined_write(int fd, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
		if (n > 0) {
			at += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

int confined_read_text(int fd, size_t max, int timeout_ms, char **out)
{
	uint64_t until_ms = monotonic_ms() + (uint64_t)timeout_ms;
	size_t have = 0, size = TEXT_MIN;
	char *text = malloc(size), *more;
	int err = text ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n;

		err = confined_wait(fd, POLLIN, until_ms);
		if (err)
			break;
		n = recv(fd, text + have, size - have - 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = have ? 0 : -EPIPE;
			break;
		}
		have += (size_t)n;
		if (have > max) {
			err = -EMSGSIZE;
		} else if (have + 1 == size) {
			size *= 2;
			more = realloc(text, size);
			if (more)
				text = more;
			else
				err = -ENOMEM;
		}
	}
	if (err) {
		free(text);
		return err;
	}
	text[have] = '\0';
	*out = text;
	return 0;
}

/* Room for one descriptor, aligned for cmsg(3). */
union passed {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int confined_send_fd(int to, uint8_t byte, int fd)
{
	union passed passed = {.bytes = {0}};
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = passed.bytes,
			   .msg_controllen = sizeof(passed.bytes)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return sendmsg(to, &m, MSG_NOSIGNAL) == 1 ? 0 : -EPIPE;
}

int confined_receive_fd(int from, uint8_t *byte, int *fd)
{
	union passed passed = {.bytes = {0}};
	struct iovec data = {.iov_base = byte, .iov_len = 1};
	struct msghdr m = {.msg_iov = &data,
			   .msg_iovlen = 1,
			   .msg_control = passed.bytes,
			   .msg_controllen = sizeof(passed.bytes)};
	struct cmsghdr *h;
	ssize_t n;

	while ((n = recvmsg(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	if (n != 1)
		return -EPIPE;
	h = CMSG_FIRSTHDR(&m);
	*fd = -1;
	if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
	    h->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(h), sizeof(*fd));
	return 0;
}

/* dup2() would close a number that is still needed. */
static int confined_dup_above(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD, FIRST_FREE);
}

/* Sanitizers report there. */
static bool confined_keeps_stderr(void)
{
#ifdef __SANITIZE_ADDRESS__
	return fcntl(STDERR_FILENO, F_GETFD) >= 0;
#else
	return false;
#endif
}

/*
 * Opens /dev/null as 0, 1 and 2: the child must neither read from the terminal nor write
 * unsanitized text to it. Then the socket and the file. The numbers up to SANDBOX_WRITE_END are in
 * use, so that packet sockets opened now get higher ones.
 */
static int confined_set_descriptors(const struct confined_job *job, int socket)
{
	int parent = confined_dup_above(socket), file = confined_dup_above(job->file_fd);
	int null = open("/dev/null", O_RDWR), err;
	int spare = null < 0 ? -1 : fcntl(null, F_DUPFD, FIRST_FREE);

	if (parent < 0 || spare < 0 || (job->file_fd >= 0 && file < 0))
		return -errno;
	for (int fd = 0; fd < FIRST_FREE; fd++) {
		int from = fd == SANDBOX_PARENT_FD		 ? parent
			   : fd == CONFINED_FILE_FD && file >= 0 ? file
								 : spare;

		if (fd == STDERR_FILENO && confined_keeps_stderr())
			continue;
		if (dup2(from, fd) < 0)
			return -errno;
	}
	err = process_close_from(FIRST_FREE);
	for (int fd = FIRST_FREE; !err && fd < SANDBOX_WRITE_END; fd++)
		if (dup2(CONFINED_FILE_FD, fd) < 0)
			err = -errno;
	return err;
}

static int confined_prepare(const struct confined_job *job, int socket, int *refused, struct err *e)
{
	int err = confined_set_descriptors(job, socket);

	if (err)
		return err_sys(e, err, "decoder process: descriptors");
	err = job->open(job->arg, e);
	for (int fd = FIRST_FREE; fd < SANDBOX_WRITE_END; fd++)
		close(fd);
	return err ? err : sandbox_confine(SANDBOX_LIVE, job->unfiltered, refused, e);
}

static _Noreturn void confined_child(const struct confined_job *job, int socket, int *refused)
{
	struct err e = {0}; /* sent once: no error, or why it is not confined */

	process_ignore_signals();
	/* Another process of the same user may stop (SIGSTOP) the child, and the parent may have
	 * no right to kill it: when the parent exits, the kernel continues a stopped process of
	 * this group. */
	(void)setpgid(0, 0);
	e.code = confined_prepare(job, socket, refused, &e);
	if (!confined_write(SANDBOX_PARENT_FD, &e, sizeof(e)) && !e.code)
		job->run(job->arg, SANDBOX_PARENT_FD);
	_exit(0);
}

int confined_error(struct err *reply, struct err *e)
{
	int code = reply->code < 0 ? reply->code : -EIO;

	reply->text[sizeof(reply->text) - 1] = reply->hint[sizeof(reply->hint) - 1] = '\0';
	err_set(e, code, "%s", reply->text);
	err_hint(e, "%s", reply->hint);
	return code;
}

static int confined_await_ready(struct confined *c, struct err *e)
{
	struct err reply;
	int err = confined_read(c->fd, &reply, sizeof(reply), READY_MS);

	if (!err && !reply.code)
		return 0;
	if (!err) {
		(void)confined_close(c, NULL);
		return confined_error(&reply, e);
	}
	if (!confined_close(c, e))
		err_sys(e, err, "decoder process does not start");
	return err;
}

int confined_start(const struct confined_job *job, struct confined *c, struct err *e)
{
	const struct timeval timeout = {.tv_sec = SEND_S};
	int pair[2];

	c->refused = mmap(NULL, sizeof(*c->refused), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->refused == MAP_FAILED)
		return err_sys(e, -errno, "decoder process");
	*c->refused = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
		err_sys(e, -errno, "decoder process");
		(void)munmap(c->refused, sizeof(*c->refused));
		return e->code;
	}
	c->pid = fork();
	if (!c->pid)
		confined_child(job, pair[1], c->refused);
	close(pair[1]);
	c->fd = pair[0];
	(void)setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (c->pid > 0)
		return confined_await_ready(c, e);
	err_sys(e, -errno, "decoder process");
	close(pair[0]);
	(void)munmap(c->refused, sizeof(*c->refused));
	return e->code;
}

void confined_stop(const struct confined *c)
{
	(void)shutdown(c->fd, SHUT_WR);
}

bool confined_stopped(int parent)
{
	struct pollfd p = {.fd = parent, .events = POLLIN | POLLRDHUP};

	return poll(&p, 1, 0) > 0;
}

int confined_close(struct confined *c, struct err *e)
{
	char call[SANDBOX_CALL_MAX];
	int status = 0, err, refused;

	if (c->pid <= 0)
		return 0;
	close(c->fd);
	err = process_wait(c->pid, END_MS, &status);
	/* The child belongs to another user: without the right to kill it, it ends at its next
	 * check. */
	if (err == -ETIMEDOUT && !kill(c->pid, SIGKILL))
		err = process_wait(c->pid, END_MS, &status);
	c->pid = 0;
	refused = *c->refused;
	(void)munmap(c->refused, sizeof(*c->refused));
	if (err)
		return err_sys(e, err, "decoder process does not exit");
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS && refused >= 0)
		return err_set(e, -EPIPE,
			       "decoder process was killed: its sandbox does not allow %s",
			       sandbox_call(refused, call));
	if (WIFSIGNALED(status))
		return err_set(e, -EPIPE, "decoder process was killed by signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	return 0;
}
