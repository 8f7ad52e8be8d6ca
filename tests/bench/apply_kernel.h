/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A kernel that is played, for the apply bench: ports with dcbnl, an MTU and link pause, behind the
 * C library's sendto, recvmsg, poll and ioctl, which libnl and the program under test call. It
 * accepts everything, as a driver without tricks does, and counts the requests.
 */
#ifndef TESTS_BENCH_APPLY_KERNEL_H
#define TESTS_BENCH_APPLY_KERNEL_H

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dcb/kernel/nl.h"

#define PORTS	  16
#define FAMILY	  0x20 /* of ethtool */
#define QUEUE_MAX 8
#define FD_MAX	  64
#define REPLY_MAX 8192

struct card {
	char name[16];
	uint32_t mtu;
	uint8_t pause[3], dcbx;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	struct dcb_app app[256];
	unsigned int apps;
};

struct reply {
	size_t size;
	uint8_t bytes[REPLY_MAX] __attribute__((aligned(8)));
};

/* The answers that a socket has not read yet. */
struct queue {
	int protocol;
	unsigned int first, count;
	struct reply reply[QUEUE_MAX];
};

static struct card cards[PORTS];
static struct queue *queues[FD_MAX]; /* by descriptor */
static unsigned int requests;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct card *card_of(const struct nl_attr *name)
{
	for (unsigned int i = 0; i < PORTS; i++)
		if (!strncmp(cards[i].name, (const char *)name->data, name->size))
			return &cards[i];
	return NULL;
}

static bool find(const uint8_t *pos, const uint8_t *end, uint16_t type, struct nl_attr *a)
{
	while (nl_attr_next(&pos, end, a))
		if (a->type == type)
			return true;
	return false;
}

/* The kernel. */

static void put_card(struct nl_request *r, const struct card *c)
{
	size_t ieee, table;

	nl_put_attr(r, DCB_ATTR_IFNAME, c->name, strlen(c->name) + 1);
	ieee = nl_nest_start(r, DCB_ATTR_IEEE);
	nl_put_attr(r, DCB_ATTR_IEEE_ETS, &c->ets, sizeof(c->ets));
	nl_put_attr(r, DCB_ATTR_IEEE_MAXRATE, &c->maxrate, sizeof(c->maxrate));
	nl_put_attr(r, DCB_ATTR_DCB_BUFFER, &c->buffer, sizeof(c->buffer));
	nl_put_attr(r, DCB_ATTR_IEEE_PFC, &c->pfc, sizeof(c->pfc));
	table = nl_nest_start(r, DCB_ATTR_IEEE_APP_TABLE);
	for (unsigned int i = 0; i < c->apps; i++)
		nl_put_attr(r, DCB_ATTR_IEEE_APP, &c->app[i], sizeof(c->app[i]));
	nl_nest_end(r, table);
	nl_nest_end(r, ieee);
	nl_put_attr(r, DCB_ATTR_DCBX, &c->dcbx, 1);
}

static void change_apps(struct card *c, const struct nl_attr *table, bool add)
{
	const uint8_t *pos = table->data, *end = pos + table->size;
	struct nl_attr a;

	while (nl_attr_next(&pos, end, &a)) {
		unsigned int i = 0;

		while (i < c->apps && memcmp(&c->app[i], a.data, sizeof(c->app[i])))
			i++;
		if (add && i == c->apps && i < ARRAY_SIZE(c->app))
			memcpy(&c->app[c->apps++], a.data, sizeof(c->app[i]));
		else if (!add && i < c->apps)
			c->app[i] = c->app[--c->apps];
	}
}

static void change_card(struct card *c, const struct nl_attr *ieee, bool add)
{
	const struct {
		uint16_t type;
		void *to;
		size_t size;
	} objects[] = {
		{DCB_ATTR_IEEE_ETS, &c->ets, sizeof(c->ets)},
		{DCB_ATTR_IEEE_PFC, &c->pfc, sizeof(c->pfc)},
		{DCB_ATTR_IEEE_MAXRATE, &c->maxrate, sizeof(c->maxrate)},
		{DCB_ATTR_DCB_BUFFER, &c->buffer, sizeof(c->buffer)},
	};
	const uint8_t *pos = ieee->data, *end = pos + ieee->size;
	struct nl_attr a;

	while (nl_attr_next(&pos, end, &a)) {
		for (unsigned int i = 0; i < ARRAY_SIZE(objects); i++)
			if (a.type == objects[i].type && a.size == objects[i].size)
				memcpy(objects[i].to, a.data, a.size);
		if (a.type == DCB_ATTR_IEEE_APP_TABLE)
			change_apps(c, &a, add);
	}
}

