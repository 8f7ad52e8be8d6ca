/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens, runs and closes TCP streams. The ToS is set on the listener too, because the kernel
 * answers a SYN before accept(2). The ECN bits of IP_TOS belong to TCP (linux
 * net/ipv4/ip_sockglue.c).
 */
#include "probe/traffic/traffic_tcp.h"

#include <endian.h>
#include <errno.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "probe/io/tcp_socket.h"

#define CONNECT_MS    4000
#define CONNECT_ID_MS 500
#define WAIT_MS	      100 /* of one poll(), to check the time */
#define UNSENT_MAX    (256 << 10)
#define WINDOW_MIN    (16 << 10) /* TCP needs at least this for a steady flow */
#define BACKLOG_EXTRA 16	 /* concurrent connection attempts */
#define PENDING_MAX   64	 /* unidentified connections */

/* First bytes of a stream: run and stream. */
struct connect_id {
	__be64 seed;
	__be32 stream;
} __attribute__((packed));
_Static_assert(sizeof(struct connect_id) == 12, "ticket has holes");

static int tcp_fail(const struct tcp_load *l, int err, const char *step, struct err *e)
{
	char address[64];

	address_text((const struct sockaddr *)&l->own, address, sizeof(address));
	return err_sys(e, err, "TCP at %s: %s", address, step);
}

