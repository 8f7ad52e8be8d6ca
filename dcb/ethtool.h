/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ethtool: link pause by generic netlink; driver information and statistics by ioctl, which no
 * netlink message carries for all drivers.
 */
#ifndef DCB_ETHTOOL_H
#define DCB_ETHTOOL_H

#include "dcb/dcb.h"
#include "dcb/nl.h"

/* Adds the pause fields. Not an error where the device has none. */
int ethtool_pause_read(struct nl *nl, int family, const char *ifname, struct qos *q, struct err *e);
int ethtool_pause_write(struct nl *nl, int family, const char *ifname, const struct qos *q,
			uint64_t mask, struct err *e);

/* See dcb_driver() and dcb_ethtool_stats(). fd is any socket. */
int ethtool_driver(int fd, const char *ifname, struct dcb_driver_info *info, struct err *e);
int ethtool_stats(int fd, const char *ifname, char (**names)[32], uint64_t **values,
		  unsigned int *n, struct err *e);

#endif
