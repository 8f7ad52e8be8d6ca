/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drops privileges that decoding packets, writing recordings and RDMA traffic do not need
 * (capabilities(7), credentials(7)). The process cannot regain them.
 */
#ifndef PROFILES_PRIVILEGES_H
#define PROFILES_PRIVILEGES_H

#include "profiles/base/base.h"

struct folder;

/* The unprivileged user and group: "nobody", "nogroup". */
#define PRIVILEGES_NOBODY 65534U

/*
 * Drops all capabilities, also for programs started later, and root's uid and supplementary groups:
 * root becomes PRIVILEGES_NOBODY. A root that cannot change its uid (a container without
 * CAP_SETUID, a user namespace with one user) stays uid 0 without capabilities. Call it before
 * starting threads. -errno and e: the process must end.
 */
int privileges_drop(struct err *e);

/* Returns true if the process can lock memory without a limit: CAP_IPC_LOCK. */
bool privileges_lock_memory(void);

/* As privileges_drop(), but root becomes the owner of an open folder: a recording by sudo is
 * written with the rights of that user and belongs to that user. -errno and e: the process must
 * end. */
int privileges_become_owner(const struct folder *folder, struct err *e);

/* Confines the traffic process, which acts on bytes of the network. Call it before opening the
 * device and before starting threads: the kernel refuses writes to an RDMA device by a process
 * whose credentials changed after the open (linux ib_safe_file_access()), also posts of Soft-RoCE
 * and requests to rdma_cm. Drops all capabilities and root; other processes of the new user cannot
 * dump or trace it; it still ends with its parent and can lock lock_bytes of memory. Exceptions: it
 * keeps CAP_IPC_LOCK if the limit of locked memory cannot be raised, and uid 0 without capabilities
 * if only root can open the device. root: of /dev and /sys, "" = this host. -errno and e: the
 * process must end. */
int privileges_confine(const char *root, const char *ibdev, uint64_t lock_bytes, struct err *e);

/* Returns true if every user can open the device nodes that traffic of this device needs, also if
 * there are none. */
bool privileges_rdma_is_public(const char *root, const char *ibdev);

#endif
