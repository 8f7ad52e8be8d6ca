/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink over libnl: sends one request, reads all answers up to the final ACK; receives
 * notifications. No other code includes libnl.
 */
#ifndef DCB_NL_H
#define DCB_NL_H

#include <linux/netlink.h>

#include "profiles/base/base.h"

struct nl; /* opaque: one socket */

/* protocol: NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_RDMA. */
int nl_open(int protocol, struct nl **nl, struct err *e);
/* Not nl_close(): libnl exports that name. */
void nl_shut(struct nl *nl);

/* A request under construction; fixed storage, appending never overruns: a too large message fails
 * in nl_talk() with -EMSGSIZE. */
struct nl_request {
	bool overflow;
	size_t used;
	struct nlmsghdr head;
	uint8_t bytes[8192]; /* directly behind head */
};

void nl_request_init(struct nl_request *r, uint16_t type, uint16_t flags);
void nl_put(struct nl_request *r, const void *data, size_t size); /* family header */
void nl_put_attr(struct nl_request *r, uint16_t type, const void *data, size_t size);
size_t nl_nest_start(struct nl_request *r, uint16_t type);
void nl_nest_end(struct nl_request *r, size_t start);

/* Called for each answer with the payload after the nlmsghdr. A nonzero return (-errno) becomes the
 * result of nl_talk(), after the rest was drained. */
typedef int nl_answer(uint16_t type, const uint8_t *payload, size_t size, void *arg);

/* Sends r (always with NLM_F_ACK), passes each answer to fn (may be NULL), drains until the ACK or
 * the end of a dump. Returns 0 or the kernel's -errno, with the kernel's extended ACK message in e.
 * -ETIMEDOUT after 5 s without an answer. */
int nl_talk(struct nl *nl, struct nl_request *r, nl_answer *fn, void *arg, struct err *e);

/* Attribute iteration over a stream of attributes; every length is checked. */
struct nl_attr {
	uint16_t type; /* without the nested and byte order flags */
	const uint8_t *data;
	size_t size;
};
/* Reads the next attribute of [*pos, end). Returns false at the end or at a broken one. */
bool nl_attr_next(const uint8_t **pos, const uint8_t *end, struct nl_attr *a);
/* Finds the first attribute of a type in size bytes. */
bool nl_attr_find(const uint8_t *pos, size_t size, uint16_t type, struct nl_attr *a);

/* Joins a multicast group of the protocol. */
int nl_join(struct nl *nl, int group, struct err *e);

/* Returns the socket for poll(2). Borrowed. */
int nl_fd(const struct nl *nl);

/* Called for each notification with the payload after the nlmsghdr, valid during the call. */
typedef void nl_notice(uint16_t type, const uint8_t *payload, size_t size, void *arg);

/* Passes the pending notifications of the joined groups to fn, without waiting; do not use such a
 * socket for nl_talk(). Returns 0; -ENOBUFS when notifications were lost (socket buffer overrun):
 * read all state again; other -errno: the socket is unusable. */
int nl_notices(struct nl *nl, nl_notice *fn, void *arg, struct err *e);

/* Returns the generic netlink family id of a name ("ethtool"), -ENOENT. */
int nl_family(struct nl *nl, const char *name, struct err *e);

#endif