static socklen_t tcp_address_size(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static int tcp_setsockopt(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

static int tcp_set_tos(const struct tcp_load *l, int fd, unsigned int background)
{
	int tos = l->tcp[background].tos;

	return l->own.ss_family == AF_INET ? tcp_setsockopt(fd, IPPROTO_IP, IP_TOS, tos)
					   : tcp_setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

/* Returns the receivers of a TCP class, as bits of enum traffic_role. */
static unsigned int tcp_receivers(const struct traffic_tcp *tcp)
{
	const unsigned int forward = 1u << TRAFFIC_SERVER, back = 1u << TRAFFIC_CLIENT;

	if (tcp->direction == TRAFFIC_BOTH)
		return forward | back;
	return tcp->direction == TRAFFIC_FORWARD ? forward : back;
}

/* Clamps the receive window to its share of the bytes in flight: over the senders and the streams
 * of all classes with a rate. */
static int tcp_clamp_window(const struct tcp_load *l, int fd, unsigned int background)
{
	const struct traffic_tcp *tcp = &l->tcp[background];
	unsigned int streams = 0, bytes;

	if (!tcp->rate_bytes_per_s)
		return 0;
	for (unsigned int i = 0; i < l->count; i++)
		if (l->tcp[i].rate_bytes_per_s && tcp_receivers(&l->tcp[i]) & tcp_receivers(tcp))
			streams += l->tcp[i].streams;
	bytes = TRAFFIC_FLIGHT_BYTES / l->senders / streams;
	return tcp_setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP,
			      bytes > WINDOW_MIN ? (int)bytes : WINDOW_MIN);
}

/* Binds to the own address, so that the stream leaves through the tested port where routes depend
 * on the source. */
static int tcp_open_socket(const struct tcp_load *l, unsigned int background, int *out,
			   struct err *e)
{
	int fd = socket(l->own.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return tcp_fail(l, -errno, "socket", e);
	err = tcp_set_tos(l, fd, background);
	if (err) {
		close(fd);
		return tcp_fail(l, err, "set the ToS", e);
	}
	err = tcp_clamp_window(l, fd, background);
	if (err) {
		close(fd);
		return tcp_fail(l, err, "set the largest window", e);
	}
	if (bind(fd, (const struct sockaddr *)&l->own, tcp_address_size(&l->own))) {
		err = tcp_fail(l, -errno, "bind", e);
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

static int tcp_listen(struct tcp_load *l, unsigned int i, uint16_t *port, struct err *e)
{
	int err = tcp_open_socket(l, i, &l->listener[i], e);

	if (err)
		return err;
	*port = socket_port(l->listener[i]);
	if (!*port || listen(l->listener[i], (int)l->tcp[i].streams + BACKLOG_EXTRA))
		return tcp_fail(l, -errno, "listen", e);
	return 0;
}

static int tcp_alloc_streams(struct tcp_load *l, struct err *e)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < l->count; i++)
		l->stream_count += l->tcp[i].streams;
	l->stream = calloc(l->stream_count, sizeof(*l->stream));
	if (!l->stream)
		return err_sys(e, -ENOMEM, "TCP");
	for (unsigned int i = 0; i < l->count; i++)
		for (unsigned int k = 0; k < l->tcp[i].streams; k++)
			l->stream[n++] = (struct tcp_stream){
				.fd = -1,
				.background = i,
				.sends = tcp_receivers(&l->tcp[i]) & 1u << !l->role,
				.receives = tcp_receivers(&l->tcp[i]) & 1u << l->role,
			};
	return 0;
}

static bool tcp_is_link_local(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

int tcp_load_open(const struct traffic_spec *spec, const uint8_t gid[16],
		  uint16_t port[TRAFFIC_TCP_MAX], struct tcp_load **out, struct err *e)
{
	struct tcp_load *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return err_sys(e, -ENOMEM, "TCP");
	l->role = spec->role;
	l->seed = spec->seed;
	l->count = spec->tcp_count;
	l->senders = spec->senders ? spec->senders : 1;
	memcpy(l->tcp, spec->tcp, sizeof(l->tcp));
	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++)
		l->listener[i] = -1;
	l->epoll_fd = -1;
	address_of_gid(gid, 0, &l->own);
	err = tcp_alloc_streams(l, e);
	if (!err && tcp_is_link_local(&l->own)) {
		err = tcp_fail(l, -EADDRNOTAVAIL, "link-local address", e);
		err_hint(e, "choose a GID of a subnet with --gid-index");
	}
	memset(port, 0, TRAFFIC_TCP_MAX * sizeof(*port));
	for (unsigned int i = 0; i < l->count && !err && l->role == TRAFFIC_SERVER; i++)
		err = tcp_listen(l, i, &port[i], e);
	if (err)
		tcp_load_close(l);
	else
		*out = l;
	return err;
}

static void tcp_close_listeners(struct tcp_load *l)
{
	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++) {
		if (l->listener[i] >= 0)
			close(l->listener[i]);
		l->listener[i] = -1;
	}
}

void tcp_load_close(struct tcp_load *l)
{
	if (!l)
		return;
	if (l->started)
		tcp_load_join(l, NULL);
	tcp_close_listeners(l);
	for (unsigned int i = 0; l->stream && i < l->stream_count; i++)
		if (l->stream[i].fd >= 0)
			close(l->stream[i].fd);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	free(l->stream);
	free(l->zeros);
	free(l->result);
	free(l);
}

/* Returns true on the event, false on timeout. */
static bool tcp_await(int fd, short events, uint64_t end_ms)
{
	struct pollfd p = {.fd = fd, .events = events};

	while (monotonic_ms() < end_ms)
		if (poll(&p, 1, WAIT_MS) > 0)
			return true;
	return false;
}

static int tcp_connect_stream(struct tcp_load *l, unsigned int n, const struct sockaddr_storage *to,
			      uint64_t end_ms, struct err *e)
{
	const struct connect_id ticket = {htobe64(l->seed), htobe32(n)};
	struct tcp_stream *s = &l->stream[n];
	int err = tcp_open_socket(l, s->background, &s->fd, e), error = 0;
	socklen_t size = sizeof(error);
	char there[64];

	if (err)
		return err;
	if (connect(s->fd, (const struct sockaddr *)to, tcp_address_size(to)) &&
	    errno != EINPROGRESS)
		error = errno;
	else if (!tcp_await(s->fd, POLLOUT, end_ms))
		error = ETIMEDOUT;
	else if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size))
		error = errno;
	if (!error && send(s->fd, &ticket, sizeof(ticket), MSG_NOSIGNAL) != sizeof(ticket))
		error = errno ? errno : EPIPE;
	if (!error)
		return 0;
	address_text((const struct sockaddr *)to, there, sizeof(there));
	tcp_fail(l, -error, "connect", e);
	err_prefix(e, "to %s", there);
	err_hint(e, "allow TCP between the two addresses, or remove --tcp or "
		    "thresholds.tcp");
	return -error;
}

