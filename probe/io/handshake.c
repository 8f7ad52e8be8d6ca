/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handshake lines, the client's side, and accept(2) with a token check on the server. The server
 * has no state per address and the same limits for all: other connections from the client's own
 * address cannot keep the client out.
 */
#include "probe/io/handshake.h"

#include <errno.h>
#include <jansson.h>
#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/io/tcp_socket.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define NONCE_BYTES 32
#define POLL_MS	    100 /* interval of the check for a stop */

static const char *const role_name[] = {
	[HANDSHAKE_CLIENT] = "client", [HANDSHAKE_SERVER] = "server"};

int handshake_greeting_make(struct handshake *talk, enum handshake_role own)
{
	char nonce[BASE16_ENCODE_LENGTH(NONCE_BYTES) + 1] = "", ends[256] = "";
	uint8_t bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	base16_encode_update(nonce, sizeof(bytes), bytes);
	if (own == HANDSHAKE_CLIENT)
		snprintf(ends, sizeof(ends), ",\"client\":\"%s\",\"server\":\"%s\"", talk->client,
			 talk->server);
	snprintf(talk->greeting[own], HANDSHAKE_LINE_MAX,
		 "{\"probe\":\"%s\",\"build\":\"%s\",\"nonce\":\"%s\"%s}\n", HANDSHAKE_PROTOCOL,
		 ROCECHECK_VERSION, nonce, ends);
	return 0;
}

