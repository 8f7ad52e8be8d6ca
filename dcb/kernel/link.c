/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTM_GETLINK and RTM_NEWLINK for the MTU and IFF_UP alone. A change is addressed by index, so that
 * a rename between the two does not hit another netdev.
 */
#include "dcb/kernel/link.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/nl.h"
#include "dcb/kernel/sysfs.h"

struct link {
	bool found;
	int index;
	unsigned int flags;
	uint32_t mtu;
};

static int take_link(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct link *l = arg;
	struct ifinfomsg i;
	struct nl_attr a;

	if (type != RTM_NEWLINK || size < sizeof(i))
		return -EBADMSG;
	memcpy(&i, payload, sizeof(i));
	l->index = i.ifi_index;
	l->flags = i.ifi_flags;
	l->found = nl_attr_find(payload + sizeof(i), size - sizeof(i), IFLA_MTU, &a) &&
		   a.size >= sizeof(l->mtu);
	if (l->found)
		memcpy(&l->mtu, a.data, sizeof(l->mtu));
	return 0;
}

static int link_ask(struct nl *nl, const char *ifname, nl_answer *fn, void *arg, struct err *e)
{
	uint32_t filter = RTEXT_FILTER_SKIP_STATS;
	struct ifinfomsg i = {0};
	struct nl_request r;

	nl_request_init(&r, RTM_GETLINK, 0);
	nl_put(&r, &i, sizeof(i));
	nl_put_attr(&r, IFLA_IFNAME, ifname, strlen(ifname) + 1);
	nl_put_attr(&r, IFLA_EXT_MASK, &filter, sizeof(filter));
	return nl_talk(nl, &r, fn, arg, e);
}

