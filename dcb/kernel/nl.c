/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink over libnl-3, which provides socket, receive buffer, messages and attributes. The
 * exchange is done here, because a set needs both its reply and its ACK (RFC 3549 s2.3.2.1), and
 * libnl's error codes lose the errno. Requests have fixed storage, so nothing has to be freed. Each
 * length from the socket is checked before it is used.
 */
#include "dcb/kernel/nl.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#define ANSWER_MS  5000
#define EXTACK_MAX 200

#define NOTICE_BYTES 65536 /* more than the kernel puts into one datagram of notifications */
#define NOTICES_MAX  1000  /* datagrams per call, so that a flood does not block the caller */

struct nl {
	struct nl_sock *socket;
};

/* libnl's error codes as errno. */
static const int nle_errno[] = {
	[NLE_INTR] = EINTR,	      [NLE_BAD_SOCK] = EBADF,
	[NLE_AGAIN] = EAGAIN,	      [NLE_NOMEM] = ENOMEM,
	[NLE_EXIST] = EEXIST,	      [NLE_INVAL] = EINVAL,
	[NLE_RANGE] = ERANGE,	      [NLE_MSGSIZE] = EMSGSIZE,
	[NLE_OPNOTSUPP] = EOPNOTSUPP, [NLE_AF_NOSUPPORT] = EAFNOSUPPORT,
	[NLE_OBJ_NOTFOUND] = ENOENT,  [NLE_MSG_OVERFLOW] = ENOBUFS,
	[NLE_MSG_TRUNC] = EMSGSIZE,   [NLE_NOADDR] = EADDRNOTAVAIL,
	[NLE_BUSY] = EBUSY,	      [NLE_PROTO_MISMATCH] = EPROTONOSUPPORT,
	[NLE_NOACCESS] = EACCES,      [NLE_PERM] = EPERM,
	[NLE_NODEV] = ENODEV,
};

static int from_nle(int nle)
{
	unsigned int code = nle < 0 ? -nle : nle;

	if (code < ARRAY_SIZE(nle_errno) && nle_errno[code])
		return -nle_errno[code];
	return -EIO;
}

static int nl_set_option(const struct nl *nl, int option)
{
	int on = 1;

	return setsockopt(nl_socket_get_fd(nl->socket), SOL_NETLINK, option, &on, sizeof(on));
}

int nl_open(int protocol, struct nl **nl, struct err *e)
{
	struct nl *n = calloc(1, sizeof(*n));
	int nle;

	if (!n)
		return err_sys(e, -ENOMEM, "netlink");
	n->socket = nl_socket_alloc();
	if (!n->socket) {
		free(n);
		return err_sys(e, -ENOMEM, "netlink");
	}
	nle = nl_connect(n->socket, protocol);
	if (nle < 0) {
		nl_shut(n);
		return err_sys(e, from_nle(nle), "netlink protocol %d", protocol);
	}
	nl_socket_enable_msg_peek(n->socket);
	/* Optional: older kernels return only the errno. */
	(void)nl_set_option(n, NETLINK_EXT_ACK);
	(void)nl_set_option(n, NETLINK_CAP_ACK);
	*nl = n;
	return 0;
}

void nl_shut(struct nl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->socket);
	free(nl);
}

int nl_join(struct nl *nl, int group, struct err *e)
{
	int nle = nl_socket_add_membership(nl->socket, group);

	if (nle < 0)
		return err_sys(e, from_nle(nle), "netlink group %d", group);
	return 0;
}

void nl_request_init(struct nl_request *r, uint16_t type, uint16_t flags)
{
	memset(r, 0, sizeof(*r));
	r->head.nlmsg_type = type;
	r->head.nlmsg_flags = flags;
}

void nl_put(struct nl_request *r, const void *data, size_t size)
{
	if (size > sizeof(r->bytes) - r->used || NLMSG_ALIGN(size) > sizeof(r->bytes) - r->used) {
		r->overflow = true;
		return;
	}
	if (size)
		memcpy(r->bytes + r->used, data, size);
	r->used += NLMSG_ALIGN(size);
}

void nl_put_attr(struct nl_request *r, uint16_t type, const void *data, size_t size)
{
	struct nlattr a = {.nla_len = nla_attr_size((int)size), .nla_type = type};

	r->overflow |= size > sizeof(r->bytes) ||
		       r->used + nla_total_size((int)size) > sizeof(r->bytes);
	if (r->overflow)
		return;
	nl_put(r, &a, sizeof(a));
	nl_put(r, data, size);
}

size_t nl_nest_start(struct nl_request *r, uint16_t type)
{
	size_t start = r->used;

	nl_put_attr(r, type | NLA_F_NESTED, NULL, 0);
	return start;
}

