/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The door of `probe server`: one listening socket that lets one peer in, the one that shows the
 * token. Its first line is {"probe":"rocecheck.probe/1","token":"..."}; what follows is the agent's
 * protocol. The token goes as it is: who can read the network between the two hosts can read it,
 * and it is worth nothing after the one connection it opened.
 */
#ifndef PROBE_GATE_H
#define PROBE_GATE_H

#include <stdatomic.h>

#include "profiles/base.h"

#define GATE_PROTOCOL	 "rocecheck.probe/1"
#define GATE_TOKEN_MIN	 16
#define GATE_TOKEN_MAX	 128
#define GATE_TOKEN_BYTES 16   /* of a token we make, as 32 hexadecimal digits */
#define GATE_TRIES	 3    /* wrong first lines, then the server ends */
#define GATE_PENDING	 8    /* connections that have not shown a token yet */
#define GATE_SHOW_MS	 3000 /* within which they have to */

/* 128 random bits as text. -errno when the kernel gives none. */
int gate_token_make(char token[GATE_TOKEN_MAX + 1], struct err *e);

/* First line of a file, "-" = stdin; or a text of elsewhere. -EINVAL when it cannot be a token:
 * GATE_TOKEN_MIN to GATE_TOKEN_MAX visible characters. A file that others may read is refused. */
int gate_token_load(const char *path, char token[GATE_TOKEN_MAX + 1], struct err *e);
int gate_token_check(const char *token, const char *where, struct err *e);

/* True when equal; takes the same time wherever they differ. */
bool gate_token_equal(const char *a, const char *b);

/* The first line with its newline; token was checked. */
void gate_line(const char *token, char *buf, size_t size);

/* Whether this line, without newline, opens the door. -EACCES or -EPROTO with a text for the peer.
 */
int gate_judge(const char *line, size_t length, const char *token, struct err *e);

/* address NULL: all. port 0: any; *bound is what it got. The socket is closed by the caller. */
int gate_listen(const char *address, unsigned int port, int *fd, unsigned int *bound,
		struct err *e);

struct gate {
	int listen_fd;
	const char *token;
	unsigned int wait_ms;	/* for the peer, in all; 0 = for ever */
	const atomic_int *stop; /* may be NULL */
	void (*refused)(const char *peer, const char *why, void *arg); /* may be NULL */
	void *arg;
};

/* The peer's socket, blocking, and its numeric address. -ETIMEDOUT, -EACCES after GATE_TRIES wrong
 * first lines, -EINTR when stopped. */
int gate_wait(const struct gate *g, int *fd, char peer[64], struct err *e);

#endif
