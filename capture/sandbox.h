/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confines a process that decodes a file: whoever takes it over by a crafted capture can compute,
 * read and write what is open, and no more.
 */
#ifndef CAPTURE_SANDBOX_H
#define CAPTURE_SANDBOX_H

#include "profiles/base.h"

/*
 * From here on, in every thread: memory, threads, time, reading, and writing to what is open. Any
 * other system call, opening a file among them, ends the process by SIGSYS. So inputs and outputs
 * are opened before. -ENOTSUP and e when the kernel does not confine: then nothing has changed.
 */
int sandbox_enter(struct err *e);

#endif
