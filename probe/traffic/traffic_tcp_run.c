/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread of TCP streams: level-triggered, so many bytes a turn. What arrives is dropped in the
 * kernel (MSG_TRUNC) and what is sent is always the same, so that it costs the host little. In the
 * end a stream is cut: what still waits in its socket must not go on after the run.
 */
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "probe/traffic/traffic_tcp_end.h"

#define WAIT_MS 20
#define EVENTS	64
#define PIECE	(64u << 10) /* of one send() */
#define PIECES	4u	    /* of a stream before the others have their turn */
#define TAKE	(1u << 20)

/* The end of the other one comes so long before ours at most: where the time is over for both, they
 * began within a word of each other; who is told to end is told later, and looks now and then. */
#define APART_MOST_NS	    UINT64_C(1000000000)
#define APART_PART	    10u /* of the run */
#define APART_LEAST_NS	    UINT64_C(50000000)
#define APART_LEAST_TOLD_NS UINT64_C(500000000)

/* Zero where the kernel is too old to say. */
static void read_info(int fd, struct tcp_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size);
}

static void broke(struct tcp_load *l, struct tcp_stream *s, int error)
{
	(void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	s->broke_ns = monotonic_ns();
	s->error = error;
}

static bool is_over(const struct tcp_load *l)
{
	return atomic_load_explicit(&l->ending, memory_order_relaxed) ||
	       monotonic_ns() >= l->end_ns;
}

static void take(struct tcp_load *l, struct tcp_stream *s)
{
	struct traffic_tcp_result *r = &l->result[s->background];

	for (unsigned int i = 0; i < PIECES && !s->broke_ns; i++) {
		ssize_t n = recv(s->fd, NULL, TAKE, MSG_TRUNC | MSG_DONTWAIT);

		if (n > 0) {
			r->arrived_bytes += (uint64_t)n;
			intervals_add(&r->goodput, monotonic_ns(), (uint64_t)n);
		} else if (!n) {
			broke(l, s, 0);
		} else if (errno != EINTR) {
			if (errno != EAGAIN)
				broke(l, s, errno);
			return;
		}
	}
}

static void give(struct tcp_load *l, struct tcp_stream *s)
{
	for (unsigned int i = 0; i < PIECES && !s->broke_ns; i++) {
		if (send(s->fd, l->zeros, PIECE, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
		    errno == EINTR)
			continue;
		if (errno != EAGAIN)
			broke(l, s, errno);
		return;
	}
}

/* A stream that only sends hears of its end so. */
static void check_alive(struct tcp_load *l, struct tcp_stream *s)
{
	socklen_t size = sizeof(int);
	int error = 0;

	(void)getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	broke(l, s, error);
}

static void serve(struct tcp_load *l, struct tcp_stream *s, uint32_t events)
{
	if (events & EPOLLIN && s->receives)
		take(l, s);
	if (events & EPOLLOUT && s->sends && !s->broke_ns)
		give(l, s);
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP) && !s->receives && !s->broke_ns)
		check_alive(l, s);
}

static void add_sent(struct traffic_tcp_result *r, const struct tcp_stream *s)
{
	struct tcp_info info;

	read_info(s->fd, &info);
	r->retransmits += info.tcpi_total_retrans;
	if (!s->sends)
		return;
	if (info.tcpi_bytes_acked > s->acked_before)
		r->sent_bytes += info.tcpi_bytes_acked - s->acked_before;
	if (info.tcpi_bytes_sent > s->wire_before)
		r->wire_bytes += info.tcpi_bytes_sent - s->wire_before;
	if (info.tcpi_snd_mss && (!r->mss || info.tcpi_snd_mss < r->mss))
		r->mss = info.tcpi_snd_mss;
}

/* Until when an end of a stream is early. */
static uint64_t early_until_ns(const struct tcp_load *l)
{
	bool told = l->ended_ns < l->end_ns;
	uint64_t over_ns = told ? l->ended_ns : l->end_ns;
	uint64_t least_ns = told ? APART_LEAST_TOLD_NS : APART_LEAST_NS;
	uint64_t apart_ns = (over_ns - l->start_ns) / APART_PART;

	if (apart_ns > APART_MOST_NS)
		apart_ns = APART_MOST_NS;
	if (apart_ns < least_ns)
		apart_ns = least_ns;
	return over_ns > apart_ns ? over_ns - apart_ns : 0;
}

