/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad's control socket is the abstract name "/com/intel/lldpad", one a network namespace. The
 * name alone proves nothing, systemd holds it for socket activation; the process must be there too.
 */
#include "dcb/owner.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_NAME "@/com/intel/lldpad"

/* Lines of /proc/net/unix end in the name; clients of lldpad have the name with their pid appended.
 */
static bool socket_there(const char *proc)
{
	char path[PATH_MAX], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/net/unix", proc);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *name = strchr(line, '@');

		line[strcspn(line, "\n")] = '\0';
		found = name && !strcmp(name, SOCKET_NAME);
	}
	if (f)
		fclose(f);
	return found;
}

bool owner_same_net(const char *proc, const char *pid)
{
	char path[PATH_MAX], theirs[64], ours[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "%s/%.20s/ns/net", proc, pid);
	a = readlink(path, theirs, sizeof(theirs));
	snprintf(path, sizeof(path), "%s/self/ns/net", proc);
	b = readlink(path, ours, sizeof(ours));
	return a <= 0 || b <= 0 || (a == b && !memcmp(theirs, ours, a));
}

static bool is_process(const char *proc, const char *pid, const char *name)
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
	return !strcmp(comm, name) && owner_same_net(proc, pid);
}

static pid_t find_process(const char *proc, const char *name,
			  bool (*is)(const char *proc, const char *pid, const char *name))
{
	DIR *dir = opendir(proc);
	struct dirent *d;
	pid_t pid = 0;

	while (dir && !pid && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) && is(proc, d->d_name, name))
			pid = strtol(d->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return pid;
}

pid_t owner_process(const char *proc, const char *name)
{
	return find_process(proc ? proc : "/proc", name, is_process);
}

/* Root's, as /proc itself is. Anybody can take the name of the process and that of the socket, and
 * the file that lldpad names is written. */
static bool is_daemon(const char *proc, const char *pid, const char *name)
{
	char path[PATH_MAX];
	struct stat all, one;

	snprintf(path, sizeof(path), "%s/%.20s", proc, pid);
	return is_process(proc, pid, name) && !stat(proc, &all) && !stat(path, &one) &&
	       one.st_uid == all.st_uid;
}

pid_t owner_lldpad(const char *proc)
{
	if (!proc)
		proc = "/proc";
	return socket_there(proc) ? find_process(proc, "lldpad", is_daemon) : 0;
}

bool owner_lldpad_waits(const char *proc)
{
	if (!proc)
		proc = "/proc";
	return socket_there(proc) && !find_process(proc, "lldpad", is_daemon);
}

/* Its file, which may be named from where it was started: it does not leave that folder. */
static void take_file(const char *proc, pid_t pid, const char *file, struct lldpad_options *options)
{
	if (file[0] == '/')
		snprintf(options->conf, sizeof(options->conf), "%s", file);
	else
		snprintf(options->conf, sizeof(options->conf), "%s/%d/cwd/%s", proc, (int)pid,
			 file);
}

/* The options of a word, which getopt(3) lets stand together ("-tR"); true when the last of them
 * took the next word, too. */
static bool take_word(const char *proc, pid_t pid, const char *word, const char *next,
		      struct lldpad_options *options)
{
	for (const char *at = word[0] == '-' ? word + 1 : ""; *at; at++) {
		const char *value = at[1] ? at + 1 : next;

		if (*at == 'R')
			options->read_only = true;
		if (*at == 'f' && value)
			take_file(proc, pid, value, options);
		if (*at == 'f' || *at == 'V')
			return !at[1];
	}
	return false;
}

bool owner_lldpad_options(const char *proc, pid_t pid, struct lldpad_options *options)
{
	char path[PATH_MAX], line[1024];
	size_t n = 0;
	FILE *f;

	if (!proc)
		proc = "/proc";
	memset(options, 0, sizeof(*options));
	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	for (size_t at = strlen(line) + 1; at < n;) {
		const char *word = line + at;
		size_t after = at + strlen(word) + 1;
		const char *next = after < n ? line + after : NULL;

		at = after;
		if (take_word(proc, pid, word, next, options) && next)
			at += strlen(next) + 1;
	}
	return true;
}
