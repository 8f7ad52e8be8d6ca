/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process that decodes packets. An attacker who takes it over by a crafted packet or
 * file can only compute, use open descriptors, and call stat(2) for any name with the rights of an
 * unprivileged user, because a seccomp filter cannot check the name behind a pointer.
 */
#ifndef PROFILES_SANDBOX_H
#define PROFILES_SANDBOX_H

#include <stdint.h>

#include "profiles/base/base.h"

enum sandbox_input {
	SANDBOX_FILE, /* reads a capture file, writes to open descriptors */
	/* Also reads packet sockets and exchanges messages with its parent at SANDBOX_PARENT_FD.
	 * Opening a file fails with EACCES instead of ending the process. */
	SANDBOX_LIVE,
};

/* A live decoder exchanges messages only at this descriptor, and writes only to descriptors below
 * SANDBOX_WRITE_END: a write to a packet socket would send a frame. */
#define SANDBOX_PARENT_FD 3
#define SANDBOX_WRITE_END 8

#define SANDBOX_CALL_MAX 64

/*
 * From now on, every thread can use memory, threads, time and open descriptors. Any other system
 * call, also opening a file, is not executed and ends the process by SIGSYS: open inputs and
 * outputs before. *refused gets the number of that call, for a parent that shares this memory;
 * NULL: name and number go to stderr. -ENOTSUP and e if the kernel does not support it: nothing has
 * changed.
 */
int sandbox_enter(enum sandbox_input input, volatile int *refused, struct err *e);

/*
 * Calls privileges_drop() and sandbox_enter(). unfiltered: the user accepts a missing seccomp
 * filter; on a kernel without seccomp it only drops the privileges and returns 0.
 */
int sandbox_confine(enum sandbox_input input, bool unfiltered, volatile int *refused,
		    struct err *e);

/* "system call 51 (getsockname)", of this architecture; returns text. */
const char *sandbox_call(int call, char text[SANDBOX_CALL_MAX]);

/* Builds the filter for an architecture (SCMP_ARCH_*, 0: this one) without loading it. *filter is a
 * libseccomp context; the caller calls seccomp_release(). 0 or -errno. */
int sandbox_filter(enum sandbox_input input, uint32_t arch, void **filter);

#endif
