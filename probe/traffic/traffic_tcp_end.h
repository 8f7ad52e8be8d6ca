/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of struct tcp_load, for traffic_tcp*.c.
 */
#ifndef PROBE_TRAFFIC_TCP_END_H
#define PROBE_TRAFFIC_TCP_END_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "probe/traffic/traffic_tcp.h"

struct tcp_stream {
	int fd; /* -1: not connected */
	unsigned int background;
	bool sends, receives;
	uint64_t acked_before; /* of what TCP counts: the handshake and the ticket */
	uint64_t wire_before;
	uint64_t broke_ns; /* when it ended by itself; 0: it did not */
	int error;	   /* positive errno; 0: the other end closed it */
};

struct tcp_load {
	enum traffic_role role;
	uint64_t seed;
	unsigned int count;   /* of backgrounds */
	unsigned int senders; /* towards one receiver */
	struct traffic_tcp tcp[TRAFFIC_TCP_MAX];
	struct sockaddr_storage own;
	int listener[TRAFFIC_TCP_MAX]; /* -1: none */
	struct tcp_stream *stream;     /* owned; those of background 0 first */
	unsigned int stream_count;
	int epoll_fd;
	uint8_t *zeros; /* owned: what is sent */
	uint64_t start_ns, end_ns, ended_ns;
	struct traffic_tcp_result *result; /* owned: while it runs */
	atomic_bool ending;
	pthread_t thread;
	bool started;
};

#endif
