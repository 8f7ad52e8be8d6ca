/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files and folders that are written: targets of every kind, folders of other users, modes and the
 * umask, a full disk, standard output, names, and nothing left behind by a failure.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiles/base/file.h"
#include "tests/unit/fixture/folder.h"

#define NOBODY 65534

/* In place of libc's: what was done, in order. F a file and D a folder synced, R renamed. */
static char done[16];
static int fsync_errno; /* of files; 0: they are synced */

static void note(char what)
{
	size_t used = strlen(done);

	if (used + 1 < sizeof(done))
		done[used] = what;
}

int fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	note(S_ISDIR(st.st_mode) ? 'D' : 'F');
	if (fsync_errno && !S_ISDIR(st.st_mode)) {
		errno = fsync_errno;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	note('R');
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, 0);
}

static int save(const char *path, unsigned int flags, const char *text, bool keep, struct err *e)
{
	struct file f;
	int err = file_open(path, flags, &f, e);

	if (err)
		return err;
	fputs(text, f.stream);
	return file_close(&f, keep, e);
}

static void assert_text(const char *name, const char *want)
{
	char path[64], got[64] = "";
	FILE *f = fopen(path_of(name, path), "r");

	assert_non_null(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	assert_string_equal(got, want);
}

static unsigned int mode_of(const char *name)
{
	char path[64];
	struct stat st;

	assert_int_equal(lstat(path_of(name, path), &st), 0);
	return st.st_mode & 07777;
}

/* Names in the test's folder, without "." and "..". */
static unsigned int count_names(void)
{
	DIR *list = opendir(dir);
	unsigned int n = 0;

	assert_non_null(list);
	while (readdir(list))
		n++;
	closedir(list);
	return n - 2;
}

static void make_link(const char *path)
{
	assert_int_equal(symlink("victim", path), 0);
}

static void make_broken_link(const char *path)
{
	assert_int_equal(symlink("/nonexistent/x", path), 0);
}

static void make_fifo(const char *path)
{
	assert_int_equal(mkfifo(path, 0666), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0755), 0);
}

static void make_socket(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
}

/* /dev/full, as a node of its own where that is permitted. */
static void make_character(const char *path)
{
	(void)mknod(path, S_IFCHR | 0666, makedev(1, 7));
}

static void make_block(const char *path)
{
	(void)mknod(path, S_IFBLK | 0666, makedev(7, 250));
}

static const struct target {
	const char *text; /* in the error */
	void (*make)(const char *path);
	int err;
} targets[] = {
	{"is a symbolic link", make_link, -ELOOP},
	{"is a symbolic link", make_broken_link, -ELOOP},
	{"is a FIFO", make_fifo, -EINVAL},
	{"is a folder", make_folder, -EISDIR},
	{"is a socket", make_socket, -EINVAL},
	{"is a character device", make_character, -EINVAL},
	{"is a block device", make_block, -EINVAL},
};

static void refuses_by_kind(void **state)
{
	struct folder folder;
	char path[64];

	(void)state;
	write_file("victim", "secret");
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		struct err e = {0};
		struct stat before, after;
		struct file f;
		int fd;

		targets[i].make(path_of("t", path));
		if (lstat(path, &before)) {
			print_message("row %zu: not permitted to make %s\n", i, targets[i].text);
			continue;
		}
		assert_int_equal(save(path, 0, "overwritten", true, &e), targets[i].err);
		assert_non_null(strstr(e.text, path));
		assert_non_null(strstr(e.text, targets[i].text));
		assert_non_null(strstr(e.hint, "standard output"));
		assert_int_equal(folder_open(dir, &folder, &e), 0);
		assert_int_equal(file_open_in(&folder, "t", 0, &f, &e), targets[i].err);
		assert_non_null(strstr(e.text, targets[i].text));
		assert_int_equal(
			file_descriptor(&folder, "t", O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, &e),
			-EEXIST);
		assert_int_not_equal(file_read(&folder, "t", 64, &(char *){0}, NULL, &e), 0);
		assert_non_null(strstr(e.text, targets[i].text));
		folder_close(&folder);
		assert_int_equal(lstat(path, &after), 0);
		assert_int_equal(before.st_mode, after.st_mode);
		assert_int_equal(before.st_ino, after.st_ino);
		assert_text("victim", "secret");
		assert_int_equal(count_names(), 2); /* no temporary file */
		assert_int_equal(remove(path), 0);
	}
	remove_file("victim");
}

