/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads driver, netdev and hardware counters of an RDMA device by RDMA netlink (nldev).
 */
#ifndef DCB_RDMA_NL_H
#define DCB_RDMA_NL_H

#include "dcb/kernel/nl.h"

struct dcb;

struct rdma_stat {
	char name[64];
	uint64_t value;
};

/* Reads the name of the driver ("rxe", "mlx5_ib") by its uverbs driver id; an unknown id as a
 * number. -ENODEV without such a device. */
int rdma_driver(const char *ibdev, char *driver, size_t size, struct err *e);

/* Reads the netdev of a port in this network namespace. -ENODEV without one. */
int rdma_netdev(const char *ibdev, unsigned int ib_port, char netdev[16], struct err *e);

/* Dumps the objects of a device by a command such as RDMA_NLDEV_CMD_RES_QP_GET. */
int rdma_dump(const char *ibdev, unsigned int command, nl_answer *fn, void *arg, struct err *e);

/* Reads the hardware counters of a port, or of the whole device where the driver has only those
 * (mana). *stats is one allocation, free() it. By netlink STAT_GET, by sysfs on older kernels. */
int rdma_stats(struct dcb *dcb, const char *ibdev, unsigned int ib_port, struct rdma_stat **stats,
	       unsigned int *n, struct err *e);

#endif
