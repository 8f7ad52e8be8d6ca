/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink's generic parameter enable_roce, by generic netlink. It takes effect at once on ice,
 * after a driver reload (which devlink can do) on mlx5, and after a device reset on bnxt_en.
 * Sources: linux Documentation/networking/devlink/{mlx5,ice,bnxt}.rst.
 */
#ifndef DCB_DEVLINK_H
#define DCB_DEVLINK_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/nl.h"

/* When a value takes effect; numbers of linux/devlink.h. */
enum devlink_mode {
	DEVLINK_AT_ONCE = 0,
	DEVLINK_AT_LOAD = 1,
	DEVLINK_AT_RESET = 2,
};

struct devlink_roce {
	bool on;
	uint8_t mode;	 /* enum devlink_mode */
	char bus[16];	 /* "pci" */
	char device[64]; /* "0000:65:00.0" */
};

/* Reads enable_roce of the device of ifname. -ENOENT when there is no such device or parameter,
 * other -errno with e. */
int devlink_roce_read(struct dcb *dcb, const char *ifname, struct devlink_roce *roce,
		      struct err *e);

/* Sets enable_roce and activates it: reloads the driver if needed, waits until ifname exists again,
 * and sets it up if it was up. -EOPNOTSUPP where only a device reset activates it. */
int devlink_roce_write(struct dcb *dcb, const char *ifname, bool on, struct err *e);

/* Decodes an answer to DEVLINK_CMD_PARAM_GET, the payload after the nlmsghdr. Of several modes it
 * returns the one that takes effect first. -ENOENT for another parameter or no value, -EBADMSG. For
 * tests. */
int devlink_parse_param(const uint8_t *payload, size_t size, bool *on, uint8_t *mode);

/* Builds the request that sets it. For tests. */
void devlink_request_set(struct nl_request *r, int family, const struct devlink_roce *roce,
			 bool on);

#endif
