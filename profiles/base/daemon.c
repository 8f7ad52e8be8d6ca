/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads comm, status and exe of proc(5). /proc/PID/exe is the running file, also after an upgrade
 * has replaced it; its name then ends in " (deleted)".
 */
#include "profiles/base/daemon.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DELETED " (deleted)"

bool daemon_same_net(const char *proc, const char *pid)
{
	char path[PATH_MAX], theirs[64], ours[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "%s/%.20s/ns/net", proc, pid);
	a = readlink(path, theirs, sizeof(theirs));
	snprintf(path, sizeof(path), "%s/self/ns/net", proc);
	b = readlink(path, ours, sizeof(ours));
	return a <= 0 || b <= 0 || (a == b && !memcmp(theirs, ours, a));
}

/* "Uid:	0	0	0	0": real, effective, saved, of the file system. */
static bool daemon_is_root(const char *proc, const char *pid)
{
	char path[PATH_MAX], line[160];
	unsigned int uid[4] = {1, 1, 1, 1};
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%.20s/status", proc, pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4;
	if (f)
		fclose(f);
	return found && !(uid[0] | uid[1] | uid[2] | uid[3]);
}

static bool daemon_has_name(const char *proc, const char *pid, const char *name)
{
	char path[PATH_MAX], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%.20s/comm", proc, pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	return !strcmp(comm, name);
}

/* A file of root, like /proc. Any user can start a set-uid program, under any name. */
static bool daemon_is_trusted(const char *proc, const char *exe)
{
	struct stat all, st;

	return !stat(proc, &all) && !stat(exe, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == all.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH | S_ISUID | S_ISGID));
}

static bool daemon_runs_program(const char *proc, const char *pid, const char *name)
{
	char path[PATH_MAX], file[PATH_MAX];
	const char *base;
	size_t length;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%.20s/exe", proc, pid);
	n = readlink(path, file, sizeof(file) - 1);
	if (n < 0)
		return errno == EACCES || errno == EPERM;
	file[n] = '\0';
	base = strrchr(file, '/');
	base = base ? base + 1 : file;
	length = strlen(base);
	if (length > strlen(DELETED) && !strcmp(base + length - strlen(DELETED), DELETED))
		length -= strlen(DELETED);
	return length == strlen(name) && !strncmp(base, name, length) &&
	       daemon_is_trusted(proc, path);
}

static bool daemon_matches(const char *proc, const char *pid, const char *name)
{
	return daemon_has_name(proc, pid, name) && daemon_is_root(proc, pid) &&
	       daemon_runs_program(proc, pid, name) && daemon_same_net(proc, pid);
}

pid_t daemon_find(const char *proc, const char *name)
{
	struct dirent *d;
	pid_t pid = 0;
	DIR *dir;

	if (!proc)
		proc = "/proc";
	dir = opendir(proc);
	while (dir && !pid && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) && daemon_matches(proc, d->d_name, name))
			pid = strtol(d->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return pid;
}
