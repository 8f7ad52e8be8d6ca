/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MTU of a netdev, by rtnetlink. Reading it is also how a netdev is found to exist.
 */
#ifndef DCB_LINK_H
#define DCB_LINK_H

#include "dcb/nl.h"

/* -ENODEV (named in e) when there is no such netdev. */
int link_mtu_read(struct nl *nl, const char *ifname, uint32_t *mtu, struct err *e);
int link_mtu_write(struct nl *nl, const char *ifname, uint32_t mtu, struct err *e);

#endif
