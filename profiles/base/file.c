/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and folders by descriptor. The attacker is another local user who owns the parent folder,
 * or shares it (/tmp) and can create and rename names at any time: each call stays safe meanwhile.
 */
#include "profiles/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FOLDER_MODE    0700
#define FOLDER_FLAGS   (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define OTHERS_WRITE   (S_IWGRP | S_IWOTH)
#define NAME_TRIES     100
#define LINKS_MAX      40		 /* followed in one path, as by the kernel */
#define TEMP_RANDOM    6		 /* letters: 31 bits */
#define TEMP_EXTRA     (TEMP_RANDOM + 2) /* "." before the name and before the letters */
#define SUFFIX_DIGITS  4
#define MODE_OF(st)    ((unsigned int)((st)->st_mode & 07777))
#define HINT_OF_FOLDER "use a folder of your own, or one that does not exist yet"

static const struct kind {
	mode_t type;
	const char *text;
	int err;
} kinds[] = {
	{S_IFLNK, "a symbolic link", -ELOOP}, {S_IFDIR, "a folder", -EISDIR},
	{S_IFIFO, "a FIFO", -EINVAL},	      {S_IFCHR, "a character device", -EINVAL},
	{S_IFBLK, "a block device", -EINVAL}, {S_IFSOCK, "a socket", -EINVAL},
};

static const struct kind *file_kind_of(mode_t mode)
{
	static const struct kind other = {0, "of an unknown kind", -EINVAL};

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].type == (mode & S_IFMT))
			return &kinds[i];
	}
	return &other;
}

static int file_name_check(const char *name, struct err *e)
{
	if (!*name || strchr(name, '/') || !strcmp(name, ".") || !strcmp(name, ".."))
		return err_set(e, -EINVAL, "invalid file name '%s': expected one path element",
			       name);
	return 0;
}

/* Makes a text of unpredictable characters. */
static int file_random_text(char *text, size_t length, const char *letters)
{
	size_t count = strlen(letters);
	unsigned char bytes[16];

	if (getrandom(bytes, length, 0) != (ssize_t)length)
		return -EIO;
	for (size_t i = 0; i < length; i++)
		text[i] = letters[bytes[i] % count];
	text[length] = '\0';
	return 0;
}

/* The path of a name below a folder, as the user writes it: printf arguments for "%s%s%s". */
#define SHOWN			 "%s%s%s"
#define SHOWN_ARGS(folder, name) file_shown_folder(folder), file_shown_slash(folder), name

static const char *file_shown_folder(const char *folder)
{
	return strcmp(folder, ".") ? folder : "";
}

static const char *file_shown_slash(const char *folder)
{
	size_t length = strlen(folder);

	return !strcmp(folder, ".") || (length && folder[length - 1] == '/') ? "" : "/";
}

static char *file_path_join(const char *folder, const char *name)
{
	char *path;

	return asprintf(&path, SHOWN, SHOWN_ARGS(folder, name)) < 0 ? NULL : path;
}

/* Length without trailing '/': open(2) follows "link/" in spite of O_NOFOLLOW. */
static char *file_path_trim(const char *path)
{
	char *copy = strdup(path);
	size_t length = copy ? strlen(copy) : 0;

	while (length > 1 && copy[length - 1] == '/')
		copy[--length] = '\0';
	return copy;
}

/* Reports why a folder could not be opened; ENOTDIR and ELOOP alone do not name the kind of file.
 */
static int file_folder_error(int parent, const char *name, const char *path, int err, struct err *e)
{
	struct stat st;

	if ((err != -ENOTDIR && err != -ELOOP) || fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    S_ISDIR(st.st_mode))
		return err_sys(e, err, *path ? "%s" : "'%s'", path);
	err_set(e, -ENOTDIR, "%s: is %s, not a folder", path,
		S_ISREG(st.st_mode) ? "a file" : file_kind_of(st.st_mode)->text);
	err_hint(e, HINT_OF_FOLDER);
	return -ENOTDIR;
}

/* Syncs the names below an open folder. Some file systems do not support it; a folder without read
 * permission has no descriptor for it. */
