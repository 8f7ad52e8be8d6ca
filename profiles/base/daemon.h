/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a running system daemon by name. The name of a process is not evidence: a process chooses
 * it. The effective uid is not evidence: any user can start a set-uid program.
 */
#ifndef PROFILES_DAEMON_H
#define PROFILES_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Returns the pid of the first process in our network namespace that runs the program `name` as
 * root, or 0. Its four uids are 0; its executable is a regular file of that name, owned by root,
 * not writable for others and not set-uid. A caller that cannot see the executables of other users
 * (not root, or without CAP_SYS_PTRACE) checks only name and uids. proc: NULL = /proc.
 */
pid_t daemon_find(const char *proc, const char *name);

/* Returns true if a process, named by its folder in proc, is in our network namespace. False only
 * if both namespaces are known and differ. */
bool daemon_same_net(const char *proc, const char *pid);

#endif
