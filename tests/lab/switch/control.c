/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket: JSON lines over a unix stream. A request is {"op": ...}; an answer is one
 * line, {"ok": true, ...} or {"ok": false, "error": ...}. A client that does not read waits, the
 * switch does not.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LINE_MAX_BYTES 65536

struct client {
	int fd; /* -1: free */
	char in[LINE_MAX_BYTES];
	size_t in_used;
	char *out; /* owned: what is not sent yet */
	size_t out_used, out_sent;
};

struct control {
	int fd;
	char path[PATH_SIZE];
	struct client client[CLIENTS_MAX];
};

static int make_socket(const char *path, struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sun_path, path, strlen(path));
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* Removes a socket nobody answers at. */
static void remove_stale(const char *path)
{
	struct sockaddr_un a;
	struct stat st;
	int fd = make_socket(path, &a);

	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED &&
	    !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	close(fd);
}

static int listen_at(const char *path)
{
	struct sockaddr_un a;
	int fd, err;

	remove_stale(path);
	fd = make_socket(path, &a);
	if (fd < 0)
		return fd == -1 ? -errno : fd;
	if (!bind(fd, (struct sockaddr *)&a, sizeof(a))) {
		if (!listen(fd, CLIENTS_MAX))
			return fd;
		unlink(path);
	}
	err = -errno;
	close(fd);
	return err;
}

int control_open(struct lab *lab, const char *path, struct err *e)
{
	struct control *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return err_sys(e, -ENOMEM, "control");
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		c->client[i].fd = -1;
	c->fd = listen_at(path);
	if (c->fd < 0) {
		err = err_sys(e, c->fd, "control %s", path);
		if (err == -EADDRINUSE)
			err_hint(e, "another switch runs there, or it is no socket: remove it");
		free(c);
		return err;
	}
	snprintf(c->path, sizeof(c->path), "%s", path);
	lab->control = c;
	err = lab_watch(lab, c->fd, EPOLLIN, WATCH_TAG(WATCH_LISTEN, 0), true);
	return err ? err_sys(e, err, "control %s", path) : 0;
}

static void drop_client(struct client *k)
{
	if (k->fd >= 0)
		close(k->fd);
	free(k->out);
	k->out = NULL;
	k->fd = -1;
	k->in_used = k->out_used = k->out_sent = 0;
}

void control_close(struct lab *lab)
{
	struct control *c = lab->control;

	if (!c)
		return;
	for (unsigned int i = 0; i < CLIENTS_MAX; i++)
		drop_client(&c->client[i]);
	close(c->fd);
	unlink(c->path);
	free(c);
	lab->control = NULL;
}

static void watch_client(struct lab *lab, struct client *k, bool add)
{
	unsigned int n = k - lab->control->client;
	unsigned int events = k->out_sent < k->out_used ? EPOLLOUT : EPOLLIN;

	if (lab_watch(lab, k->fd, events, WATCH_TAG(WATCH_CLIENT, n), add))
		drop_client(k);
}

static void accept_client(struct lab *lab)
{
	int fd = accept4(lab->control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	for (unsigned int i = 0; fd >= 0 && i < CLIENTS_MAX; i++) {
		struct client *k = &lab->control->client[i];

		if (k->fd >= 0)
			continue;
		k->fd = fd;
		watch_client(lab, k, true);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void write_client(struct client *k)
{
	while (k->out_sent < k->out_used) {
		ssize_t n = send(k->fd, k->out + k->out_sent, k->out_used - k->out_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			drop_client(k);
			return;
		}
		k->out_sent += n;
	}
}

/* Answers one line; false when the client has to go. */
static bool answer_line(struct lab *lab, struct client *k, const char *line)
{
	json_t *answer = control_answer(lab, line);
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;
	size_t length = text ? strlen(text) : 0;
	char *out = realloc(k->out, k->out_used + length + 1);

	json_decref(answer);
	if (!text || !out) {
		free(text);
		k->out = out ? out : k->out;
		return false;
	}
	memcpy(out + k->out_used, text, length);
	out[k->out_used + length] = '\n';
	k->out = out;
	k->out_used += length + 1;
	free(text);
	return true;
}

static bool answer_lines(struct lab *lab, struct client *k)
{
	char *end;

	while ((end = memchr(k->in, '\n', k->in_used))) {
		size_t used = end + 1 - k->in;

		*end = '\0';
		if (!answer_line(lab, k, k->in))
			return false;
		memmove(k->in, end + 1, k->in_used - used);
		k->in_used -= used;
	}
	return k->in_used < sizeof(k->in);
}

static void serve_client(struct lab *lab, struct client *k)
{
	if (k->out_sent == k->out_used) {
		ssize_t n = recv(k->fd, k->in + k->in_used, sizeof(k->in) - k->in_used,
				 MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		k->out_used = k->out_sent = 0;
		k->in_used += n > 0 ? n : 0;
		if (n <= 0 || !answer_lines(lab, k)) {
			drop_client(k);
			return;
		}
	}
	write_client(k);
	if (k->fd >= 0)
		watch_client(lab, k, false);
}

void control_event(struct lab *lab, enum watch_kind kind, unsigned int number)
{
	if (kind == WATCH_LISTEN)
		accept_client(lab);
	else if (number < CLIENTS_MAX && lab->control->client[number].fd >= 0)
		serve_client(lab, &lab->control->client[number]);
}

int control_ask(const char *path, const char *line, FILE *out, struct err *e)
{
	struct sockaddr_un a;
	int fd = make_socket(path, &a), err = 0;
	char buf[4096];
	ssize_t n = 0;

	if (fd < 0)
		return err_sys(e, fd == -1 ? -errno : fd, "%s", path);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 || send(fd, "\n", 1, MSG_NOSIGNAL) < 0)
		err = err_sys(e, -errno, "%s", path);
	do {
		n = err ? 0 : recv(fd, buf, sizeof(buf), 0);
		if (n > 0)
			fwrite(buf, 1, n, out);
	} while (n > 0 && buf[n - 1] != '\n');
	if (n < 0)
		err = err_sys(e, -errno, "%s", path);
	close(fd);
	return err;
}
