/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See folder.h.
 */
#include "profiles/base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

DIR *folder_read(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir) {
		err = errno;
		close(fd);
		errno = err;
	}
	return dir;
}
