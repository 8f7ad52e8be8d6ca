/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One port: a socket that receives, another that is connected to the guest's and sends (so that a
 * guest may come, go and come back), or a link to another port inside. Sends at the port's rate; a
 * full socket is back-pressure: the frames wait here, still accounted.
 */
#include "tests/lab/switch/switch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_BYTES	 (4 << 20)
#define RECONNECT_NS	 (100 * NS_PER_MS)
#define FRAMES_PER_ROUND (4 * BATCH) /* of one port, before the others' turn */

void port_configure(struct port *p)
{
	p->pfc_on = p->pfc_auto = 0;
	for (unsigned int i = 0; i < QOS_PRIOS; i++) {
		p->pfc_on |= (p->config.prio[i].pfc == PFC_ON) << i;
		p->pfc_auto |= (p->config.prio[i].pfc == PFC_AUTO) << i;
		p->sched.prio_tc[i] = p->config.prio[i].tc;
	}
	for (unsigned int i = 0; i < QOS_TCS; i++) {
		const struct tc_config *c = &p->config.tc[i];

		p->sched.tc[i].strict = c->strict;
		p->sched.tc[i].weight = c->weight;
		p->sched.tc[i].rate_bytes = c->maxrate_kbps * UINT64_C(125);
		p->sched.tc[i].next_ns = 0;
	}
}

static int address_of(const char *path, struct sockaddr_un *a)
{
	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(a->sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sun_path, path, strlen(path));
	return 0;
}

/* A socket nobody listens at is left over from a run that died. */
static void remove_stale(const char *path, const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct stat st;

	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) && errno == ECONNREFUSED &&
	    !lstat(path, &st) && S_ISSOCK(st.st_mode))
		unlink(path);
	close(fd);
}

static int open_receiver(struct port *p, struct err *e)
{
	const char *path = p->config.local;
	int size_bytes = SOCKET_BYTES;
	struct sockaddr_un a;
	int err = address_of(path, &a);

	if (err)
		return err_sys(e, err, "port %s: %s", p->config.name, path);
	remove_stale(path, &a);
	p->rx_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->rx_fd < 0)
		return err_sys(e, -errno, "port %s: socket", p->config.name);
	if (bind(p->rx_fd, (struct sockaddr *)&a, sizeof(a))) {
		err = -errno;
		close(p->rx_fd);
		p->rx_fd = -1; /* or port_close() would remove another one's socket */
		err_sys(e, err, "port %s: %s", p->config.name, path);
		if (err == -EADDRINUSE)
			err_hint(e, "another switch runs there, or it is no socket: remove it");
		return err;
	}
	/* A smaller buffer only means earlier back-pressure. */
	(void)setsockopt(p->rx_fd, SOL_SOCKET, SO_RCVBUF, &size_bytes, sizeof(size_bytes));
	return 0;
}

/* A link inside has two ends that can be shut. */
static bool is_shut(const struct lab *lab, const struct port *p)
{
	return p->config.shut || (p->peer >= 0 && lab->port[p->peer].config.shut);
}

int port_open(struct lab *lab, struct port *p, struct err *e)
{
	unsigned int n = lab_port_index(lab, p);
	int err;

	if (p->peer >= 0) {
		p->linked = !is_shut(lab, p);
		return 0;
	}
	err = open_receiver(p, e);
	if (err)
		return err;
	err = lab_watch(lab, p->rx_fd, EPOLLIN, WATCH_TAG(WATCH_RX, n), true);
	if (err)
		return err_sys(e, err, "port %s: epoll", p->config.name);
	port_connect(lab, p);
	return 0;
}

void port_close(struct lab *lab, struct port *p)
{
	struct frame *f;

	if (p->rx_fd >= 0) {
		unlink(p->config.local);
		close(p->rx_fd);
	}
	if (p->tx_fd >= 0)
		close(p->tx_fd);
	p->rx_fd = p->tx_fd = -1;
	while ((f = queue_pop(&p->stage)))
		frame_free(lab, f);
}

