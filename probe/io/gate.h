/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of `probe server`: one listening socket that lets one peer in, the one that knows the
 * token. Neither end sends the token; each proves that it knows it (RFC 2104, HMAC-SHA-256) over
 * random numbers of both and the addresses and ports of both:
 *
 *   client  {"probe":"rocecheck.probe/2","build":..,"nonce":..,"client":"ADDRESS port
 * N","server":..} server  {"probe":"rocecheck.probe/2","build":..,"nonce":..} client  {"proof":
 * HMAC(key, "client", ...)} server  {"proof": HMAC(key, "server", ...)}, then the agent's protocol;
 * or {"error":{...}}
 *
 * A proof is of no use on another connection: a server that passes it on to another one has other
 * addresses. What follows is neither encrypted nor signed.
 */
#ifndef PROBE_GATE_H
#define PROBE_GATE_H

#include <stdatomic.h>

#include "profiles/base/base.h"

#define GATE_PROTOCOL	   "rocecheck.probe/2"
#define GATE_NONCE_BYTES   32
#define GATE_PROOF_BYTES   32
#define GATE_LINE_MAX	   512
#define GATE_PENDING	   32	/* connections that have not proven the token yet */
#define GATE_SOURCE_MAX	   4	/* of them from one source: an IPv4 address, an IPv6 /64 */
#define GATE_SHOW_MS	   3000 /* within which they have to */
#define GATE_HOLD_MS	   500 /* the first wrong proof is answered so late, each next twice that */
#define GATE_HOLD_MOST_MS  8000
#define GATE_REPORTS	   5 /* refusals that are reported one by one, in GATE_REPORT_MS */
#define GATE_REPORT_MS	   10000
#define GATE_ADDRESS_BYTES 64

/* Derived from a token, slowly: a proof that was recorded is no quick test of guesses. */
struct gate_key {
	uint8_t bytes[32];
};
void gate_key_make(const char *token, struct gate_key *key);

/* An address as IPv6 (an IPv4 one mapped, RFC 4291 s2.5.5.2), without scope. */
struct gate_end {
	uint8_t address[16];
	uint16_t port;
};

/* What a proof is about. */
struct gate_talk {
	struct gate_end client, server;
	uint8_t client_nonce[GATE_NONCE_BYTES], server_nonce[GATE_NONCE_BYTES];
};

enum gate_role {
	GATE_CLIENT,
	GATE_SERVER,
};

/* The two ends of a connected socket, whose own one is this role's. */
int gate_ends_read(int fd, enum gate_role own, struct gate_talk *talk);

/* The lines with their newlines. size: GATE_LINE_MAX. */
void gate_greeting(const struct gate_talk *talk, enum gate_role own, char *buf, size_t size);
void gate_proof(const struct gate_talk *talk, enum gate_role own, const struct gate_key *key,
		char *buf, size_t size);

/* The greeting of the other end, without newline: fills its nonce. -EPROTO with a text for the peer
 * when it is none, or of another protocol; a client that sees other addresses than we do is told
 * so. */
int gate_greeting_take(const char *line, size_t length, enum gate_role other,
		       struct gate_talk *talk, struct err *e);

/* Whether this line proves that its sender knows the token; takes the same time wherever it is
 * wrong. -EACCES, or -EPROTO when it is no such line. */
int gate_proof_check(const char *line, size_t length, enum gate_role other,
		     const struct gate_talk *talk, const struct gate_key *key, struct err *e);

/* address NULL: all. port 0: any; *bound is what it got. The socket is closed by the caller. */
int gate_listen(const char *address, unsigned int port, int *fd, unsigned int *bound,
		struct err *e);

/* Who came without the token. */
struct gate_strangers {
	unsigned int count;
	char last[GATE_ADDRESS_BYTES];
};

struct gate {
	int listen_fd;
	const struct gate_key *key;
	unsigned int wait_ms;	/* for the peer, in all; 0 = for ever */
	const atomic_int *stop; /* may be NULL */
	/* A refusal; before it so many were not reported. May be NULL. */
	void (*refused)(const char *peer, const char *why, unsigned int unreported, void *arg);
	void *arg;
};

/* The peer's socket, blocking, and its numeric address. Strangers are slowed down, each source by
 * itself, and end nothing: -ETIMEDOUT, -EINTR when stopped. *strangers is filled in any case. */
int gate_wait(const struct gate *g, int *fd, char peer[GATE_ADDRESS_BYTES],
	      struct gate_strangers *strangers, struct err *e);

/* The client's part, on a connected socket that does not block. 0: the other end has proven that it
 * knows the token as well, and its next byte is the agent's. -EINTR when *stop. */
int gate_enter(int fd, const struct gate_key *key, unsigned int timeout_ms, const atomic_int *stop,
	       struct err *e);

#endif