static int link_read(struct nl *nl, const char *ifname, struct link *l, struct err *e)
{
	int err;

	*l = (struct link){0};
	if (!ifname[0] || strlen(ifname) >= IFNAMSIZ)
		return err_set(e, -ENODEV, "%s: no such network device", ifname);
	err = link_ask(nl, ifname, take_link, l, e);
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

/* IFLA_VLAN_EGRESS_QOS of linux uapi/if_link.h. The kernel lists mappings to priorities other than
 * 0, and takes one to 0 as the end of it (net/8021q/vlan_dev.c); socket priorities above 15, which
 * no ToS leads to, are left as they are. */

struct vlan {
	bool found;
	int index;
	uint8_t map[QOS_SKB_PRIOS];
};

static bool is_vlan(const struct nl_attr *info)
{
	static const char kind[] = "vlan";
	struct nl_attr a;

	return nl_attr_find(info->data, info->size, IFLA_INFO_KIND, &a) &&
	       a.size >= sizeof(kind) - 1 && !strncmp((const char *)a.data, kind, a.size);
}

static int take_mapping(const struct nl_attr *a, uint8_t map[QOS_SKB_PRIOS])
{
	struct ifla_vlan_qos_mapping m;

	if (a->type != IFLA_VLAN_QOS_MAPPING)
		return 0;
	if (a->size < sizeof(m))
		return -EBADMSG;
	memcpy(&m, a->data, sizeof(m));
	if (m.from >= QOS_SKB_PRIOS)
		return 0;
	if (m.to >= QOS_PRIOS)
		return -EBADMSG;
	map[m.from] = (uint8_t)m.to;
	return 0;
}

int vlan_take(const uint8_t *payload, size_t size, int *index, uint8_t map[QOS_SKB_PRIOS])
{
	uint8_t taken[QOS_SKB_PRIOS] = {0};
	struct nl_attr info, data, a;
	struct ifinfomsg link;
	const uint8_t *pos;
	int err = 0;

	if (size < sizeof(link))
		return -EBADMSG;
	memcpy(&link, payload, sizeof(link));
	if (!nl_attr_find(payload + sizeof(link), size - sizeof(link), IFLA_LINKINFO, &info) ||
	    !is_vlan(&info))
		return -ENOTTY;
	/* Without mappings there is no attribute of them. */
	if (nl_attr_find(info.data, info.size, IFLA_INFO_DATA, &data) &&
	    nl_attr_find(data.data, data.size, IFLA_VLAN_EGRESS_QOS, &info)) {
		pos = info.data;
		while (!err && nl_attr_next(&pos, info.data + info.size, &a))
			err = take_mapping(&a, taken);
	}
	if (err)
		return err;
	*index = link.ifi_index;
	memcpy(map, taken, sizeof(taken));
	return 0;
}

static int take_vlan_link(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct vlan *v = arg;
	int err;

	if (type != RTM_NEWLINK)
		return -EBADMSG;
	err = vlan_take(payload, size, &v->index, v->map);
	v->found = !err;
	return err;
}

static int read_one(struct dcb *dcb, const char *vlan, struct vlan *v, struct err *e)
{
	int err;

	*v = (struct vlan){0};
	err = link_ask(dcb->route, vlan, take_vlan_link, v, e);
	if (!err && !v->found)
		err = -EBADMSG;
	return err ? err_sys(e, err, "%s: VLAN egress map", vlan) : 0;
}

/* The map of all; agree: it is. count 0: there are none. */
static int read_all(struct dcb *dcb, const char *ifname, struct resolved *vlans, struct vlan *all,
		    bool *agree, struct err *e)
{
	unsigned int read = 0;
	int err = resolve_vlans(dcb, ifname, vlans, e);

	*agree = true;
	for (unsigned int i = 0; !err && i < vlans->count; i++) {
		struct vlan one;

		err = read_one(dcb, vlans->netdev[i], &one, e);
		if (err == -ENODEV) {
			err = 0;
			continue;
		}
		if (!err && read++ && memcmp(one.map, all->map, sizeof(one.map)))
			*agree = false;
		if (!err)
			*all = one;
	}
	if (!read)
		vlans->count = 0;
	return err;
}

void vlan_read(struct dcb *dcb, const char *ifname, struct qos *q)
{
	struct resolved vlans = {0};
	struct vlan all = {0};
	bool agree;

	if (read_all(dcb, ifname, &vlans, &all, &agree, NULL) || !vlans.count || !agree)
		return;
	memcpy(q->vlan_prio, all.map, sizeof(q->vlan_prio));
	q->has |= QOS_BIT(QOS_VLAN_PRIO);
}

static int write_one(struct dcb *dcb, const char *vlan, const uint8_t map[QOS_SKB_PRIOS],
		     struct err *e)
{
	struct ifinfomsg link = {0};
	size_t info, data, egress;
	struct nl_request r;
	struct vlan now;
	int err = read_one(dcb, vlan, &now, e);

	if (err || !memcmp(now.map, map, sizeof(now.map)))
		return err;
	link.ifi_index = now.index;
	nl_request_init(&r, RTM_NEWLINK, 0);
	nl_put(&r, &link, sizeof(link));
	info = nl_nest_start(&r, IFLA_LINKINFO);
	nl_put_attr(&r, IFLA_INFO_KIND, "vlan", strlen("vlan"));
	data = nl_nest_start(&r, IFLA_INFO_DATA);
	egress = nl_nest_start(&r, IFLA_VLAN_EGRESS_QOS);
	for (unsigned int prio = 0; prio < QOS_SKB_PRIOS; prio++) {
		struct ifla_vlan_qos_mapping m = {.from = prio, .to = map[prio]};

		if (now.map[prio] != map[prio])
			nl_put_attr(&r, IFLA_VLAN_QOS_MAPPING, &m, sizeof(m));
	}
	nl_nest_end(&r, egress);
	nl_nest_end(&r, data);
	nl_nest_end(&r, info);
	err = nl_talk(dcb->route, &r, NULL, NULL, e);
	if (err)
		err_prefix(e, "%s: VLAN egress map", vlan);
	return err;
}

int vlan_write(struct dcb *dcb, const char *ifname, const struct qos *q, struct err *e)
{
	struct resolved vlans;
	int err = resolve_vlans(dcb, ifname, &vlans, e);

	if (!err && !vlans.count)
		return err_set(e, -EOPNOTSUPP, "%s: no VLAN device above it", ifname);
	for (unsigned int i = 0; !err && i < vlans.count; i++)
		err = write_one(dcb, vlans.netdev[i], q->vlan_prio, e);
	return err;
}

void vlan_unknown(struct dcb *dcb, const char *ifname, char *reason, size_t size)
{
	struct resolved vlans = {0};
	struct err e = {0};
	struct vlan all;
	bool agree;

	reason[0] = '\0';
	if (read_all(dcb, ifname, &vlans, &all, &agree, &e))
		snprintf(reason, size, "%.150s", e.text);
	else if (!vlans.count)
		snprintf(reason, size, "no VLAN device above it, and untagged packets carry none");
	else if (!agree)
		snprintf(reason, size,
			 "its VLAN devices (%s, ...) have different maps, which undo could not put "
			 "back: make them equal",
			 vlans.netdev[0]);
}
