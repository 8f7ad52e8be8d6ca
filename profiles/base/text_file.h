/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration of others as text: units, keyfiles.
 */
#ifndef DCB_TEXT_FILE_H
#define DCB_TEXT_FILE_H

#include <stdbool.h>

#define TEXT_FILE_MAX 65536

/* The beginning of a regular file at path below the folder root, NUL at its end; NULs in it stay.
 * Returns its length, 0 when there is none or it cannot be read. */
unsigned int text_file_read(int root, const char *path, char text[TEXT_FILE_MAX + 1]);

#endif
