/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the files and folders of this program. A folder is opened and checked once; all access
 * below it uses its descriptor (openat(2)). A file is created under a temporary name (O_EXCL),
 * synced, and renamed over the old one: no link is followed, no file of another user is written to,
 * and readers see either the old or the new content. The umask of the caller holds. Does not write
 * kernel files (sysfs, configfs, /proc).
 */
#ifndef PROFILES_FILE_H
#define PROFILES_FILE_H

#include <dirent.h>
#include <stdio.h>

#include "profiles/base/base.h"

/*
 * A folder for several files. It belongs to root or the effective user, and no other user can write
 * to it: nothing below it changes between a check and a write.
 * A zeroed struct, and one after folder_close(), owns nothing.
 */
struct folder {
	int fd;	    /* valid while path is set */
	char *path; /* owned; as given, for messages */
};

/*
 * Opens an existing folder. -EPERM, with owner and mode in e: a folder of another user, or one that
 * group or others can write to (sticky or not). -ENOTDIR, with the kind in e: a symbolic link as
 * the last element (also the caller's own), and everything else that is not a folder. Links before
 * the last element, such as /var/run, are followed.
 */
int folder_open(const char *path, struct folder *f, struct err *e);

/* As folder_open(), but first creates missing elements with mode 0700. A folder created here is
 * accepted below any parent, e.g. /tmp. */
int folder_make(const char *path, struct folder *f, struct err *e);

/* Creates a new folder, mode 0700: `path`, or `path-XXXX` with random digits if `path` exists.
 * f->path is the final name. The parent must exist. */
int folder_make_new(const char *path, struct folder *f, struct err *e);

/* Creates the folder `name` below an open one with mode 0700, or opens it as folder_open(). name is
 * one path element. */
int folder_below(const struct folder *parent, const char *name, struct folder *f, struct err *e);

/* As folder_below(), but does not create it: -ENOENT. */
int folder_find(const struct folder *parent, const char *name, struct folder *f, struct err *e);

/* As folder_below(), but -EEXIST if it exists. */
int folder_below_new(const struct folder *parent, const char *name, struct folder *f,
		     struct err *e);

/* The folder of a single file: the part of `path` before the last '/', else ".". Not checked, as
 * files below it are created by O_EXCL and renamed: e.g. root writes a file into a user's folder,
 * or into /tmp. Links to folders are followed if they belong to root or the effective user, as with
 * fs.protected_symlinks in a sticky folder; else -EPERM, with the owner in e. */
int folder_of_file(const char *path, struct folder *f, struct err *e);

/* Removes an empty folder below an open one. 0 if it does not exist. */
int folder_remove(const struct folder *parent, const char *name, struct err *e);

/* Opens it for readdir(); the caller calls closedir(). NULL with e. */
DIR *folder_list(const struct folder *f, struct err *e);

/* Syncs the names in it to the disk. */
int folder_flush(const struct folder *f, struct err *e);

void folder_close(struct folder *f);

/* Returns the last element of a path, as a pointer into it. */
const char *file_name_of(const char *path);

enum file_flags {
	FILE_PRIVATE = 1,  /* mode 0600; else 0666 less the umask */
	FILE_UNSYNCED = 2, /* a recording: closing does not sync it */
};

/* A file being written. Callers use stream and path; the rest is private to file.c. */
struct file {
	FILE *stream; /* write here */
	char *path;   /* owned; for messages */
	char *name;   /* owned; below folder_fd. NULL: standard output */
	char *temp;   /* owned; temporary name until file_close() */
	int folder_fd;
	unsigned int flags;
};

/*
 * Opens a file for writing; "-" is standard output. Refuses anything but a regular file, with its
 * kind in e: -ELOOP for a symbolic link, -EISDIR for a folder, else -EINVAL. file_close() replaces
 * an existing file; the new mode is never wider. flags: of enum file_flags. After success the
 * caller calls file_close().
 */
int file_open(const char *path, unsigned int flags, struct file *f, struct err *e);

/* As file_open(), below an open folder. name is one path element; "-" has no special meaning. */
int file_open_in(const struct folder *folder, const char *name, unsigned int flags, struct file *f,
		 struct err *e);

/* keep: syncs the bytes, renames the file to its final name and syncs the folder; else an existing
 * file stays as it is. Returns write errors, also earlier ones (full disk: -ENOSPC with the path);
 * 0 if !keep. Releases f in any case. */
int file_close(struct file *f, bool keep, struct err *e);

/* Writes a file with this content. */
int file_write_in(const struct folder *folder, const char *name, unsigned int flags,
		  const void *bytes, size_t size, struct err *e);

/*
 * Opens a regular file below an open folder for appending, locking or reading. flags and mode as
 * open(2); O_NOFOLLOW and O_CLOEXEC are added, and a FIFO does not block. Other kinds of files are
 * refused as by file_open(). The caller closes *fd, and syncs a file that it creates.
 */
int file_descriptor(const struct folder *folder, const char *name, int flags, unsigned int mode,
		    int *fd, struct err *e);

/* Reads a regular file below an open folder into *text, NUL-terminated; the caller frees it. -EFBIG
 * above `max` bytes; size may be NULL. */
int file_read(const struct folder *folder, const char *name, size_t max, char **text, size_t *size,
	      struct err *e);

/* The same for an open descriptor, from its current offset. 0, -EFBIG or another -errno. */
int file_read_all(int fd, size_t max, char **text, size_t *size);

/* Renames a file, replacing an existing one, and syncs both folders. */
int file_rename(const struct folder *from, const char *name, const struct folder *to,
		const char *new_name, struct err *e);

/* Removes the mode bits of an open file or folder that are not in `limit`. 0 or -errno. */
int file_limit_mode(int fd, unsigned int limit);

/* Removes a file. 0 if it does not exist. */
int file_remove(const struct folder *folder, const char *name, struct err *e);

/* Opens an unnamed file in $TMPDIR or /tmp, mode 0600, for writing and reading. It disappears with
 * its last descriptor. */
int file_unnamed(int *fd, struct err *e);

#endif
