/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads comm, status and exe of proc(5). /proc/PID/exe is the running file, also after an upgrade
 * has replaced it; its name then ends in " (deleted)". Descriptors are closed by close_range(2), or
 * by /proc/self/fd on kernels before 5.9 and in containers that filter it.
 */
#include "profiles/base/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiles/base/base.h"
#include "profiles/base/file.h"
#include "profiles/base/small_file.h"

#define DELETED	  " (deleted)"
#define OOM_SCORE "/proc/self/oom_score_adj"
#define LOOK_MS	  5 /* between two looks at a child */

bool process_same_net(const char *proc, const char *pid)
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
static bool process_is_root(const char *proc, const char *pid)
{
	unsigned int uid[4];
	char text[160];

	return small_file_value(text, sizeof(text), "Uid:", proc, "%.20s/status", pid) &&
	       sscanf(text, "%u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4 &&
	       !(uid[0] | uid[1] | uid[2] | uid[3]);
}

/* A file of root, like /proc. Any user can start a set-uid program, under any name. */
static bool process_is_trusted(const char *proc, const char *exe)
{
	struct stat all, st;

	return !stat(proc, &all) && !stat(exe, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == all.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH | S_ISUID | S_ISGID));
}

static bool process_runs_program(const char *proc, const char *pid, const char *name)
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
	base = file_name_of(file);
	length = strlen(base);
	if (length > strlen(DELETED) && !strcmp(base + length - strlen(DELETED), DELETED))
		length -= strlen(DELETED);
	return length == strlen(name) && !strncmp(base, name, length) &&
	       process_is_trusted(proc, path);
}

static bool process_is_daemon(const char *proc, const char *pid, const char *name)
{
	char comm[32];

	return small_file_line(comm, sizeof(comm), proc, "%.20s/comm", pid) &&
	       !strcmp(comm, name) && process_is_root(proc, pid) &&
	       process_runs_program(proc, pid, name) && process_same_net(proc, pid);
}

pid_t process_find_daemon(const char *proc, const char *name)
{
	struct dirent *d;
	pid_t pid = 0;
	DIR *dir;

	if (!proc)
		proc = "/proc";
	dir = opendir(proc);
	while (dir && !pid && (d = readdir(dir)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    process_is_daemon(proc, d->d_name, name))
			pid = strtol(d->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return pid;
}

void process_self(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	if (n > 0)
		path[n] = '\0';
	else
		snprintf(path, size, "rocecheck");
}

static int process_close_listed(int first)
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

int process_close_from(int first)
{
	return close_range((unsigned int)first, UINT_MAX, 0) ? process_close_listed(first) : 0;
}

/* First moves all to numbers above the targets, so that no move overwrites another. */
int process_keep_fds(int first, int *const fd[], unsigned int count)
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
	return process_close_from(first + (int)count);
}

void process_ignore_signals(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGTSTP, SIGXFSZ};
	sigset_t none;

	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int process_start(char *const *argv, pid_t *child, struct err *e)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int err = posix_spawnattr_init(&attributes);

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	if (!err) {
		(void)posix_spawnattr_setsigdefault(&attributes, &defaults);
		(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
		err = posix_spawnp(child, argv[0], NULL, &attributes, argv, environ);
		posix_spawnattr_destroy(&attributes);
	}
	return err ? err_sys(e, -err, "cannot start '%s'", argv[0]) : 0;
}

int process_wait(pid_t child, unsigned int within_ms, int *status)
{
	uint64_t until_ms = monotonic_ms() + within_ms;

	for (;;) {
		pid_t ended = waitpid(child, status, WNOHANG);

		if (ended == child)
			return 0;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (monotonic_ms() >= until_ms)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, LOOK_MS);
	}
}

int process_oom(void)
{
	char text[16];

	small_file_line(text, sizeof(text), "", OOM_SCORE); /* "" is 0 */
	return (int)strtol(text, NULL, 10);
}

int process_set_oom(int score)
{
	int former = process_oom(), fd = open(OOM_SCORE, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)dprintf(fd, "%d", score); /* see process.h */
		close(fd);
	}
	return former;
}
