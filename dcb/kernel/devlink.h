/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * devlink's generic parameter enable_roce, by generic netlink. Drivers keep it in different ways:
 * ice takes it at once, mlx5 when it is loaded anew (which devlink can do), bnxt_en with the next
 * reset of the device. Sources: linux Documentation/networking/devlink/{mlx5,ice,bnxt}.rst.
 */
#ifndef DCB_DEVLINK_H
#define DCB_DEVLINK_H

#include "dcb/kernel/dcb.h"
#include "dcb/kernel/nl.h"

/* When a value counts; values of linux/devlink.h. */
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

/* enable_roce of the device below ifname. -ENOENT when there is no such device or parameter, other
 * -errno with e. */
int devlink_roce_read(struct dcb *dcb, const char *ifname, struct devlink_roce *roce,
		      struct err *e);

/* Sets it and makes it count: the driver is loaded anew where it has to be, waited for until ifname
 * is back, and that is up again if it was. -EOPNOTSUPP where only a reset of the device helps. */
int devlink_roce_write(struct dcb *dcb, const char *ifname, bool on, struct err *e);

/* The value in an answer to DEVLINK_CMD_PARAM_GET; payload is what follows the nlmsghdr. Of several
 * modes the one that counts first. -ENOENT when it is another parameter or has no value, -EBADMSG.
 * For tests. */
int devlink_parse_param(const uint8_t *payload, size_t size, bool *on, uint8_t *mode);

/* The request that sets it. For tests. */
void devlink_request_set(struct nl_request *r, int family, const struct devlink_roce *roce,
			 bool on);

#endif
