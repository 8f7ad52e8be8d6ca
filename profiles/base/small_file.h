/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small text files, as sysfs and procfs have. The path is given as a format below a root; a path
 * that does not fit is not there. Configuration of others (units, keyfiles) and folders are read
 * below an open folder.
 */
#ifndef PROFILES_SMALL_FILE_H
#define PROFILES_SMALL_FILE_H

#include <dirent.h>
#include <stdbool.h>

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

#define TEXT_FILE_MAX 65536

/* The beginning of a regular file at path below the folder root, NUL at its end; NULs in it stay.
 * Returns its length, 0 when there is none or it cannot be read. */
unsigned int text_file_read(int root, const char *path, char text[TEXT_FILE_MAX + 1]);

/* The folder `path` below root, to be read and closed by closedir(); NULL with errno when it cannot
 * be opened or is none. */
DIR *small_file_opendir(int root, const char *path);

#endif
