/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folders below a root that tests can move.
 */
#ifndef DCB_FOLDER_H
#define DCB_FOLDER_H

#include <dirent.h>

/* The folder `path` below root, to be read and closed by closedir(); NULL with errno when it cannot
 * be opened or is none. */
DIR *folder_read(int root, const char *path);

#endif
