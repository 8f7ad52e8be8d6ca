/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches units in the folders of systemd (systemd.unit(5)).
 */
#include "profiles/base/boot_unit.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/small_file.h"

/* By precedence: the first folder with a file decides. lib can be the same folder as usr/lib. */
static const char *const folders[] = {
	"etc/systemd/system",	  "run/systemd/system", "usr/local/lib/systemd/system",
	"usr/lib/systemd/system", "lib/systemd/system",
};

bool boot_unit_file(int root, const char *unit, char path[PATH_MAX])
{
	const char *at = strchr(unit, '@'), *dot = strrchr(unit, '.');
	char template[256];
	struct stat st;

	for (unsigned int i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, PATH_MAX, "%s/%.255s", folders[i], unit);
		/* A masked unit is an empty file or a link to /dev/null. */
		if (!fstatat(root, path, &st, 0))
			return S_ISREG(st.st_mode) && st.st_size;
		if (!fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW))
			return false;
	}
	if (!at || !dot || dot <= at + 1)
		return false;
	snprintf(template, sizeof(template), "%.*s@%s", (int)(at - unit), unit, dot);
	return boot_unit_file(root, template, path);
}

/* Calls fn for the links of one .wants or .requires folder. True: fn returned true. */
static bool unit_wants_each(int root, const char *folder, boot_unit_fn *fn, void *arg)
{
	char link[PATH_MAX], file[PATH_MAX];
	DIR *dir = small_file_opendir(root, folder);
	bool done = false;
	struct dirent *d;

	while (dir && !done && (d = readdir(dir))) {
		if (d->d_name[0] == '.' ||
		    snprintf(link, sizeof(link), "%s/%s", folder, d->d_name) >= (int)sizeof(link))
			continue;
		done = boot_unit_file(root, d->d_name, file) && fn(link, d->d_name, file, arg);
	}
	if (dir)
		closedir(dir);
	return done;
}

/* Opens a folder; NULL if it does not exist or is the same folder as the one before it. */
static DIR *unit_folder_once(int root, const char *folder, struct stat *before)
{
	const struct stat last = *before;

	if (fstatat(root, folder, before, 0) ||
	    (before->st_dev == last.st_dev && before->st_ino == last.st_ino))
		return NULL;
	return small_file_opendir(root, folder);
}

void boot_unit_each(int root, boot_unit_fn *fn, void *arg)
{
	struct stat before = {0};
	bool done = false;

	for (unsigned int i = 0; !done && i < ARRAY_SIZE(folders); i++) {
		DIR *dir = unit_folder_once(root, folders[i], &before);
		char wants[PATH_MAX];
		struct dirent *d;

		while (dir && !done && (d = readdir(dir))) {
			if (fnmatch("*.wants", d->d_name, 0) && fnmatch("*.requires", d->d_name, 0))
				continue;
			snprintf(wants, sizeof(wants), "%s/%s", folders[i], d->d_name);
			done = unit_wants_each(root, wants, fn, arg);
		}
		if (dir)
			closedir(dir);
	}
}

struct wanted {
	const char *unit;
	char *link;
	bool found;
};

static bool unit_is_wanted(const char *link, const char *unit, const char *file, void *arg)
{
	struct wanted *w = arg;

	(void)file;
	w->found = !strcmp(unit, w->unit);
	if (w->found)
		snprintf(w->link, PATH_MAX, "%s", link);
	return w->found;
}

bool boot_unit_enabled(int root, const char *unit, char link[PATH_MAX])
{
	struct wanted w = {.unit = unit, .link = link};

	boot_unit_each(root, unit_is_wanted, &w);
	return w.found;
}

bool boot_unit_apply_enabled(const char *root)
{
	int fd = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char link[PATH_MAX];
	bool found = fd >= 0 && boot_unit_enabled(fd, "rocecheck-apply.service", link);

	if (fd >= 0)
		close(fd);
	return found;
}
