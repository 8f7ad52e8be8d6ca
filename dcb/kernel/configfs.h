/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma_cm in configfs: RDMA-CM's default RoCE version and ToS of connections (Linux
 * Documentation/ABI/testing/configfs-rdma_cm). The values of a device are accessible only in a
 * directory that a user creates. Reading creates none, so the values are unknown until an apply has
 * created it. Removing the directory keeps the values.
 */
#ifndef DCB_CONFIGFS_H
#define DCB_CONFIGFS_H

#include "profiles/qos.h"

/* root: an open configfs, -1 for none. */

/* Returns true when configfs has rdma_cm. */
bool configfs_has_rdma_cm(int root);

/* Adds the fields if the directory of ibdev exists; 0 also when it does not. */
int configfs_read(int root, const char *ibdev, unsigned int ib_port, struct qos *q, struct err *e);
int configfs_write(int root, const char *ibdev, unsigned int ib_port, const struct qos *q,
		   uint64_t mask, struct err *e);

/* mkdir and rmdir of the directory of ibdev. *made: it did not exist. */
int configfs_cm_dir_create(int root, const char *ibdev, bool *made, struct err *e);
int configfs_cm_dir_remove(int root, const char *ibdev, struct err *e);

#endif