static void keeps_or_drops(void **state)
{
	char path[64];
	struct err e;

	(void)state;
	path_of("a", path);
	assert_int_equal(save(path, 0, "one", true, &e), 0);
	assert_text("a", "one");
	assert_int_equal(save(path, 0, "two", false, &e), 0);
	assert_text("a", "one");
	assert_int_equal(save(path, 0, "three", true, &e), 0);
	assert_text("a", "three");
	assert_int_equal(count_names(), 1);
	remove_file("a");
	assert_int_equal(save(path, FILE_UNSYNCED, "five", false, &e), 0);
	assert_int_equal(count_names(), 0);
	assert_int_equal(save(path, FILE_UNSYNCED, "six", true, &e), 0);
	assert_text("a", "six");
	remove_file("a");
}

static const struct mode_row {
	const char *name;
	mode_t mask;
	unsigned int flags;
	unsigned int before; /* mode of the file that is there; 0: none */
	unsigned int want;
} modes[] = {
	{"the usual umask", 022, 0, 0, 0644},
	{"a group that shares", 002, 0, 0, 0664},
	{"a careful umask", 027, 0, 0, 0640},
	{"for the owner alone", 077, 0, 0, 0600},
	{"private on request", 022, FILE_PRIVATE, 0, 0600},
	{"a private file stays private", 022, 0, 0600, 0600},
	{"a wide file gets the umask", 027, 0, 0666, 0640},
	{"a file that nobody may write", 022, 0, 0444, 0444},
	{"no set-id bits", 022, 0, 04755, 0644},
	{"a recording", 0, FILE_PRIVATE | FILE_UNSYNCED, 0, 0600},
};

static void keeps_the_umask(void **state)
{
	mode_t former = umask(022);
	char path[64];

	(void)state;
	path_of("m", path);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		struct err e = {0};

		if (modes[i].before) {
			write_file("m", "before");
			assert_int_equal(chmod(path, modes[i].before), 0);
		}
		umask(modes[i].mask);
		assert_int_equal(save(path, modes[i].flags, "after", true, &e), 0);
		umask(022);
		if (mode_of("m") != modes[i].want)
			fail_msg("%s: mode %04o", modes[i].name, mode_of("m"));
		assert_text("m", "after");
		remove_file("m");
	}
	umask(former);
}

static const struct folder_row {
	const char *name;
	unsigned int mode;
	bool foreign;
	int err;
	const char *text;
} folders[] = {
	{"private", 0700, false, 0, NULL},
	{"readable", 0755, false, 0, NULL},
	{"of a group", 0775, false, -EPERM, "other users can write to (mode 0775)"},
	{"of everybody", 0777, false, -EPERM, "other users can write to (mode 0777)"},
	{"sticky", 01777, false, -EPERM, "other users can write to (mode 1777)"},
	{"of another user", 0700, true, -EPERM, "folder of user 65534 (mode 0700)"},
};

static void checks_folders(void **state)
{
	char path[64];

	(void)state;
	path_of("f", path);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const struct folder_row *row = &folders[i];
		struct folder f = {0}, parent, below = {0};
		struct err e = {0};

		if (row->foreign && geteuid()) {
			print_message("row %zu (%s) needs root\n", i, row->name);
			continue;
		}
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(chmod(path, row->mode), 0);
		assert_int_equal(row->foreign ? chown(path, NOBODY, NOBODY) : 0, 0);
		assert_int_equal(folder_open(path, &f, &e), row->err);
		assert_true(!row->text || (strstr(e.text, path) && strstr(e.text, row->text)));
		assert_true(!row->text || e.hint[0]);
		folder_close(&f);
		/* Who wants no text is refused, too. */
		assert_int_equal(folder_open(path, &f, NULL), row->err);
		folder_close(&f);
		assert_int_equal(folder_make(path, &f, &e), row->err);
		folder_close(&f);
		assert_int_equal(folder_open(dir, &parent, &e), 0);
		assert_int_equal(folder_below(&parent, "f", &below, &e), row->err);
		folder_close(&below);
		assert_int_equal(folder_find(&parent, "f", &below, &e), row->err);
		folder_close(&below);
		assert_int_equal(folder_below_new(&parent, "f", &below, &e), -EEXIST);
		assert_int_equal(folder_remove(&parent, "f", &e), 0);
		assert_int_equal(folder_find(&parent, "f", &below, &e), -ENOENT);
		assert_int_equal(folder_remove(&parent, "f", &e), 0);
		folder_close(&parent);
	}
}