/* Covers three lines, so that no two handshakes have the same input. */
void handshake_proof_make(const struct handshake *talk, enum handshake_role own, const char *token,
			  char line[HANDSHAKE_LINE_MAX])
{
	char label[64], text[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	const char *const part[] = {label, talk->greeting[HANDSHAKE_CLIENT],
				    talk->greeting[HANDSHAKE_SERVER]};
	uint8_t proof[SHA256_DIGEST_SIZE];
	struct hmac_sha256_ctx ctx;

	snprintf(label, sizeof(label), "%s %s\n", HANDSHAKE_PROTOCOL, role_name[own]);
	hmac_sha256_set_key(&ctx, strlen(token), (const uint8_t *)token);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		hmac_sha256_update(&ctx, strlen(part[i]), (const uint8_t *)part[i]);
	hmac_sha256_digest(&ctx, sizeof(proof), proof);
	explicit_bzero(&ctx, sizeof(ctx));
	base16_encode_update(text, sizeof(proof), proof);
	snprintf(line, HANDSHAKE_LINE_MAX, "{\"proof\":\"%s\"}\n", text);
}

/* Quotes the first bytes of an unknown server in the error. Input of a client is never quoted. */
static int handshake_protocol_error(const char *line, size_t length, enum handshake_role other,
				    struct err *e)
{
	char begin[41];
	size_t size = length < sizeof(begin) - 1 ? length : sizeof(begin) - 1;

	if (other == HANDSHAKE_CLIENT)
		return err_set(e, -EPROTO, "not a client of protocol %s", HANDSHAKE_PROTOCOL);
	while (size && (unsigned char)line[size - 1] <= ' ')
		size--;
	begin[text_sanitize_bytes(begin, line, size, TEXT_FIELD)] = '\0';
	err_set(e, -EPROTO, "not a probe server of protocol %s: it sent '%s'", HANDSHAKE_PROTOCOL,
		begin);
	err_hint(e, "check that 'rocecheck probe server' listens on this address and port");
	return -EPROTO;
}

static int handshake_check_protocol(const json_t *doc, const char *line, size_t length,
				    enum handshake_role other, struct err *e)
{
	static const char family[] = "rocecheck.probe/";
	char protocol[32], build[32];
	struct err ignored;

	if (json_get_text(doc, "probe", protocol, sizeof(protocol), &ignored) ||
	    strncmp(protocol, family, sizeof(family) - 1))
		return handshake_protocol_error(line, length, other, e);
	if (!strcmp(protocol, HANDSHAKE_PROTOCOL))
		return 0;
	if (json_get_text(doc, "build", build, sizeof(build), &ignored))
		strcpy(build, "unknown");
	err_set(e, -EPROTO, "the %s (build %s) uses protocol %s, this host (build %s) uses %s",
		role_name[other], build, protocol, ROCECHECK_VERSION, HANDSHAKE_PROTOCOL);
	err_hint(e, "install the same version of rocecheck on both hosts");
	return -EPROTO;
}

int handshake_greeting_parse(const char *line, size_t length, enum handshake_role other,
			     struct handshake *talk, struct err *e)
{
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *client = json_string_value(json_object_get(doc, "client"));
	const char *server = json_string_value(json_object_get(doc, "server"));
	int err = handshake_check_protocol(doc, line, length, other, e);

	if (!err && length > HANDSHAKE_LINE_MAX - 2)
		err = handshake_protocol_error(line, length, other, e);
	/* Behind NAT no proof can be valid. */
	if (!err && other == HANDSHAKE_CLIENT &&
	    (!client || !server || strcmp(client, talk->client) || strcmp(server, talk->server))) {
		err = err_set(e, -EPROTO,
			      "addresses differ: the server sees client address %s, own address %s",
			      talk->client, talk->server);
		err_hint(e, "NAT between the hosts, which RoCE cannot pass: connect to an address "
			    "of the server itself");
	}
	if (!err)
		snprintf(talk->greeting[other], HANDSHAKE_LINE_MAX, "%.*s\n", (int)length, line);
	json_decref(doc);
	return err;
}

int handshake_proof_check(const char *line, size_t length, enum handshake_role other,
			  const struct handshake *talk, const char *token, struct err *e)
{
	char right[HANDSHAKE_LINE_MAX];

	handshake_proof_make(talk, other, token, right);
	if (length + 1 != strlen(right))
		return handshake_protocol_error(line, length, other, e);
	if (memeql_sec(line, right, length))
		return 0;
	if (other == HANDSHAKE_CLIENT) {
		err_set(e, -EACCES, "the token does not match the server's token");
		err_hint(e, "copy the token that 'rocecheck probe server' printed");
	} else {
		err_set(e, -EACCES, "the server does not know the token: not the expected server");
		err_hint(e, "check the address and the port of the server");
	}
	return -EACCES;
}

struct handshake_io {
	int fd;
	uint64_t end_ms;
	const atomic_int *stop;
	char line[2 * HANDSHAKE_LINE_MAX];
	size_t length;
};

/* Reads one line and not a byte more: the next byte belongs to the agent protocol. */
static int handshake_read_line(struct handshake_io *n, struct err *e)
{
	for (n->length = 0; n->length < sizeof(n->line);) {
		struct pollfd p = {.fd = n->fd, .events = POLLIN};
		char *at = n->line + n->length;
		ssize_t got = recv(n->fd, at, 1, MSG_DONTWAIT);

		if (got > 0 && *at == '\n')
			return 0;
		if (got > 0) {
			n->length++;
			continue;
		}
		if (!got)
			return err_set(e, -ECONNRESET,
				       "the server closed the connection during the handshake");
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, -errno, "connection");
		if (n->stop && *n->stop)
			return err_set(e, -EINTR, "stopped before the server answered");
		if (monotonic_ms() >= n->end_ms)
			return err_set(e, -ETIMEDOUT, "timeout: no answer to the handshake");
		(void)poll(&p, 1, POLL_MS);
	}
	return handshake_protocol_error(n->line, n->length, HANDSHAKE_SERVER, e);
}

