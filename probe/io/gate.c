/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines by which both ends prove the token to each other, the client before the door, and the
 * server that waits behind it. It remembers no address, and none has fewer places than another:
 * strangers at the client's own address do not keep the client out.
 */
#include "probe/io/gate.h"

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

#include "probe/io/dial.h"
#include "profiles/base/json.h"
#include "profiles/base/text.h"

#define NONCE_BYTES 32
#define POLL_MS	    100 /* how soon a stop is seen */

static const char *const role_name[] = {[GATE_CLIENT] = "client", [GATE_SERVER] = "server"};

int gate_greeting_make(struct gate_talk *talk, enum gate_role own)
{
	char nonce[BASE16_ENCODE_LENGTH(NONCE_BYTES) + 1] = "", ends[256] = "";
	uint8_t bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	base16_encode_update(nonce, sizeof(bytes), bytes);
	if (own == GATE_CLIENT)
		snprintf(ends, sizeof(ends), ",\"client\":\"%s\",\"server\":\"%s\"", talk->client,
			 talk->server);
	snprintf(talk->greeting[own], GATE_LINE_MAX,
		 "{\"probe\":\"%s\",\"build\":\"%s\",\"nonce\":\"%s\"%s}\n", GATE_PROTOCOL,
		 ROCECHECK_VERSION, nonce, ends);
	return 0;
}

/* Three lines, so that no two talks give the same bytes. */
void gate_proof(const struct gate_talk *talk, enum gate_role own, const char *token,
		char line[GATE_LINE_MAX])
{
	char label[64], text[BASE16_ENCODE_LENGTH(SHA256_DIGEST_SIZE) + 1] = "";
	const char *const part[] = {label, talk->greeting[GATE_CLIENT],
				    talk->greeting[GATE_SERVER]};
	uint8_t proof[SHA256_DIGEST_SIZE];
	struct hmac_sha256_ctx ctx;

	snprintf(label, sizeof(label), "%s %s\n", GATE_PROTOCOL, role_name[own]);
	hmac_sha256_set_key(&ctx, strlen(token), (const uint8_t *)token);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		hmac_sha256_update(&ctx, strlen(part[i]), (const uint8_t *)part[i]);
	hmac_sha256_digest(&ctx, sizeof(proof), proof);
	explicit_bzero(&ctx, sizeof(ctx));
	base16_encode_update(text, sizeof(proof), proof);
	snprintf(line, GATE_LINE_MAX, "{\"proof\":\"%s\"}\n", text);
}

/* A server is named by the beginning of what it says, which goes to whoever asked for it. Nothing
 * that a client sends goes anywhere. */
static int gate_not_ours(const char *line, size_t length, enum gate_role other, struct err *e)
{
	char begin[41];
	size_t size = length < sizeof(begin) - 1 ? length : sizeof(begin) - 1;

	if (other == GATE_CLIENT)
		return err_set(e, -EPROTO, "this is no client of %s", GATE_PROTOCOL);
	while (size && (unsigned char)line[size - 1] <= ' ')
		size--;
	begin[text_clean_bytes(begin, line, size, TEXT_FIELD)] = '\0';
	err_set(e, -EPROTO, "what answers is no probe server of %s: '%s'", GATE_PROTOCOL, begin);
	err_hint(e, "is it 'rocecheck probe server' that listens there?");
	return -EPROTO;
}

static int gate_protocol_check(const json_t *doc, const char *line, size_t length,
			       enum gate_role other, struct err *e)
{
	static const char family[] = "rocecheck.probe/";
	char protocol[32], build[32];
	struct err ignored;

	if (json_take_text(doc, "probe", protocol, sizeof(protocol), &ignored) ||
	    strncmp(protocol, family, sizeof(family) - 1))
		return gate_not_ours(line, length, other, e);
	if (!strcmp(protocol, GATE_PROTOCOL))
		return 0;
	if (json_take_text(doc, "build", build, sizeof(build), &ignored))
		strcpy(build, "unknown");
	err_set(e, -EPROTO, "the %s (build: %s) speaks %s, build %s here speaks %s",
		role_name[other], build, protocol, ROCECHECK_VERSION, GATE_PROTOCOL);
	err_hint(e, "install one version of rocecheck at both ends");
	return -EPROTO;
}

int gate_greeting_take(const char *line, size_t length, enum gate_role other,
		       struct gate_talk *talk, struct err *e)
{
	json_t *doc = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *client = json_string_value(json_object_get(doc, "client"));
	const char *server = json_string_value(json_object_get(doc, "server"));
	int err = gate_protocol_check(doc, line, length, other, e);

	if (!err && length > GATE_LINE_MAX - 2)
		err = gate_not_ours(line, length, other, e);
	/* Behind a translation of addresses no proof could be right. */
	if (!err && other == GATE_CLIENT &&
	    (!client || !server || strcmp(client, talk->client) || strcmp(server, talk->server))) {
		err = err_set(e, -EPROTO,
			      "addresses differ: the server sees the client as %s, itself as %s",
			      talk->client, talk->server);
		err_hint(e, "address translation (NAT) between the hosts: RoCE does not pass it "
			    "either, name an address of the host itself");
	}
	if (!err)
		snprintf(talk->greeting[other], GATE_LINE_MAX, "%.*s\n", (int)length, line);
	json_decref(doc);
	return err;
}

