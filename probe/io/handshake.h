/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of `probe server`: it lets one peer in, the one that knows the token. Neither end sends
 * the token; each proves it by an HMAC-SHA-256 (RFC 2104), keyed with it, over both greetings. They
 * bring random numbers of both ends, and the addresses and ports of both:
 *
 *   client  {"probe":"rocecheck.probe/3","build","nonce","client":"ADDRESS port N","server"}
 *   server  {"probe","build","nonce"}
 *   client  {"proof": HMAC of "rocecheck.probe/3 client" and both greetings, a line each}
 *   server  {"proof": the same with "server"}, then the agent's protocol; or {"error"}
 *
 * A proof is of no use on another connection: a server that passes it on to another one has other
 * addresses. What follows is neither encrypted nor signed.
 */
#ifndef PROBE_HANDSHAKE_H
#define PROBE_HANDSHAKE_H

#include <stdatomic.h>

#include "probe/io/tcp_socket.h"

#define HANDSHAKE_PROTOCOL     "rocecheck.probe/3"
#define HANDSHAKE_LINE_MAX     512
#define LISTENER_PENDING_MAX   256  /* connections that have not proven the token yet */
#define HANDSHAKE_STEP_MS      3000 /* within which they have to */
#define HANDSHAKE_REJECT_MS    500  /* a wrong proof is answered so late */
#define LISTENER_ADDRESS_BYTES 64

enum handshake_role { HANDSHAKE_CLIENT, HANDSHAKE_SERVER, HANDSHAKE_ROLES };

/* What a proof is about. */
struct handshake {
	char client[ENDPOINT_TEXT_BYTES], server[ENDPOINT_TEXT_BYTES]; /* as this end sees them */
	char greeting[HANDSHAKE_ROLES][HANDSHAKE_LINE_MAX];	       /* with their newlines */
};

/* Makes talk->greeting[own], with a new random number. */
int handshake_greeting_make(struct handshake *talk, enum handshake_role own);

/* The greeting of the other end, without newline. -EPROTO with a text for the peer when it is none,
 * or of another protocol; a client that sees other addresses than we do is told so. */
int handshake_greeting_parse(const char *line, size_t length, enum handshake_role other,
			     struct handshake *talk, struct err *e);

/* A line with its newline. */
void handshake_proof_make(const struct handshake *talk, enum handshake_role own, const char *token,
			  char line[HANDSHAKE_LINE_MAX]);

/* -EACCES unless this line proves that its sender knows the token, -EPROTO when it is no such line.
 * Takes the same time wherever a proof is wrong. */
int handshake_proof_check(const char *line, size_t length, enum handshake_role other,
			  const struct handshake *talk, const char *token, struct err *e);

struct listener {
	int listen_fd;
	const char *token;
	unsigned int wait_ms;	/* for the peer, in all; 0 = for ever */
	const atomic_int *stop; /* may be NULL */
	void (*refused)(const char *peer, const char *why);
	unsigned int rejected;			 /* set: so many came without the token, */
	char last_rejected[ENDPOINT_TEXT_BYTES]; /* this one last */
};

/* The peer's socket and its numeric address; -ETIMEDOUT, -EINTR when stopped. Strangers end
 * nothing, and where they take all places the oldest of them gives way. */
int listener_accept(struct listener *g, int *fd, char peer[LISTENER_ADDRESS_BYTES], struct err *e);

/* The client's part, on a connected socket that does not block. 0: the other end has proven that it
 * knows the token as well, and its next byte is the agent's. -EINTR when *stop. */
int handshake_authenticate(int fd, const char *token, unsigned int timeout_ms,
			   const atomic_int *stop, struct err *e);

#endif
