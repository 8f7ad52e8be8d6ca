/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP streams between the two ends of traffic, between the addresses of their GIDs: what a port
 * that all share carries beside RDMA. A thread of its own moves them, which the threads of the
 * queue pairs never wait for, and which is in the same process, so that one watchdog ends both.
 */
#ifndef PROBE_TRAFFIC_TCP_H
#define PROBE_TRAFFIC_TCP_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "probe/traffic/traffic.h"

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

/* The end at this GID. A server listens for each background: port[] is for the peer, else 0.
 * -EADDRNOTAVAIL for a GID that is no address of TCP. *out is the caller's to close. */
int tcp_load_open(const struct traffic_spec *spec, const uint8_t gid[16],
		  uint16_t port[TRAFFIC_TCP_MAX], struct tcp_load **out, struct err *e);
void tcp_load_close(struct tcp_load *l);

/* All streams to the peer, each with its ToS; at most 4 s. Both ends call it, at the same time. A
 * stranger who knocks and does not know the run, or comes from another address, is sent away and
 * holds up nobody. */
int tcp_load_connect(struct tcp_load *l, const uint8_t gid[16],
		     const uint16_t port[TRAFFIC_TCP_MAX], struct err *e);

/* Sends and receives until end_ns (of monotonic_ns(); UINT64_MAX = until told). */
int tcp_load_start(struct tcp_load *l, uint64_t start_ns, uint64_t end_ns, struct err *e);

/* Tells it to end; from any thread, without waiting. */
void tcp_load_stop(struct tcp_load *l);

/* Waits for its end, 100 ms after it was told at the latest. Streams are cut, so that nothing of
 * them is under way any more. result: one for each background of the spec. */
void tcp_load_join(struct tcp_load *l, struct traffic_tcp_result *result);

#endif
