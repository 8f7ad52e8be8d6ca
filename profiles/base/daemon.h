/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A daemon of the system by its name. The name of a process is the word it was started by, and a
 * set-uid program has root's effective uid whoever starts it: neither is evidence.
 */
#ifndef PROFILES_DAEMON_H
#define PROFILES_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Pid of the first process in our network namespace that runs the program `name` as root; 0 when
 * there is none. Its four uids are 0, and its executable is a regular file of that name, of root,
 * which nobody else may write and which is not set-uid. Who may not see the executable of another
 * user's process (not root, or without CAP_SYS_PTRACE) goes by name and uids. proc: NULL = /proc.
 */
pid_t daemon_find(const char *proc, const char *name);

/* Whether a process, by the name of its folder in proc, is of our network namespace. False only
 * when both namespaces are known and differ. */
bool daemon_same_net(const char *proc, const char *pid);

#endif
