/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting at the door. Callers have few seats and little time to prove the token. A source has few
 * of the seats, so that its silent connections keep nobody else out, and what it proves wrongly is
 * answered later each time: until then its seats are taken, and it gets no others.
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
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/io/dial.h"
#include "probe/io/gate.h"
#include "profiles/base/json_take.h"

#define BACKLOG	   64
#define POLL_MS	   100 /* how soon a stop is seen */
#define SOURCES	   64  /* that are remembered */
#define FORGET_MS  60000
#define WRONG_STEP 16 /* wrong ones of all sources that double the time for each */

enum caller_step {
	CALLER_SILENT, /* its greeting is awaited */
	CALLER_ASKED,  /* its proof is */
	CALLER_HELD,   /* it was wrong: `why` is told at until_ms */
};

struct caller {
	int fd; /* -1: nobody */
	enum caller_step step;
	char peer[GATE_ADDRESS_BYTES];
	uint8_t source[16]; /* its address; of IPv6 the first half */
	struct gate_talk talk;
	uint64_t since_ms, until_ms;
	char line[GATE_LINE_MAX];
	size_t used;
	struct err why;
};

struct source {
	uint8_t address[16];
	unsigned int wrong;
	uint64_t last_ms; /* 0: nobody */
};

struct door {
	const struct gate *g;
	struct caller caller[GATE_PENDING];
	struct source source[SOURCES];
	struct gate_strangers *strangers;
	unsigned int wrong; /* of all sources */
	unsigned int reported, unreported;
	uint64_t report_ms; /* when `reported` began */
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
			return err_set(e, -EINVAL,
				       "invalid address '%s': expected a numeric address", address);
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

static void caller_dismiss(struct caller *c)
{
	close(c->fd);
	c->fd = -1;
}

static void stranger_count(struct door *d, const struct caller *c)
{
	d->strangers->count++;
	snprintf(d->strangers->last, sizeof(d->strangers->last), "%s", c->peer);
}

/* A few, then a few each 10 s: a flood of strangers is no flood of lines. */
static void stranger_report(struct door *d, const struct caller *c, const char *why)
{
	uint64_t now_ms = monotonic_ms();

	if (!d->report_ms || now_ms - d->report_ms >= GATE_REPORT_MS) {
		d->report_ms = now_ms;
		d->reported = 0;
	}
	if (d->reported++ >= GATE_REPORTS) {
		d->unreported++;
		return;
	}
	if (d->g->refused)
		d->g->refused(c->peer, why, d->unreported, d->g->arg);
	d->unreported = 0;
}

static struct source *source_find(struct door *d, const uint8_t address[16])
{
	struct source *oldest = &d->source[0];
	uint64_t now_ms = monotonic_ms();

	for (size_t i = 0; i < SOURCES; i++) {
		struct source *s = &d->source[i];

		if (s->last_ms && now_ms - s->last_ms > FORGET_MS)
			memset(s, 0, sizeof(*s));
		if (s->last_ms && !memcmp(s->address, address, 16))
			return s;
		if (s->last_ms < oldest->last_ms)
			oldest = s;
	}
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->address, address, 16);
	return oldest;
}

/* How long the answer to this wrong proof is held. */
static unsigned int source_hold_ms(struct door *d, const uint8_t address[16])
{
	struct source *s = source_find(d, address);
	unsigned int steps = d->wrong++ / WRONG_STEP, hold_ms = GATE_HOLD_MS;

	if (steps < s->wrong)
		steps = s->wrong;
	s->wrong++;
	s->last_ms = monotonic_ms();
	while (steps-- && hold_ms < GATE_HOLD_MOST_MS)
		hold_ms *= 2;
	return hold_ms;
}