static int tcp_connect_streams(struct tcp_load *l, const uint8_t gid[16], const uint16_t port[],
			       uint64_t end_ms, struct err *e)
{
	for (unsigned int n = 0; n < l->stream_count; n++) {
		unsigned int i = l->stream[n].background;
		struct sockaddr_storage to;
		int err;

		if (!port[i])
			return err_set(e, -EPROTO, "the peer has no port for TCP %u", i);
		address_of_gid(gid, port[i], &to);
		if (to.ss_family != l->own.ss_family)
			return err_set(e, -EPROTO, "TCP %u: GIDs of the two hosts do not match", i);
		err = tcp_connect_stream(l, n, &to, end_ms, e);
		if (err)
			return err;
	}
	return 0;
}

/* A connection that is not identified yet. */
struct tcp_pending {
	int fd; /* -1: free */
	unsigned int background;
	uint64_t since_ms;
	uint8_t received[sizeof(struct connect_id)];
	size_t used;
};

struct tcp_acceptor {
	struct tcp_load *l;
	const uint8_t *gid; /* of the peer */
	struct tcp_pending pending[PENDING_MAX];
	unsigned int missing[TRAFFIC_TCP_MAX]; /* streams per class */
};

static void tcp_pending_close(struct tcp_pending *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
}

/* Returns the stream of a connection; NULL: foreign. */
static struct tcp_stream *tcp_pending_stream(const struct tcp_acceptor *r,
					     const struct tcp_pending *v)
{
	struct tcp_load *l = r->l;
	struct connect_id ticket;
	struct tcp_stream *s;

	memcpy(&ticket, v->received, sizeof(ticket));
	if (be64toh(ticket.seed) != l->seed || be32toh(ticket.stream) >= l->stream_count)
		return NULL;
	s = &l->stream[be32toh(ticket.stream)];
	return s->fd < 0 && s->background == v->background ? s : NULL;
}

static int tcp_pending_read(struct tcp_acceptor *r, struct tcp_pending *v, struct err *e)
{
	ssize_t n = recv(v->fd, v->received + v->used, sizeof(v->received) - v->used, MSG_DONTWAIT);
	struct tcp_stream *s;
	int err;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	v->used += n > 0 ? (size_t)n : 0;
	if (n > 0 && v->used < sizeof(v->received))
		return 0;
	s = n > 0 ? tcp_pending_stream(r, v) : NULL;
	if (!s) {
		tcp_pending_close(v);
		return 0;
	}
	s->fd = v->fd;
	v->fd = -1;
	r->missing[s->background]--;
	err = tcp_set_tos(r->l, s->fd, s->background);
	return err ? tcp_fail(r->l, err, "set the ToS", e) : 0;
}

/* Returns a free place, or that of the oldest unidentified connection. */
static struct tcp_pending *tcp_pending_slot(struct tcp_acceptor *r)
{
	struct tcp_pending *oldest = &r->pending[0];

	for (unsigned int i = 0; i < PENDING_MAX && oldest->fd >= 0; i++) {
		struct tcp_pending *v = &r->pending[i];

		if (v->fd < 0 || v->since_ms < oldest->since_ms)
			oldest = v;
	}
	tcp_pending_close(oldest);
	return oldest;
}

/* Streams come from the address of the peer's GID, to which each is bound. */
static bool tcp_is_remote(const struct tcp_acceptor *r, const struct sockaddr_storage *from)
{
	struct sockaddr_storage want;
	char came[64], wanted[64];

	address_of_gid(r->gid, 0, &want);
	address_text((const struct sockaddr *)from, came, sizeof(came));
	address_text((const struct sockaddr *)&want, wanted, sizeof(wanted));
	return !strcmp(came, wanted);
}

