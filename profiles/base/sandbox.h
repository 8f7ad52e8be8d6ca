/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confinement of a process that decodes packets: whoever takes it over by a crafted packet or file
 * can compute, read and write what is open, and see by stat(2) what is there under a name and when
 * it changed, as a user without rights can: a filter does not look behind a pointer. No more.
 */
#ifndef PROFILES_SANDBOX_H
#define PROFILES_SANDBOX_H

#include <stdint.h>

#include "profiles/base/base.h"

enum sandbox_input {
	SANDBOX_FILE, /* reads a capture file, writes to what is open */
	/* Reads packet sockets as well, and talks to its parent at descriptor SANDBOX_PARENT_FD.
	 * Opening a file fails with EACCES instead of ending the process. */
	SANDBOX_LIVE,
};

/* A live decoder receives and sends messages at this descriptor alone, and writes to descriptors
 * below SANDBOX_WRITE_END alone: a write to a packet socket would send a frame. */
#define SANDBOX_PARENT_FD 3
#define SANDBOX_WRITE_END 8

#define SANDBOX_CALL_MAX 64

/*
 * From here on, in every thread: memory, threads, time, reading, and writing to what is open. Any
 * other system call, opening a file among them, is not made and ends the process by SIGSYS. So
 * inputs and outputs are opened before. The number of that call is left in *refused, which a parent
 * reads that shares this memory; NULL: name and number go to standard error. -ENOTSUP and e when
 * the kernel does not confine: then nothing has changed.
 */
int sandbox_enter(enum sandbox_input input, volatile int *refused, struct err *e);

/*
 * privileges_drop() and sandbox_enter(). unfiltered: the user accepts that there is no seccomp
 * filter, where the kernel has none; then only the privileges are dropped, and 0 is returned.
 */
int sandbox_confine(enum sandbox_input input, bool unfiltered, volatile int *refused,
		    struct err *e);

/* "system call 51 (getsockname)", of this architecture; returns text. */
const char *sandbox_call(int call, char text[SANDBOX_CALL_MAX]);

/* The filter for an architecture (SCMP_ARCH_*, 0: this one), which is not loaded: a libseccomp
 * context, for seccomp_release(). 0 or -errno. */
int sandbox_filter(enum sandbox_input input, uint32_t arch, void **filter);

#endif
