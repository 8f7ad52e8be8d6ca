/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses close_range(2), or /proc/self/fd on kernels before 5.9 and in containers that filter it.
 */
#include "profiles/base/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static int descriptors_close_listed(int first)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (entry->d_name[0] != '.' && fd >= first && fd != dirfd(dir))
			close(fd);
	}
	closedir(dir);
	return 0;
}

int descriptors_close_from(int first)
{
	return close_range((unsigned int)first, UINT_MAX, 0) ? descriptors_close_listed(first) : 0;
}

/* First moves all to numbers above the targets, so that no move overwrites another. */
int descriptors_keep(int first, int *const fd[], unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		*fd[i] = fcntl(*fd[i], F_DUPFD, first + (int)count);
		if (*fd[i] < 0)
			return -errno;
	}
	for (unsigned int i = 0; i < count; i++) {
		*fd[i] = dup2(*fd[i], first + (int)i);
		if (*fd[i] < 0)
			return -errno;
	}
	return descriptors_close_from(first + (int)count);
}
