/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens the state folder and its locks. state_busy() tests the open file with fcntl(2): on btrfs
 * and overlayfs /proc/locks shows another device and inode than stat(2).
 */
#include "dcb/apply/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_MS 100

static const struct {
	const char *name;
	size_t at;
} parts[] = {
	{"tx", offsetof(struct state, tx)},
	{"last", offsetof(struct state, saved)},
};

/* Removes the access of other users. A non-root reader leaves a folder of root unchanged. */
static int state_make_private(int fd, unsigned int mode)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return st.st_uid == geteuid() ? file_limit_mode(fd, mode) : 0;
}

/* make: creates missing folders, and fails unless all become private. Otherwise a non-root reader
 * or a read-only file system leaves them unchanged. */
static int state_open_parts(const struct folder *dir, bool make, struct state *s, struct err *e)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(parts); i++) {
		struct folder *part = (struct folder *)((char *)s + parts[i].at);

		err = (make ? folder_below : folder_find)(dir, parts[i].name, part, e);
		if (!make && err == -ENOENT) {
			err = 0;
			continue;
		}
		if (!err && state_make_private(part->fd, 0700) && make)
			err = err_sys(e, -EPERM, "%s: cannot restrict access to root", part->path);
	}
	return err;
}

static int state_open_error(int err, struct err *e)
{
	if (err == -EACCES)
		err_hint(e, "run as root: only root can read the transactions of a host");
	return err;
}

static int state_open_all(const struct state_at *at, bool make, struct state *s, struct err *e)
{
	struct state made = {0};
	int err = (make ? folder_make : folder_open)(at->dir, &made.dir, e);

	if (!err && state_make_private(made.dir.fd, 0700) && make)
		err = err_sys(e, -EPERM, "%s: cannot restrict access to root", at->dir);
	if (!err)
		err = state_open_parts(&made.dir, make, &made, e);
	if (err) {
		state_close(&made);
		return state_open_error(err, e);
	}
	*s = made;
	return 0;
}

int state_open(const struct state_at *at, struct state *s, struct err *e)
{
	return state_open_all(at, false, s, e);
}

int state_make(const struct state_at *at, struct state *s, struct err *e)
{
	return state_open_all(at, true, s, e);
}

void state_close(struct state *s)
{
	folder_close(&s->tx);
	folder_close(&s->saved);
	folder_close(&s->dir);
}

/* The holder writes its pid into the lock file, for the error message of others. */
static long state_read_holder(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid = n > 0 ? strtol(text, NULL, 10) : 0;

	return pid > 0 && pid <= INT_MAX && (!kill((pid_t)pid, 0) || errno == EPERM) ? pid : 0;
}

static void state_write_holder(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (pwrite(fd, text, (size_t)n, 0) == n)
		(void)!ftruncate(fd, n); /* the lock works without its pid */
}

static int state_lock_within(int fd, unsigned int wait_ms)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	uint64_t end = monotonic_ms() + wait_ms;

	while (fcntl(fd, F_OFD_SETLK, &lock)) {
		if (errno != EACCES && errno != EAGAIN)
			return -errno;
		if (monotonic_ms() >= end)
			return -EBUSY;
		(void)poll(NULL, 0, STEP_MS);
	}
	return 0;
}

static int state_busy_error(const char *path, const char *name, long pid, struct err *e)
{
	char who[32] = "";

	if (pid > 0)
		snprintf(who, sizeof(who), " (process %ld)", pid);
	return err_set(e, -EBUSY, "%s/%s: another apply or rollback is running%s", path, name, who);
}

int state_lock(const struct state_at *at, const char *name, unsigned int wait_ms, int *fd,
	       struct err *e)
{
	struct folder run;
	int lock, err = folder_make(at->run, &run, e);

	if (err)
		return state_open_error(err, e);
	(void)state_make_private(run.fd, 0700); /* systemd may have created it */
	err = file_descriptor(&run, name, O_RDWR | O_CREAT, 0600, &lock, e);
	folder_close(&run);
	if (err)
		return state_open_error(err, e);
	err = state_lock_within(lock, wait_ms);
	if (err) {
		if (err == -EBUSY)
			state_busy_error(at->run, name, state_read_holder(lock), e);
		else
			err_sys(e, err, "%s/%s", at->run, name);
		close(lock);
		return err;
	}
	state_write_holder(lock);
	*fd = lock;
	return 0;
}

bool state_busy(const struct state_at *at)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct folder run;
	bool busy = false;
	int fd;

	if (folder_open(at->run, &run, NULL))
		return false;
	if (!file_descriptor(&run, STATE_LOCK, O_RDONLY, 0, &fd, NULL)) {
		busy = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
		close(fd);
	}
	folder_close(&run);
	return busy;
}
