/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that read a capture file share: opening it, and confining the process.
 */
#ifndef CMD_CAPTURE_FILE_H
#define CMD_CAPTURE_FILE_H

#include "cmd/progress.h"

/* Opens FILE, or - for standard input, and confines the process (capture/sandbox.h): what a command
 * writes to beside stdout and stderr, it opens before. Returns 0, or an exit code when it has told
 * an error. The caller clears r. */
int capture_file_open(const char *path, struct reader *r);

#endif
