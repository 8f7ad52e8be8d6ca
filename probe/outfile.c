/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files by a temporary one beside them. A symbolic link is followed first, so that it stays
 * one and its target is replaced.
 */
#include "probe/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name to be replaced: what a link points at, when that is there. */
static char *target_of(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : strdup(path);
}

static int open_beside(struct outfile *o)
{
	if (asprintf(&o->temp, "%s.XXXXXX", o->path) < 0) {
		o->temp = NULL;
		return -ENOMEM;
	}
	int fd = mkostemp(o->temp, O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int outfile_open(const char *path, struct outfile *o, struct err *e)
{
	struct outfile new = {.path = target_of(path)};
	struct stat st;
	int fd;

	if (!new.path)
		return err_sys(e, -ENOMEM, "%s", path);
	if (!stat(new.path, &st) && !S_ISREG(st.st_mode)) {
		fd = open(new.path, O_WRONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	} else {
		fd = open_beside(&new);
	}
	if (fd >= 0)
		new.stream = fdopen(fd, "w");
	if (!new.stream) {
		int err = fd < 0 ? fd : -errno;

		if (fd >= 0)
			close(fd);
		free(new.path);
		free(new.temp);
		return err_sys(e, err, "%s", path);
	}
	*o = new;
	return 0;
}

int outfile_close(struct outfile *o, bool keep, struct err *e)
{
	int fd = fileno(o->stream), err = 0;

	errno = 0;
	if (keep && (fflush(o->stream) || ferror(o->stream)))
		err = errno ? -errno : -EIO;
	if (keep && !err && o->temp && (fchmod(fd, 0644) || fsync(fd)))
		err = -errno;
	if (fclose(o->stream) && keep && !err)
		err = -errno;
	if (keep && !err && o->temp && rename(o->temp, o->path))
		err = -errno;
	if (o->temp && (!keep || err))
		(void)unlink(o->temp); /* the error that led here is the one to tell */
	if (err)
		err_sys(e, err, "%s", o->path);
	free(o->path);
	free(o->temp);
	memset(o, 0, sizeof(*o));
	return err;
}
