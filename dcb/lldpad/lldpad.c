/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers are hostile input: another process may hold the socket name. The kernel names the sender
 * of each (unix(7), SCM_CREDENTIALS) with its real uid; answers of other processes are dropped.
 * Lengths in the answers are ignored, because lldpad writes some of them wrongly (the value of
 * "enabled"); the data stands at the end.
 */
#include "dcb/lldpad/lldpad.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "dcb/lldpad/lldpad_process.h"

#define TIMEOUT_MS   2000
#define CMD_GET_TLV  0x01
#define CMD_SET_TLV  0x02
#define CMD_SET_LLDP 0x04
#define OP_NEIGHBOUR 0x02
#define OP_ARG	     0x04
#define OP_VALUE     0x08
#define OP_DELETE    0x20
#define NAME_MAX_LEN 15

struct lldpad {
	int fd;
	pid_t pid;
	uid_t uid;
	struct ucred other; /* sender of the last dropped answer; pid 0: none */
};

static const struct status {
	unsigned int code;
	int err;
	const char *text;
} statuses[] = {
	{0x01, -EIO, "it failed"},
	{0x02, -ENODEV, "unknown device"},
	{0x03, -ENODEV, "no LLDP agent on the port"},
	{0x04, -EINVAL, "invalid request"},
	{0x05, -EINVAL, "invalid request"},
	{0x06, -ENODATA, "no LLDP neighbour"},
	{0x08, -EOPNOTSUPP, "the port does not support DCBX"},
	{0x09, -EOPNOTSUPP, "not applicable"},
	{0x0a, -EPERM,
	 "permission denied: only root may write, and not to a read-only lldpad (-R)"},
};

int lldpad_open(pid_t pid, uid_t uid, struct lldpad **l, struct err *e)
{
	const struct timeval wait = {.tv_sec = TIMEOUT_MS / 1000};
	struct sockaddr_un to = {.sun_family = AF_UNIX}, from = {.sun_family = AF_UNIX};
	socklen_t to_len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(LLDPAD_SOCKET);
	struct lldpad *made = calloc(1, sizeof(*made));
	int err = 0, on = 1;

	if (!made)
		return err_sys(e, -ENOMEM, "lldpad");
	made->pid = pid;
	made->uid = uid;
	memcpy(to.sun_path + 1, LLDPAD_SOCKET, strlen(LLDPAD_SOCKET));
	made->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Autobind (unix(7)): lldpad needs an address to answer to. */
	if (made->fd < 0 || setsockopt(made->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ||
	    bind(made->fd, (struct sockaddr *)&from, sizeof(sa_family_t)) ||
	    connect(made->fd, (struct sockaddr *)&to, to_len) ||
	    setsockopt(made->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)))
		err = -errno;
	if (err) {
		lldpad_close(made);
		return err_sys(e, err, "socket of lldpad");
	}
	*l = made;
	return 0;
}

void lldpad_close(struct lldpad *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	free(l);
}

/* Appends to a text. Returns its new length, above size when it does not fit. */
static size_t lldpad_append(char *buf, size_t size, size_t used, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

static size_t lldpad_append(char *buf, size_t size, size_t used, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (used >= size)
		return used;
	va_start(ap, fmt);
	n = vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
	return n < 0 ? size : used + (size_t)n;
}

/* The head of all requests: module 1, version 3, the agent of the nearest bridge. */
static size_t lldpad_append_head(char *buf, size_t size, unsigned int cmd, unsigned int ops,
				 const char *ifname)
{
	return lldpad_append(buf, size, 0, "M00000001C3%02x%08x%02x%.15s00", cmd, ops,
			     (unsigned int)strnlen(ifname, NAME_MAX_LEN), ifname);
}

int lldpad_set_text(const char *ifname, enum lldpad_tlv tlv, const struct lldpad_arg *arg,
		    unsigned int args, bool remove, char *buf, size_t size)
{
	unsigned int ops = OP_ARG | OP_VALUE | (remove ? OP_DELETE : 0);
	size_t used = lldpad_append_head(buf, size, tlv ? CMD_SET_TLV : CMD_SET_LLDP, ops, ifname);

	if (tlv)
		used = lldpad_append(buf, size, used, "%08x", (unsigned int)tlv);
	for (unsigned int i = 0; i < args; i++)
		used = lldpad_append(buf, size, used, "%02x%s%04x%s",
				     (unsigned int)strlen(arg[i].name), arg[i].name,
				     (unsigned int)strlen(arg[i].text), arg[i].text);
	return used < size ? (int)used : -EMSGSIZE;
}

int lldpad_neighbour_text(const char *ifname, char *buf, size_t size)
{
	size_t used = lldpad_append_head(buf, size, CMD_GET_TLV, OP_NEIGHBOUR, ifname);

	used = lldpad_append(buf, size, used, "%08x", (unsigned int)LLDPAD_ALL_TLVS);
	return used < size ? (int)used : -EMSGSIZE;
}

int lldpad_bytes(const char *hex, size_t digits, uint8_t *bytes, size_t size)
{
	static const char set[] = "0123456789abcdef";

	if (digits % 2)
		return -EPROTO;
	if (digits / 2 > size)
		return -EMSGSIZE;
	for (size_t i = 0; i < digits; i++) {
		char c = hex[i] >= 'A' && hex[i] <= 'F' ? hex[i] - 'A' + 'a' : hex[i];
		const char *at = c ? strchr(set, c) : NULL;

		if (!at)
			return -EPROTO;
		bytes[i / 2] = (i % 2 ? bytes[i / 2] << 4 : 0) | (uint8_t)(at - set);
	}
	return (int)(digits / 2);
}

static int lldpad_status_error(unsigned int code, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].code == code)
			return err_set(e, statuses[i].err, "lldpad: %s", statuses[i].text);
	return err_set(e, -EIO, "lldpad: status %02x", code);
}

