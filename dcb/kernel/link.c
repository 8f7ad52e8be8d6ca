/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTM_GETLINK and RTM_NEWLINK for the MTU and IFF_UP alone. A change is addressed by index, so that
 * a rename between the two does not hit another netdev.
 */
#include "dcb/kernel/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <string.h>

struct link {
	bool found;
	int index;
	unsigned int flags;
	uint32_t mtu;
};

static int take_link(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	const uint8_t *pos = payload + sizeof(struct ifinfomsg), *end = payload + size;
	struct link *l = arg;
	struct ifinfomsg i;
	struct nl_attr a;

	if (type != RTM_NEWLINK || size < sizeof(i))
		return -EBADMSG;
	memcpy(&i, payload, sizeof(i));
	l->index = i.ifi_index;
	l->flags = i.ifi_flags;
	while (nl_attr_next(&pos, end, &a)) {
		if (a.type != IFLA_MTU || a.size < sizeof(l->mtu))
			continue;
		memcpy(&l->mtu, a.data, sizeof(l->mtu));
		l->found = true;
	}
	return 0;
}

static int link_read(struct nl *nl, const char *ifname, struct link *l, struct err *e)
{
	uint32_t filter = RTEXT_FILTER_SKIP_STATS;
	struct ifinfomsg i = {0};
	struct nl_request r;
	int err;

	*l = (struct link){0};
	if (!ifname[0] || strlen(ifname) >= IFNAMSIZ)
		return err_set(e, -ENODEV, "%s: no such network device", ifname);
	nl_request_init(&r, RTM_GETLINK, 0);
	nl_put(&r, &i, sizeof(i));
	nl_put_attr(&r, IFLA_IFNAME, ifname, strlen(ifname) + 1);
	nl_put_attr(&r, IFLA_EXT_MASK, &filter, sizeof(filter));
	err = nl_talk(nl, &r, take_link, l, e);
	if (err == -ENODEV)
		return err_set(e, err, "%s: no such network device", ifname);
	if (err) {
		err_prefix(e, "%s", ifname);
		return err;
	}
	if (!l->found)
		return err_set(e, -EBADMSG, "%s: the kernel gave no MTU", ifname);
	return 0;
}

int link_mtu_read(struct nl *nl, const char *ifname, uint32_t *mtu, struct err *e)
{
	struct link l;
	int err = link_read(nl, ifname, &l, e);

	if (!err)
		*mtu = l.mtu;
	return err;
}

int link_mtu_write(struct nl *nl, const char *ifname, uint32_t mtu, struct err *e)
{
	struct ifinfomsg i = {0};
	struct nl_request r;
	struct link l;
	int err = link_read(nl, ifname, &l, e);

	if (err)
		return err;
	i.ifi_index = l.index;
	nl_request_init(&r, RTM_NEWLINK, 0);
	nl_put(&r, &i, sizeof(i));
	nl_put_attr(&r, IFLA_MTU, &mtu, sizeof(mtu));
	err = nl_talk(nl, &r, NULL, NULL, e);
	if (err)
		err_prefix(e, "%s: MTU %u", ifname, mtu);
	return err;
}

int link_up_read(struct nl *nl, const char *ifname, bool *up, struct err *e)
{
	struct link l;
	int err = link_read(nl, ifname, &l, e);

	if (!err)
		*up = l.flags & IFF_UP;
	return err;
}

int link_up(struct nl *nl, const char *ifname, struct err *e)
{
	struct ifinfomsg i = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct nl_request r;
	struct link l;
	int err = link_read(nl, ifname, &l, e);

	if (err)
		return err;
	i.ifi_index = l.index;
	nl_request_init(&r, RTM_NEWLINK, 0);
	nl_put(&r, &i, sizeof(i));
	err = nl_talk(nl, &r, NULL, NULL, e);
	if (err)
		err_prefix(e, "%s: up", ifname);
	return err;
}
