/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RTM_GETLINK and RTM_NEWLINK for MTU, IFF_UP and VLAN egress maps. A change uses the ifindex, so
 * that a rename meanwhile does not hit another netdev.
 */
#include "dcb/kernel/netdev.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "dcb/kernel/backend.h"
#include "dcb/kernel/nl.h"
#include "dcb/kernel/sysfs.h"

struct netdev {
	int index;
	unsigned int flags;
	struct qos qos;
};

/* Fields that are an attribute of 4 bytes. */
static const struct {
	enum qos_field_id field;
	uint16_t attr;
	const char *name;
} netdev_rows[] = {
	{QOS_MTU, IFLA_MTU, "MTU"},
};

static int netdev_parse_link(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct netdev *l = arg;
	struct ifinfomsg i;
	struct nl_attr a;

	if (type != RTM_NEWLINK || size < sizeof(i))
		return -EBADMSG;
	memcpy(&i, payload, sizeof(i));
	l->index = i.ifi_index;
	l->flags = i.ifi_flags;
	for (unsigned int n = 0; n < ARRAY_SIZE(netdev_rows); n++) {
		enum qos_field_id id = netdev_rows[n].field;

		if (!nl_attr_find(payload + sizeof(i), size - sizeof(i), netdev_rows[n].attr, &a) ||
		    a.size < sizeof(uint32_t))
			continue;
		memcpy(qos_slot(&l->qos, &qos_fields[id]), a.data, sizeof(uint32_t));
		l->qos.has |= QOS_BIT(id);
	}
	return 0;
}

static int netdev_request_link(struct nl *nl, const char *ifname, nl_answer *fn, void *arg,
			       struct err *e)
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

static int netdev_read(struct nl *nl, const char *ifname, struct netdev *l, struct err *e)
{
	int err;

	*l = (struct netdev){0};
	if (!ifname[0] || strlen(ifname) >= IFNAMSIZ)
		return err_set(e, -ENODEV, "%s: no such network device", ifname);
	err = netdev_request_link(nl, ifname, netdev_parse_link, l, e);
	if (err == -ENODEV)
		return err_set(e, err, "%s: no such network device", ifname);
	if (err) {
		err_prefix(e, "%s", ifname);
		return err;
	}
	if (!qos_has(&l->qos, QOS_MTU))
		return err_set(e, -EBADMSG, "%s: the kernel reports no MTU", ifname);
	return 0;
}

int netdev_qos_read(struct nl *nl, const char *ifname, struct qos *q, struct err *e)
{
	struct netdev l;
	int err = netdev_read(nl, ifname, &l, e);

	for (unsigned int n = 0; !err && n < ARRAY_SIZE(netdev_rows); n++)
		if (qos_has(&l.qos, netdev_rows[n].field))
			qos_copy_field(q, &l.qos, netdev_rows[n].field);
	return err;
}

int netdev_qos_write(struct nl *nl, const char *ifname, const struct qos *q, enum qos_field_id id,
		     struct err *e)
{
	const void *value = qos_member(q, &qos_fields[id]);
	struct ifinfomsg i = {0};
	unsigned int row = 0;
	struct nl_request r;
	struct netdev l;
	int err = netdev_read(nl, ifname, &l, e);

	if (err)
		return err;
	i.ifi_index = l.index;
	nl_request_init(&r, RTM_NEWLINK, 0);
	nl_put(&r, &i, sizeof(i));
	while (netdev_rows[row].field != id)
		row++;
	nl_put_attr(&r, netdev_rows[row].attr, value, sizeof(uint32_t));
	err = nl_talk(nl, &r, NULL, NULL, e);
	if (err)
		err_prefix(e, "%s: %s %u", ifname, netdev_rows[row].name, *(const uint32_t *)value);
	return err;
}

int netdev_up_read(struct nl *nl, const char *ifname, bool *up, struct err *e)
{
	struct netdev l;
	int err = netdev_read(nl, ifname, &l, e);

	if (!err)
		*up = l.flags & IFF_UP;
	return err;
}

