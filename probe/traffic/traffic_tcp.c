/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TCP streams from open to close. The ToS is set on the listener as well: the kernel answers a SYN
 * before anybody accepts. The ECN bits of IP_TOS belong to TCP (linux net/ipv4/ip_sockglue.c).
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

#include "probe/io/dial.h"

#define CONNECT_MS 4000
#define TICKET_MS  500
#define WAIT_MS	   100 /* of one poll(), so that the time is looked at */
#define UNSENT_MAX (256 << 10)
#define WINDOW_MIN (16 << 10) /* of less TCP makes no flow */
#define STRANGERS  16	      /* that may knock at the same time */
#define VISITORS   64	      /* that may stand there and say nothing yet */

/* The first bytes of a stream: which one, of which run. */
struct ticket {
	__be64 seed;
	__be32 stream;
} __attribute__((packed));
_Static_assert(sizeof(struct ticket) == 12, "ticket has holes");

static int fail(const struct tcp_load *l, int err, const char *step, struct err *e)
{
	char address[64];

	address_text((const struct sockaddr *)&l->own, address, sizeof(address));
	return err_sys(e, err, "TCP at %s: %s", address, step);
}

static socklen_t address_size(const struct sockaddr_storage *a)
{
	return a->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) ? -errno : 0;
}

static int set_tos(const struct tcp_load *l, int fd, unsigned int background)
{
	int tos = l->tcp[background].tos;

	return l->own.ss_family == AF_INET ? set(fd, IPPROTO_IP, IP_TOS, tos)
					   : set(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

/* Ends that the bytes of a background go to, as bits of enum traffic_role. */
static unsigned int receivers(const struct traffic_tcp *tcp)
{
	const unsigned int forth = 1u << TRAFFIC_SERVER, back = 1u << TRAFFIC_CLIENT;

	if (tcp->direction == TRAFFIC_BOTH)
		return forth | back;
	return tcp->direction == TRAFFIC_FORWARD ? forth : back;
}

/* A receiver advertises no more than its part of what may be under way at a rate: over the senders
 * and the streams of all backgrounds that have one. */
static int clamp_window(const struct tcp_load *l, int fd, unsigned int background)
{
	const struct traffic_tcp *tcp = &l->tcp[background];
	unsigned int streams = 0, bytes;

	if (!tcp->rate_bytes_per_s)
		return 0;
	for (unsigned int i = 0; i < l->count; i++)
		if (l->tcp[i].rate_bytes_per_s && receivers(&l->tcp[i]) & receivers(tcp))
			streams += l->tcp[i].streams;
	bytes = TRAFFIC_FLIGHT_BYTES / l->senders / streams;
	return set(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, bytes > WINDOW_MIN ? (int)bytes : WINDOW_MIN);
}

/* Bound to our address, so that it leaves by the port that is tested where routes go by address. */
static int open_socket(const struct tcp_load *l, unsigned int background, int *out, struct err *e)
{
	int fd = socket(l->own.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err;

	if (fd < 0)
		return fail(l, -errno, "socket", e);
	err = set_tos(l, fd, background);
	if (err) {
		close(fd);
		return fail(l, err, "set the ToS", e);
	}
	err = clamp_window(l, fd, background);
	if (err) {
		close(fd);
		return fail(l, err, "set the largest window", e);
	}
	if (bind(fd, (const struct sockaddr *)&l->own, address_size(&l->own))) {
		err = fail(l, -errno, "bind", e);
		close(fd);
		return err;
	}
	*out = fd;
	return 0;
}

static int listen_for(struct tcp_load *l, unsigned int i, uint16_t *port, struct err *e)
{
	int err = open_socket(l, i, &l->listener[i], e);

	if (err)
		return err;
	*port = socket_port(l->listener[i]);
	if (!*port || listen(l->listener[i], (int)l->tcp[i].streams + STRANGERS))
		return fail(l, -errno, "listen", e);
	return 0;
}

static int make_streams(struct tcp_load *l, struct err *e)
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
				.sends = receivers(&l->tcp[i]) & 1u << !l->role,
				.receives = receivers(&l->tcp[i]) & 1u << l->role,
			};
	return 0;
}

static bool is_link_local(const struct sockaddr_storage *a)
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
	err = make_streams(l, e);
	if (!err && is_link_local(&l->own)) {
		err = fail(l, -EADDRNOTAVAIL, "an address of this link alone", e);
		err_hint(e, "choose a GID of a subnet");
	}
	memset(port, 0, TRAFFIC_TCP_MAX * sizeof(*port));
	for (unsigned int i = 0; i < l->count && !err && l->role == TRAFFIC_SERVER; i++)
		err = listen_for(l, i, &port[i], e);
	if (err)
		tcp_load_close(l);
	else
		*out = l;
	return err;
}

static void close_listeners(struct tcp_load *l)
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
	close_listeners(l);
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

