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
#ifndef PROBE_GATE_H
#define PROBE_GATE_H

#include <stdatomic.h>

#include "probe/io/dial.h"

#define GATE_PROTOCOL	   "rocecheck.probe/3"
#define GATE_LINE_MAX	   512
#define GATE_PENDING	   256	/* connections that have not proven the token yet */
#define GATE_SHOW_MS	   3000 /* within which they have to */
#define GATE_HOLD_MS	   500	/* a wrong proof is answered so late */
#define GATE_ADDRESS_BYTES 64

enum gate_role { GATE_CLIENT, GATE_SERVER, GATE_ROLES };

/* What a proof is about. */
struct gate_talk {
	char client[END_BYTES], server[END_BYTES]; /* as this end sees them */
	char greeting[GATE_ROLES][GATE_LINE_MAX];  /* with their newlines */
};

/* Makes talk->greeting[own], with a new random number. */
int gate_greeting_make(struct gate_talk *talk, enum gate_role own);

/* The greeting of the other end, without newline. -EPROTO with a text for the peer when it is none,
 * or of another protocol; a client that sees other addresses than we do is told so. */
int gate_greeting_take(const char *line, size_t length, enum gate_role other,
		       struct gate_talk *talk, struct err *e);

/* A line with its newline. */
void gate_proof(const struct gate_talk *talk, enum gate_role own, const char *token,
		char line[GATE_LINE_MAX]);

/* -EACCES unless this line proves that its sender knows the token, -EPROTO when it is no such line.
 * Takes the same time wherever a proof is wrong. */
int gate_proof_check(const char *line, size_t length, enum gate_role other,
		     const struct gate_talk *talk, const char *token, struct err *e);

struct gate {
	int listen_fd;
	const char *token;
	unsigned int wait_ms;	/* for the peer, in all; 0 = for ever */
	const atomic_int *stop; /* may be NULL */
	void (*refused)(const char *peer, const char *why);
	unsigned int strangers;	  /* set: so many came without the token, */
	char stranger[END_BYTES]; /* this one last */
};

/* The peer's socket and its numeric address; -ETIMEDOUT, -EINTR when stopped. Strangers end
 * nothing, and where they take all places the oldest of them gives way. */
int gate_wait(struct gate *g, int *fd, char peer[GATE_ADDRESS_BYTES], struct err *e);

/* The client's part, on a connected socket that does not block. 0: the other end has proven that it
 * knows the token as well, and its next byte is the agent's. -EINTR when *stop. */
int gate_enter(int fd, const char *token, unsigned int timeout_ms, const atomic_int *stop,
	       struct err *e);

#endif