int gate_proof_check(const char *line, size_t length, enum gate_role other,
		     const struct gate_talk *talk, const char *token, struct err *e)
{
	char right[GATE_LINE_MAX];

	gate_proof(talk, other, token, right);
	if (length + 1 != strlen(right))
		return gate_not_ours(line, length, other, e);
	if (memeql_sec(line, right, length))
		return 0;
	if (other == GATE_CLIENT) {
		err_set(e, -EACCES, "the token is not that of the server");
		err_hint(e, "copy what 'rocecheck probe server' printed");
	} else {
		err_set(e, -EACCES, "the server does not know the token: it is another one");
		err_hint(e, "check the address and the port of the server");
	}
	return -EACCES;
}

struct entry {
	int fd;
	uint64_t end_ms;
	const atomic_int *stop;
	char line[2 * GATE_LINE_MAX];
	size_t length;
};

/* One line and not a byte more: the next one is the agent's. */
static int entry_line(struct entry *n, struct err *e)
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
				       "it closed the connection before it said hello");
		if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, -errno, "connection");
		if (n->stop && *n->stop)
			return err_set(e, -EINTR, "stopped before it answered");
		if (monotonic_ms() >= n->end_ms)
			return err_set(e, -ETIMEDOUT, "no answer to the connection in time");
		(void)poll(&p, 1, POLL_MS);
	}
	return gate_not_ours(n->line, n->length, GATE_SERVER, e);
}