/* True when it came; false when the time is over. */
static bool await(int fd, short events, uint64_t end_ms)
{
	struct pollfd p = {.fd = fd, .events = events};

	while (monotonic_ms() < end_ms)
		if (poll(&p, 1, WAIT_MS) > 0)
			return true;
	return false;
}

static int connect_stream(struct tcp_load *l, unsigned int n, const struct sockaddr_storage *to,
			  uint64_t end_ms, struct err *e)
{
	const struct ticket ticket = {htobe64(l->seed), htobe32(n)};
	struct tcp_stream *s = &l->stream[n];
	int err = open_socket(l, s->background, &s->fd, e), error = 0;
	socklen_t size = sizeof(error);
	char there[64];

	if (err)
		return err;
	if (connect(s->fd, (const struct sockaddr *)to, address_size(to)) && errno != EINPROGRESS)
		error = errno;
	else if (!await(s->fd, POLLOUT, end_ms))
		error = ETIMEDOUT;
	else if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size))
		error = errno;
	if (!error && send(s->fd, &ticket, sizeof(ticket), MSG_NOSIGNAL) != sizeof(ticket))
		error = errno ? errno : EPIPE;
	if (!error)
		return 0;
	address_text((const struct sockaddr *)to, there, sizeof(there));
	fail(l, -error, "connect", e);
	err_prefix(e, "to %s", there);
	err_hint(e, "let TCP pass between the two addresses, or leave --tcp or "
		    "thresholds.tcp out");
	return -error;
}

static int connect_all(struct tcp_load *l, const uint8_t gid[16], const uint16_t port[],
		       uint64_t end_ms, struct err *e)
{
	for (unsigned int n = 0; n < l->stream_count; n++) {
		unsigned int i = l->stream[n].background;
		struct sockaddr_storage to;
		int err;

		if (!port[i])
			return err_set(e, -EPROTO, "the other end has no port for TCP %u", i);
		address_of_gid(gid, port[i], &to);
		if (to.ss_family != l->own.ss_family)
			return err_set(e, -EPROTO, "TCP %u: the two ends differ in their GIDs", i);
		err = connect_stream(l, n, &to, end_ms, e);
		if (err)
			return err;
	}
	return 0;
}

/* Who has come and not said yet which stream it is. */
struct visitor {
	int fd; /* -1: nobody */
	unsigned int background;
	uint64_t since_ms;
	uint8_t said[sizeof(struct ticket)];
	size_t used;
};

struct reception {
	struct tcp_load *l;
	const uint8_t *gid; /* of the other end */
	struct visitor visitor[VISITORS];
	unsigned int missing[TRAFFIC_TCP_MAX]; /* streams of each background */
};

static void visitor_dismiss(struct visitor *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
}

/* The stream that it is; NULL: a stranger. */
static struct tcp_stream *visitor_stream(const struct reception *r, const struct visitor *v)
{
	struct tcp_load *l = r->l;
	struct ticket ticket;
	struct tcp_stream *s;

	memcpy(&ticket, v->said, sizeof(ticket));
	if (be64toh(ticket.seed) != l->seed || be32toh(ticket.stream) >= l->stream_count)
		return NULL;
	s = &l->stream[be32toh(ticket.stream)];
	return s->fd < 0 && s->background == v->background ? s : NULL;
}

static int visitor_hear(struct reception *r, struct visitor *v, struct err *e)
{
	ssize_t n = recv(v->fd, v->said + v->used, sizeof(v->said) - v->used, MSG_DONTWAIT);
	struct tcp_stream *s;
	int err;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	v->used += n > 0 ? (size_t)n : 0;
	if (n > 0 && v->used < sizeof(v->said))
		return 0;
	s = n > 0 ? visitor_stream(r, v) : NULL;
	if (!s) {
		visitor_dismiss(v);
		return 0;
	}
	s->fd = v->fd;
	v->fd = -1;
	r->missing[s->background]--;
	err = set_tos(r->l, s->fd, s->background);
	return err ? fail(r->l, err, "set the ToS", e) : 0;
}

/* A free place, or that of the one who has been silent longest. */
static struct visitor *visitor_place(struct reception *r)
{
	struct visitor *oldest = &r->visitor[0];

	for (unsigned int i = 0; i < VISITORS && oldest->fd >= 0; i++) {
		struct visitor *v = &r->visitor[i];

		if (v->fd < 0 || v->since_ms < oldest->since_ms)
			oldest = v;
	}
	visitor_dismiss(oldest);
	return oldest;
}

/* Streams come from the address of the other end's GID, to which each is bound. */
static bool is_other_end(const struct reception *r, const struct sockaddr_storage *from)
{
	struct sockaddr_storage want;
	char came[64], wanted[64];

	address_of_gid(r->gid, 0, &want);
	address_text((const struct sockaddr *)from, came, sizeof(came));
	address_text((const struct sockaddr *)&want, wanted, sizeof(wanted));
	return !strcmp(came, wanted);
}

