/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confinement of the process that moves data: bytes that others send make it act, so it keeps no
 * right that it does not need, and it is the first to go when memory runs out.
 */
#ifndef PROBE_CONFINE_H
#define PROBE_CONFINE_H

#include "profiles/base/base.h"

/* At its start: the kernel's out-of-memory killer prefers it. */
void confine_memory(void);

/* Before the device is opened: what is written to an RDMA device counts only when the writer has
 * the rights of the one who opened it (linux ib_safe_file_access()), also what Soft-RoCE posts and
 * what rdma_cm is asked for. Gives up all capabilities and root (profiles/base/privileges.h), is not
 * dumped or traced by others of its new user, and still ends with its parent. It may lock
 * lock_bytes of its memory from then on. What that needs is kept: CAP_IPC_LOCK where the limit of
 * locked memory can not be raised, and root's uid, without a capability, where the device is for
 * root alone. root: of /dev and /sys, "" = this host. Before there are threads. -errno and e: the
 * process must end. */
int confine_rights(const char *root, const char *ibdev, uint64_t lock_bytes, struct err *e);

/* Whether anybody may open the nodes that traffic of this device needs; also when there are none.
 */
bool confine_is_open_to_all(const char *root, const char *ibdev);

#endif
