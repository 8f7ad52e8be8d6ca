/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lldpad's control socket is the abstract name "/com/intel/lldpad", one a network namespace. The
 * name alone proves nothing: systemd has it for socket activation, and any user may take it while
 * it is free. The socket has to be root's, and the process has to run lldpad's program.
 */
#include "dcb/lldpad/owner.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/daemon.h"
#include "profiles/base/unix_name.h"

#define SOCKET_NAME "/com/intel/lldpad"

static enum unix_holder socket_holder(const char *proc)
{
	struct unix_name name;

	unix_name_find(proc, SOCKET_NAME, &name);
	return name.holder;
}

pid_t owner_lldpad(const char *proc)
{
	return socket_holder(proc) == UNIX_NAME_ROOT ? daemon_find(proc, "lldpad") : 0;
}

bool owner_lldpad_waits(const char *proc)
{
	return socket_holder(proc) == UNIX_NAME_ROOT && !daemon_find(proc, "lldpad");
}

bool owner_lldpad_stranger(const char *proc, pid_t *pid, uid_t *uid)
{
	struct unix_name name;

	unix_name_find(proc, SOCKET_NAME, &name);
	if (name.holder != UNIX_NAME_STRANGER)
		return false;
	*pid = name.pid;
	*uid = name.uid;
	return true;
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