static int file_folder_fsync(int fd)
{
	return fsync(fd) && errno != EINVAL && errno != EBADF ? -errno : 0;
}

/* As file_folder_fsync(), for a folder opened with O_PATH, or AT_FDCWD. */
static int file_parent_fsync(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return 0;
	err = file_folder_fsync(fd);
	close(fd);
	return err;
}

static int file_folder_check(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s", path);
	if (st.st_uid && st.st_uid != geteuid()) {
		err_set(e, -EPERM, "%s: refusing a folder of user %u (mode %04o)", path,
			(unsigned int)st.st_uid, MODE_OF(&st));
		err_hint(e, HINT_OF_FOLDER);
		return -EPERM;
	}
	if (st.st_mode & OTHERS_WRITE) {
		err_set(e, -EPERM,
			"%s: refusing a folder that other users can write to (mode %04o)", path,
			MODE_OF(&st));
		err_hint(e, "run 'chmod go-w %.150s', or use a folder that does not exist yet",
			 path);
		return -EPERM;
	}
	return 0;
}

/* Opens `name` below parent and checks it. Owns path; NULL is -ENOMEM. */
static int file_folder_open(int parent, const char *name, char *path, struct folder *f,
			    struct err *e)
{
	int fd, err;

	if (!path)
		return err_sys(e, -ENOMEM, "%s", name);
	fd = openat(parent, name, FOLDER_FLAGS);
	err = fd < 0 ? file_folder_error(parent, name, path, -errno, e)
		     : file_folder_check(fd, path, e);
	if (err) {
		if (fd >= 0)
			close(fd);
		free(path);
		return err;
	}
	*f = (struct folder){fd, path};
	return 0;
}

int folder_open(const char *path, struct folder *f, struct err *e)
{
	char *name = file_path_trim(path);
	int err = file_folder_open(AT_FDCWD, name ? name : path, name ? strdup(name) : NULL, f, e);

	free(name);
	return err;
}

/* A walk along a path, element by element. It follows no link of another user, in any folder: the
 * owner of the link would choose the file that is written. */
struct walk {
	bool make; /* create missing elements */
	unsigned int links;
	struct err refused; /* error of a refused link */
};

static int file_walk_path(struct walk *w, int from, const char *path);

/* Opens the target folder of an open link. Follows the text read from the open link, since its name
 * can be another link by now, except in procfs, whose links are more than text (/proc/PID/root). */
static int file_walk_symlink(struct walk *w, int parent, const char *name, int link,
			     const char *shown)
{
	char target[PATH_MAX];
	bool make = w->make;
	struct statfs fs;
	struct stat st;
	ssize_t size;
	int fd;

	if (fstat(link, &st) || fstatfs(link, &fs))
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid && st.st_uid != geteuid()) {
		err_set(&w->refused, -EPERM, "%s: refusing to follow a symbolic link of user %u",
			shown, (unsigned int)st.st_uid);
		err_hint(&w->refused, "use the real path of the folder, without the link");
		return -EPERM;
	}
	if (fs.f_type == PROC_SUPER_MAGIC) {
		fd = openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	size = readlinkat(link, "", target, sizeof(target));
	if (size < 0 || size == sizeof(target))
		return size < 0 ? -errno : -ENAMETOOLONG;
	target[size] = '\0';
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	w->make = false;
	fd = file_walk_path(w, parent, target);
	w->make = make;
	return fd;
}

/* Opens one element of a path: a folder, or a link to a folder. */
static int file_walk_element(struct walk *w, int parent, const char *name, const char *shown)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent, name, flags | O_DIRECTORY), link;

	if (fd < 0 && errno == ENOENT && w->make) {
		if (mkdirat(parent, name, FOLDER_MODE) && errno != EEXIST)
			return -errno;
		(void)file_parent_fsync(parent); /* a failure shows at the files written below */
		fd = openat(parent, name, flags | O_DIRECTORY);
	}
	if (fd >= 0 || (errno != ENOTDIR && errno != ELOOP))
		return fd < 0 ? -errno : fd;
	link = openat(parent, name, flags);
	if (link < 0)
		return -errno;
	fd = file_walk_symlink(w, parent, name, link, shown);
	close(link);
	return fd;
}