void nl_nest_end(struct nl_request *r, size_t start)
{
	uint16_t size = r->used - start;

	/* After an overflow in nl_nest_start() there is no header to fill. */
	if (r->overflow)
		return;
	memcpy(r->bytes + start, &size, sizeof(size));
}

bool nl_attr_next(const uint8_t **pos, const uint8_t *end, struct nl_attr *a)
{
	const struct nlattr *h = (const struct nlattr *)*pos;
	int left = (int)(end - *pos);

	if (!nla_ok(h, left))
		return false;
	a->type = (uint16_t)nla_type(h);
	a->data = nla_data(h);
	a->size = nla_len(h);
	/* The last attribute may lack padding. */
	h = nla_next(h, &left);
	*pos = left < 0 ? end : (const uint8_t *)h;
	return true;
}

bool nl_attr_find(const uint8_t *pos, size_t size, uint16_t type, struct nl_attr *a)
{
	const uint8_t *end = pos + size;

	while (nl_attr_next(&pos, end, a))
		if (a->type == type)
			return true;
	return false;
}

/* State of nl_talk(). */
struct exchange {
	uint32_t seq, port;
	nl_answer *fn;
	void *arg;
	int fn_result; /* first nonzero answer of fn */
	int result;    /* of the kernel */
	char extack[EXTACK_MAX];
	bool done;
};

/* Parses the extended ACK: attributes after struct nlmsgerr or after the code of NLMSG_DONE. */
static void nl_parse_extack(struct exchange *x, const uint8_t *pos, const uint8_t *end)
{
	struct nl_attr a;

	while (nl_attr_next(&pos, end, &a)) {
		size_t size = a.size < EXTACK_MAX - 1 ? a.size : EXTACK_MAX - 1;

		if (a.type != NLMSGERR_ATTR_MSG)
			continue;
		memcpy(x->extack, a.data, size);
		x->extack[size] = '\0';
	}
	for (char *c = x->extack; *c; c++)
		if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
}

/*
 *  0        4                    20
 * +--------+--------------------+----------------------+------------+
 * | -errno | nlmsghdr of request | payload, if uncapped | attributes |
 * +--------+--------------------+----------------------+------------+
 * NLMSG_DONE has only the code and the attributes.
 */
static void nl_parse_ack(struct exchange *x, const struct nlmsghdr *h)
{
	const uint8_t *p = NLMSG_DATA(h), *end = (const uint8_t *)h + h->nlmsg_len;
	struct nlmsgerr ne;
	size_t skip = sizeof(int), size = end - p;

	x->done = true;
	if (size < sizeof(int)) {
		x->result = h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
		return;
	}
	memcpy(&x->result, p, sizeof(int));
	if (x->result > 0)
		x->result = h->nlmsg_type == NLMSG_DONE ? 0 : -EBADMSG;
	if (!(h->nlmsg_flags & NLM_F_ACK_TLVS))
		return;
	if (h->nlmsg_type == NLMSG_ERROR) {
		if (size < sizeof(ne))
			return;
		memcpy(&ne, p, sizeof(ne));
		skip = sizeof(ne);
		if (!(h->nlmsg_flags & NLM_F_CAPPED) && ne.msg.nlmsg_len >= NLMSG_HDRLEN)
			skip += NLMSG_ALIGN(ne.msg.nlmsg_len) - NLMSG_HDRLEN;
	}
	if (skip <= size)
		nl_parse_extack(x, p + skip, end);
}

static void nl_parse_message(struct exchange *x, const struct nlmsghdr *h)
{
	int err = 0;

	/* Multicast has port 0; a late answer to a request that timed out has an older number. */
	if (h->nlmsg_seq != x->seq || h->nlmsg_pid != x->port)
		return;
	if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
		nl_parse_ack(x, h);
		return;
	}
	if (h->nlmsg_type == NLMSG_NOOP)
		return;
	if (h->nlmsg_type == NLMSG_OVERRUN)
		err = -ENOBUFS;
	else if (x->fn && !x->fn_result)
		err = x->fn(h->nlmsg_type, nlmsg_data(h), nlmsg_datalen(h), x->arg);
	if (err && !x->fn_result)
		x->fn_result = err;
}

