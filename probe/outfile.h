/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is written whole or not at all: bytes go to a file beside it, which is synced and
 * renamed over the name. What is no regular file (/dev/stdout, a pipe, a link to one) is written
 * straight: a rename would replace the device.
 */
#ifndef PROBE_OUTFILE_H
#define PROBE_OUTFILE_H

#include <stdio.h>

#include "profiles/base.h"

struct outfile {
	FILE *stream; /* write here */
	char *path;   /* owned */
	char *temp;   /* owned; NULL when the path is written straight */
};

/* Storage is the caller's; on success outfile_close() must follow. e names the path. */
int outfile_open(const char *path, struct outfile *o, struct err *e);

/* keep: all bytes reach the disk and then the name; else the name stays as it was. Returns what did
 * not arrive (a full disk: -ENOSPC with the path), 0 when !keep. Releases o in any case. */
int outfile_close(struct outfile *o, bool keep, struct err *e);

#endif