/* A descriptor of the folder, or -errno. */
static int file_walk_path(struct walk *w, int from, const char *path)
{
	int at = openat(from, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *part = path + strspn(path, "/");

	if (at < 0)
		return -errno;
	while (*part) {
		const char *end = part + strcspn(part, "/");
		char *shown = strndup(path, (size_t)(end - path));
		int fd = shown ? file_walk_element(w, at, shown + (part - path), shown) : -ENOMEM;

		free(shown);
		close(at);
		if (fd < 0)
			return fd;
		at = fd;
		part = end + strspn(end, "/");
	}
	return at;
}

/* Opens the parent folder of path with O_PATH. */
static int file_parent_open(const char *path, bool make, int *parent, struct err *e)
{
	size_t length = (size_t)(file_name_of(path) - path);
	char *name = length ? strndup(path, length) : strdup(".");
	struct walk w = {.make = make};
	int fd = name ? file_walk_path(&w, AT_FDCWD, name) : -ENOMEM;

	free(name);
	if (fd >= 0)
		*parent = fd;
	else if (!w.refused.code)
		return err_sys(e, fd, *path ? "%s" : "'%s'", path);
	else if (e)
		*e = w.refused;
	return fd < 0 ? fd : 0;
}

int folder_make(const char *path, struct folder *f, struct err *e)
{
	char *copy = file_path_trim(path);
	const char *last;
	int parent = -1, err;

	if (!copy)
		return err_sys(e, -ENOMEM, "%s", path);
	if (!strcmp(path, "-")) {
		free(copy);
		return err_set(e, -EINVAL, "'-' is standard output: expected a folder");
	}
	err = *copy ? file_parent_open(copy, true, &parent, e) : err_sys(e, -ENOENT, "''");
	if (err) {
		free(copy);
		return err;
	}
	last = file_name_of(copy);
	if (!*last) /* "/" */
		last = copy;
	if (!mkdirat(parent, last, FOLDER_MODE))
		err = file_parent_fsync(parent);
	else if (errno != EEXIST)
		err = -errno;
	if (err)
		err_sys(e, err, "%s", path);
	else
		err = file_folder_open(parent, last, strdup(copy), f, e);
	close(parent);
	free(copy);
	return err;
}

int folder_make_new(const char *path, struct folder *f, struct err *e)
{
	char digits[SUFFIX_DIGITS + 1], *base = file_path_trim(path),
					*name = base ? strdup(base) : NULL;
	int err = -EEXIST;

	for (unsigned int i = 0; name && err == -EEXIST && i < NAME_TRIES; i++) {
		err = mkdir(name, FOLDER_MODE) ? -errno : 0;
		if (err != -EEXIST)
			break;
		free(name);
		if (file_random_text(digits, SUFFIX_DIGITS, "0123456789abcdef") ||
		    asprintf(&name, "%s-%s", base, digits) < 0)
			name = NULL;
	}
	free(base);
	if (!err)
		return file_folder_open(AT_FDCWD, name, name, f, e);
	err = name ? err : -ENOMEM;
	free(name);
	return err_sys(e, err, "%s", path);
}

static int file_folder_open_below(const struct folder *parent, const char *name, struct folder *f,
				  struct err *e)
{
	return file_folder_open(parent->fd, name, file_path_join(parent->path, name), f, e);
}

int folder_below(const struct folder *parent, const char *name, struct folder *f, struct err *e)
{
	int err = file_name_check(name, e);

	if (err)
		return err;
	if (!mkdirat(parent->fd, name, FOLDER_MODE))
		err = folder_flush(parent, e);
	else if (errno != EEXIST)
		err = err_sys(e, -errno, SHOWN, SHOWN_ARGS(parent->path, name));
	return err ? err : file_folder_open_below(parent, name, f, e);
}

int folder_find(const struct folder *parent, const char *name, struct folder *f, struct err *e)
{
	int err = file_name_check(name, e);

	return err ? err : file_folder_open_below(parent, name, f, e);
}

int folder_below_new(const struct folder *parent, const char *name, struct folder *f, struct err *e)
{
	int err = file_name_check(name, e);

	if (!err && mkdirat(parent->fd, name, FOLDER_MODE))
		err = err_sys(e, -errno, SHOWN, SHOWN_ARGS(parent->path, name));
	if (!err)
		err = folder_flush(parent, e);
	return err ? err : file_folder_open_below(parent, name, f, e);
}

int folder_of_file(const char *path, struct folder *f, struct err *e)
{
	size_t length = (size_t)(file_name_of(path) - path);
	char *name = length ? strndup(path, length) : strdup(".");
	int fd, parent,
		err = name ? file_parent_open(path, false, &parent, e)
			   : err_sys(e, -ENOMEM, "%s", path);

	if (err) {
		free(name);
		return err;
	}
	fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) /* no read permission: files can be created, but not listed */
		fd = parent;
	else
		close(parent);
	*f = (struct folder){fd, name};
	return 0;
}

