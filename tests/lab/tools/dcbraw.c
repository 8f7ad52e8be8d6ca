/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dcbraw NETDEV REQUEST [NUMBER...]: one DCB request and the driver's own answer, of which dcb
 * shows little: "answer N", the byte of the reply as the kernel cut it (negative: an errno), or
 * "error N" where the kernel had none. Requests: gcap, gdcbx, sdcbx FLAGS, app and unapp SELECTOR
 * PROTOCOL PRIORITY, pfc MASK DELAY, ets and buffer with the numbers of a table each: TSA, share
 * and class of 0 to 7; buffer of each priority and size of each buffer.
 */
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NUMBERS 24

struct request {
	union {
		struct nlmsghdr head;
		char room[1024];
	};
};

static void put(struct request *r, int type, const void *data, size_t size)
{
	struct nlattr *a = (void *)(r->room + NLMSG_ALIGN(r->head.nlmsg_len));

	a->nla_type = (unsigned short)type;
	a->nla_len = (unsigned short)(NLA_HDRLEN + size);
	memcpy((char *)a + NLA_HDRLEN, data, size);
	r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + NLA_ALIGN(a->nla_len);
}

/* One attribute inside of DCB_ATTR_IEEE, or two. */
static void put_ieee(struct request *r, int table, int type, const void *data, size_t size)
{
	size_t start = NLMSG_ALIGN(r->head.nlmsg_len);
	struct nlattr *inner;

	put(r, DCB_ATTR_IEEE, "", 0);
	if (table)
		put(r, table, "", 0);
	put(r, type, data, size);
	((struct nlattr *)(r->room + start))->nla_len = (unsigned short)(r->head.nlmsg_len - start);
	inner = (void *)(r->room + start + NLA_HDRLEN);
	inner->nla_len = (unsigned short)(r->head.nlmsg_len - start - NLA_HDRLEN);
}

static void add_gcap(struct request *r, const unsigned long *n)
{
	size_t start = NLMSG_ALIGN(r->head.nlmsg_len);

	(void)n;
	put(r, DCB_ATTR_CAP, "", 0);
	put(r, DCB_CAP_ATTR_ALL, "", 0);
	((struct nlattr *)(r->room + start))->nla_len = (unsigned short)(r->head.nlmsg_len - start);
}

static void add_nothing(struct request *r, const unsigned long *n)
{
	(void)r;
	(void)n;
}

static void add_sdcbx(struct request *r, const unsigned long *n)
{
	unsigned char flags = (unsigned char)n[0];

	put(r, DCB_ATTR_DCBX, &flags, sizeof(flags));
}

static void add_app(struct request *r, const unsigned long *n)
{
	struct dcb_app app = {.selector = (unsigned char)n[0],
			      .priority = (unsigned char)n[2],
			      .protocol = (unsigned short)n[1]};

	put_ieee(r, DCB_ATTR_IEEE_APP_TABLE, DCB_ATTR_IEEE_APP, &app, sizeof(app));
}

static void add_pfc(struct request *r, const unsigned long *n)
{
	struct ieee_pfc pfc = {.pfc_en = (unsigned char)n[0], .delay = (unsigned short)n[1]};

	put_ieee(r, 0, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
}

static void add_ets(struct request *r, const unsigned long *n)
{
	struct ieee_ets ets = {.willing = 0};
	int i;

	for (i = 0; i < 8; i++) {
		ets.tc_tsa[i] = (unsigned char)n[i];
		ets.tc_tx_bw[i] = (unsigned char)n[8 + i];
		ets.prio_tc[i] = (unsigned char)n[16 + i];
	}
	put_ieee(r, 0, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
}

static void add_buffer(struct request *r, const unsigned long *n)
{
	struct dcbnl_buffer buffer = {.total_size = 0};
	int i;

	for (i = 0; i < 8; i++) {
		buffer.prio2buffer[i] = (unsigned char)n[i];
		buffer.buffer_size[i] = (unsigned int)n[8 + i];
	}
	put_ieee(r, 0, DCB_ATTR_DCB_BUFFER, &buffer, sizeof(buffer));
}

static const struct {
	const char *name;
	int numbers;
	unsigned char command;
	void (*add)(struct request *r, const unsigned long *n);
} requests[] = {
	{"gcap", 0, DCB_CMD_GCAP, add_gcap},	 {"gdcbx", 0, DCB_CMD_GDCBX, add_nothing},
	{"sdcbx", 1, DCB_CMD_SDCBX, add_sdcbx},	 {"app", 3, DCB_CMD_IEEE_SET, add_app},
	{"unapp", 3, DCB_CMD_IEEE_DEL, add_app}, {"pfc", 2, DCB_CMD_IEEE_SET, add_pfc},
	{"ets", 24, DCB_CMD_IEEE_SET, add_ets},	 {"buffer", 16, DCB_CMD_IEEE_SET, add_buffer},
};

/* The first attribute behind the header that has one byte; nested ones count as 0. */
static int answer(const struct nlmsghdr *h)
{
	const struct nlattr *a =
		(const void *)((const char *)NLMSG_DATA(h) + NLMSG_ALIGN(sizeof(struct dcbmsg)));

	return a->nla_len == NLA_HDRLEN + 1 ? *((const signed char *)a + NLA_HDRLEN) : 0;
}

static int talk(struct request *r)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	char buf[16384] __attribute__((aligned(8)));
	const struct nlmsghdr *h = (const void *)buf;

	if (fd < 0 || send(fd, r, r->head.nlmsg_len, 0) < 0 ||
	    recv(fd, buf, sizeof(buf), 0) < (ssize_t)sizeof(*h)) {
		perror("dcbraw");
		return 125;
	}
	close(fd);
	if (h->nlmsg_type == NLMSG_ERROR)
		printf("error %d\n", ((const struct nlmsgerr *)NLMSG_DATA(h))->error);
	else
		printf("answer %d\n", answer(h));
	return 0;
}

int main(int argc, char **argv)
{
	struct request r = {.head = {.nlmsg_flags = NLM_F_REQUEST}};
	unsigned long n[NUMBERS] = {0};
	size_t i;
	int k;

	for (i = 0; argc > 2 && i < sizeof(requests) / sizeof(*requests); i++) {
		struct dcbmsg m = {.dcb_family = AF_UNSPEC, .cmd = requests[i].command};

		if (strcmp(requests[i].name, argv[2]) || argc != 3 + requests[i].numbers)
			continue;
		for (k = 0; k < requests[i].numbers; k++)
			n[k] = strtoul(argv[3 + k], NULL, 0);
		r.head.nlmsg_type = m.cmd == DCB_CMD_GCAP || m.cmd == DCB_CMD_GDCBX ? RTM_GETDCB
										    : RTM_SETDCB;
		r.head.nlmsg_len = NLMSG_LENGTH(sizeof(m));
		memcpy(NLMSG_DATA(&r.head), &m, sizeof(m));
		put(&r, DCB_ATTR_IFNAME, argv[1], strlen(argv[1]) + 1);
		requests[i].add(&r, n);
		return talk(&r);
	}
	fprintf(stderr, "dcbraw: no such request, or not its count of numbers\n");
	return 2;
}