int netdev_set_up(struct nl *nl, const char *ifname, struct err *e)
{
	struct ifinfomsg i = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	struct nl_request r;
	struct netdev l;
	int err = netdev_read(nl, ifname, &l, e);

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

/* IFLA_VLAN_EGRESS_QOS of linux uapi/if_link.h. The kernel lists only mappings to other priorities
 * than 0; setting one to 0 deletes it (net/8021q/vlan_dev.c). Socket priorities above 15, which no
 * ToS maps to, stay unchanged. */

struct vlan {
	bool found;
	int index;
	uint8_t map[QOS_SKB_PRIOS];
};

static bool netdev_is_vlan(const struct nl_attr *info)
{
	static const char kind[] = "vlan";
	struct nl_attr a;

	return nl_attr_find(info->data, info->size, IFLA_INFO_KIND, &a) &&
	       a.size >= sizeof(kind) - 1 && !strncmp((const char *)a.data, kind, a.size);
}

static int netdev_parse_mapping(const struct nl_attr *a, uint8_t map[QOS_SKB_PRIOS])
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

int vlan_parse(const uint8_t *payload, size_t size, int *index, uint8_t map[QOS_SKB_PRIOS])
{
	uint8_t read[QOS_SKB_PRIOS] = {0};
	struct nl_attr info, data, a;
	struct ifinfomsg link;
	const uint8_t *pos;
	int err = 0;

	if (size < sizeof(link))
		return -EBADMSG;
	memcpy(&link, payload, sizeof(link));
	if (!nl_attr_find(payload + sizeof(link), size - sizeof(link), IFLA_LINKINFO, &info) ||
	    !netdev_is_vlan(&info))
		return -ENOTTY;
	/* Without mappings the attribute is missing. */
	if (nl_attr_find(info.data, info.size, IFLA_INFO_DATA, &data) &&
	    nl_attr_find(data.data, data.size, IFLA_VLAN_EGRESS_QOS, &info)) {
		pos = info.data;
		while (!err && nl_attr_next(&pos, info.data + info.size, &a))
			err = netdev_parse_mapping(&a, read);
	}
	if (err)
		return err;
	*index = link.ifi_index;
	memcpy(map, read, sizeof(read));
	return 0;
}

static int netdev_parse_vlan(uint16_t type, const uint8_t *payload, size_t size, void *arg)
{
	struct vlan *v = arg;
	int err;

	if (type != RTM_NEWLINK)
		return -EBADMSG;
	err = vlan_parse(payload, size, &v->index, v->map);
	v->found = !err;
	return err;
}

static int netdev_read_vlan(struct dcb *dcb, const char *vlan, struct vlan *v, struct err *e)
{
	int err;

	*v = (struct vlan){0};
	err = netdev_request_link(dcb->route, vlan, netdev_parse_vlan, v, e);
	if (!err && !v->found)
		err = -EBADMSG;
	return err ? err_sys(e, err, "%s: VLAN egress map", vlan) : 0;
}

/* Reads the maps of all VLAN devices; agree: they are equal. count 0: no VLAN device. */
static int netdev_read_vlans(struct dcb *dcb, const char *ifname, struct sysfs_netdevs *vlans,
			     struct vlan *all, bool *agree, struct err *e)
{
	unsigned int read = 0;
	int err = sysfs_upper_vlans(dcb, ifname, vlans, e);

	*agree = true;
	for (unsigned int i = 0; !err && i < vlans->count; i++) {
		struct vlan one;

		err = netdev_read_vlan(dcb, vlans->netdev[i], &one, e);
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
	struct sysfs_netdevs vlans = {0};
	struct vlan all = {0};
	bool agree;

	if (netdev_read_vlans(dcb, ifname, &vlans, &all, &agree, NULL) || !vlans.count || !agree)
		return;
	memcpy(q->vlan_prio, all.map, sizeof(q->vlan_prio));
	q->has |= QOS_BIT(QOS_VLAN_PRIO);
}

static int netdev_write_vlan(struct dcb *dcb, const char *vlan, const uint8_t map[QOS_SKB_PRIOS],
			     struct err *e)
{
	struct ifinfomsg link = {0};
	size_t info, data, egress;
	struct nl_request r;
	struct vlan now;
	int err = netdev_read_vlan(dcb, vlan, &now, e);

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
	struct sysfs_netdevs vlans;
	int err = sysfs_upper_vlans(dcb, ifname, &vlans, e);

	if (!err && !vlans.count)
		return err_set(e, -EOPNOTSUPP, "%s: no VLAN device on it", ifname);
	for (unsigned int i = 0; !err && i < vlans.count; i++)
		err = netdev_write_vlan(dcb, vlans.netdev[i], q->vlan_prio, e);
	return err;
}

void vlan_unknown_reason(struct dcb *dcb, const char *ifname, char *reason, size_t size)
{
	struct sysfs_netdevs vlans = {0};
	struct err e = {0};
	struct vlan all;
	bool agree;

	reason[0] = '\0';
	if (netdev_read_vlans(dcb, ifname, &vlans, &all, &agree, &e))
		snprintf(reason, size, "%.150s", e.text);
	else if (!vlans.count)
		snprintf(reason, size,
			 "the port has no VLAN device, and untagged packets carry no PCP");
	else if (!agree)
		snprintf(reason, size,
			 "its VLAN devices (%s, ...) have different maps, which rollback could not "
			 "restore: make them equal",
			 vlans.netdev[0]);
}
