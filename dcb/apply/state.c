/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening the state folder and its locks. A lock belongs to the open file and not to the device and
 * inode that stat(2) prints: on btrfs and overlayfs these are not what /proc/locks prints.
 */
#include "dcb/apply/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOCK	"lock"
#define STEP_MS 100

static const struct {
	const char *name;
	size_t at;
} parts[] = {
	{"tx", offsetof(struct state, tx)},
	{"last", offsetof(struct state, last)},
};

/* Takes the rights of other users away. What belongs to root a user who only reads leaves as it is.
 */
static int make_private(int fd, unsigned int mode)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return st.st_uid == geteuid() ? file_limit_mode(fd, mode) : 0;
}

static int privacy_fail(int err, const char *path, struct err *e)
{
	return err ? err_sys(e, err, "%s: cannot make it private", path) : 0;
}

static int open_fail(int err, struct err *e)
{
	if (err == -EACCES)
		err_hint(e, "run as root: the transactions of a host are readable by root alone");
	return err;
}

int state_open(const char *path, struct state *s, struct err *e)
{
	struct state made = {0};
	int err = folder_open(path, &made.dir, e);

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(parts); i++) {
		struct folder *part = (struct folder *)((char *)&made + parts[i].at);

		err = folder_find(&made.dir, parts[i].name, part, e);
		if (err == -ENOENT)
			err = 0;
		else if (!err) /* of one that only reads, or a file system that is read-only */
			(void)make_private(part->fd, 0700);
	}
	if (err) {
		state_close(&made);
		return open_fail(err, e);
	}
	(void)make_private(made.dir.fd, 0700);
	*s = made;
	return 0;
}

int state_make(const char *path, struct state *s, struct err *e)
{
	struct state made = {0};
	int err = folder_make(path, &made.dir, e);

	if (!err)
		err = privacy_fail(make_private(made.dir.fd, 0700), path, e);
	for (unsigned int i = 0; !err && i < ARRAY_SIZE(parts); i++) {
		struct folder *part = (struct folder *)((char *)&made + parts[i].at);

		err = folder_below(&made.dir, parts[i].name, part, e);
		if (!err)
			err = privacy_fail(make_private(part->fd, 0700), part->path, e);
	}
	if (err) {
		state_close(&made);
		return open_fail(err, e);
	}
	*s = made;
	return 0;
}

void state_close(struct state *s)
{
	folder_close(&s->tx);
	folder_close(&s->last);
	folder_close(&s->dir);
}

/* The holder writes its pid into the lock, for the message of those who wait. A dead-man does not:
 * the pid is that of an earlier one then, and is not named once that has ended. */
static long holder_of(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	long pid = n > 0 ? strtol(text, NULL, 10) : 0;

	return pid > 0 && pid <= INT_MAX && (!kill((pid_t)pid, 0) || errno == EPERM) ? pid : 0;
}

static void write_holder(int fd)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	/* On a full disk nobody learns the pid, and the lock holds all the same. */
	if (pwrite(fd, text, (size_t)n, 0) == n)
		(void)!ftruncate(fd, n);
}

static int try_lock(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

static int await_lock(int fd, unsigned int wait_ms)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
	uint64_t end = monotonic_ms() + wait_ms;
	int err;

	while ((err = try_lock(fd)) == -EBUSY && monotonic_ms() < end)
		(void)nanosleep(&step, NULL);
	return err;
}

static int busy_fail(const char *path, long pid, struct err *e)
{
	char who[32] = "";

	if (pid > 0)
		snprintf(who, sizeof(who), " (process %ld)", pid);
	return err_set(e, -EBUSY, "%s/" LOCK ": another apply or rollback is running%s", path, who);
}

static int take_lock(const struct folder *folder, unsigned int wait_ms, int *fd, struct err *e)
{
	int lock, err = file_descriptor(folder, LOCK, O_RDWR | O_CREAT, 0600, &lock, e);

	if (err)
		return err == -EPERM ? open_fail(-EACCES, e) : open_fail(err, e);
	err = make_private(lock, 0600);
	if (err) {
		privacy_fail(err, folder->path, e);
	} else {
		err = await_lock(lock, wait_ms);
		if (err == -EBUSY)
			busy_fail(folder->path, holder_of(lock), e);
		else if (err)
			err_sys(e, err, "%s/" LOCK, folder->path);
	}
	if (err) {
		close(lock);
		return err;
	}
	*fd = lock;
	return 0;
}

int state_lock(const struct folder *folder, unsigned int wait_ms, int *fd, struct err *e)
{
	int err = take_lock(folder, wait_ms, fd, e);

	if (!err)
		write_holder(*fd);
	return err;
}

int state_try_lock(const struct folder *folder, int *fd, struct err *e)
{
	return take_lock(folder, 0, fd, e);
}

bool state_busy(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct folder dir;
	bool busy = false;
	int fd;

	if (folder_open(path, &dir, NULL))
		return false;
	if (!file_descriptor(&dir, LOCK, O_RDONLY, 0, &fd, NULL)) {
		busy = !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
		close(fd);
	}
	folder_close(&dir);
	return busy;
}
