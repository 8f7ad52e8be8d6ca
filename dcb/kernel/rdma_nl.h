/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's RDMA netlink (nldev) tells of a device: its driver, its netdev, its hardware
 * counters. Reads only.
 */
#ifndef DCB_RDMA_NL_H
#define DCB_RDMA_NL_H

#include "dcb/kernel/nl.h"

struct dcb;

struct rdma_stat {
	char name[64];
	uint64_t value;
};

/* Name of the driver ("rxe", "mlx5_ib") by its uverbs driver id; the number as text when it is
 * newer than this program. -ENODEV without such a device. */
int rdma_driver(const char *ibdev, char *driver, size_t size, struct err *e);

/* Name of the netdev of a port (in this network namespace). -ENODEV when there is none. */
int rdma_netdev(const char *ibdev, unsigned int ib_port, char netdev[16], struct err *e);

/* Dumps what nldev has of a device by a command such as RDMA_NLDEV_CMD_RES_QP_GET. */
int rdma_dump(const char *ibdev, unsigned int command, nl_answer *fn, void *arg, struct err *e);

/* Hardware counters of a port, and those that the driver keeps for the whole device (mana). *stats
 * is one allocation, free() it. By netlink STAT_GET, by sysfs where the kernel lacks it. */
int rdma_stats(struct dcb *dcb, const char *ibdev, unsigned int ib_port, struct rdma_stat **stats,
	       unsigned int *n, struct err *e);

#endif