int folder_remove(const struct folder *parent, const char *name, struct err *e)
{
	int err = file_name_check(name, e);

	if (!err && unlinkat(parent->fd, name, AT_REMOVEDIR) && errno != ENOENT)
		err = err_sys(e, -errno, SHOWN, SHOWN_ARGS(parent->path, name));
	return err;
}

DIR *folder_list(const struct folder *f, struct err *e)
{
	int fd = openat(f->fd, ".", FOLDER_FLAGS);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (!list) {
		err_sys(e, -errno, "%s", f->path);
		if (fd >= 0)
			close(fd);
	}
	return list;
}

int folder_flush(const struct folder *f, struct err *e)
{
	int err = file_folder_fsync(f->fd);

	return err ? err_sys(e, err, "%s", f->path) : 0;
}

void folder_close(struct folder *f)
{
	if (f->path)
		close(f->fd);
	free(f->path);
	*f = (struct folder){0};
}

const char *file_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void file_free(struct file *f)
{
	if (f->name)
		close(f->folder_fd);
	free(f->path);
	free(f->name);
	free(f->temp);
	*f = (struct file){0};
}

static int file_kind_refuse(const char *path, mode_t mode, struct err *e)
{
	const struct kind *kind = file_kind_of(mode);

	err_set(e, kind->err, "%s: is %s; only a regular file can be replaced", path, kind->text);
	err_hint(e, "remove it, or use another folder");
	return kind->err;
}