/* Sends a line, and reads the answer, which may be an error in place of a line. */
static int entry_ask(struct entry *n, const char *line, struct err *e)
{
	size_t length = strlen(line);
	const json_t *error;
	json_t *doc;

	/* The first bytes of a connection: they fit into its socket. */
	if (send(n->fd, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		return err_sys(e, errno ? -errno : -EPIPE, "connection");
	if (entry_line(n, e))
		return e->code;
	doc = json_loadb(n->line, n->length, JSON_REJECT_DUPLICATES, NULL);
	error = json_object_get(doc, "error");
	if (error)
		err_from_json(error, "failed", e);
	json_decref(doc);
	return error ? e->code : 0;
}

int gate_enter(int fd, const char *token, unsigned int timeout_ms, const atomic_int *stop,
	       struct err *e)
{
	struct entry n = {fd, monotonic_ms() + timeout_ms, stop, "", 0};
	struct gate_talk talk = {0};
	char proof[GATE_LINE_MAX];
	int err = socket_ends(fd, talk.client, talk.server)
			  ?: gate_greeting_make(&talk, GATE_CLIENT);

	if (err)
		return err_sys(e, err, "connection");
	err = entry_ask(&n, talk.greeting[GATE_CLIENT], e);
	if (!err)
		err = gate_greeting_take(n.line, n.length, GATE_SERVER, &talk, e);
	if (err)
		return err;
	gate_proof(&talk, GATE_CLIENT, token, proof);
	err = entry_ask(&n, proof, e);
	return err ? err : gate_proof_check(n.line, n.length, GATE_SERVER, &talk, token, e);
}

/* In the order in which they give way to others, of one step the oldest first. */
enum caller_step {
	CALLER_WRONG,  /* `why` is told at until_ms */
	CALLER_SILENT, /* its greeting is awaited */
	CALLER_ASKED,  /* its proof is */
};

struct caller {
	int fd; /* -1: nobody */
	enum caller_step step;
	uint64_t until_ms;
	struct gate_talk talk;
	char line[GATE_LINE_MAX];
	size_t used;
	struct err why;
};

struct door {
	struct gate *g;
	size_t places;
	struct caller caller[GATE_PENDING];
};

static void caller_end(struct door *d, struct caller *c)
{
	d->g->strangers++;
	strcpy(d->g->stranger, c->talk.client);
	close(c->fd);
	c->fd = -1;
}

static void caller_await(struct caller *c, enum caller_step step, unsigned int ms)
{
	c->step = step;
	c->until_ms = monotonic_ms() + ms;
	c->used = 0;
}

static void caller_say(const struct caller *c, const char *line)
{
	(void)send(c->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool caller_refuse(struct door *d, struct caller *c)
{
	caller_await(c, CALLER_WRONG, GATE_HOLD_MS);
	if (d->g->refused)
		d->g->refused(c->talk.client, c->why.text);
	return false;
}

/* Its time is over. */
static void caller_dismiss(struct door *d, struct caller *c)
{
	json_t *doc = json_pack("{s:o*}", "error", err_to_json(&c->why));
	char line[2 * GATE_LINE_MAX];
	size_t size = json_dumpb(doc, line, sizeof(line) - 2, JSON_COMPACT);

	if (c->step == CALLER_WRONG && size && size <= sizeof(line) - 2) {
		strcpy(line + size, "\n");
		caller_say(c, line);
	}
	json_decref(doc);
	caller_end(d, c);
}

/* A whole line. True: it lets its caller in. */
static bool caller_line(struct door *d, struct caller *c, size_t length)
{
	char proof[GATE_LINE_MAX];

	if (c->step == CALLER_SILENT) {
		if (gate_greeting_take(c->line, length, GATE_CLIENT, &c->talk, &c->why))
			return caller_refuse(d, c);
		caller_say(c, c->talk.greeting[GATE_SERVER]);
		caller_await(c, CALLER_ASKED, GATE_SHOW_MS);
		return false;
	}
	if (gate_proof_check(c->line, length, GATE_CLIENT, &c->talk, d->g->token, &c->why))
		return caller_refuse(d, c);
	gate_proof(&c->talk, GATE_SERVER, d->g->token, proof);
	caller_say(c, proof);
	return true;
}

/* True: it is let in. Nothing may follow a line: the peer has to hear us first. */
static bool caller_hear(struct door *d, struct caller *c)
{
	ssize_t n = recv(c->fd, c->line + c->used, sizeof(c->line) - c->used, MSG_DONTWAIT);
	const char *newline;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		caller_end(d, c);
		return false;
	}
	c->used += (size_t)n;
	newline = memchr(c->line, '\n', c->used);
	if (newline && newline + 1 == c->line + c->used)
		return caller_line(d, c, c->used - 1);
	if (!newline && c->used < sizeof(c->line))
		return false;
	gate_not_ours(c->line, c->used, GATE_CLIENT, &c->why);
	return caller_refuse(d, c);
}

/* The place of nobody, else of who gives way. */
static struct caller *door_place(struct door *d)
{
	struct caller *first = d->caller;

	for (struct caller *c = d->caller; c < d->caller + d->places; c++) {
		if (c->fd < 0)
			return c;
		if (c->step < first->step ||
		    (c->step == first->step && c->until_ms < first->until_ms))
			first = c;
	}
	caller_end(d, first);
	return first;
}

/* False: nobody else is there. */
static bool door_take(struct door *d)
{
	int fd = accept4(d->g->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	struct caller *c;

	if (fd < 0)
		return false;
	c = door_place(d);
	*c = (struct caller){.fd = fd};
	caller_await(c, CALLER_SILENT, GATE_SHOW_MS);
	if (socket_ends(fd, c->talk.server, c->talk.client) ||
	    gate_greeting_make(&c->talk, GATE_SERVER))
		caller_end(d, c); /* it went away again */
	else
		(void)caller_hear(d, c); /* its greeting may be there */
	return true;
}

/* One look at all, who is let in or NULL. Few come at once: none gives way before it is heard. */
static struct caller *door_look(struct door *d)
{
	struct pollfd p[GATE_PENDING + 1];

	for (size_t i = 0; i < d->places; i++)
		p[i] = (struct pollfd){d->caller[i].step == CALLER_WRONG ? -1 : d->caller[i].fd,
				       POLLIN, 0};
	p[d->places] = (struct pollfd){d->g->listen_fd, POLLIN, 0};
	if (poll(p, d->places + 1, POLL_MS) < 0)
		return NULL; /* a signal: the caller looks at stop */
	for (size_t i = 0; i < d->places; i++) {
		struct caller *c = &d->caller[i];

		if (p[i].fd >= 0 && p[i].revents && caller_hear(d, c))
			return c;
		if (c->fd >= 0 && monotonic_ms() >= c->until_ms)
			caller_dismiss(d, c);
	}
	for (size_t i = 0; p[d->places].revents && i < d->places / 4 && door_take(d);)
		i++;
	return NULL;
}

int gate_wait(struct gate *g, int *fd, char peer[GATE_ADDRESS_BYTES], struct err *e)
{
	uint64_t end_ms = g->wait_ms ? monotonic_ms() + g->wait_ms : UINT64_MAX;
	struct door *d = calloc(1, sizeof(*d));
	struct rlimit files = {.rlim_cur = GATE_PENDING};
	struct caller *in = NULL;
	int err = 0;

	if (!d)
		return err_sys(e, -ENOMEM, "server");
	(void)getrlimit(RLIMIT_NOFILE, &files); /* poll() takes no more either */
	d->places = files.rlim_cur / 2 < GATE_PENDING ? files.rlim_cur / 2 : GATE_PENDING;
	d->g = g;
	for (size_t i = 0; i < GATE_PENDING; i++)
		d->caller[i].fd = -1;
	while (!err && !(in = door_look(d))) {
		if (g->stop && *g->stop)
			err = err_set(e, -EINTR, "stopped before a client came");
		else if (monotonic_ms() >= end_ms)
			err = err_set(e, -ETIMEDOUT, "no client came within %u s",
				      g->wait_ms / 1000);
	}
	if (in) {
		snprintf(peer, GATE_ADDRESS_BYTES, "%.*s", (int)strcspn(in->talk.client, " "),
			 in->talk.client);
		*fd = in->fd;
		in->fd = -1;
	}
	for (size_t i = 0; i < d->places; i++)
		if (d->caller[i].fd >= 0)
			caller_end(d, &d->caller[i]);
	free(d);
	return err;
}