/*
 * lldpad repeats the command up to the name, without module and agent, and then the TLV. The answer
 * to a set continues with text for people.
 */
int lldpad_parse_answer(const char *answer, size_t len, const char *request, const char **rest,
			struct err *e)
{
	const char *echo = request + strlen("M00000001");
	/* C, version, command, ops, length of the name; see lldpad_append_head(). */
	const size_t fixed = 1 + 1 + 2 + 8 + 2;
	uint8_t status, name_len;
	size_t expect;

	if (len < 3 || answer[0] != 'R' || lldpad_bytes(answer + 1, 2, &status, 1) != 1)
		return err_set(e, -EPROTO, "lldpad: invalid reply");
	if (status)
		return lldpad_status_error(status, e);
	if (lldpad_bytes(echo + fixed - 2, 2, &name_len, 1) != 1)
		return err_set(e, -EINVAL, "lldpad: malformed request");
	expect = fixed + name_len;
	if (len < 3 + expect || memcmp(answer + 3, echo, expect))
		return err_set(e, -EPROTO, "lldpad: reply to another request");
	*rest = answer + 3 + expect;
	return 0;
}

/* Returns true for a message of lldpad. The kernel closes descriptors sent with it: the control
 * buffer has no room for them. */
static bool is_from_lldpad(struct lldpad *l, struct msghdr *m)
{
	struct ucred sender;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS ||
		    c->cmsg_len < CMSG_LEN(sizeof(sender)))
			continue;
		memcpy(&sender, CMSG_DATA(c), sizeof(sender));
		if (sender.pid == l->pid && sender.uid == l->uid)
			return true;
		l->other = sender;
	}
	return false;
}

/* Returns the length of lldpad's next datagram, or -errno. Those of others do not extend the
 * timeout. */
static ssize_t lldpad_receive(struct lldpad *l, char *buf, size_t size)
{
	const int64_t end = (int64_t)monotonic_ms() + TIMEOUT_MS;
	int64_t left;

	while ((left = end - (int64_t)monotonic_ms()) > 0) {
		char control[CMSG_SPACE(sizeof(struct ucred))]
			__attribute__((aligned(__alignof__(struct cmsghdr))));
		struct iovec part = {.iov_base = buf, .iov_len = size};
		struct msghdr m = {.msg_iov = &part,
				   .msg_iovlen = 1,
				   .msg_control = control,
				   .msg_controllen = sizeof(control)};
		struct pollfd p = {.fd = l->fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, (int)left) < 0 && errno != EINTR)
			return -errno;
		n = recvmsg(l->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n >= 0 && is_from_lldpad(l, &m))
			return n;
	}
	return -ETIMEDOUT;
}

static int lldpad_request(struct lldpad *l, const char *request, size_t len, char *answer,
			  size_t size, const char **rest, size_t *left, struct err *e)
{
	int err = 0;
	ssize_t n;

	if (send(l->fd, request, len, MSG_NOSIGNAL) < 0)
		err = -errno;
	n = err ? err : lldpad_receive(l, answer, size - 1);
	if (n < 0 && l->other.pid)
		return err_sys(e, (int)n,
			       "lldpad does not answer; dropped a reply of pid %d (uid %u)",
			       (int)l->other.pid, (unsigned int)l->other.uid);
	if (n < 0)
		return err_sys(e, (int)n, "lldpad does not answer");
	answer[n] = '\0';
	err = lldpad_parse_answer(answer, (size_t)n, request, rest, e);
	*left = err ? 0 : (size_t)n - (size_t)(*rest - answer);
	return err;
}

int lldpad_set(struct lldpad *l, const char *ifname, enum lldpad_tlv tlv,
	       const struct lldpad_arg *arg, unsigned int args, bool remove, struct err *e)
{
	char request[LLDPAD_MESSAGE_MAX], answer[LLDPAD_MESSAGE_MAX + 1];
	int n = lldpad_set_text(ifname, tlv, arg, args, remove, request, sizeof(request));
	const char *rest;
	size_t left;

	if (n < 0)
		return err_sys(e, n, "%s: request to lldpad", ifname);
	return lldpad_request(l, request, (size_t)n, answer, sizeof(answer), &rest, &left, e);
}

int lldpad_neighbour(struct lldpad *l, const char *ifname, uint8_t *tlvs, size_t size, size_t *len,
		     struct err *e)
{
	char request[LLDPAD_MESSAGE_MAX], answer[LLDPAD_MESSAGE_MAX + 1];
	int n = lldpad_neighbour_text(ifname, request, sizeof(request));
	const char *rest;
	size_t left;
	int err;

	*len = 0;
	if (n < 0)
		return err_sys(e, n, "%s: request to lldpad", ifname);
	err = lldpad_request(l, request, (size_t)n, answer, sizeof(answer), &rest, &left, e);
	if (err == -ENODATA || err == -ENODEV)
		return 0;
	if (err)
		return err;
	if (left < 8) /* the requested TLV comes first */
		return err_set(e, -EPROTO, "lldpad: truncated reply");
	n = lldpad_bytes(rest + 8, left - 8, tlvs, size);
	if (n < 0)
		return err_sys(e, n, "lldpad: TLVs of the neighbour of %s", ifname);
	*len = (size_t)n;
	return 0;
}