void port_connect(struct lab *lab, struct port *p)
{
	int size_bytes = SOCKET_BYTES;
	struct sockaddr_un a;

	p->retry_ns = lab->now_ns + RECONNECT_NS;
	if (p->config.shut || address_of(p->config.remote, &a))
		return;
	p->tx_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->tx_fd < 0)
		return;
	if (connect(p->tx_fd, (struct sockaddr *)&a, sizeof(a)) ||
	    lab_watch(lab, p->tx_fd, 0, WATCH_TAG(WATCH_TX, lab_port_index(lab, p)), true)) {
		close(p->tx_fd);
		p->tx_fd = -1;
		return;
	}
	(void)setsockopt(p->tx_fd, SOL_SOCKET, SO_SNDBUF, &size_bytes, sizeof(size_bytes));
	p->linked = true;
	p->blocked = false;
	p->lldp_next_ns = lab->now_ns;
}

/* The link is lost: with it what waits, and what the peer said holds no longer. */
static void lose_link(struct lab *lab, struct port *p)
{
	struct frame *f;

	p->linked = p->blocked = false;
	lldp_forget(p);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		p->pause_end_ns[prio] = lab->now_ns;
	while ((f = queue_pop(&p->stage)))
		port_drop(lab, p, f, DROP_LINK);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		while ((f = queue_pop(&p->sched.queue[prio])))
			port_drop(lab, p, f, DROP_LINK);
}

/* Nobody is there any more. */
static void disconnect(struct lab *lab, struct port *p)
{
	close(p->tx_fd); /* which ends the watch as well */
	p->tx_fd = -1;
	p->retry_ns = lab->now_ns + RECONNECT_NS;
	lose_link(lab, p);
}

void port_follow_shut(struct lab *lab, struct port *p)
{
	bool shut = is_shut(lab, p);

	if (p->peer < 0) {
		if (shut && p->tx_fd >= 0)
			disconnect(lab, p);
	} else if (shut && p->linked) {
		lose_link(lab, p);
		lose_link(lab, &lab->port[p->peer]);
	} else if (!shut) {
		p->linked = lab->port[p->peer].linked = true;
	}
}

void port_drop(struct lab *lab, struct port *p, struct frame *f, enum drop_reason why)
{
	p->stats[f->prio].drops[why]++;
	buffer_release(lab, f);
	frame_free(lab, f);
}

static void block(struct lab *lab, struct port *p)
{
	unsigned int n = lab_port_index(lab, p);

	p->blocked = true;
	p->backpressure++;
	p->retry_ns = lab->now_ns + NS_PER_MS; /* ENOBUFS has no event */
	(void)lab_watch(lab, p->tx_fd, EPOLLOUT, WATCH_TAG(WATCH_TX, n), false);
}

void port_unblock(struct lab *lab, struct port *p)
{
	if (!p->blocked)
		return;
	p->blocked = false;
	(void)lab_watch(lab, p->tx_fd, 0, WATCH_TAG(WATCH_TX, lab_port_index(lab, p)), false);
}

static void send_failed(struct lab *lab, struct port *p, int error)
{
	if (error == EAGAIN || error == ENOBUFS || error == EINTR || error == ENOMEM)
		block(lab, p);
	else if (error == EMSGSIZE)
		port_drop(lab, p, queue_pop(&p->stage), DROP_MTU);
	else
		disconnect(lab, p);
}

static void flush(struct lab *lab, struct port *p)
{
	while (p->stage.head && !p->blocked && p->tx_fd >= 0) {
		struct mmsghdr msg[BATCH];
		struct iovec iov[BATCH];
		struct frame *f = p->stage.head;
		int n = 0, sent;

		memset(msg, 0, sizeof(msg));
		for (; f && n < BATCH; f = f->next, n++) {
			iov[n] = (struct iovec){.iov_base = f->data, .iov_len = f->len};
			msg[n].msg_hdr.msg_iov = &iov[n];
			msg[n].msg_hdr.msg_iovlen = 1;
		}
		sent = sendmmsg(p->tx_fd, msg, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0)
			send_failed(lab, p, errno);
		for (int i = 0; i < sent; i++) {
			f = queue_pop(&p->stage);
			buffer_release(lab, f);
			frame_free(lab, f);
		}
	}
}

void port_deliver(struct lab *lab, struct port *p, struct frame *f)
{
	if (p->peer >= 0) {
		buffer_release(lab, f);
		forward_arrival(lab, &lab->port[p->peer], f);
	} else if (!p->linked) {
		port_drop(lab, p, f, DROP_LINK);
	} else {
		queue_push(&p->stage, f);
	}
}

