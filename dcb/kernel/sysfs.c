/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See sysfs.h. A name that is cut is another name, so what does not fit is not there.
 */
#include "dcb/kernel/sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "profiles/base/small_file.h"

bool sysfs_is_element(const char *name)
{
	return name && name[0] && name[0] != '.' && !strchr(name, '/');
}

bool sysfs_link_name(int root, const char *path, char *name, size_t size)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(root, path, target, sizeof(target) - 1);
	const char *last;

	name[0] = '\0';
	if (length <= 0)
		return false;
	target[length] = '\0';
	last = strrchr(target, '/');
	last = last ? last + 1 : target;
	if (strlen(last) >= size)
		return false;
	snprintf(name, size, "%s", last);
	return true;
}

bool sysfs_first_name(int root, const char *path, char *name, size_t size)
{
	DIR *dir = folder_read(root, path);
	struct dirent *d;

	name[0] = '\0';
	while (dir && !name[0] && (d = readdir(dir)))
		if (d->d_name[0] != '.' && strlen(d->d_name) < size)
			snprintf(name, size, "%s", d->d_name);
	if (dir)
		closedir(dir);
	return name[0];
}
