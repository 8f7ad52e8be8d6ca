/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads and writes congestion control and RDMA marking in driver-specific files: MLNX_OFED in
 * sysfs, the kernel's mlx5, bnxt_re and hns_roce in debugfs, bnxt_re of Broadcom and irdma of Intel
 * in configfs, irdma also in module parameters. A driver is identified by its files. Reading
 * creates none.
 */
#ifndef DCB_CONGESTION_H
#define DCB_CONGESTION_H

#include "profiles/qos.h"

/* A port in the trees of its drivers. */
struct congestion_port {
	int sysfs, debugfs, configfs; /* open folders; -1: not mounted or not readable */
	const char *ifname, *ibdev;   /* ibdev may be empty */
	unsigned int ib_port;
	char bus[64]; /* the address of ethtool, "0000:65:00.0": a name in debugfs; may be empty */
};

/* Returns the fields that such files hold: a bitmap of QOS_BIT(). */
uint64_t congestion_fields(void);

/* Adds the values of the port's files. A file that cannot be read, or holds no number, leaves its
 * field or parameter unknown. */
void congestion_read(const struct congestion_port *port, struct qos *q);

/* Writes the fields of mask, only values that differ from the files. -EOPNOTSUPP with the field in
 * e when the port has no file for one. */
int congestion_write(const struct congestion_port *port, const struct qos *q, uint64_t mask,
		     struct err *e);

/* Returns true when rocecheck cannot set the field to this value: it is a load-time parameter of a
 * module, set by firmware, or needs a configfs folder first. The reason names the remedy. */
bool congestion_set_elsewhere(const struct congestion_port *port, const struct qos *want,
			      enum qos_field_id field, char *reason, size_t size);

/* Returns the reason why the port shows none of these files although its driver has them, or "". */
const char *congestion_hidden_reason(const struct congestion_port *port);

#endif
