/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MTU and other attributes, up state and VLAN egress maps of netdevs, by rtnetlink. Reading the MTU
 * also tells whether the netdev exists.
 */
#ifndef DCB_NETDEV_H
#define DCB_NETDEV_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/nl.h"

/* Adds the fields that are attributes of a link; QOS_MTU always. -ENODEV (named in e) when there is
 * no such netdev. */
int netdev_qos_read(struct nl *nl, const char *ifname, struct qos *q, struct err *e);

/* Writes one of these fields. */
int netdev_qos_write(struct nl *nl, const char *ifname, const struct qos *q, enum qos_field_id id,
		     struct err *e);

/* Reads and sets the administrative state. */
int netdev_up_read(struct nl *nl, const char *ifname, bool *up, struct err *e);
int netdev_set_up(struct nl *nl, const char *ifname, struct err *e);

/* The egress map of VLAN devices: socket priority to PCP; RDMA-CM derives the socket priority from
 * the ToS (linux rt_tos2priority()). Each VLAN device on a port, also through bonds and bridges,
 * has its own map; struct qos holds one, so the field is known only when all are equal. */

/* Adds QOS_VLAN_PRIO if ifname has VLAN devices with equal, readable maps. Ignores a device that
 * disappears meanwhile. */
void vlan_read(struct dcb *dcb, const char *ifname, struct qos *q);

/* Writes the map of q to all of them, only entries that differ. -EOPNOTSUPP without VLAN devices.
 */
int vlan_write(struct dcb *dcb, const char *ifname, const struct qos *q, struct err *e);

/* Writes the reason why vlan_read() adds nothing, "" when it does. */
void vlan_unknown_reason(struct dcb *dcb, const char *ifname, char *reason, size_t size);

/* Decodes the map of an RTM_NEWLINK, the payload after the nlmsghdr. -ENOTTY when the link is no
 * VLAN device, -EBADMSG. For tests. */
int vlan_parse(const uint8_t *payload, size_t size, int *index, uint8_t map[QOS_SKB_PRIOS]);

#endif