/* Sends a line and reads the answer; the answer may be an error. */
static int handshake_request(struct handshake_io *n, const char *line, struct err *e)
{
	size_t length = strlen(line);
	const json_t *error;
	json_t *doc;

	/* The first bytes of a connection fit into its socket buffer. */
	if (send(n->fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		return err_sys(e, errno ? -errno : -EPIPE, "connection");
	if (handshake_read_line(n, e))
		return e->code;
	doc = json_loadb(n->line, n->length, JSON_REJECT_DUPLICATES, NULL);
	error = json_object_get(doc, "error");
	if (error)
		err_from_json(error, "failed", e);
	json_decref(doc);
	return error ? e->code : 0;
}

int handshake_authenticate(int fd, const char *token, unsigned int timeout_ms,
			   const atomic_int *stop, struct err *e)
{
	struct handshake_io n = {fd, monotonic_ms() + timeout_ms, stop, "", 0};
	struct handshake talk = {0};
	char proof[HANDSHAKE_LINE_MAX];
	int err = socket_endpoints(fd, talk.client, talk.server)
			  ?: handshake_greeting_make(&talk, HANDSHAKE_CLIENT);

	if (err)
		return err_sys(e, err, "connection");
	err = handshake_request(&n, talk.greeting[HANDSHAKE_CLIENT], e);
	if (!err)
		err = handshake_greeting_parse(n.line, n.length, HANDSHAKE_SERVER, &talk, e);
	if (err)
		return err;
	handshake_proof_make(&talk, HANDSHAKE_CLIENT, token, proof);
	err = handshake_request(&n, proof, e);
	return err ? err
		   : handshake_proof_check(n.line, n.length, HANDSHAKE_SERVER, &talk, token, e);
}

/* Order of replacement when all places are taken; within a step the oldest first. */
enum pending_step {
	PENDING_REJECTED, /* sends `why` at until_ms */
	PENDING_GREETING, /* waits for the greeting */
	PENDING_PROOF,	  /* waits for the proof */
};

struct pending_conn {
	int fd; /* -1: free */
	enum pending_step step;
	uint64_t until_ms;
	struct handshake talk;
	char line[HANDSHAKE_LINE_MAX];
	size_t used;
	struct err why;
};

struct pending_conns {
	struct listener *listener;
	size_t slots;
	struct pending_conn conn[LISTENER_PENDING_MAX];
};

static void handshake_conn_close(struct pending_conns *conns, struct pending_conn *c)
{
	conns->listener->rejected++;
	strcpy(conns->listener->last_rejected, c->talk.client);
	close(c->fd);
	c->fd = -1;
}

static void handshake_conn_wait(struct pending_conn *c, enum pending_step step, unsigned int ms)
{
	c->step = step;
	c->until_ms = monotonic_ms() + ms;
	c->used = 0;
}

static void handshake_conn_send(const struct pending_conn *c, const char *line)
{
	(void)send(c->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool handshake_conn_reject(struct pending_conns *conns, struct pending_conn *c)
{
	handshake_conn_wait(c, PENDING_REJECTED, HANDSHAKE_REJECT_MS);
	if (conns->listener->refused)
		conns->listener->refused(c->talk.client, c->why.text);
	return false;
}

/* Handles the end of a step's time. */
static void handshake_conn_expire(struct pending_conns *conns, struct pending_conn *c)
{
	json_t *doc = json_pack("{s:o*}", "error", err_to_json(&c->why));
	char line[2 * HANDSHAKE_LINE_MAX];
	size_t size = json_dumpb(doc, line, sizeof(line) - 2, JSON_COMPACT);

	if (c->step == PENDING_REJECTED && size && size <= sizeof(line) - 2) {
		strcpy(line + size, "\n");
		handshake_conn_send(c, line);
	}
	json_decref(doc);
	handshake_conn_close(conns, c);
}

/* Handles one line. Returns true if it authenticates the client. */
static bool handshake_conn_line(struct pending_conns *conns, struct pending_conn *c, size_t length)
{
	char proof[HANDSHAKE_LINE_MAX];

	if (c->step == PENDING_GREETING) {
		if (handshake_greeting_parse(c->line, length, HANDSHAKE_CLIENT, &c->talk, &c->why))
			return handshake_conn_reject(conns, c);
		handshake_conn_send(c, c->talk.greeting[HANDSHAKE_SERVER]);
		handshake_conn_wait(c, PENDING_PROOF, HANDSHAKE_STEP_MS);
		return false;
	}
	if (handshake_proof_check(c->line, length, HANDSHAKE_CLIENT, &c->talk,
				  conns->listener->token, &c->why))
		return handshake_conn_reject(conns, c);
	handshake_proof_make(&c->talk, HANDSHAKE_SERVER, conns->listener->token, proof);
	handshake_conn_send(c, proof);
	return true;
}

/* Returns true if the client is authenticated. Bytes after the line are an error: the client must
 * wait for the answer. */
static bool handshake_conn_recv(struct pending_conns *conns, struct pending_conn *c)
{
	ssize_t n = recv(c->fd, c->line + c->used, sizeof(c->line) - c->used, MSG_DONTWAIT);
	const char *newline;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		handshake_conn_close(conns, c);
		return false;
	}
	c->used += (size_t)n;
	newline = memchr(c->line, '\n', c->used);
	if (newline && newline + 1 == c->line + c->used)
		return handshake_conn_line(conns, c, c->used - 1);
	if (!newline && c->used < sizeof(c->line))
		return false;
	handshake_protocol_error(c->line, c->used, HANDSHAKE_CLIENT, &c->why);
	return handshake_conn_reject(conns, c);
}

/* Returns a free place, else the one to replace. */
static struct pending_conn *handshake_conn_slot(struct pending_conns *conns)
{
	struct pending_conn *first = conns->conn;

	for (struct pending_conn *c = conns->conn; c < conns->conn + conns->slots; c++) {
		if (c->fd < 0)
			return c;
		if (c->step < first->step ||
		    (c->step == first->step && c->until_ms < first->until_ms))
			first = c;
	}
	handshake_conn_close(conns, first);
	return first;
}

/* Returns false if no connection is pending. */
static bool handshake_conn_accept(struct pending_conns *conns)
{
	int fd = accept4(conns->listener->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct pending_conn *c;

	if (fd < 0)
		return false;
	c = handshake_conn_slot(conns);
	*c = (struct pending_conn){.fd = fd};
	handshake_conn_wait(c, PENDING_GREETING, HANDSHAKE_STEP_MS);
	if (socket_endpoints(fd, c->talk.server, c->talk.client) ||
	    handshake_greeting_make(&c->talk, HANDSHAKE_SERVER))
		handshake_conn_close(conns, c); /* closed meanwhile */
	else
		(void)handshake_conn_recv(conns, c); /* the greeting may have arrived */
	return true;
}

/* Polls all connections once; returns the authenticated one or NULL. Accepts few at a time, so that
 * each is read before it can be replaced. */
static struct pending_conn *handshake_conns_poll(struct pending_conns *conns)
{
	struct pollfd p[LISTENER_PENDING_MAX + 1];

	for (size_t i = 0; i < conns->slots; i++)
		p[i] = (struct pollfd){conns->conn[i].step == PENDING_REJECTED ? -1
									       : conns->conn[i].fd,
				       POLLIN, 0};
	p[conns->slots] = (struct pollfd){conns->listener->listen_fd, POLLIN, 0};
	if (poll(p, conns->slots + 1, POLL_MS) < 0)
		return NULL; /* signal: the caller checks stop */
	for (size_t i = 0; i < conns->slots; i++) {
		struct pending_conn *c = &conns->conn[i];

		if (p[i].fd >= 0 && p[i].revents && handshake_conn_recv(conns, c))
			return c;
		if (c->fd >= 0 && monotonic_ms() >= c->until_ms)
			handshake_conn_expire(conns, c);
	}
	for (size_t i = 0;
	     p[conns->slots].revents && i < conns->slots / 4 && handshake_conn_accept(conns);)
		i++;
	return NULL;
}

int listener_accept(struct listener *listener, int *fd, char peer[LISTENER_ADDRESS_BYTES],
		    struct err *e)
{
	uint64_t end_ms = listener->wait_ms ? monotonic_ms() + listener->wait_ms : UINT64_MAX;
	struct pending_conns *conns = calloc(1, sizeof(*conns));
	struct rlimit files = {.rlim_cur = LISTENER_PENDING_MAX};
	struct pending_conn *in = NULL;
	int err = 0;

	if (!conns)
		return err_sys(e, -ENOMEM, "server");
	(void)getrlimit(RLIMIT_NOFILE, &files); /* also the limit of poll() */
	conns->slots = files.rlim_cur / 2 < LISTENER_PENDING_MAX ? files.rlim_cur / 2
								 : LISTENER_PENDING_MAX;
	conns->listener = listener;
	for (size_t i = 0; i < LISTENER_PENDING_MAX; i++)
		conns->conn[i].fd = -1;
	while (!err && !(in = handshake_conns_poll(conns))) {
		if (listener->stop && *listener->stop)
			err = err_set(e, -EINTR, "stopped before a client connected");
		else if (monotonic_ms() >= end_ms)
			err = err_set(e, -ETIMEDOUT, "no client connected within %u s",
				      listener->wait_ms / 1000);
	}
	if (in) {
		snprintf(peer, LISTENER_ADDRESS_BYTES, "%.*s", (int)strcspn(in->talk.client, " "),
			 in->talk.client);
		*fd = in->fd;
		in->fd = -1;
	}
	for (size_t i = 0; i < conns->slots; i++)
		if (conns->conn[i].fd >= 0)
			handshake_conn_close(conns, &conns->conn[i]);
	free(conns);
	return err;
}