/* A single file needs no folder of one's own: it is made by O_EXCL and renamed. */
static void writes_into_shared_folders(void **state)
{
	char path[64], file[80];

	(void)state;
	path_of("f", path);
	snprintf(file, sizeof(file), "%s/x", path);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		struct err e = {0};
		struct stat st;

		if (folders[i].foreign && geteuid())
			continue;
		assert_int_equal(mkdir(path, 0700), 0);
		assert_int_equal(chmod(path, folders[i].mode), 0);
		assert_int_equal(folders[i].foreign ? chown(path, NOBODY, NOBODY) : 0, 0);
		assert_int_equal(save(file, 0, "text", true, &e), 0);
		assert_int_equal(lstat(file, &st), 0);
		assert_int_equal(st.st_uid, geteuid());
		assert_int_equal(unlink(file), 0);
		assert_int_equal(rmdir(path), 0); /* nothing else was left in it */
	}
}

/* A link in the path of a file: by whom it was made, not where it lies, decides. */
static void follows_own_links_to_folders(void **state)
{
	static const struct {
		const char *name;
		bool foreign; /* the link that is looked at is nobody's */
		const char *via, *file;
		int err;
		const char *text;
	} rows[] = {
		{"no link", false, NULL, "real/x", 0, NULL},
		{"own", false, NULL, "link/x", 0, NULL},
		{"own, in the middle", false, NULL, "link/../link//./x", 0, NULL},
		{"another user's", true, NULL, "link/x", -EPERM,
		 "/link: refusing to follow a symbolic link of user 65534"},
		{"another user's, in the middle", true, NULL, "link/../real/x", -EPERM, "/link: "},
		{"own, to another user's", true, "link", "via/x", -EPERM, "link: refusing"},
		{"own, to one that does not exist", false, "none", "via/x", -ENOENT, "via/x: "},
		{"own, to itself", false, "via", "via/x", -ELOOP, "via/x: "},
		{"own, to a file", false, "file", "via/x", -ENOTDIR, "via/x: "},
		{"own, to the root", false, "/", "via/proc/self/none/x", -ENOENT, "none/x: "},
		{"of procfs", false, "/proc/self/cwd", "via/none/x", -ENOENT, "none/x: "},
	};
	char real[64], link_path[64], via[64], file[64], path[128];
	int fd;

	(void)state;
	make_folder(path_of("real", real));
	fd = creat(path_of("file", file), 0600);
	assert_true(fd >= 0);
	close(fd);
	path_of("via", via);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = {0};
		int err;

		if (rows[i].foreign && geteuid()) {
			print_message("row %zu (%s) needs root\n", i, rows[i].name);
			continue;
		}
		assert_int_equal(symlink("real", path_of("link", link_path)), 0);
		assert_int_equal(rows[i].foreign ? lchown(link_path, NOBODY, NOBODY) : 0, 0);
		assert_int_equal(rows[i].via ? symlink(rows[i].via, via) : 0, 0);
		snprintf(path, sizeof(path), "%s/%s", dir, rows[i].file);
		err = save(path, 0, "text", true, &e);
		if (err != rows[i].err || (err && !strstr(e.text, rows[i].text)))
			fail_msg("%s: %d '%s'", rows[i].name, err, e.text);
		assert_int_equal(save(path, 0, "text", true, NULL), rows[i].err);
		if (err == -EPERM) {
			struct folder made = {0};

			/* No folder is made behind it either. */
			assert_int_equal(folder_make(path, &made, &e), err);
			assert_non_null(strstr(e.text, rows[i].text));
			folder_close(&made);
		}
		assert_int_equal(unlink(link_path), 0);
		assert_int_equal(rows[i].via ? unlink(via) : 0, 0);
		snprintf(path, sizeof(path), "%s/x", real);
		assert_int_equal(unlink(path), err ? -1 : 0);
	}
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(real), 0);
}

