/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP sockets of `probe client` and `probe server`, and their addresses as text.
 */
#ifndef PROBE_TCP_SOCKET_H
#define PROBE_TCP_SOCKET_H

#include <stdatomic.h>

#include "profiles/base/base.h"

/* Connects to the first address of host that answers, within timeout_ms over all addresses. *fd has
 * TCP_NODELAY set. own and peer get the numeric addresses. -EINTR when *stop. */
int tcp_connect(const char *host, unsigned int port, unsigned int timeout_ms,
		const atomic_int *stop, int *fd, char own[64], char peer[64], struct err *e);

/* Writes a socket address as numeric text, without port; IPv4-mapped addresses as IPv4. */
struct sockaddr;
void address_text(const struct sockaddr *address, char *buf, size_t size);

/* Converts a GID to its IPv4 or IPv6 address. */
struct sockaddr_storage;
void address_of_gid(const uint8_t gid[16], uint16_t port, struct sockaddr_storage *out);

/* Returns the port that a socket is bound to; 0 with errno on failure. */
uint16_t socket_port(int fd);

/* Writes "ADDRESS port N" of both sides of a connected socket. */
#define ENDPOINT_TEXT_BYTES 80
int socket_endpoints(int fd, char own[ENDPOINT_TEXT_BYTES], char peer[ENDPOINT_TEXT_BYTES]);

/* Opens a non-blocking listening socket. address NULL: all addresses. port 0: any free port. *bound
 * is the port in use. */
int socket_listen(const char *address, unsigned int port, int *fd, unsigned int *bound,
		  struct err *e);

/* Returns true if the peer's kernel acknowledged TCP data within within_ms: the peer's host and its
 * process exist, even if the process sends nothing. */
bool socket_is_answered(int fd, unsigned int within_ms);

#endif
