/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Netlink: one request, all answers, the final ACK drained. libnl's conventions end here. Other
 * folders that need netlink (rdma counters) ask through this header, never libnl.
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
	uint8_t bytes[8192]; /* what follows head, without a gap */
};

void nl_request_init(struct nl_request *r, uint16_t type, uint16_t flags);
void nl_put(struct nl_request *r, const void *data, size_t size); /* family header */
void nl_put_attr(struct nl_request *r, uint16_t type, const void *data, size_t size);
size_t nl_nest_start(struct nl_request *r, uint16_t type);
void nl_nest_end(struct nl_request *r, size_t start);

/* Called for each answer message; payload is what follows the nlmsghdr. A nonzero return (-errno)
 * is nl_talk()'s result, after the rest was drained. */
typedef int nl_answer(uint16_t type, const uint8_t *payload, size_t size, void *arg);

/* Sends r (always with NLM_F_ACK), gives every answer to fn (may be NULL), drains until the ACK or
 * the end of a dump. Returns 0 or the kernel's -errno; e gets the kernel's own extended message if
 * any. An answer that takes longer than 5 s is -ETIMEDOUT. */
int nl_talk(struct nl *nl, struct nl_request *r, nl_answer *fn, void *arg, struct err *e);

/* Attribute iteration over a stream of attributes; every length is checked. */
struct nl_attr {
	uint16_t type; /* without the nested and byte order flags */
	const uint8_t *data;
	size_t size;
};
/* Gives the next attribute of [*pos, end). False at the end or at a broken one. */
bool nl_attr_next(const uint8_t **pos, const uint8_t *end, struct nl_attr *a);
/* The first attribute of a type in size bytes. */
bool nl_attr_find(const uint8_t *pos, size_t size, uint16_t type, struct nl_attr *a);

/* Multicast, for watching: joins a group of the protocol. */
int nl_join(struct nl *nl, int group, struct err *e);

/* The socket for poll(2). Borrowed. */
int nl_fd(const struct nl *nl);

/* Called for each notice; payload is what follows the nlmsghdr, for the time of the call. */
typedef void nl_notice(uint16_t type, const uint8_t *payload, size_t size, void *arg);

/* Gives fn what the kernel has sent to the joined groups, without waiting; a socket used for this
 * is not used for nl_talk(). 0; -ENOBUFS when notices were lost (more came than the socket holds):
 * read afresh what they were about; other -errno are the end of the socket. */
int nl_notices(struct nl *nl, nl_notice *fn, void *arg, struct err *e);

/* Generic netlink family id by name ("ethtool"), -ENOENT. */
int nl_family(struct nl *nl, const char *name, struct err *e);

#endif