static void refuses_links_to_folders(void **state)
{
	static const char *const ends[] = {"", "/", "//"};
	char link_path[64], path[80], below[80];

	(void)state;
	make_folder(path_of("real", path));
	assert_int_equal(symlink("real", path_of("link", link_path)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct folder f;
		struct err e = {0};

		snprintf(path, sizeof(path), "%s%s", link_path, ends[i]);
		assert_int_equal(folder_open(path, &f, &e), -ENOTDIR);
		assert_non_null(strstr(e.text, "is a symbolic link, not a folder"));
		assert_int_equal(folder_make(path, &f, &e), -ENOTDIR);
		assert_non_null(strstr(e.text, "is a symbolic link, not a folder"));
		assert_true(e.hint[0]);
	}
	/* Before the last element a link is a part of the path. */
	for (unsigned int i = 0; i < 2; i++) {
		struct folder f;
		struct err e = {0};

		snprintf(below, sizeof(below), "%s/new/deep/", link_path);
		assert_int_equal(folder_make(below, &f, &e), 0);
		assert_string_equal(f.path + strlen(f.path) - 8, "new/deep");
		folder_close(&f);
	}
	assert_int_equal(mode_of("real/new"), 0700);
	assert_int_equal(mode_of("real/new/deep"), 0700);
	snprintf(path, sizeof(path), "%s/real/new/deep", dir);
	assert_int_equal(rmdir(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	remove_file("link");
}

static void names_what_is_no_folder(void **state)
{
	static const struct {
		const char *path;
		int err;
		const char *text;
	} rows[] = {
		{"", -ENOENT, "''"},
		{"-", -EINVAL, "standard output"},
		{"/dev/null", -ENOTDIR, "/dev/null: is a character device, not a folder"},
		{"/dev/null/x", -ENOTDIR, "/dev/null/x"},
		{"/proc/none/x", -ENOENT, "/proc/none/x"},
	};
	struct folder f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(folder_make(rows[i].path, &f, &e), rows[i].err);
		assert_non_null(strstr(e.text, rows[i].text));
	}
	assert_int_equal(folder_open("/nonexistent/x", &f, &e), -ENOENT);
}

/* Somebody was there first: with the name, or with all names that are not random. */
static void makes_new_folders(void **state)
{
	char path[64], first[80];
	struct folder f;
	struct err e;

	(void)state;
	path_of("run", path);
	assert_int_equal(folder_make_new(path, &f, &e), 0);
	assert_string_equal(f.path, path);
	folder_close(&f);
	assert_int_equal(mode_of("run"), 0700);
	assert_int_equal(folder_make_new(path, &f, &e), 0);
	snprintf(first, sizeof(first), "%s", f.path);
	assert_int_equal(strncmp(first, path, strlen(path)), 0);
	assert_int_equal(strlen(first), strlen(path) + 5);
	folder_close(&f);
	assert_int_equal(rmdir(path), 0);
	make_link(path);
	assert_int_equal(folder_make_new(path, &f, &e), 0);
	assert_string_not_equal(f.path, path);
	assert_string_not_equal(f.path, first);
	assert_int_equal(rmdir(f.path), 0);
	folder_close(&f);
	assert_int_equal(rmdir(first), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(folder_make_new("/nonexistent/x", &f, &e), -ENOENT);
}

static void takes_one_element(void **state)
{
	static const char *const bad[] = {"", ".", "..", "a/b", "/etc/x", "../x", "x/"};
	struct folder f, below;
	struct file file;
	struct err e;
	int fd;

	(void)state;
	assert_int_equal(folder_open(dir, &f, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(file_open_in(&f, bad[i], 0, &file, &e), -EINVAL);
		assert_non_null(strstr(e.text, "expected one path element"));
		assert_int_equal(folder_below(&f, bad[i], &below, &e), -EINVAL);
		assert_int_equal(folder_find(&f, bad[i], &below, &e), -EINVAL);
		assert_int_equal(folder_remove(&f, bad[i], &e), -EINVAL);
		assert_int_equal(file_remove(&f, bad[i], &e), -EINVAL);
		assert_int_equal(file_rename(&f, bad[i], &f, "x", &e), -EINVAL);
		assert_int_equal(file_rename(&f, "x", &f, bad[i], &e), -EINVAL);
		assert_int_equal(file_descriptor(&f, bad[i], O_RDONLY, 0, &fd, &e), -EINVAL);
	}
	assert_int_equal(file_write_in(&f, "-", 0, "text", 4, &e), 0); /* here no standard output */
	assert_text("-", "text");
	assert_int_equal(file_remove(&f, "-", &e), 0);
	assert_int_equal(file_remove(&f, "-", &e), 0);
	folder_close(&f);
	folder_close(&f);
}

static void takes_long_names(void **state)
{
	char name[256];
	struct folder f;
	struct err e;

	(void)state;
	memset(name, 'n', 255);
	name[255] = '\0';
	assert_int_equal(folder_open(dir, &f, &e), 0);
	assert_int_equal(file_write_in(&f, name, 0, "long", 4, &e), 0);
	assert_int_equal(file_remove(&f, name, &e), 0);
	folder_close(&f);
}

static void names_what_cannot_be_opened(void **state)
{
	static const struct {
		const char *path;
		int err;
	} rows[] = {{"", -ENOENT},	     {"/nonexistent/x", -ENOENT},
		    {"/", -EISDIR},	     {".", -EISDIR},
		    {"..", -EISDIR},	     {"/tmp/", -EISDIR},
		    {"/tmp", -EISDIR},	     {"/dev/null/x", -ENOTDIR},
		    {"/dev/stdout", -ELOOP}, {"/dev/fd/1", -ELOOP}};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(save(rows[i].path, 0, "x", true, &e), rows[i].err);
		assert_non_null(strstr(e.text, rows[i].path));
	}
}

static void tells_a_full_disk(void **state)
{
	struct rlimit former, limit;
	char path[64], big[8192];
	struct err e = {0};

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	write_file("a", "before");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &former), 0);
	limit = former;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(save(path_of("a", path), 0, big, true, &e), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &former), 0);
	assert_non_null(strstr(e.text, path));
	assert_text("a", "before");
	assert_int_equal(count_names(), 1);
	remove_file("a");
}

