/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration of others as text: units, hooks, keyfiles.
 */
#ifndef DCB_TEXT_FILE_H
#define DCB_TEXT_FILE_H

#include <stdbool.h>

#define TEXT_FILE_MAX 65536

/* The beginning of a regular file at path below the folder root, NUL at its end; NULs in it stay.
 * magic: what it has to begin with, NULL for anything. Returns its length, 0 when there is none or
 * it cannot be read. */
unsigned int text_file_read(int root, const char *path, const char *magic,
			    char text[TEXT_FILE_MAX + 1]);

#endif