/* Sets the mode of the new file: never wider than that of the replaced file. */
static int file_target_check(const struct file *f, mode_t *mode, struct err *e)
{
	struct stat st;

	*mode = 0777;
	if (fstatat(f->folder_fd, f->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : err_sys(e, -errno, "%s", f->path);
	if (!S_ISREG(st.st_mode))
		return file_kind_refuse(f->path, st.st_mode, e);
	*mode = st.st_mode & 0777;
	return 0;
}

static mode_t file_mode_of(const struct file *f)
{
	return f->flags & FILE_PRIVATE ? 0600 : 0666;
}

/* Creates `.NAME.XXXXXX`; a name at the limit of the file system is truncated. */
static int file_temp_open(struct file *f)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	char random[TEMP_RANDOM + 1];
	int fd;

	for (unsigned int i = 0; i < NAME_TRIES; i++) {
		if (file_random_text(random, TEMP_RANDOM, letters))
			return -EIO;
		free(f->temp);
		f->temp = NULL;
		if (asprintf(&f->temp, ".%.*s.%s", NAME_MAX - TEMP_EXTRA, f->name, random) < 0) {
			f->temp = NULL;
			return -ENOMEM;
		}
		fd = openat(f->folder_fd, f->temp,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode_of(f));
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

static void file_temp_unlink(const struct file *f)
{
	/* Failures here are ignored: the caller reports the first error. */
	(void)unlinkat(f->folder_fd, f->temp, 0);
}

int file_limit_mode(int fd, unsigned int limit)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!(st.st_mode & 0777 & ~limit))
		return 0;
	return fchmod(fd, st.st_mode & limit) ? -errno : 0;
}

/* Second half of file_open(): f has path, name, folder_fd and flags. Releases f on failure. */
static int file_begin(struct file *f, struct err *e)
{
	mode_t limit = 0777;
	int fd = -1, err;

	err = file_target_check(f, &limit, e);
	if (err)
		goto out;
	fd = file_temp_open(f);
	if (fd < 0) {
		err = err_sys(e, fd, "%s", f->path);
		goto out;
	}
	err = file_limit_mode(fd, limit);
	if (!err) {
		f->stream = fdopen(fd, "w");
		err = f->stream ? 0 : -errno;
	}
	if (err) {
		err_sys(e, err, "%s", f->path);
		file_temp_unlink(f);
		close(fd);
	}
out:
	if (err)
		file_free(f);
	return err;
}

int file_open_in(const struct folder *folder, const char *name, unsigned int flags, struct file *f,
		 struct err *e)
{
	struct file made = {.flags = flags};
	int err = file_name_check(name, e);

	if (err) {
		err_prefix(e, "%s", folder->path);
		return err;
	}
	made.path = file_path_join(folder->path, name);
	if (!made.path)
		return err_sys(e, -ENOMEM, "%s", name);
	made.folder_fd = fcntl(folder->fd, F_DUPFD_CLOEXEC, 0);
	if (made.folder_fd < 0) {
		err = err_sys(e, -errno, "%s", made.path);
		free(made.path);
		return err;
	}
	made.name = strdup(name);
	if (!made.name) {
		close(made.folder_fd);
		free(made.path);
		return err_sys(e, -ENOMEM, "%s", name);
	}
	err = file_begin(&made, e);
	if (!err)
		*f = made;
	return err;
}

static int file_open_at(const char *path, const char *name, unsigned int flags, struct file *f,
			struct err *e)
{
	struct folder folder;
	int err = folder_of_file(path, &folder, e);

	if (err)
		return err;
	err = file_open_in(&folder, name, flags, f, e);
	folder_close(&folder);
	return err;
}

int file_open(const char *path, unsigned int flags, struct file *f, struct err *e)
{
	const char *name = file_name_of(path);
	int err;

	if (!strcmp(path, "-")) {
		char *text = strdup("standard output");

		if (!text)
			return err_sys(e, -ENOMEM, "standard output");
		*f = (struct file){.stream = stdout, .path = text, .flags = flags};
		return 0;
	}
	if (!*path)
		return err_sys(e, -ENOENT, "''");
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		err = file_kind_refuse(path, S_IFDIR, e);
	else
		err = file_open_at(path, name, flags, f, e);
	if (err && e && e->hint[0])
		err_hint(e, "use another file, or - for standard output");
	return err;
}

static int file_stream_flush(struct file *f)
{
	bool failed = ferror(f->stream);

	errno = 0;
	if (fflush(f->stream) || failed)
		return errno ? -errno : -EIO;
	return 0;
}

/* Renames the synced file to its final name. */
static int file_commit(struct file *f)
{
	if (renameat(f->folder_fd, f->temp, f->folder_fd, f->name))
		return -errno;
	return f->flags & FILE_UNSYNCED ? 0 : file_folder_fsync(f->folder_fd);
}

int file_close(struct file *f, bool keep, struct err *e)
{
	bool named = f->name;
	int err = keep ? file_stream_flush(f) : 0;

	if (!err && keep && named && !(f->flags & FILE_UNSYNCED) && fsync(fileno(f->stream)))
		err = -errno;
	if (f->stream != stdout && fclose(f->stream) && keep && !err)
		err = -errno;
	if (named && keep && !err)
		err = file_commit(f);
	if (named && (!keep || err))
		file_temp_unlink(f);
	if (err)
		err_sys(e, err, "%s", f->path);
	file_free(f);
	return err;
}

int file_write_in(const struct folder *folder, const char *name, unsigned int flags,
		  const void *bytes, size_t size, struct err *e)
{
	struct file f;
	int err = file_open_in(folder, name, flags, &f, e);

	if (err)
		return err;
	if (size)
		(void)fwrite(bytes, size, 1, f.stream); /* file_close() checks the stream */
	return file_close(&f, true, e);
}

int file_descriptor(const struct folder *folder, const char *name, int flags, unsigned int mode,
		    int *fd, struct err *e)
{
	int opened, err = file_name_check(name, e);
	struct stat st;

	if (err)
		return err;
	/* Checks the kind first: opening a device can have side effects. O_EXCL opens nothing
	 * existing. */
	if (!(flags & O_EXCL) && !fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    !S_ISREG(st.st_mode)) {
		err = file_kind_of(st.st_mode)->err;
		return err_set(e, err, SHOWN ": is %s, not a regular file",
			       SHOWN_ARGS(folder->path, name), file_kind_of(st.st_mode)->text);
	}
	opened = openat(folder->fd, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
			(mode_t)mode);
	if (opened < 0)
		return err_sys(e, -errno, SHOWN, SHOWN_ARGS(folder->path, name));
	if (fstat(opened, &st))
		err = err_sys(e, -errno, SHOWN, SHOWN_ARGS(folder->path, name));
	else if (!S_ISREG(st.st_mode))
		err = err_set(e, -EINVAL, SHOWN ": is %s, not a regular file",
			      SHOWN_ARGS(folder->path, name), file_kind_of(st.st_mode)->text);
	if (err)
		close(opened);
	else
		*fd = opened;
	return err;
}

int file_read_all(int fd, size_t max, char **text, size_t *size)
{
	size_t room = 4096, used = 0;
	char *bytes = malloc(room);

	while (bytes) {
		ssize_t n = read(fd, bytes + used, room - 1 - used);
		char *more;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || used + (size_t)n > max) {
			free(bytes);
			return n < 0 ? -errno : -EFBIG;
		}
		used += (size_t)n;
		bytes[used] = '\0';
		if (!n) {
			*text = bytes;
			*size = used;
			return 0;
		}
		if (used + 1 < room)
			continue;
		room *= 2;
		more = realloc(bytes, room);
		if (!more)
			free(bytes);
		bytes = more;
	}
	return -ENOMEM;
}