/* Errors of accept4() that end one connection only: the peer closed it meanwhile. */
static bool tcp_accept_transient(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static int tcp_accept(struct tcp_acceptor *r, unsigned int background, struct err *e)
{
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	int fd = accept4(r->l->listener[background], (struct sockaddr *)&from, &size,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return tcp_accept_transient(errno) ? 0 : tcp_fail(r->l, -errno, "accept", e);
	if (!tcp_is_remote(r, &from)) {
		close(fd);
		return 0;
	}
	*tcp_pending_slot(r) = (struct tcp_pending){
		.fd = fd, .background = background, .since_ms = monotonic_ms()};
	return 0;
}

/* Lists used places only: poll() counts free ones against the limit of files. */
static nfds_t tcp_fill_pollfds(const struct tcp_acceptor *r,
			       struct pollfd p[TRAFFIC_TCP_MAX + PENDING_MAX],
			       unsigned int who[TRAFFIC_TCP_MAX + PENDING_MAX])
{
	nfds_t n = 0;

	for (unsigned int i = 0; i < PENDING_MAX + TRAFFIC_TCP_MAX; i++) {
		unsigned int listener = i - PENDING_MAX; /* after the pending connections */
		int fd = i < PENDING_MAX ? r->pending[i].fd : r->l->listener[listener];

		if (fd < 0 || (i >= PENDING_MAX && !r->missing[listener]))
			continue;
		p[n] = (struct pollfd){.fd = fd, .events = POLLIN};
		who[n++] = i;
	}
	return n;
}

/* Polls all connections once: a silent one delays nothing. */
static int tcp_poll_pending(struct tcp_acceptor *r, struct err *e)
{
	struct pollfd p[TRAFFIC_TCP_MAX + PENDING_MAX];
	unsigned int who[ARRAY_SIZE(p)];
	nfds_t n = tcp_fill_pollfds(r, p, who);
	int err = 0;

	if (poll(p, n, WAIT_MS) < 0)
		return errno == EINTR ? 0 : tcp_fail(r->l, -errno, "poll", e);
	for (nfds_t i = 0; i < n && !err; i++) {
		if (p[i].revents && who[i] < PENDING_MAX)
			err = tcp_pending_read(r, &r->pending[who[i]], e);
		else if (p[i].revents)
			err = tcp_accept(r, who[i] - PENDING_MAX, e);
	}
	for (unsigned int i = 0; i < PENDING_MAX; i++)
		if (r->pending[i].fd >= 0 &&
		    monotonic_ms() - r->pending[i].since_ms >= CONNECT_ID_MS)
			tcp_pending_close(&r->pending[i]);
	return err;
}

static bool tcp_any_missing(const struct tcp_acceptor *r)
{
	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++)
		if (r->missing[i])
			return true;
	return false;
}

static int tcp_accept_streams(struct tcp_load *l, const uint8_t gid[16], uint64_t end_ms,
			      struct err *e)
{
	struct tcp_acceptor *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return err_sys(e, -ENOMEM, "TCP");
	r->l = l;
	r->gid = gid;
	for (unsigned int i = 0; i < PENDING_MAX; i++)
		r->pending[i].fd = -1;
	for (unsigned int i = 0; i < l->count; i++)
		r->missing[i] = l->tcp[i].streams;
	while (tcp_any_missing(r) && !err) {
		err = tcp_poll_pending(r, e);
		if (!err && tcp_any_missing(r) && monotonic_ms() >= end_ms)
			err = tcp_fail(l, -ETIMEDOUT, "waiting for streams of the peer", e);
	}
	for (unsigned int i = 0; i < PENDING_MAX; i++)
		tcp_pending_close(&r->pending[i]);
	free(r);
	return err;
}

/* The kernel paces the stream; the rest waits here, not in a long socket queue. */
static int tcp_set_pacing(const struct tcp_load *l, const struct tcp_stream *s, struct err *e)
{
	const struct traffic_tcp *tcp = &l->tcp[s->background];
	unsigned long rate = tcp->rate_bytes_per_s / tcp->streams;
	int err = tcp_setsockopt(s->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_MAX);

	if (!err && tcp->rate_bytes_per_s) {
		rate = rate ? rate : 1;
		err = setsockopt(s->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate))
			      ? -errno
			      : 0;
	}
	return err ? tcp_fail(l, err, "pace", e) : 0;
}

