/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small text files, as sysfs and procfs have. The path is given as a format below a root; a path
 * that does not fit is not there.
 */
#ifndef PROFILES_SMALL_FILE_H
#define PROFILES_SMALL_FILE_H

#include "profiles/base/base.h"

#define SMALL_FILE_UNKNOWN (-1)

/* The first line, without its newline and cut at what is no printable ASCII; false and "" when it
 * cannot be read. */
bool small_file_line(char *buf, size_t size, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* The decimal number that the file begins with, or SMALL_FILE_UNKNOWN: no file, no number, or not
 * in min..max. */
int32_t small_file_number(int32_t min, int32_t max, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Last component of what a link leads to, cut likewise; false and "" when it is none. */
bool small_file_link(char *buf, size_t size, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* A copy, cut likewise. */
void small_file_text(char *buf, size_t size, const char *text);

/* Whether something of that name is there, dangling links included. */
bool small_file_exists(const char *root, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
