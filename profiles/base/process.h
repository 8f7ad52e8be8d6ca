/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes: finds a running system daemon by name; detaches a forked child from the descriptors
 * and signals of its parent, and waits for its end; sets the order in which the kernel kills
 * processes when memory is short.
 */
#ifndef PROFILES_PROCESS_H
#define PROFILES_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "profiles/base/base.h"

/*
 * Returns the pid of the first process in our network namespace that runs the program `name` as
 * root, or 0. The name of a process is not evidence: a process chooses it. The effective uid is not
 * evidence: any user can start a set-uid program. So its four uids are 0; its executable is a
 * regular file of that name, owned by root, not writable for others and not set-uid. A caller that
 * cannot see the executables of other users (not root, or without CAP_SYS_PTRACE) checks only name
 * and uids. proc: NULL = /proc.
 */
pid_t process_find_daemon(const char *proc, const char *name);

/* Returns true if a process, named by its folder in proc, is in our network namespace. False only
 * if both namespaces are known and differ. */
bool process_same_net(const char *proc, const char *pid);

/* The path of the running program, "rocecheck" if it is unknown. */
void process_self(char *path, size_t size);

/* Closes the descriptor `first` and all above it. -errno without both close_range(2) and /proc. */
int process_close_from(int first);

/* Moves *fd[0..count) to `first`, `first` + 1, ..., and closes all others from `first` on. */
int process_keep_fds(int first, int *const fd[], unsigned int count);

/* In a child without exec: ignores the signals of a terminal and of a session that ends, SIGTERM,
 * SIGPIPE and SIGXFSZ, and unblocks all. The parent requests an orderly end by other means. */
void process_ignore_signals(void);

/* Starts a command, found in PATH, in our process group with our standard streams; SIGPIPE has its
 * default action. -errno with the command in e. The caller waits for its end. */
int process_start(char *const *argv, pid_t *child, struct err *e);

/* Waits for the end of a child. -ETIMEDOUT while it still runs after within_ms; -errno. */
int process_wait(pid_t child, unsigned int within_ms, int *status);

/* The OOM score of this process (proc(5), oom_score_adj). */
#define PROCESS_OOM_NEVER (-1000)
#define PROCESS_OOM_LATE  (-900)
#define PROCESS_OOM_EARLY 500 /* of 1000, added to its share of the memory */

/* Sets the score; returns the previous one. Without CAP_SYS_RESOURCE it changes nothing, which is
 * no error. */
int process_set_oom(int score);

/* Returns the score; 0 if it cannot be read. */
int process_oom(void);

#endif
