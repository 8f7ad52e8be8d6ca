/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads small text files of sysfs and procfs. The path is a format below a root; a path that is too
 * long counts as missing. Configuration files (units, keyfiles) and folders are read below an open
 * folder.
 */
#ifndef PROFILES_SMALL_FILE_H
#define PROFILES_SMALL_FILE_H

#include <dirent.h>
#include <stdbool.h>

#include "profiles/base/base.h"

#define SMALL_FILE_UNKNOWN (-1)

/* Reads the first line, without its newline, up to the first character that is not printable ASCII;
 * false and "" if it cannot be read. */
bool small_file_line(char *buf, size_t size, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Reads its bytes, at most size - 1, and terminates them: NULs in it stay. Returns their number,
 * SMALL_FILE_UNKNOWN and "" if it cannot be opened. */
int small_file_bytes(char *buf, size_t size, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Reads what follows `key` in the first line that begins with it: "Uid:" of /proc/PID/status. Cuts
 * only the newline; false and "" without such a line. */
bool small_file_value(char *buf, size_t size, const char *key, const char *root, const char *fmt,
		      ...) PRINTF_LIKE(5, 6);

/* Reads the decimal number at the start of the file; SMALL_FILE_UNKNOWN: no file, no number, or not
 * in min..max. */
int32_t small_file_number(int32_t min, int32_t max, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Reads the last component of the target of a link, cut likewise; false and "" if it is no link. */
bool small_file_link(char *buf, size_t size, const char *root, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Copies a text, cut likewise. */
void small_file_text(char *buf, size_t size, const char *text);

/* Returns true if the name exists, also as a dangling link. */
bool small_file_exists(const char *root, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define TEXT_FILE_MAX 65536

/* Reads the first TEXT_FILE_MAX bytes of a regular file below the folder root, NUL-terminated; NULs
 * in it stay. Returns the length, 0 if it is missing or cannot be read. */
unsigned int text_file_read(int root, const char *path, char text[TEXT_FILE_MAX + 1]);

/* Opens the folder `path` below root; the caller calls closedir(). NULL with errno. */
DIR *small_file_opendir(int root, const char *path);

#endif
