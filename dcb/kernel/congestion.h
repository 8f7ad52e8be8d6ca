/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What drivers keep of congestion control and RDMA marking in files of their own: MLNX_OFED in
 * sysfs, the kernel's mlx5, bnxt_re and hns_roce in debugfs, bnxt_re of Broadcom and irdma of Intel
 * in configfs, irdma in parameters of its module too. A driver is known by the files it has.
 * Reading makes none.
 */
#ifndef DCB_CONGESTION_H
#define DCB_CONGESTION_H

#include "profiles/qos.h"

/* A port in the trees of its drivers. */
struct congestion_port {
	int sysfs, debugfs, configfs; /* open folders; -1: not mounted, or not for us */
	/* ibdev may be empty; bus is ethtool's, "0000:65:00.0". */
	const char *ifname, *ibdev, *bus;
	unsigned int ib_port;
};

/* Fields that live in such files: a bitmap of QOS_BIT(). */
uint64_t congestion_fields(void);

/* Adds what the files of the port say. A file that cannot be read, or holds no number, leaves its
 * field or parameter unknown. */
void congestion_read(const struct congestion_port *port, struct qos *q);

/* Writes the fields of mask, only values that differ from what the files say. -EOPNOTSUPP with the
 * field in e when no file of this port has one. */
int congestion_write(const struct congestion_port *port, const struct qos *q, uint64_t mask,
		     struct err *e);

/* Whether the field cannot be made what is wanted from here: a module takes it when it is loaded,
 * firmware has it, or a folder has to be made first. The reason says where, for people. */
bool congestion_set_elsewhere(const struct congestion_port *port, const struct qos *want,
			      enum qos_field_id field, char *reason, size_t size);

/* Why the port shows none of them although its driver would: "" or a line for people. */
const char *congestion_hidden_reason(const struct congestion_port *port);

#endif
