/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside probe/: the small text files that facts of the machine are read from. The path is given as
 * a format below a root; a path that does not fit is not there.
 */
#ifndef PROBE_MACHINE_FILE_H
#define PROBE_MACHINE_FILE_H

#include "profiles/base/base.h"

/* The first line, without its newline and cut at what is no printable ASCII; false and "" when it
 * cannot be read. */
bool machine_line(char *buf, size_t size, const char *root, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* The decimal number that the file begins with, or MACHINE_UNKNOWN: no file, no number, or not in
 * min..max. */
int32_t machine_number(int32_t min, int32_t max, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Last component of what a link leads to, cut likewise; false and "" when it is none. */
bool machine_link(char *buf, size_t size, const char *root, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* A copy, cut likewise. */
void machine_text(char *buf, size_t size, const char *text);

/* Whether something of that name is there, dangling links included. */
bool machine_exists(const char *root, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