static int nl_wait_readable(const struct nl *nl)
{
	struct pollfd p = {.fd = nl_socket_get_fd(nl->socket), .events = POLLIN};
	int n;

	do
		n = poll(&p, 1, ANSWER_MS);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

/* Receives one datagram of the kernel and parses all its messages. */
static int nl_receive(struct nl *nl, struct exchange *x)
{
	struct sockaddr_nl from = {0};
	unsigned char *buf = NULL;
	struct nlmsghdr *h;
	int size, err;

	err = nl_wait_readable(nl);
	if (err)
		return err;
	size = nl_recv(nl->socket, &from, &buf, NULL);
	if (size < 0)
		return from_nle(size);
	if (!size)
		return -EPIPE;
	if (!from.nl_pid)
		for (h = (struct nlmsghdr *)buf; nlmsg_ok(h, size); h = nlmsg_next(h, &size))
			nl_parse_message(x, h);
	free(buf);
	return 0;
}

static int nl_send_request(struct nl *nl, struct nl_request *r, struct exchange *x)
{
	int nle;

	if (r->overflow)
		return -EMSGSIZE;
	r->head.nlmsg_len = nlmsg_size((int)r->used);
	r->head.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	r->head.nlmsg_seq = x->seq = nl_socket_use_seq(nl->socket);
	r->head.nlmsg_pid = x->port = nl_socket_get_local_port(nl->socket);
	nle = nl_sendto(nl->socket, &r->head, r->head.nlmsg_len);
	return nle < 0 ? from_nle(nle) : 0;
}

int nl_talk(struct nl *nl, struct nl_request *r, nl_answer *fn, void *arg, struct err *e)
{
	struct exchange x = {.fn = fn, .arg = arg};
	int err = nl_send_request(nl, r, &x);

	while (!err && !x.done)
		err = nl_receive(nl, &x);
	if (err)
		return err_sys(e, err, "netlink");
	if (x.result && x.extack[0])
		return err_set(e, x.result, "%s (kernel: %s)", strerror(-x.result), x.extack);
	if (x.result)
		return err_set(e, x.result, "%s", strerror(-x.result));
	if (x.fn_result)
		return err_set(e, x.fn_result, "%s", strerror(-x.fn_result));
	return 0;
}

int nl_fd(const struct nl *nl)
{
	return nl_socket_get_fd(nl->socket);
}

/* Receives one datagram. -EAGAIN: none; -ENOBUFS: some were lost, or this one is truncated. */
static int nl_receive_notice(const struct nl *nl, uint8_t *buf, nl_notice *fn, void *arg)
{
	struct sockaddr_nl from = {0};
	struct iovec io = {buf, NOTICE_BYTES};
	struct msghdr m = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &io, .msg_iovlen = 1};
	ssize_t n = recvmsg(nl_fd(nl), &m, MSG_DONTWAIT);
	struct nlmsghdr *h;
	int size = n;

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (!n)
		return -EPIPE;
	if (m.msg_flags & MSG_TRUNC)
		return -ENOBUFS;
	if (from.nl_pid)
		return 0; /* not from the kernel */
	for (h = (struct nlmsghdr *)buf; nlmsg_ok(h, size); h = nlmsg_next(h, &size))
		if (h->nlmsg_type >= NLMSG_MIN_TYPE)
			fn(h->nlmsg_type, nlmsg_data(h), nlmsg_datalen(h), arg);
	return 0;
}

int nl_notices(struct nl *nl, nl_notice *fn, void *arg, struct err *e)
{
	uint8_t *buf = malloc(NOTICE_BYTES);
	bool lost = false;
	int err = buf ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < NOTICES_MAX; i++) {
		err = nl_receive_notice(nl, buf, fn, arg);
		lost |= err == -ENOBUFS;
		if (err == -ENOBUFS)
			err = 0;
	}
	free(buf);
	if (err && err != -EAGAIN)
		return err_sys(e, err, "netlink notices");
	return lost ? err_set(e, -ENOBUFS, "netlink notices were lost") : 0;
}

static int nl_parse_family(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct nl_attr a;
	uint16_t id;

	if (type != GENL_ID_CTRL || size < GENL_HDRLEN)
		return -EBADMSG;
	if (nl_attr_find(payload + GENL_HDRLEN, size - GENL_HDRLEN, CTRL_ATTR_FAMILY_ID, &a) &&
	    a.size >= sizeof(id)) {
		memcpy(&id, a.data, sizeof(id));
		*(int *)arg = id;
	}
	return 0;
}

int nl_family(struct nl *nl, const char *name, struct err *e)
{
	struct genlmsghdr g = {.cmd = CTRL_CMD_GETFAMILY, .version = 1};
	struct nl_request r;
	int id = -ENOENT, err;

	nl_request_init(&r, GENL_ID_CTRL, 0);
	nl_put(&r, &g, sizeof(g));
	nl_put_attr(&r, CTRL_ATTR_FAMILY_NAME, name, strlen(name) + 1);
	err = nl_talk(nl, &r, nl_parse_family, &id, e);
	if (err) {
		err_prefix(e, "generic netlink family %s", name);
		return err;
	}
	if (id < 0)
		return err_sys(e, id, "generic netlink family %s", name);
	return id;
}
