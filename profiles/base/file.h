/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files and folders that this program writes. A folder is opened once and checked, and all work
 * below it goes by its descriptor (openat(2)). A file is made under a name of its own (O_EXCL),
 * synced, and renamed over the old one: no link is followed, no file of somebody else is written
 * into, and a name has either all bytes or the former ones. The umask of the caller holds.
 * Files of the kernel (sysfs, configfs, /proc) are not written here.
 */
#ifndef PROFILES_FILE_H
#define PROFILES_FILE_H

#include <dirent.h>
#include <stdio.h>

#include "profiles/base/base.h"

/*
 * A folder into which several files go. It belongs to root or to the effective user, and nobody
 * else can write to it: so nothing below it changes between a look and a write.
 * A zeroed struct and one after folder_close() hold nothing.
 */
struct folder {
	int fd;	    /* valid while path is set */
	char *path; /* owned; as it was given, for messages and for the user */
};

/*
 * An existing folder. Refused with -EPERM, owner and mode: a folder of another user, one that group
 * or others can write to (sticky or not). Refused with -ENOTDIR and their kind: a symbolic link as
 * the last element (also one of the caller's own) and everything that is no folder. Links before
 * the last element are followed, e.g. /var/run.
 */
int folder_open(const char *path, struct folder *f, struct err *e);

/* As folder_open(), but elements that are missing are made first, with mode 0700. A folder that was
 * made here is fine under any parent, e.g. in /tmp. */
int folder_make(const char *path, struct folder *f, struct err *e);

/* A folder that did not exist before, mode 0700: `path`, or `path-XXXX` with random digits when
 * that name is taken. f->path is the name it got. The parent must exist. */
int folder_make_new(const char *path, struct folder *f, struct err *e);

/* The folder `name` below an open one: made with mode 0700, or an existing one that folder_open()
 * would open. name is one path element. */
int folder_below(const struct folder *parent, const char *name, struct folder *f, struct err *e);

/* As folder_below(), but an existing one only: -ENOENT. */
int folder_find(const struct folder *parent, const char *name, struct folder *f, struct err *e);

/* A folder `name` below an open one that did not exist before: -EEXIST. */
int folder_below_new(const struct folder *parent, const char *name, struct folder *f,
		     struct err *e);

/* The folder of a single file: the part of `path` before the last '/', else ".". Not checked, as
 * files below it are made by O_EXCL and a rename: e.g. root writes a file into a user's folder, or
 * into /tmp. Links to folders are followed when they belong to root or the effective user, as with
 * fs.protected_symlinks in a sticky folder: -EPERM of others, which e names with their owner. */
int folder_of_file(const char *path, struct folder *f, struct err *e);

/* Removes an empty folder below an open one. 0 when there is none. */
int folder_remove(const struct folder *parent, const char *name, struct err *e);

/* The names in it, for readdir(), and closedir() by the caller. NULL with e. */
DIR *folder_list(const struct folder *f, struct err *e);

/* The names in it reach the disk. */
int folder_flush(const struct folder *f, struct err *e);

void folder_close(struct folder *f);

/* The last element of a path: a pointer into it. */
const char *file_name_of(const char *path);

enum file_flags {
	FILE_PRIVATE = 1,  /* mode 0600; else 0666 less the umask */
	FILE_UNSYNCED = 2, /* a recording: its end does not wait for the disk */
};

/* A file being written. Read stream and path; the rest is of file.c. */
struct file {
	FILE *stream; /* write here */
	char *path;   /* owned; for messages */
	char *name;   /* owned; below folder_fd. NULL: standard output */
	char *temp;   /* owned; the name until it is whole */
	int folder_fd;
	unsigned int flags;
};

/*
 * A file by its path; "-" is standard output. What is there already and is no regular file is
 * refused with its kind: -ELOOP for a symbolic link, -EISDIR for a folder, else -EINVAL. A regular
 * file is replaced at file_close(), and its mode never gets wider. flags: of enum file_flags.
 * On success file_close() must follow.
 */
int file_open(const char *path, unsigned int flags, struct file *f, struct err *e);

/* As file_open(), below an open folder. name is one path element; "-" is a name like others. */
int file_open_in(const struct folder *folder, const char *name, unsigned int flags, struct file *f,
		 struct err *e);

/* keep: all bytes reach the disk and then the name, and the folder is synced; else the name stays
 * as it was. Returns what did not arrive (a full disk: -ENOSPC with the path), 0 when !keep.
 * Releases f in any case. */
int file_close(struct file *f, bool keep, struct err *e);

/* A whole file of these bytes. */
int file_write_in(const struct folder *folder, const char *name, unsigned int flags,
		  const void *bytes, size_t size, struct err *e);

/*
 * A descriptor of a regular file below an open folder, for appending, locking and reading. flags
 * and mode as of open(2); O_NOFOLLOW and O_CLOEXEC are added, and a FIFO does not block. What is no
 * regular file is refused as by file_open(). The caller closes *fd, and syncs what it made.
 */
int file_descriptor(const struct folder *folder, const char *name, int flags, unsigned int mode,
		    int *fd, struct err *e);

/* All of a regular file below an open folder: *text with a NUL behind it, the caller frees it.
 * -EFBIG with more than `max` bytes; size may be NULL. */
int file_read(const struct folder *folder, const char *name, size_t max, char **text, size_t *size,
	      struct err *e);

/* The same of an open descriptor, from where it stands. 0, -EFBIG or another -errno. */
int file_read_all(int fd, size_t max, char **text, size_t *size);

/* Gives a file another name, replacing what has that name, and syncs both folders. */
int file_rename(const struct folder *from, const char *name, const struct folder *to,
		const char *new_name, struct err *e);

/* Takes the rights of an open file or folder that are not in `limit` away. 0 or -errno. */
int file_limit_mode(int fd, unsigned int limit);

/* Removes a name. 0 when there is none. */
int file_remove(const struct folder *folder, const char *name, struct err *e);

/* A file without a name in $TMPDIR or /tmp, mode 0600, for writing and reading: gone when its last
 * descriptor is closed. */
int file_unnamed(int *fd, struct err *e);

#endif