static int answer_dcb(uint16_t type, const uint8_t *pos, const uint8_t *end, struct nl_request *r)
{
	struct dcbmsg d;
	struct nl_attr name, a;
	struct card *c;
	uint8_t code = 0;

	memcpy(&d, pos, sizeof(d));
	pos += sizeof(d);
	c = find(pos, end, DCB_ATTR_IFNAME, &name) ? card_of(&name) : NULL;
	if (!c)
		return -ENODEV;
	nl_request_init(r, type, 0);
	nl_put(r, &d, sizeof(d));
	if (d.cmd == DCB_CMD_IEEE_GET) {
		put_card(r, c);
	} else if (d.cmd == DCB_CMD_SDCBX && find(pos, end, DCB_ATTR_DCBX, &a)) {
		c->dcbx = a.data[0];
		nl_put_attr(r, DCB_ATTR_DCBX, &code, 1);
	} else if (find(pos, end, DCB_ATTR_IEEE, &a)) {
		change_card(c, &a, d.cmd == DCB_CMD_IEEE_SET);
		nl_put_attr(r, DCB_ATTR_IEEE, &code, 1);
	} else {
		return -EINVAL;
	}
	return 1;
}

static int answer_link(uint16_t type, const uint8_t *pos, const uint8_t *end, struct nl_request *r)
{
	struct ifinfomsg i;
	struct nl_attr a;
	struct card *c;

	memcpy(&i, pos, sizeof(i));
	pos += sizeof(i);
	if (type == RTM_NEWLINK) {
		if (i.ifi_index < 1 || i.ifi_index > PORTS || !find(pos, end, IFLA_MTU, &a))
			return -ENODEV;
		memcpy(&cards[i.ifi_index - 1].mtu, a.data, sizeof(cards[0].mtu));
		return 0;
	}
	c = find(pos, end, IFLA_IFNAME, &a) ? card_of(&a) : NULL;
	if (!c)
		return -ENODEV;
	i.ifi_index = (int)(c - cards) + 1;
	nl_request_init(r, RTM_NEWLINK, 0);
	nl_put(r, &i, sizeof(i));
	nl_put_attr(r, IFLA_MTU, &c->mtu, sizeof(c->mtu));
	return 1;
}

static int answer_generic(uint16_t type, const uint8_t *pos, const uint8_t *end,
			  struct nl_request *r)
{
	static const uint16_t family = FAMILY;
	struct genlmsghdr g;
	struct nl_attr head, name, a;
	struct card *c;

	memcpy(&g, pos, sizeof(g));
	pos += sizeof(g);
	nl_request_init(r, type, 0);
	nl_put(r, &g, sizeof(g));
	if (type == GENL_ID_CTRL) {
		nl_put_attr(r, CTRL_ATTR_FAMILY_ID, &family, sizeof(family));
		return 1;
	}
	c = find(pos, end, ETHTOOL_A_PAUSE_HEADER, &head) &&
			    find(head.data, head.data + head.size, ETHTOOL_A_HEADER_DEV_NAME, &name)
		    ? card_of(&name)
		    : NULL;
	if (!c)
		return -ENODEV;
	for (unsigned int i = 0; i < ARRAY_SIZE(c->pause); i++) {
		if (g.cmd == ETHTOOL_MSG_PAUSE_SET &&
		    find(pos, end, (uint16_t)(ETHTOOL_A_PAUSE_AUTONEG + i), &a))
			c->pause[i] = a.data[0];
		nl_put_attr(r, (uint16_t)(ETHTOOL_A_PAUSE_AUTONEG + i), &c->pause[i], 1);
	}
	return g.cmd == ETHTOOL_MSG_PAUSE_GET;
}

/* 1 with the answer in *r, 0 without one, -errno. The two protocols share numbers. */
static int answer(const struct nlmsghdr *h, int protocol, struct nl_request *r)
{
	const uint8_t *pos = NLMSG_DATA(h), *end = (const uint8_t *)h + h->nlmsg_len;

	if (protocol == NETLINK_GENERIC)
		return answer_generic(h->nlmsg_type, pos, end, r);
	if (h->nlmsg_type == RTM_GETDCB || h->nlmsg_type == RTM_SETDCB)
		return answer_dcb(h->nlmsg_type, pos, end, r);
	if (h->nlmsg_type == RTM_GETLINK || h->nlmsg_type == RTM_NEWLINK)
		return answer_link(h->nlmsg_type, pos, end, r);
	return -EOPNOTSUPP;
}