int tcp_load_connect(struct tcp_load *l, const uint8_t gid[16],
		     const uint16_t port[TRAFFIC_TCP_MAX], struct err *e)
{
	uint64_t end_ms = monotonic_ms() + CONNECT_MS;
	int err = 0;

	if (l->role == TRAFFIC_CLIENT)
		err = tcp_connect_streams(l, gid, port, end_ms, e);
	else
		err = tcp_accept_streams(l, gid, end_ms, e);
	tcp_close_listeners(l);
	for (unsigned int n = 0; n < l->stream_count && !err; n++)
		err = tcp_set_pacing(l, &l->stream[n], e);
	return err;
}

/* Thread of the TCP streams: level-triggered, with a byte limit per turn. The kernel drops received
 * data (MSG_TRUNC), and sent data is constant, to cost little CPU. At the end a stream is reset:
 * data in its socket must not be sent after the run. */

#define TURN_MS	   20
#define EVENTS	   64
#define PIECE	   (64u << 10) /* bytes of one send() */
#define PIECES	   4u	       /* pieces of a stream per turn */
#define RECV_BYTES (1u << 20)

/* Longest time between the end of the peer and of this host. After a timed run both end within a
 * message of each other; a stopped host is notified later and checks at intervals. */
#define APART_MOST_NS	       UINT64_C(1000000000)
#define APART_PART	       10u /* part of the duration of the run */
#define APART_LEAST_NS	       UINT64_C(50000000)
#define APART_LEAST_STOPPED_NS UINT64_C(500000000)

/* Zero if the kernel is too old. */
static void tcp_read_info(int fd, struct tcp_info *info)
{
	socklen_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	(void)getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &size);
}

static void tcp_stream_broke(struct tcp_load *l, struct tcp_stream *s, int error)
{
	(void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	s->broke_ns = monotonic_ns();
	s->error = error;
}

static bool tcp_is_over(const struct tcp_load *l)
{
	return atomic_load_explicit(&l->ending, memory_order_relaxed) ||
	       monotonic_ns() >= l->end_ns;
}

static void tcp_stream_receive(struct tcp_load *l, struct tcp_stream *s)
{
	struct traffic_tcp_result *r = &l->result[s->background];

	for (unsigned int i = 0; i < PIECES && !s->broke_ns; i++) {
		ssize_t n = recv(s->fd, NULL, RECV_BYTES, MSG_TRUNC | MSG_DONTWAIT);

		if (n > 0) {
			r->arrived_bytes += (uint64_t)n;
			rate_series_add(&r->goodput, monotonic_ns(), (uint64_t)n);
		} else if (!n) {
			tcp_stream_broke(l, s, 0);
		} else if (errno != EINTR) {
			if (errno != EAGAIN)
				tcp_stream_broke(l, s, errno);
			return;
		}
	}
}

static void tcp_stream_send(struct tcp_load *l, struct tcp_stream *s)
{
	for (unsigned int i = 0; i < PIECES && !s->broke_ns; i++) {
		if (send(s->fd, l->zeros, PIECE, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 ||
		    errno == EINTR)
			continue;
		if (errno != EAGAIN)
			tcp_stream_broke(l, s, errno);
		return;
	}
}

/* Detects the end of a stream that only sends. */
static void tcp_check_alive(struct tcp_load *l, struct tcp_stream *s)
{
	socklen_t size = sizeof(int);
	int error = 0;

	(void)getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size);
	tcp_stream_broke(l, s, error);
}

static void tcp_serve(struct tcp_load *l, struct tcp_stream *s, uint32_t events)
{
	if (events & EPOLLIN && s->receives)
		tcp_stream_receive(l, s);
	if (events & EPOLLOUT && s->sends && !s->broke_ns)
		tcp_stream_send(l, s);
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP) && !s->receives && !s->broke_ns)
		tcp_check_alive(l, s);
}

