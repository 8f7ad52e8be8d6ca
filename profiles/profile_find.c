/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where profiles are: a path where it points, a name among the shipped ones. Shipped profiles lie
 * beside the sources the binary was built from, or in ../share beside its folder once installed.
 */
#include "profiles/profile_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiles/yaml/schema.h"

#define DIRS_MAX   4
#define LEVELS_MAX 5 /* folders above build/tests/unit/NAME */

bool profile_is_path(const char *name)
{
	size_t length = strlen(name);

	if (strchr(name, '/'))
		return true;
	return (length > 5 && !strcmp(name + length - 5, ".yaml")) ||
	       (length > 4 && !strcmp(name + length - 4, ".yml"));
}

int profile_relative(const char *from, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(from, '/');
	int folder = slash && name[0] != '/' ? (int)(slash - from) + 1 : 0;
	int n = snprintf(path, size, "%.*s%s", folder, from, name);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* Removes the last part of a path; false when there is none left. */
static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

/* Adds DIR/TAIL when it holds a file named `mark`. */
static void add_dir(char (*dirs)[256], unsigned int *count, unsigned int max, const char *dir,
		    const char *tail, const char *mark)
{
	char path[256], probe[300];

	if (*count >= max || snprintf(path, sizeof(path), "%s%s", dir, tail) >= (int)sizeof(path))
		return;
	snprintf(probe, sizeof(probe), "%s/%s", path, mark);
	if (access(probe, R_OK))
		return;
	strcpy(dirs[(*count)++], path);
}

/* Folders that hold shipped profiles, first wins: $ROCECHECK_PROFILES (ignored when setuid), the
 * profiles/ folder beside the executable's source tree, PREFIX/share/rocecheck/profiles. */
static unsigned int profile_path(char (*dirs)[256], unsigned int max)
{
	const char *wish = secure_getenv("ROCECHECK_PROFILES");
	unsigned int count = 0;
	char exe[256];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (wish && wish[0])
		add_dir(dirs, &count, max, wish, "", ".");
	exe[n > 0 ? n : 0] = '\0';
	cut_last(exe);
	/* qos.h beside the profiles is the mark of a source tree. */
	for (unsigned int level = 0; level < LEVELS_MAX && cut_last(exe); level++) {
		add_dir(dirs, &count, max, exe, "/profiles", "qos.h");
		if (!level)
			add_dir(dirs, &count, max, exe, "/share/rocecheck/profiles", ".");
	}
#ifdef ROCECHECK_DATA
	add_dir(dirs, &count, max, ROCECHECK_DATA, "/profiles", ".");
#endif
	return count;
}

static bool is_profile_file(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > 5 && !strcmp(name + length - 5, ".yaml");
}

static int select_profile(const struct dirent *entry)
{
	return is_profile_file(entry->d_name);
}

static void append_names(const char *dir, char *text, size_t size)
{
	struct dirent **list;
	int count = scandir(dir, &list, select_profile, alphasort);
	size_t used = strlen(text);

	for (int i = 0; i < count; i++) {
		int length = (int)strlen(list[i]->d_name) - (int)strlen(".yaml");

		if (used < size)
			used += snprintf(text + used, size - used, "%s%.*s", text[0] ? ", " : "",
					 length, list[i]->d_name);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
}

static int not_found(const char *name, char (*dirs)[256], unsigned int count, struct err *e)
{
	char names[ERR_HINT_MAX - 24] = "";

	for (unsigned int i = 0; i < count; i++)
		append_names(dirs[i], names, sizeof(names));
	err_set(e, -ENOENT, "%s: no shipped profile of this name", name);
	if (!access(name, F_OK))
		err_hint(e, "if the file in this folder is meant, write ./%.200s", name);
	else
		err_hint(e, "shipped profiles: %s", names[0] ? names : "none found");
	return -ENOENT;
}

int profile_locate(const char *name, struct profile_place *place, struct err *e)
{
	char dirs[DIRS_MAX][256];
	unsigned int count;

	if (profile_is_path(name)) {
		if (snprintf(place->path, sizeof(place->path), "%s", name) >=
		    (int)sizeof(place->path))
			return err_sys(e, -ENAMETOOLONG, "%.64s...", name);
		strcpy(place->shown, place->path);
		return 0;
	}
	if (!schema_name_ok(name) || strlen(name) > 64)
		return err_set(e, -EINVAL, "'%.64s' is neither a path nor the name of a profile",
			       name);
	count = profile_path(dirs, DIRS_MAX);
	for (unsigned int i = 0; i < count; i++) {
		int n = snprintf(place->path, sizeof(place->path), "%s/%s.yaml", dirs[i], name);

		if (n >= (int)sizeof(place->path) || access(place->path, R_OK))
			continue;
		snprintf(place->shown, sizeof(place->shown), "builtin:%s", name);
		return 0;
	}
	return not_found(name, dirs, count, e);
}
