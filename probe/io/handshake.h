/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutual authentication of `probe client` and `probe server`. The server accepts one client that
 * knows the token. Neither side sends the token: each sends an HMAC-SHA-256 (RFC 2104), keyed with
 * the token, over both greetings, which hold random numbers, addresses and ports of both sides:
 *
 *   client  {"probe":"rocecheck.probe/3","build","nonce","client":"ADDRESS port N","server"}
 *   server  {"probe","build","nonce"}
 *   client  {"proof": HMAC of "rocecheck.probe/3 client" and both greetings, a line each}
 *   server  {"proof": the same with "server"}, then the agent's protocol; or {"error"}
 *
 * A proof is valid for one connection only: a relay has other addresses. Data after the handshake
 * is neither encrypted nor signed.
 */
#ifndef PROBE_HANDSHAKE_H
#define PROBE_HANDSHAKE_H

#include <stdatomic.h>

#include "probe/io/tcp_socket.h"

#define HANDSHAKE_PROTOCOL     "rocecheck.probe/3"
#define HANDSHAKE_LINE_MAX     512
#define LISTENER_PENDING_MAX   256  /* unauthenticated connections */
#define HANDSHAKE_STEP_MS      3000 /* time limit of each of them */
#define HANDSHAKE_REJECT_MS    500  /* delay of the answer to a wrong proof */
#define LISTENER_ADDRESS_BYTES 64

enum handshake_role { HANDSHAKE_CLIENT, HANDSHAKE_SERVER, HANDSHAKE_ROLES };

/* Data that the proofs cover. */
struct handshake {
	char client[ENDPOINT_TEXT_BYTES], server[ENDPOINT_TEXT_BYTES]; /* as seen by this host */
	char greeting[HANDSHAKE_ROLES][HANDSHAKE_LINE_MAX];	       /* with their newlines */
};

/* Makes talk->greeting[own], with a new random number. */
int handshake_greeting_make(struct handshake *talk, enum handshake_role own);

/* Parses the peer's greeting, without newline. -EPROTO, with a text to send to the peer, when it is
 * not a greeting, has another protocol version, or has other addresses than this host sees. */
int handshake_greeting_parse(const char *line, size_t length, enum handshake_role other,
			     struct handshake *talk, struct err *e);

/* Writes the proof as a line, with its newline. */
void handshake_proof_make(const struct handshake *talk, enum handshake_role own, const char *token,
			  char line[HANDSHAKE_LINE_MAX]);

/* Returns 0 if the line is a valid proof, -EACCES if the proof is wrong, -EPROTO if the line is not
 * a proof. Compares in constant time. */
int handshake_proof_check(const char *line, size_t length, enum handshake_role other,
			  const struct handshake *talk, const char *token, struct err *e);

struct listener {
	int listen_fd;
	const char *token;
	unsigned int wait_ms;	/* total time to wait for a client; 0 = no limit */
	const atomic_int *stop; /* may be NULL */
	void (*refused)(const char *peer, const char *why);
	unsigned int rejected;			 /* result: connections without the token */
	char last_rejected[ENDPOINT_TEXT_BYTES]; /* the last one of them */
};

/* Returns the socket and the numeric address of an authenticated client; -ETIMEDOUT, -EINTR when
 * stopped. Other connections are closed; when all places are taken, the oldest one is replaced. */
int listener_accept(struct listener *listener, int *fd, char peer[LISTENER_ADDRESS_BYTES],
		    struct err *e);

/* Authenticates as a client on a connected, non-blocking socket. 0: the server has proven the token
 * too; the next byte belongs to the agent protocol. -EINTR when *stop. */
int handshake_authenticate(int fd, const char *token, unsigned int timeout_ms,
			   const atomic_int *stop, struct err *e);

#endif
