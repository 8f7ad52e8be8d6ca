/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting at the door. A few connections may stand there at once, so that one that says nothing
 * keeps nobody out; each has a short time and few bytes to show the token.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/dial.h"
#include "probe/gate.h"
#include "probe/json_take.h"

#define FIRST_LINE_MAX 512
#define BACKLOG	       8
#define POLL_MS	       100 /* how soon a stop is seen */

struct caller {
	int fd; /* -1: nobody */
	char peer[64];
	uint64_t until_ms;
	char line[FIRST_LINE_MAX];
	size_t used;
};

struct door {
	const struct gate *g;
	struct caller caller[GATE_PENDING];
	unsigned int tries;
};

static int bind_one(const struct addrinfo *at, int *out)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	const int on = 1, off = 0;
	int err = 0;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ai_family == AF_INET6) /* "::" takes IPv4 too */
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, BACKLOG))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

int gate_listen(const char *address, unsigned int port, int *fd, unsigned int *bound, struct err *e)
{
	static const char *const everywhere[] = {"::", "0.0.0.0"}; /* without IPv6: the second */
	const struct addrinfo wish = {.ai_socktype = SOCK_STREAM,
				      .ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST};
	int err = -EADDRNOTAVAIL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port & 0xffff);
	for (size_t i = 0; i < (address ? 1 : ARRAY_SIZE(everywhere)) && err; i++) {
		struct addrinfo *list = NULL;

		if (getaddrinfo(address ? address : everywhere[i], service, &wish, &list))
			return err_set(e, -EINVAL, "'%s' is no numeric address", address);
		err = bind_one(list, fd);
		freeaddrinfo(list);
		if (err == -EADDRINUSE)
			break;
	}
	if (err) {
		err_sys(e, err, "listening on %s port %u", address ? address : "all addresses",
			port);
		if (err == -EADDRINUSE)
			err_hint(e, "another program listens there: choose a port with -p");
		return err;
	}
	*bound = socket_port(*fd);
	return 0;
}

static void dismiss(struct caller *c)
{
	close(c->fd);
	c->fd = -1;
}

static void refuse(struct door *d, struct caller *c, const struct err *why)
{
	json_t *doc = json_pack("{s:o}", "error", err_to_json(why));
	char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
	char line[ERR_TEXT_MAX];

	if (text && snprintf(line, sizeof(line), "%s\n", text) < (int)sizeof(line))
		(void)send(c->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
	if (d->g->refused)
		d->g->refused(c->peer, why->text, d->g->arg);
	free(text);
	json_decref(doc);
	(void)shutdown(c->fd, SHUT_WR);
	dismiss(c);
}

static void take_caller(struct door *d)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);
	int fd = accept4(d->g->listen_fd, (struct sockaddr *)&address, &length,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return; /* it went away again */
	for (size_t i = 0; i < GATE_PENDING; i++) {
		struct caller *c = &d->caller[i];

		if (c->fd >= 0)
			continue;
		*c = (struct caller){.fd = fd, .until_ms = monotonic_ms() + GATE_SHOW_MS};
		address_text((struct sockaddr *)&address, c->peer, sizeof(c->peer));
		return;
	}
	close(fd);
}

/* True: the line is whole and right. Nothing may follow it: the peer has to hear us first. */
static bool hear(struct door *d, struct caller *c)
{
	ssize_t n = recv(c->fd, c->line + c->used, sizeof(c->line) - c->used, 0);
	const char *newline;
	struct err e = {0};

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		dismiss(c);
		return false;
	}
	c->used += (size_t)n;
	newline = memchr(c->line, '\n', c->used);
	if (!newline && c->used < sizeof(c->line))
		return false;
	if (!newline || newline + 1 != c->line + c->used)
		err_set(&e, -EPROTO, "this is no client of %s", GATE_PROTOCOL);
	else if (!gate_judge(c->line, c->used - 1, d->g->token, &e))
		return true;
	d->tries++;
	refuse(d, c, &e);
	return false;
}

static bool any_free(const struct door *d)
{
	for (size_t i = 0; i < GATE_PENDING; i++)
		if (d->caller[i].fd < 0)
			return true;
	return false;
}

/* One look at all; the caller that was let in, or NULL. */
static struct caller *look(struct door *d)
{
	struct pollfd p[GATE_PENDING + 1];

	for (size_t i = 0; i < GATE_PENDING; i++)
		p[i] = (struct pollfd){.fd = d->caller[i].fd, .events = POLLIN};
	p[GATE_PENDING] = (struct pollfd){.fd = any_free(d) ? d->g->listen_fd : -1,
					  .events = POLLIN};
	if (poll(p, ARRAY_SIZE(p), POLL_MS) < 0)
		return NULL; /* a signal: the caller looks at stop */
	for (size_t i = 0; i < GATE_PENDING; i++) {
		struct caller *c = &d->caller[i];

		if (c->fd < 0)
			continue;
		if (p[i].revents && hear(d, c))
			return c;
		if (c->fd >= 0 && monotonic_ms() >= c->until_ms)
			dismiss(c);
	}
	if (p[GATE_PENDING].revents)
		take_caller(d);
	return NULL;
}

/* Blocking, without delay, and no write that hangs for ever. */
static int make_ready(int fd)
{
	const struct timeval limit = {.tv_sec = 2};
	const int on = 1;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		return -errno;
	return 0;
}

static int wait_at(struct door *d, struct caller **in, struct err *e)
{
	uint64_t end_ms = d->g->wait_ms ? monotonic_ms() + d->g->wait_ms : UINT64_MAX;

	for (;;) {
		*in = look(d);
		if (*in)
			return 0;
		if (d->g->stop && *d->g->stop)
			return err_set(e, -EINTR, "stopped before a client came");
		if (d->tries >= GATE_TRIES)
			return err_set(e, -EACCES, "%u clients without the token: no more is heard",
				       d->tries);
		if (monotonic_ms() >= end_ms)
			return err_set(e, -ETIMEDOUT, "no client came within %u s",
				       d->g->wait_ms / 1000);
	}
}

int gate_wait(const struct gate *g, int *fd, char peer[64], struct err *e)
{
	struct door *d = calloc(1, sizeof(*d));
	struct caller *in = NULL;
	int err;

	if (!d)
		return err_sys(e, -ENOMEM, "server");
	d->g = g;
	for (size_t i = 0; i < GATE_PENDING; i++)
		d->caller[i].fd = -1;
	err = wait_at(d, &in, e);
	if (!err) {
		err = make_ready(in->fd);
		if (err)
			err_sys(e, err, "%s", in->peer);
	}
	if (!err) {
		*fd = in->fd;
		strcpy(peer, in->peer);
		in->fd = -1;
	}
	for (size_t i = 0; i < GATE_PENDING; i++)
		if (d->caller[i].fd >= 0)
			dismiss(&d->caller[i]);
	free(d);
	return err;
}