int file_read(const struct folder *folder, const char *name, size_t max, char **text, size_t *size,
	      struct err *e)
{
	size_t used = 0;
	int fd, err = file_descriptor(folder, name, O_RDONLY, 0, &fd, e);

	if (err)
		return err;
	err = file_read_all(fd, max, text, &used);
	close(fd);
	if (err)
		return err_sys(e, err, SHOWN, SHOWN_ARGS(folder->path, name));
	if (size)
		*size = used;
	return 0;
}

int file_rename(const struct folder *from, const char *name, const struct folder *to,
		const char *new_name, struct err *e)
{
	int err = file_name_check(name, e);

	if (!err)
		err = file_name_check(new_name, e);
	if (err)
		return err;
	if (renameat(from->fd, name, to->fd, new_name))
		return err_sys(e, -errno, SHOWN, SHOWN_ARGS(from->path, name));
	err = folder_flush(to, e);
	return err || from->fd == to->fd ? err : folder_flush(from, e);
}

int file_remove(const struct folder *folder, const char *name, struct err *e)
{
	int err = file_name_check(name, e);

	if (!err && unlinkat(folder->fd, name, 0) && errno != ENOENT)
		err = err_sys(e, -errno, SHOWN, SHOWN_ARGS(folder->path, name));
	return err;
}

/* Without O_TMPFILE in the file system: creates an unpredictable name and removes it at once. */
static int file_unnamed_fallback(const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;
	struct file f = {.name = (char *)"rocecheck", .folder_fd = folder, .flags = FILE_PRIVATE};

	if (folder < 0)
		return -errno;
	fd = file_temp_open(&f);
	if (fd >= 0)
		file_temp_unlink(&f);
	free(f.temp);
	close(folder);
	return fd;
}

int file_unnamed(int *fd, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	int made;

	if (!tmp || !*tmp)
		tmp = "/tmp";
	made = open(tmp, O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600);
	made = made < 0 ? -errno : made;
	if (made == -EOPNOTSUPP || made == -EISDIR || made == -EINVAL)
		made = file_unnamed_fallback(tmp);
	if (made < 0)
		return err_sys(e, made, "%s", tmp);
	*fd = made;
	return 0;
}
