/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client before the door. Nothing of it goes out before the server has proven the token, but
 * for its greeting and its own proof.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "probe/io/gate.h"
#include "profiles/base/json_take.h"

#define POLL_MS 100 /* how soon a stop is seen */

struct entry {
	int fd;
	uint64_t end_ms;
	unsigned int timeout_ms;
	const atomic_int *stop;
};

/* Until the socket has something, the end of the time, or a stop. */
static int entry_await(const struct entry *n, struct err *e)
{
	struct pollfd p = {.fd = n->fd, .events = POLLIN};

	for (;;) {
		int rc = poll(&p, 1, POLL_MS);

		if (n->stop && *n->stop)
			return err_set(e, -EINTR, "stopped before it answered");
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return err_sys(e, -errno, "poll");
		if (monotonic_ms() >= n->end_ms)
			return err_set(e, -ETIMEDOUT, "no answer to the connection within %u s",
				       n->timeout_ms / 1000);
	}
}

/* One line and not a byte more: the next one is the agent's. */
static int entry_line(const struct entry *n, char line[GATE_LINE_MAX * 2], size_t *length,
		      struct err *e)
{
	const size_t most = GATE_LINE_MAX * 2 - 1;
	size_t used = 0;

	for (;;) {
		ssize_t got = recv(n->fd, line + used, most - used, MSG_PEEK | MSG_DONTWAIT);
		const char *newline;
		size_t take;

		if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
			int err = entry_await(n, e);

			if (err)
				return err;
			continue;
		}
		if (got < 0)
			return err_sys(e, -errno, "connection");
		if (!got)
			return err_set(e, -ECONNRESET,
				       "it closed the connection before it said hello");
		newline = memchr(line + used, '\n', (size_t)got);
		take = newline ? (size_t)(newline - (line + used)) + 1 : (size_t)got;
		if (recv(n->fd, line + used, take, MSG_DONTWAIT) != (ssize_t)take)
			return err_sys(e, -EIO, "connection");
		used += take;
		if (newline) {
			line[used - 1] = '\0';
			*length = used - 1;
			return 0;
		}
		if (used == most) {
			err_set(e, -EPROTO, "it sent too long a line");
			err_hint(e, "is it 'rocecheck probe server' that listens there?");
			return -EPROTO;
		}
	}
}

static int entry_say(const struct entry *n, const char *line, struct err *e)
{
	size_t length = strlen(line);

	/* The first bytes of a connection: they fit into its socket. */
	if (send(n->fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		return err_sys(e, errno ? -errno : -EPIPE, "connection");
	return 0;
}

/* The error that the server tells in place of a line; 0: it tells none. */
static int entry_refusal(const char *line, size_t length, struct err *e)
{
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const json_t *error = json_object_get(doc, "error");

	if (error)
		err_from_json(error, "failed", e);
	json_decref(doc);
	return error ? e->code : 0;
}

static int entry_answer(const struct entry *n, char line[GATE_LINE_MAX * 2], size_t *length,
			struct err *e)
{
	int err = entry_line(n, line, length, e);

	return err ? err : entry_refusal(line, *length, e);
}

int gate_enter(int fd, const struct gate_key *key, unsigned int timeout_ms, const atomic_int *stop,
	       struct err *e)
{
	const struct entry n = {fd, monotonic_ms() + timeout_ms, timeout_ms, stop};
	char line[GATE_LINE_MAX * 2];
	struct gate_talk talk = {0};
	size_t length = 0;
	int err = gate_ends_read(fd, GATE_CLIENT, &talk);

	if (err)
		return err_sys(e, err, "connection");
	if (getrandom(talk.client_nonce, GATE_NONCE_BYTES, 0) != GATE_NONCE_BYTES)
		return err_sys(e, -EIO, "no random numbers");
	gate_greeting(&talk, GATE_CLIENT, line, sizeof(line));
	err = entry_say(&n, line, e);
	if (!err)
		err = entry_answer(&n, line, &length, e);
	if (!err)
		err = gate_greeting_take(line, length, GATE_SERVER, &talk, e);
	if (err)
		return err;
	gate_proof(&talk, GATE_CLIENT, key, line, sizeof(line));
	err = entry_say(&n, line, e);
	if (!err)
		err = entry_answer(&n, line, &length, e);
	return err ? err : gate_proof_check(line, length, GATE_SERVER, &talk, key, e);
}
