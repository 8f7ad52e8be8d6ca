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

pid_t owner_process(const char *proc, const char *name)
{
	DIR *dir = opendir(proc ? proc : "/proc");
	struct dirent *d;
	pid_t pid = 0;

	while (dir && !pid && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    is_process(proc ? proc : "/proc", d->d_name, name))
			pid = strtol(d->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return pid;
}

pid_t owner_lldpad(const char *proc)
{
	if (!proc)
		proc = "/proc";
	return socket_there(proc) ? owner_process(proc, "lldpad") : 0;
}

bool owner_lldpad_waits(const char *proc)
{
	if (!proc)
		proc = "/proc";
	return socket_there(proc) && !owner_process(proc, "lldpad");
}

/* One option of the command line and what follows it; true when that was used, too. */
static bool take_option(const char *word, const char *next, struct lldpad_options *options)
{
	bool is_file = !strncmp(word, "-f", 2);

	if (!strcmp(word, "-R"))
		options->read_only = true;
	if (is_file && word[2])
		snprintf(options->conf, sizeof(options->conf), "%s", word + 2);
	else if (is_file && next)
		snprintf(options->conf, sizeof(options->conf), "%s", next);
	return is_file && !word[2];
}

bool owner_lldpad_options(const char *proc, pid_t pid, struct lldpad_options *options)
{
	char path[PATH_MAX], line[1024];
	size_t n = 0;
	FILE *f;

	memset(options, 0, sizeof(*options));
	snprintf(path, sizeof(path), "%s/%d/cmdline", proc ? proc : "/proc", (int)pid);
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
		if (take_option(word, next, options) && next)
			at += strlen(next) + 1;
	}
	return true;
}