/* Of accept4(): whoever knocked went away again. Others would come again at once. */
static bool went_away(int error)
{
	return error == EAGAIN || error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static int visitor_accept(struct reception *r, unsigned int background, struct err *e)
{
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	int fd = accept4(r->l->listener[background], (struct sockaddr *)&from, &size,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return went_away(errno) ? 0 : fail(r->l, -errno, "accept", e);
	if (!is_other_end(r, &from)) {
		close(fd);
		return 0;
	}
	*visitor_place(r) =
		(struct visitor){.fd = fd, .background = background, .since_ms = monotonic_ms()};
	return 0;
}

/* Those who are there, and no more than that: poll() counts free places as files. */
static nfds_t reception_watch(const struct reception *r,
			      struct pollfd p[TRAFFIC_TCP_MAX + VISITORS],
			      unsigned int who[TRAFFIC_TCP_MAX + VISITORS])
{
	nfds_t n = 0;

	for (unsigned int i = 0; i < VISITORS + TRAFFIC_TCP_MAX; i++) {
		unsigned int listener = i - VISITORS; /* after the visitors */
		int fd = i < VISITORS ? r->visitor[i].fd : r->l->listener[listener];

		if (fd < 0 || (i >= VISITORS && !r->missing[listener]))
			continue;
		p[n] = (struct pollfd){.fd = fd, .events = POLLIN};
		who[n++] = i;
	}
	return n;
}

/* One look at all: a silent one holds up nobody. */
static int reception_look(struct reception *r, struct err *e)
{
	struct pollfd p[TRAFFIC_TCP_MAX + VISITORS];
	unsigned int who[ARRAY_SIZE(p)];
	nfds_t n = reception_watch(r, p, who);
	int err = 0;

	if (poll(p, n, WAIT_MS) < 0)
		return errno == EINTR ? 0 : fail(r->l, -errno, "poll", e);
	for (nfds_t i = 0; i < n && !err; i++) {
		if (p[i].revents && who[i] < VISITORS)
			err = visitor_hear(r, &r->visitor[who[i]], e);
		else if (p[i].revents)
			err = visitor_accept(r, who[i] - VISITORS, e);
	}
	for (unsigned int i = 0; i < VISITORS; i++)
		if (r->visitor[i].fd >= 0 && monotonic_ms() - r->visitor[i].since_ms >= TICKET_MS)
			visitor_dismiss(&r->visitor[i]);
	return err;
}

static bool any_missing(const struct reception *r)
{
	for (unsigned int i = 0; i < TRAFFIC_TCP_MAX; i++)
		if (r->missing[i])
			return true;
	return false;
}

static int accept_streams(struct tcp_load *l, const uint8_t gid[16], uint64_t end_ms, struct err *e)
{
	struct reception *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return err_sys(e, -ENOMEM, "TCP");
	r->l = l;
	r->gid = gid;
	for (unsigned int i = 0; i < VISITORS; i++)
		r->visitor[i].fd = -1;
	for (unsigned int i = 0; i < l->count; i++)
		r->missing[i] = l->tcp[i].streams;
	while (any_missing(r) && !err) {
		err = reception_look(r, e);
		if (!err && any_missing(r) && monotonic_ms() >= end_ms)
			err = fail(l, -ETIMEDOUT, "waiting for streams of the other end", e);
	}
	for (unsigned int i = 0; i < VISITORS; i++)
		visitor_dismiss(&r->visitor[i]);
	free(r);
	return err;
}

/* The kernel paces a stream itself; what is written waits in our hands, not in a long queue. */
static int shape(const struct tcp_load *l, const struct tcp_stream *s, struct err *e)
{
	const struct traffic_tcp *tcp = &l->tcp[s->background];
	unsigned long rate = tcp->rate_bytes_per_s / tcp->streams;
	int err = set(s->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_MAX);

	if (!err && tcp->rate_bytes_per_s) {
		rate = rate ? rate : 1;
		err = setsockopt(s->fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate))
			      ? -errno
			      : 0;
	}
	return err ? fail(l, err, "pace", e) : 0;
}

int tcp_load_connect(struct tcp_load *l, const uint8_t gid[16],
		     const uint16_t port[TRAFFIC_TCP_MAX], struct err *e)
{
	uint64_t end_ms = monotonic_ms() + CONNECT_MS;
	int err = 0;

	if (l->role == TRAFFIC_CLIENT)
		err = connect_all(l, gid, port, end_ms, e);
	else
		err = accept_streams(l, gid, end_ms, e);
	close_listeners(l);
	for (unsigned int n = 0; n < l->stream_count && !err; n++)
		err = shape(l, &l->stream[n], e);
	return err;
}

/* The thread of TCP streams: level-triggered, so many bytes a turn. What arrives is dropped in the
 * kernel (MSG_TRUNC) and what is sent is always the same, so that it costs the host little. In the
 * end a stream is cut: what still waits in its socket must not go on after the run. */

#define TURN_MS 20
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

static void stream_take(struct tcp_load *l, struct tcp_stream *s)
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
		stream_take(l, s);
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
		int n = epoll_wait(l->epoll_fd, events, EVENTS, TURN_MS);

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