static void caller_say(struct caller *c, const char *line)
{
	(void)send(c->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void caller_refuse(struct caller *c)
{
	json_t *doc = json_pack("{s:o}", "error", err_to_json(&c->why));
	char *text = doc ? json_dumps(doc, JSON_COMPACT) : NULL;
	char line[ERR_TEXT_MAX];

	if (text && snprintf(line, sizeof(line), "%s\n", text) < (int)sizeof(line))
		caller_say(c, line);
	free(text);
	json_decref(doc);
	(void)shutdown(c->fd, SHUT_WR);
	caller_dismiss(c);
}

static void caller_hold(struct door *d, struct caller *c, const struct err *why)
{
	c->step = CALLER_HELD;
	c->why = *why;
	c->until_ms = monotonic_ms() + source_hold_ms(d, c->source);
	stranger_count(d, c);
	stranger_report(d, c, why->text);
}

static void caller_source(const struct gate_end *end, uint8_t source[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memset(source, 0, 16);
	memcpy(source, end->address, memcmp(end->address, mapped, sizeof(mapped)) ? 8 : 16);
}

static unsigned int source_seats(const struct door *d, const uint8_t source[16], bool held_alone)
{
	unsigned int seats = 0;

	for (size_t i = 0; i < GATE_PENDING; i++) {
		const struct caller *c = &d->caller[i];

		if (c->fd >= 0 && !memcmp(c->source, source, 16))
			seats += !held_alone || c->step == CALLER_HELD;
	}
	return seats;
}

/* The one who leaves for another: of the source with the most seats the oldest that has proven
 * nothing yet, then the oldest at all. source NULL: any. */
static struct caller *caller_oldest(struct door *d, const uint8_t *source)
{
	struct caller *found = NULL;
	unsigned int most = 0;

	for (size_t i = 0; i < GATE_PENDING; i++) {
		struct caller *c = &d->caller[i];
		unsigned int seats = 2 * source_seats(d, c->source, false) + 1;

		if (c->fd < 0 || (source && memcmp(c->source, source, 16)))
			continue;
		seats -= c->step == CALLER_HELD;
		if (!found || seats > most || (seats == most && c->since_ms < found->since_ms)) {
			found = c;
			most = seats;
		}
	}
	return found;
}

static struct caller *caller_seat(struct door *d, const uint8_t source[16])
{
	struct caller *c = NULL;

	for (size_t i = 0; i < GATE_PENDING && !c; i++)
		if (d->caller[i].fd < 0)
			c = &d->caller[i];
	if (!c || source_seats(d, source, false) >= GATE_SOURCE_MAX) {
		c = caller_oldest(d, c ? source : NULL);
		if (c->step != CALLER_HELD)
			stranger_count(d, c);
		caller_dismiss(c);
	}
	return c;
}

static void caller_take(struct door *d)
{
	int fd = accept4(d->g->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct caller new = {.fd = fd, .since_ms = monotonic_ms()};
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			usleep(POLL_MS * 1000); /* it is there again at once */
		return;				/* or it went away again */
	}
	if (gate_ends_read(fd, GATE_SERVER, &new.talk) ||
	    getpeername(fd, (struct sockaddr *)&address, &length) ||
	    getrandom(new.talk.server_nonce, GATE_NONCE_BYTES, 0) != GATE_NONCE_BYTES) {
		close(fd);
		return;
	}
	address_text((struct sockaddr *)&address, new.peer, sizeof(new.peer));
	caller_source(&new.talk.client, new.source);
	new.until_ms = new.since_ms + GATE_SHOW_MS;
	if (source_seats(d, new.source, true) >= GATE_SOURCE_MAX) {
		err_set(&new.why, -EBUSY, "too many wrong tokens from this address");
		err_hint(&new.why, "try again in %u s", GATE_HOLD_MOST_MS / 1000);
		stranger_count(d, &new);
		caller_refuse(&new);
		return;
	}
	*caller_seat(d, new.source) = new;
}

/* A whole line. True: it lets its caller in. */
static bool caller_line(struct door *d, struct caller *c, size_t length)
{
	char line[GATE_LINE_MAX];
	struct err e = {0};
	int err;

	if (c->step == CALLER_SILENT) {
		err = gate_greeting_take(c->line, length, GATE_CLIENT, &c->talk, &e);
		if (!err) {
			gate_greeting(&c->talk, GATE_SERVER, line, sizeof(line));
			caller_say(c, line);
			c->step = CALLER_ASKED;
			c->used = 0;
			return false;
		}
	} else {
		err = gate_proof_check(c->line, length, GATE_CLIENT, &c->talk, d->g->key, &e);
		if (!err) {
			gate_proof(&c->talk, GATE_SERVER, d->g->key, line, sizeof(line));
			caller_say(c, line);
			return true;
		}
	}
	caller_hold(d, c, &e);
	return false;
}

/* True: it is let in. Nothing may follow a line: the peer has to hear us first. */
static bool caller_hear(struct door *d, struct caller *c)
{
	ssize_t n = recv(c->fd, c->line + c->used, sizeof(c->line) - c->used, 0);
	const char *newline;
	struct err e = {0};

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		stranger_count(d, c);
		caller_dismiss(c);
		return false;
	}
	c->used += (size_t)n;
	newline = memchr(c->line, '\n', c->used);
	if (!newline && c->used < sizeof(c->line))
		return false;
	if (newline && newline + 1 == c->line + c->used)
		return caller_line(d, c, c->used - 1);
	err_set(&e, -EPROTO, "this is no client of %s", GATE_PROTOCOL);
	caller_hold(d, c, &e);
	return false;
}

static void caller_end_late(struct door *d, struct caller *c)
{
	if (monotonic_ms() < c->until_ms)
		return;
	if (c->step == CALLER_HELD) {
		caller_refuse(c);
		return;
	}
	stranger_count(d, c);
	caller_dismiss(c);
}

/* One look at all; the caller that was let in, or NULL. */
static struct caller *door_look(struct door *d)
{
	struct pollfd p[GATE_PENDING + 1];

	for (size_t i = 0; i < GATE_PENDING; i++)
		p[i] = (struct pollfd){.fd = d->caller[i].step == CALLER_HELD ? -1
									      : d->caller[i].fd,
				       .events = POLLIN};
	p[GATE_PENDING] = (struct pollfd){.fd = d->g->listen_fd, .events = POLLIN};
	if (poll(p, ARRAY_SIZE(p), POLL_MS) < 0)
		return NULL; /* a signal: the caller looks at stop */
	for (size_t i = 0; i < GATE_PENDING; i++) {
		struct caller *c = &d->caller[i];

		if (c->fd < 0)
			continue;
		if (p[i].revents && caller_hear(d, c))
			return c;
		if (c->fd >= 0)
			caller_end_late(d, c);
	}
	if (p[GATE_PENDING].revents)
		caller_take(d);
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

static int door_wait(struct door *d, struct caller **in, struct err *e)
{
	uint64_t end_ms = d->g->wait_ms ? monotonic_ms() + d->g->wait_ms : UINT64_MAX;

	for (;;) {
		*in = door_look(d);
		if (*in)
			return 0;
		if (d->g->stop && *d->g->stop)
			return err_set(e, -EINTR, "stopped before a client came");
		if (monotonic_ms() >= end_ms)
			return err_set(e, -ETIMEDOUT, "no client came within %u s",
				       d->g->wait_ms / 1000);
	}
}

int gate_wait(const struct gate *g, int *fd, char peer[GATE_ADDRESS_BYTES],
	      struct gate_strangers *strangers, struct err *e)
{
	struct door *d = calloc(1, sizeof(*d));
	struct caller *in = NULL;
	int err;

	memset(strangers, 0, sizeof(*strangers));
	if (!d)
		return err_sys(e, -ENOMEM, "server");
	d->g = g;
	d->strangers = strangers;
	for (size_t i = 0; i < GATE_PENDING; i++)
		d->caller[i].fd = -1;
	err = door_wait(d, &in, e);
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
			caller_dismiss(&d->caller[i]);
	free(d);
	return err;
}
