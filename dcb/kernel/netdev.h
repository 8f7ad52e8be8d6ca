/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MTU of a netdev, by rtnetlink, and whether it is up. Reading it is also how a netdev is found
 * to exist.
 */
#ifndef DCB_NETDEV_H
#define DCB_NETDEV_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/nl.h"

/* -ENODEV (named in e) when there is no such netdev. */
int netdev_mtu_read(struct nl *nl, const char *ifname, uint32_t *mtu, struct err *e);
int netdev_mtu_write(struct nl *nl, const char *ifname, uint32_t mtu, struct err *e);

/* Whether it is administratively up; and making it so. */
int netdev_up_read(struct nl *nl, const char *ifname, bool *up, struct err *e);
int netdev_set_up(struct nl *nl, const char *ifname, struct err *e);

/* The egress map of VLAN devices: the priority in the tag by that of the socket, which RDMA-CM
 * takes from the ToS (linux rt_tos2priority()). A port has as many maps as there are VLAN devices
 * above it, through bonds and bridges too; struct qos holds one, so they are known when they
 * agree. */

/* Adds QOS_VLAN_PRIO if there are VLAN devices above ifname, they can be read and their maps agree.
 * One that goes away meanwhile is none. */
void vlan_read(struct dcb *dcb, const char *ifname, struct qos *q);

/* Gives all of them the map of q; entries that are right are not sent. -EOPNOTSUPP when there are
 * none. */
int vlan_write(struct dcb *dcb, const char *ifname, const struct qos *q, struct err *e);

/* Why vlan_read() adds nothing: a line for people, "" when it does. */
void vlan_unknown_reason(struct dcb *dcb, const char *ifname, char *reason, size_t size);

/* The map in an RTM_NEWLINK; payload is what follows the nlmsghdr. -ENOTTY when the link is no VLAN
 * device, -EBADMSG. For tests. */
int vlan_parse(const uint8_t *payload, size_t size, int *index, uint8_t map[QOS_SKB_PRIOS]);

#endif