void port_put(struct lab *lab, struct port *p, struct frame *f)
{
	p->stats[f->prio].tx_frames++;
	p->stats[f->prio].tx_bytes += f->len;
	if (lab->mirror && p->config.mirror)
		mirror_frame(lab->mirror, lab_port_index(lab, p), true, lab->now_ns, f);
	if (p->config.latency_us)
		late_add(lab, p, FAULT_BOTH, lab->now_ns + p->config.latency_us * UINT64_C(1000),
			 f);
	else
		port_deliver(lab, p, f);
}

static int send_to_peer(struct lab *lab, struct port *p, const uint8_t *data, uint32_t len)
{
	struct frame *f = frame_take(lab);

	if (!f)
		return -EAGAIN;
	memcpy(f->data, data, len);
	f->len = len;
	f->prio = 0;
	if (p->config.latency_us)
		late_add(lab, p, FAULT_BOTH, lab->now_ns + p->config.latency_us * UINT64_C(1000),
			 f);
	else
		port_deliver(lab, p, f);
	return 0;
}

static void mirror_own(struct lab *lab, const struct port *p, const uint8_t *data, uint32_t len)
{
	struct frame *f;

	if (!lab->mirror || !p->config.mirror)
		return;
	f = frame_take(lab);
	if (!f)
		return;
	memcpy(f->data, data, len);
	f->len = len;
	mirror_frame(lab->mirror, lab_port_index(lab, p), true, lab->now_ns, f);
	frame_free(lab, f);
}

int port_send_own(struct lab *lab, struct port *p, const uint8_t *data, uint32_t len)
{
	int err = 0;

	if (p->peer >= 0)
		err = send_to_peer(lab, p, data, len);
	else if (p->tx_fd < 0)
		err = -ENOTCONN;
	else if (send(p->tx_fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		err = errno == ENOBUFS ? -EAGAIN : -errno;
	if (err == -EAGAIN && p->peer < 0 && !p->blocked)
		block(lab, p);
	if (!err)
		mirror_own(lab, p, data, len);
	return err;
}

void port_send(struct lab *lab, struct port *p)
{
	flush(lab, p);
	for (unsigned int n = 0; n < FRAMES_PER_ROUND; n++) {
		struct frame *f;

		if (p->blocked || p->next_ns > lab->now_ns)
			break;
		f = sched_pop(&p->sched, p->paused, lab->now_ns);
		if (!f)
			break;
		p->next_ns = pace_next_ns(p->next_ns, lab->now_ns, BURST_NS, f->len,
					  lab_rate_bytes(p));
		if (fault_apply(lab, p, FAULT_OUT, f) == FAULT_PASS)
			port_put(lab, p, f);
		if (p->stage.frames >= BATCH)
			flush(lab, p);
	}
	flush(lab, p);
}

uint64_t port_next_ns(const struct lab *lab, const struct port *p)
{
	uint64_t next;

	if (p->peer < 0 && (p->blocked || p->tx_fd < 0))
		return p->retry_ns;
	if (p->stage.head)
		return lab->now_ns;
	next = sched_next_ns(&p->sched, p->paused);
	if (next == NEVER)
		return NEVER;
	return next > p->next_ns ? next : p->next_ns;
}

/* Takes over what arrived in slot i and puts an empty frame in its place. */
static struct frame *take_slot(struct lab *lab, struct port *p, int i)
{
	struct frame *f = lab->rx[i], *empty;

	if (lab->rx_msg[i].msg_hdr.msg_flags & MSG_TRUNC) {
		p->stats[0].drops[DROP_MTU]++;
		return NULL;
	}
	empty = frame_take(lab);
	if (!empty) {
		p->stats[0].drops[DROP_FRAMES]++;
		return NULL;
	}
	lab->rx[i] = empty;
	lab->rx_iov[i].iov_base = empty->data;
	f->len = lab->rx_msg[i].msg_len;
	return f;
}

void port_read(struct lab *lab, struct port *p)
{
	int n = recvmmsg(p->rx_fd, lab->rx_msg, BATCH, MSG_DONTWAIT, NULL);

	for (int i = 0; i < n; i++) {
		struct frame *f = take_slot(lab, p, i);

		if (f)
			forward_arrival(lab, p, f);
	}
}
