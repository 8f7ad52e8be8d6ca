/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MTU of a netdev, by rtnetlink, and whether it is up. Reading it is also how a netdev is found
 * to exist.
 */
#ifndef DCB_LINK_H
#define DCB_LINK_H

#include "dcb/kernel/nl.h"

/* -ENODEV (named in e) when there is no such netdev. */
int link_mtu_read(struct nl *nl, const char *ifname, uint32_t *mtu, struct err *e);
int link_mtu_write(struct nl *nl, const char *ifname, uint32_t mtu, struct err *e);

/* Whether it is administratively up; and making it so. */
int link_up_read(struct nl *nl, const char *ifname, bool *up, struct err *e);
int link_up(struct nl *nl, const char *ifname, struct err *e);

#endif
