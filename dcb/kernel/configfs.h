/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma_cm in configfs: the RoCE version and ToS that RDMA-CM gives connections which choose none
 * (Linux Documentation/ABI/testing/configfs-rdma_cm). A device's values can be read and written
 * only through a directory somebody made, and that directory is kept by whoever made it: reading
 * makes none, so the values are unknown until an apply has made it. Removing the directory keeps
 * the values.
 */
#ifndef DCB_CONFIGFS_H
#define DCB_CONFIGFS_H

#include "profiles/qos.h"

/* root: an open configfs, -1 for none. */

/* Whether rdma_cm is there at all. */
bool configfs_has_rdma_cm(int root);

/* Adds the fields if the directory of ibdev exists; 0 also when it does not. */
int configfs_read(int root, const char *ibdev, unsigned int ib_port, struct qos *q, struct err *e);
int configfs_write(int root, const char *ibdev, unsigned int ib_port, const struct qos *q,
		   uint64_t mask, struct err *e);

/* mkdir and rmdir of the device's directory. *made: it was not there. */
int configfs_cm_dir_create(int root, const char *ibdev, bool *made, struct err *e);
int configfs_cm_dir_remove(int root, const char *ibdev, struct err *e);

#endif
