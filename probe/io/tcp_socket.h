/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connecting to a `probe server` by TCP, listening as one, and addresses of sockets.
 */
#ifndef PROBE_TCP_SOCKET_H
#define PROBE_TCP_SOCKET_H

#include <stdatomic.h>

#include "profiles/base/base.h"

/* Tries every address of host, all of them within timeout_ms. *fd is connected, without delay of
 * small writes. own and peer get the numeric addresses of the connection. -EINTR when *stop. */
int tcp_connect(const char *host, unsigned int port, unsigned int timeout_ms,
		const atomic_int *stop, int *fd, char own[64], char peer[64], struct err *e);

/* Numeric text of a socket address, without port; an IPv4 address inside IPv6 as IPv4. */
struct sockaddr;
void address_text(const struct sockaddr *address, char *buf, size_t size);

/* The address that a GID stands for, IPv4 or IPv6. */
struct sockaddr_storage;
void address_of_gid(const uint8_t gid[16], uint16_t port, struct sockaddr_storage *out);

/* Which port a socket is bound to; 0 with errno when that is not known. */
uint16_t socket_port(int fd);

/* "ADDRESS port N" of both ends of a connected socket. */
#define ENDPOINT_TEXT_BYTES 80
int socket_endpoints(int fd, char own[ENDPOINT_TEXT_BYTES], char peer[ENDPOINT_TEXT_BYTES]);

/* A socket that listens and does not block. address NULL: all. port 0: any; *bound is the one that
 * it got. */
int socket_listen(const char *address, unsigned int port, int *fd, unsigned int *bound,
		  struct err *e);

/* True: a TCP connection whose other end acknowledged something within so long. That host lives,
 * whatever its program does: a program that is gone closes its connections. */
bool socket_is_answered(int fd, unsigned int within_ms);

#endif