/* After a crash a name has all bytes: of the file first, then the name, then the folder. */
static void syncs_in_order(void **state)
{
	struct folder f, below;
	char path[64];
	struct err e = {0};

	(void)state;
	memset(done, 0, sizeof(done));
	assert_int_equal(save(path_of("a", path), 0, "one", true, &e), 0);
	assert_string_equal(done, "FRD");
	memset(done, 0, sizeof(done));
	assert_int_equal(save(path, FILE_UNSYNCED, "two", true, &e), 0);
	assert_string_equal(done, "R");
	assert_int_equal(folder_open(dir, &f, &e), 0);
	memset(done, 0, sizeof(done));
	assert_int_equal(folder_below(&f, "b", &below, &e), 0);
	assert_string_equal(done, "D");
	memset(done, 0, sizeof(done));
	assert_int_equal(file_rename(&f, "a", &below, "c", &e), 0);
	assert_string_equal(done, "RDD");
	fsync_errno = EIO;
	assert_int_equal(file_write_in(&below, "c", 0, "three", 5, &e), -EIO);
	fsync_errno = 0;
	assert_text("b/c", "two");
	assert_int_equal(file_remove(&below, "c", &e), 0);
	folder_close(&below);
	assert_int_equal(folder_remove(&f, "b", &e), 0); /* nothing else is left in it */
	folder_close(&f);
}

static void writes_standard_output(void **state)
{
	int former = dup(STDOUT_FILENO), to;
	char path[64];
	struct err e = {0};

	(void)state;
	fflush(stdout);
	write_file("out", "");
	to = open(path_of("out", path), O_WRONLY);
	assert_int_equal(dup2(to, STDOUT_FILENO), STDOUT_FILENO);
	close(to);
	int kept = save("-", 0, "text", true, &e);
	int dropped = save("-", 0, "", false, &e);

	to = open("/dev/full", O_WRONLY);
	assert_int_equal(dup2(to, STDOUT_FILENO), STDOUT_FILENO);
	close(to);
	int full = save("-", 0, "lost", true, &e);

	dup2(former, STDOUT_FILENO); /* what is still in the buffer goes to the terminal */
	close(former);
	clearerr(stdout);
	assert_int_equal(kept, 0);
	assert_int_equal(dropped, 0);
	assert_int_equal(full, -ENOSPC);
	assert_string_equal(e.text, "standard output: No space left on device");
	assert_text("out", "text");
	remove_file("out");
}

