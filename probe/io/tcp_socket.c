/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens TCP connections with a deadline: the kernel's own timeout is two minutes.
 */
#include "probe/io/tcp_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define POLL_MS 100

void address_text(const struct sockaddr *address, char *buf, size_t size)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;

	if (size)
		buf[0] = '\0';
	if (address->sa_family == AF_INET)
		(void)inet_ntop(AF_INET, &four->sin_addr, buf, (socklen_t)size);
	else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		(void)inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, buf, (socklen_t)size);
	else if (address->sa_family == AF_INET6)
		(void)inet_ntop(AF_INET6, &six->sin6_addr, buf, (socklen_t)size);
}

void address_of_gid(const uint8_t gid[16], uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
	struct sockaddr_in *four = (struct sockaddr_in *)out;

	memset(out, 0, sizeof(*out));
	memcpy(&six->sin6_addr, gid, 16);
	if (!IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		return;
	}
	memset(out, 0, sizeof(*out));
	four->sin_family = AF_INET;
	four->sin_port = htons(port);
	memcpy(&four->sin_addr, gid + 12, 4);
}

static uint16_t socket_address_port(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

uint16_t socket_port(int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &length))
		return 0;
	return socket_address_port(&address);
}

static void socket_endpoint_text(const struct sockaddr_storage *end, char text[ENDPOINT_TEXT_BYTES])
{
	char address[INET6_ADDRSTRLEN];

	address_text((const struct sockaddr *)end, address, sizeof(address));
	snprintf(text, ENDPOINT_TEXT_BYTES, "%s port %u", address, socket_address_port(end));
}

int socket_endpoints(int fd, char own[ENDPOINT_TEXT_BYTES], char peer[ENDPOINT_TEXT_BYTES])
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t here_size = sizeof(here), there_size = sizeof(there);

	if (getsockname(fd, (struct sockaddr *)&here, &here_size) ||
	    getpeername(fd, (struct sockaddr *)&there, &there_size))
		return -errno;
	socket_endpoint_text(&here, own);
	socket_endpoint_text(&there, peer);
	return 0;
}

static int socket_listen_at(const struct addrinfo *at, int *out)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	const int on = 1, off = 0;
	int err = 0;

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at->ai_family == AF_INET6) /* "::" also accepts IPv4 */
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, SOMAXCONN))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

int socket_listen(const char *address, unsigned int port, int *fd, unsigned int *bound,
		  struct err *e)
{
	static const char *const everywhere[] = {"::", "0.0.0.0"}; /* the second without IPv6 */
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_PASSIVE | AI_NUMERICSERV | AI_NUMERICHOST};
	int err = -EADDRNOTAVAIL;
	char service[8];

	snprintf(service, sizeof(service), "%u", port & 0xffff);
	for (size_t i = 0; i < (address ? 1 : ARRAY_SIZE(everywhere)) && err; i++) {
		struct addrinfo *list = NULL;

		if (getaddrinfo(address ? address : everywhere[i], service, &hints, &list))
			return err_set(e, -EINVAL,
				       "invalid address '%s': expected a numeric address", address);
		err = socket_listen_at(list, fd);
		freeaddrinfo(list);
		if (err == -EADDRINUSE)
			break;
	}
	if (err) {
		err_sys(e, err, "listening on %s port %u", address ? address : "all addresses",
			port);
		if (err == -EADDRINUSE)
			err_hint(e, "another program uses this port: choose another one with -p");
		return err;
	}
	*bound = socket_port(*fd);
	return 0;
}

/* Waits until the connection is established, the deadline or a stop. */
static int tcp_connect_wait(int fd, uint64_t deadline_ms, const atomic_int *stop)
{
	int err = 0;
	socklen_t length = sizeof(err);

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		int n = poll(&p, 1, POLL_MS);

		if (stop && *stop)
			return -EINTR;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			break;
		if (monotonic_ms() >= deadline_ms)
			return -ETIMEDOUT;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &length))
		return -errno;
	return -err;
}

static int tcp_connect_address(const struct addrinfo *at, uint64_t deadline_ms,
			       const atomic_int *stop, int *out)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
	const int on = 1;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, at->ai_addr, at->ai_addrlen))
		err = errno == EINPROGRESS ? tcp_connect_wait(fd, deadline_ms, stop) : -errno;
	if (!err && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

static void socket_get_addresses(int fd, char own[64], char peer[64])
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);

	own[0] = peer[0] = '\0';
	if (!getsockname(fd, (struct sockaddr *)&address, &length))
		address_text((struct sockaddr *)&address, own, 64);
	length = sizeof(address);
	if (!getpeername(fd, (struct sockaddr *)&address, &length))
		address_text((struct sockaddr *)&address, peer, 64);
}

static int tcp_connect_error(int err, const char *host, unsigned int port, struct err *e)
{
	err_sys(e, err, "%s port %u", host, port);
	if (err == -ECONNREFUSED)
		err_hint(e,
			 "start 'rocecheck probe server' on that host, and pass its port with -p");
	else if (err == -ETIMEDOUT || err == -EHOSTUNREACH)
		err_hint(e, "check the address, the host, and firewalls on the path");
	return err;
}

int tcp_connect(const char *host, unsigned int port, unsigned int timeout_ms,
		const atomic_int *stop, int *fd, char own[64], char peer[64], struct err *e)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	uint64_t deadline_ms = monotonic_ms() + timeout_ms;
	struct addrinfo *list = NULL;
	int err = -EHOSTUNREACH, rc;
	char service[8];

	snprintf(service, sizeof(service), "%u", port & 0xffff);
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc) {
		err_set(e, -EHOSTUNREACH, "%s: %s", host, gai_strerror(rc));
		err_hint(e, "give the address of the host that runs 'rocecheck probe "
			    "server'");
		return -EHOSTUNREACH;
	}
	for (const struct addrinfo *at = list; at && err && err != -EINTR; at = at->ai_next)
		err = tcp_connect_address(at, deadline_ms, stop, fd);
	freeaddrinfo(list);
	if (err)
		return tcp_connect_error(err, host, port, e);
	socket_get_addresses(*fd, own, peer);
	return 0;
}

bool socket_is_answered(int fd, unsigned int within_ms)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);

	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) &&
	       info.tcpi_state == TCP_ESTABLISHED && info.tcpi_last_ack_recv <= within_ms;
}