static void add_broken(const struct tcp_load *l, struct traffic_tcp_result *r,
		       const struct tcp_stream *s)
{
	if (!s->broke_ns || s->broke_ns > early_until_ns(l))
		return;
	if (!r->broken++)
		snprintf(r->detail, sizeof(r->detail), "%s after %.1f s",
			 s->error ? strerror(s->error) : "closed by the other end",
			 (double)(s->broke_ns - l->start_ns) / 1e9);
}

static void cut(struct tcp_stream *s)
{
	const struct linger now = {.l_onoff = 1};

	(void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(s->fd);
	s->fd = -1;
}

static void finish(struct tcp_load *l)
{
	l->ended_ns = monotonic_ns();
	for (unsigned int n = 0; n < l->stream_count; n++) {
		struct tcp_stream *s = &l->stream[n];
		struct traffic_tcp_result *r = &l->result[s->background];

		add_sent(r, s);
		add_broken(l, r, s);
		cut(s);
	}
	for (unsigned int i = 0; i < l->count; i++) {
		l->result[i].duration_ns = l->ended_ns - l->start_ns;
		intervals_end(&l->result[i].goodput, l->ended_ns);
	}
}

static void *run(void *arg)
{
	struct epoll_event events[EVENTS];
	struct tcp_load *l = arg;

	while (!is_over(l)) {
		int n = epoll_wait(l->epoll_fd, events, EVENTS, WAIT_MS);

		for (int i = 0; i < n; i++)
			serve(l, &l->stream[events[i].data.u32], events[i].events);
	}
	finish(l);
	return NULL;
}

static uint8_t tos_of(const struct tcp_load *l, int fd)
{
	bool four = l->own.ss_family == AF_INET;
	socklen_t size = sizeof(int);
	int tos = 0;

	(void)getsockopt(fd, four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_TOS : IPV6_TCLASS, &tos,
			 &size);
	return (uint8_t)tos;
}

static int watch(struct tcp_load *l, unsigned int n)
{
	struct tcp_stream *s = &l->stream[n];
	struct epoll_event event = {.events = EPOLLRDHUP, .data.u32 = n};
	struct tcp_info info;

	event.events |= (s->receives ? (uint32_t)EPOLLIN : 0) | (s->sends ? (uint32_t)EPOLLOUT : 0);
	read_info(s->fd, &info);
	s->acked_before = info.tcpi_bytes_acked;
	s->wire_before = info.tcpi_bytes_sent;
	l->result[s->background].tos_sent = tos_of(l, s->fd);
	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, s->fd, &event) ? -errno : 0;
}

int tcp_load_start(struct tcp_load *l, uint64_t start_ns, uint64_t end_ns, struct err *e)
{
	int err = 0;

	l->start_ns = start_ns;
	l->end_ns = end_ns;
	l->zeros = calloc(1, PIECE);
	l->result = calloc(l->count + 1, sizeof(*l->result));
	if (!l->zeros || !l->result)
		return err_sys(e, -ENOMEM, "TCP");
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0)
		return err_sys(e, -errno, "TCP");
	for (unsigned int i = 0; i < l->count; i++)
		intervals_begin(&l->result[i].goodput, start_ns);
	for (unsigned int n = 0; n < l->stream_count && !err; n++)
		err = watch(l, n);
	if (!err)
		err = -pthread_create(&l->thread, NULL, run, l);
	l->started = !err;
	return err ? err_sys(e, err, "TCP: thread") : 0;
}

void tcp_load_end(struct tcp_load *l)
{
	atomic_store(&l->ending, true);
}

void tcp_load_join(struct tcp_load *l, struct traffic_tcp_result *result)
{
	if (!l->started)
		return;
	tcp_load_end(l);
	pthread_join(l->thread, NULL);
	l->started = false;
	if (result)
		memcpy(result, l->result, l->count * sizeof(*result));
}