static void push(struct queue *q, const struct nlmsghdr *to, uint16_t type, const void *data,
		 size_t size)
{
	struct reply *r = &q->reply[(q->first + q->count++) % QUEUE_MAX];
	struct nlmsghdr h = {.nlmsg_len = NLMSG_HDRLEN + size,
			     .nlmsg_type = type,
			     .nlmsg_seq = to->nlmsg_seq,
			     .nlmsg_pid = to->nlmsg_pid};

	if (q->count > QUEUE_MAX || NLMSG_HDRLEN + size > sizeof(r->bytes))
		die("queue");
	memcpy(r->bytes, &h, sizeof(h));
	memcpy(r->bytes + NLMSG_HDRLEN, data, size);
	r->size = h.nlmsg_len;
}

static struct queue *open_queue(int fd)
{
	struct queue *q = calloc(1, sizeof(*q));
	socklen_t size = sizeof(q->protocol);

	if (!q || getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &q->protocol, &size))
		die("queue");
	return q;
}

/* In the place of the C library's, for libnl and for us. */

ssize_t sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *to,
	       socklen_t to_size)
{
	const struct nlmsghdr *h = buf;
	struct nlmsgerr end = {.msg = *h};
	struct nl_request r;
	int err;

	if (!to || to->sa_family != AF_NETLINK || fd >= FD_MAX)
		return syscall(SYS_sendto, fd, buf, size, flags, to, to_size);
	if (!queues[fd])
		queues[fd] = open_queue(fd);
	requests++;
	err = answer(h, queues[fd]->protocol, &r);
	if (err > 0)
		push(queues[fd], h, r.head.nlmsg_type, r.bytes, r.used);
	end.error = err < 0 ? err : 0;
	push(queues[fd], h, NLMSG_ERROR, &end, sizeof(end));
	return (ssize_t)size;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	static const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	struct queue *q = fd < FD_MAX ? queues[fd] : NULL;
	const struct reply *r;
	size_t n;

	if (!q)
		return syscall(SYS_recvmsg, fd, m, flags);
	if (!q->count) {
		errno = EAGAIN;
		return -1;
	}
	r = &q->reply[q->first];
	n = r->size < m->msg_iov[0].iov_len ? r->size : m->msg_iov[0].iov_len;
	memcpy(m->msg_iov[0].iov_base, r->bytes, n);
	if (m->msg_name)
		memcpy(m->msg_name, &kernel, sizeof(kernel));
	m->msg_namelen = sizeof(kernel);
	m->msg_controllen = 0;
	m->msg_flags = n < r->size ? MSG_TRUNC : 0;
	if (flags & MSG_TRUNC)
		n = r->size;
	if (!(flags & MSG_PEEK)) {
		q->first = (q->first + 1) % QUEUE_MAX;
		q->count--;
	}
	return (ssize_t)n;
}

/* The compiler knows poll(2) as one that reads nothing before it has written. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (count == 1 && fds->fd >= 0 && fds->fd < FD_MAX && queues[fds->fd] &&
	    queues[fds->fd]->count) {
		fds->revents = POLLIN;
		return 1;
	}
	return (int)syscall(SYS_poll, fds, count, timeout);
}

#pragma GCC diagnostic pop

int ioctl(int fd, unsigned long request, ...)
{
	struct ifreq *ifr;
	uint32_t *cmd;
	va_list ap;

	(void)fd;
	va_start(ap, request);
	ifr = va_arg(ap, struct ifreq *);
	va_end(ap);
	cmd = request == SIOCETHTOOL ? (uint32_t *)(void *)ifr->ifr_data : NULL;
	if (!cmd || *cmd != ETHTOOL_GDRVINFO) {
		errno = EOPNOTSUPP;
		return -1;
	}
	strcpy(((struct ethtool_drvinfo *)(void *)cmd)->driver, "mlx5_core");
	return 0;
}

static void make_cards(void)
{
	for (unsigned int i = 0; i < PORTS; i++) {
		struct card *c = &cards[i];

		snprintf(c->name, sizeof(c->name), "p%u", i);
		c->mtu = 1500;
		c->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
		memset(c->pause, 1, sizeof(c->pause));
		c->ets.ets_cap = 8;
		c->pfc.pfc_cap = 8;
	}
}

#endif
