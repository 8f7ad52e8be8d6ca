/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP streams in parallel to RDMA traffic, between the addresses of the two GIDs, to load a shared
 * port. A separate thread moves them; queue pair threads never wait for it. It is in the same
 * process, so that one watchdog covers both.
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
	uint64_t acked_before; /* TCP's counters before the run: handshake and struct connect_id */
	uint64_t wire_before;
	uint64_t broke_ns; /* time of failure; 0 = none */
	int error;	   /* positive errno; 0: closed by the peer */
};

struct tcp_load {
	enum traffic_role role;
	uint64_t seed;
	unsigned int count;   /* of TCP classes */
	unsigned int senders; /* to one receiver */
	struct traffic_tcp tcp[TRAFFIC_TCP_MAX];
	struct sockaddr_storage own;
	int listener[TRAFFIC_TCP_MAX]; /* -1: none */
	struct tcp_stream *stream;     /* owned; in the order of TCP classes */
	unsigned int stream_count;
	int epoll_fd;
	uint8_t *zeros; /* owned: payload */
	uint64_t start_ns, end_ns, ended_ns;
	struct traffic_tcp_result *result; /* owned, during the run */
	atomic_bool ending;
	pthread_t thread;
	bool started;
};

/* Opens the TCP side at this GID. A server listens per TCP class: port[] is for the peer, else 0.
 * -EADDRNOTAVAIL for a GID that TCP cannot use. The caller closes *out. */
int tcp_load_open(const struct traffic_spec *spec, const uint8_t gid[16],
		  uint16_t port[TRAFFIC_TCP_MAX], struct tcp_load **out, struct err *e);
void tcp_load_close(struct tcp_load *l);

/* Connects all streams, each with its ToS, within 4 s. Both hosts call it at the same time. A
 * connection from another address, or without the id of the run, is closed and delays nothing. */
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