static void reads_and_renames(void **state)
{
	struct folder f, below;
	char *text = NULL;
	size_t size = 0;
	struct err e;
	DIR *list;
	int fd;

	(void)state;
	assert_int_equal(folder_open(dir, &f, &e), 0);
	assert_int_equal(folder_below_new(&f, "b", &below, &e), 0);
	assert_int_equal(file_write_in(&f, "a", 0, "0123456789", 10, &e), 0);
	assert_int_equal(file_read(&f, "a", 9, &text, &size, &e), -EFBIG);
	assert_int_equal(file_read(&f, "a", 10, &text, &size, &e), 0);
	assert_int_equal(size, 10);
	assert_string_equal(text, "0123456789");
	free(text);
	assert_int_equal(file_rename(&f, "a", &below, "c", &e), 0);
	assert_int_equal(file_rename(&f, "a", &below, "c", &e), -ENOENT);
	assert_int_equal(file_descriptor(&below, "c", O_RDWR | O_CREAT | O_EXCL, 0600, &fd, &e),
			 -EEXIST);
	assert_int_equal(file_descriptor(&below, "c", O_WRONLY | O_APPEND, 0, &fd, &e), 0);
	assert_int_equal(write(fd, "!", 1), 1);
	close(fd);
	assert_text("b/c", "0123456789!");
	assert_int_equal(folder_flush(&below, &e), 0);
	list = folder_list(&below, &e);
	assert_non_null(list);
	closedir(list);
	list = folder_list(&below, &e); /* again from the first name */
	assert_non_null(readdir(list));
	closedir(list);
	assert_int_equal(folder_remove(&f, "b", &e), -ENOTEMPTY);
	assert_int_equal(file_remove(&below, "c", &e), 0);
	folder_close(&below);
	assert_int_equal(folder_remove(&f, "b", &e), 0);
	folder_close(&f);
}

/* Whole files of more than the first piece that is read. */
static void reads_long_files(void **state)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 70000};
	char *bytes = calloc(1, 70000), *text;
	struct folder f;
	size_t size;
	struct err e;

	(void)state;
	memset(bytes, 'x', 70000);
	assert_int_equal(folder_open(dir, &f, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_int_equal(file_write_in(&f, "a", 0, bytes, sizes[i], &e), 0);
		assert_int_equal(file_read(&f, "a", sizes[i], &text, &size, &e), 0);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(text, bytes, size);
		assert_int_equal(text[size], '\0');
		free(text);
	}
	assert_int_equal(file_remove(&f, "a", &e), 0);
	folder_close(&f);
	free(bytes);
}

static void makes_files_without_a_name(void **state)
{
	char got[4] = "";
	struct stat st;
	struct err e;
	int fd;

	(void)state;
	assert_int_equal(setenv("TMPDIR", dir, 1), 0);
	assert_int_equal(file_unnamed(&fd, &e), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(pread(fd, got, 3, 0), 3);
	assert_string_equal(got, "abc");
	close(fd);
	assert_int_equal(count_names(), 0);
	assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
	assert_int_equal(file_unnamed(&fd, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent"));
	assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses_by_kind),
		cmocka_unit_test(keeps_or_drops),
		cmocka_unit_test(keeps_the_umask),
		cmocka_unit_test(checks_folders),
		cmocka_unit_test(writes_into_shared_folders),
		cmocka_unit_test(follows_own_links_to_folders),
		cmocka_unit_test(refuses_links_to_folders),
		cmocka_unit_test(names_what_is_no_folder),
		cmocka_unit_test(makes_new_folders),
		cmocka_unit_test(takes_one_element),
		cmocka_unit_test(takes_long_names),
		cmocka_unit_test(names_what_cannot_be_opened),
		cmocka_unit_test(tells_a_full_disk),
		cmocka_unit_test(syncs_in_order),
		cmocka_unit_test(writes_standard_output),
		cmocka_unit_test(reads_and_renames),
		cmocka_unit_test(reads_long_files),
		cmocka_unit_test(makes_files_without_a_name),
	};

	/* The teardown fails when a test left something behind. */
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
