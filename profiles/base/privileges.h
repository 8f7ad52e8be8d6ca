/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Privileges that decoding packets, writing recordings and moving data do not need, given up for
 * good (capabilities(7), credentials(7)). Nothing here can be taken back.
 */
#ifndef PROFILES_PRIVILEGES_H
#define PROFILES_PRIVILEGES_H

#include "profiles/base/base.h"

struct folder;

/* The user and group without rights of its own: "nobody", "nogroup". */
#define PRIVILEGES_NOBODY 65534U

/*
 * Gives up every capability, also those of programs that are started later, and root's uid and
 * supplementary groups: root becomes PRIVILEGES_NOBODY. A root that cannot change its uid (a
 * container without CAP_SETUID, a user namespace with one user) stays uid 0 without capabilities.
 * Call it before there are threads. -errno and e: the process must end.
 */
int privileges_drop(struct err *e);

/* Whether memory is locked without a limit: CAP_IPC_LOCK. */
bool privileges_lock_memory(void);

/* Gives up the same, but root becomes the owner of an open folder: a recording by sudo
 * belongs to the owner of the folder, and is written with the owner's rights. -errno and e: the
 * process must end. */
int privileges_become_owner(const struct folder *folder, struct err *e);

/* Confinement of the process that moves data: bytes that others send make it act, so it keeps no
 * right that it does not need. */

/* Before the device is opened: what is written to an RDMA device counts only when the writer has
 * the rights of the one who opened it (linux ib_safe_file_access()), also what Soft-RoCE posts and
 * what rdma_cm is asked for. Gives up all capabilities and root, is not dumped or traced by others
 * of its new user, and still ends with its parent. It may lock lock_bytes of its memory from then
 * on. What that needs is kept: CAP_IPC_LOCK where the limit of locked memory can not be raised, and
 * root's uid, without a capability, where the device is for root alone. root: of /dev and /sys, ""
 * = this host. Before there are threads. -errno and e: the process must end. */
int privileges_confine(const char *root, const char *ibdev, uint64_t lock_bytes, struct err *e);

/* Whether anybody may open the nodes that traffic of this device needs; also when there are none.
 */
bool privileges_rdma_is_public(const char *root, const char *ibdev);

#endif