static void tcp_add_sent(struct traffic_tcp_result *r, const struct tcp_stream *s)
{
	struct tcp_info info;

	tcp_read_info(s->fd, &info);
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

/* Returns the time until which the end of a stream is early. */
static uint64_t tcp_early_until_ns(const struct tcp_load *l)
{
	bool stopped = l->ended_ns < l->end_ns;
	uint64_t over_ns = stopped ? l->ended_ns : l->end_ns;
	uint64_t least_ns = stopped ? APART_LEAST_STOPPED_NS : APART_LEAST_NS;
	uint64_t apart_ns = (over_ns - l->start_ns) / APART_PART;

	if (apart_ns > APART_MOST_NS)
		apart_ns = APART_MOST_NS;
	if (apart_ns < least_ns)
		apart_ns = least_ns;
	return over_ns > apart_ns ? over_ns - apart_ns : 0;
}

static void tcp_add_broken(const struct tcp_load *l, struct traffic_tcp_result *r,
			   const struct tcp_stream *s)
{
	if (!s->broke_ns || s->broke_ns > tcp_early_until_ns(l))
		return;
	if (!r->broken++)
		snprintf(r->detail, sizeof(r->detail), "%s after %.1f s",
			 s->error ? strerror(s->error) : "closed by the peer",
			 (double)(s->broke_ns - l->start_ns) / 1e9);
}

static void tcp_stream_abort(struct tcp_stream *s)
{
	const struct linger now = {.l_onoff = 1};

	(void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(s->fd);
	s->fd = -1;
}

static void tcp_finish(struct tcp_load *l)
{
	l->ended_ns = monotonic_ns();
	for (unsigned int n = 0; n < l->stream_count; n++) {
		struct tcp_stream *s = &l->stream[n];
		struct traffic_tcp_result *r = &l->result[s->background];

		tcp_add_sent(r, s);
		tcp_add_broken(l, r, s);
		tcp_stream_abort(s);
	}
	for (unsigned int i = 0; i < l->count; i++) {
		l->result[i].duration_ns = l->ended_ns - l->start_ns;
		rate_series_stop(&l->result[i].goodput, l->ended_ns);
	}
}

static void *tcp_thread(void *arg)
{
	struct epoll_event events[EVENTS];
	struct tcp_load *l = arg;

	while (!tcp_is_over(l)) {
		int n = epoll_wait(l->epoll_fd, events, EVENTS, TURN_MS);

		for (int i = 0; i < n; i++)
			tcp_serve(l, &l->stream[events[i].data.u32], events[i].events);
	}
	tcp_finish(l);
	return NULL;
}

static uint8_t tcp_read_tos(const struct tcp_load *l, int fd)
{
	bool four = l->own.ss_family == AF_INET;
	socklen_t size = sizeof(int);
	int tos = 0;

	(void)getsockopt(fd, four ? IPPROTO_IP : IPPROTO_IPV6, four ? IP_TOS : IPV6_TCLASS, &tos,
			 &size);
	return (uint8_t)tos;
}

static int tcp_epoll_add(struct tcp_load *l, unsigned int n)
{
	struct tcp_stream *s = &l->stream[n];
	struct epoll_event event = {.events = EPOLLRDHUP, .data.u32 = n};
	struct tcp_info info;

	event.events |= (s->receives ? (uint32_t)EPOLLIN : 0) | (s->sends ? (uint32_t)EPOLLOUT : 0);
	tcp_read_info(s->fd, &info);
	s->acked_before = info.tcpi_bytes_acked;
	s->wire_before = info.tcpi_bytes_sent;
	l->result[s->background].tos_sent = tcp_read_tos(l, s->fd);
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
		rate_series_init(&l->result[i].goodput, start_ns);
	for (unsigned int n = 0; n < l->stream_count && !err; n++)
		err = tcp_epoll_add(l, n);
	if (!err)
		err = -pthread_create(&l->thread, NULL, tcp_thread, l);
	l->started = !err;
	return err ? err_sys(e, err, "TCP: thread") : 0;
}

void tcp_load_stop(struct tcp_load *l)
{
	atomic_store(&l->ending, true);
}

void tcp_load_join(struct tcp_load *l, struct traffic_tcp_result *result)
{
	if (!l->started)
		return;
	tcp_load_stop(l);
	pthread_join(l->thread, NULL);
	l->started = false;
	if (result)
		memcpy(result, l->result, l->count * sizeof(*result));
}
