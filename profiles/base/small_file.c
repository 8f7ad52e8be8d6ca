/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small files below a root that tests can change. Their content is untrusted: it is bounded and cut
 * before use.
 */
#include "profiles/base/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/base/file.h"

static bool small_file_path(char path[PATH_MAX], const char *root, const char *fmt, va_list args)
{
	int used = snprintf(path, PATH_MAX, "%s/", root), more;

	if (used >= PATH_MAX)
		return false;
	more = vsnprintf(path + used, (size_t)(PATH_MAX - used), fmt, args);
	return more >= 0 && more < PATH_MAX - used;
}

/* Cuts at the first byte that is not printable ASCII. */
static void small_file_cut(char *text)
{
	while (*text >= ' ' && *text <= '~')
		text++;
	*text = '\0';
}

static bool small_file_read_line(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = '\0';
	small_file_cut(buf);
	return n >= 0;
}

bool small_file_line(char *buf, size_t size, const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, fmt);
	fits = small_file_path(path, root, fmt, args);
	va_end(args);
	buf[0] = '\0';
	return fits && small_file_read_line(path, buf, size);
}

int small_file_bytes(char *buf, size_t size, const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	size_t used = 0;
	va_list args;
	ssize_t n;
	int fd = -1;

	va_start(args, fmt);
	if (small_file_path(path, root, fmt, args))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	va_end(args);
	buf[0] = '\0';
	if (fd < 0)
		return SMALL_FILE_UNKNOWN;
	while (used + 1 < size && (n = read(fd, buf + used, size - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	buf[used] = '\0';
	return (int)used;
}

bool small_file_value(char *buf, size_t size, const char *key, const char *root, const char *fmt,
		      ...)
{
	char path[PATH_MAX], line[PATH_MAX];
	FILE *f = NULL;
	va_list args;

	va_start(args, fmt);
	if (small_file_path(path, root, fmt, args))
		f = fopen(path, "re");
	va_end(args);
	buf[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(buf, size, "%s", line + strlen(key));
		fclose(f);
		return true;
	}
	if (f)
		fclose(f);
	return false;
}

bool small_file_link(char *buf, size_t size, const char *root, const char *fmt, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	va_list args;
	ssize_t n;
	bool fits;

	va_start(args, fmt);
	fits = small_file_path(path, root, fmt, args);
	va_end(args);
	buf[0] = '\0';
	n = fits ? readlink(path, target, sizeof(target) - 1) : -1;
	if (n <= 0)
		return false;
	target[n] = '\0';
	small_file_text(buf, size, file_name_of(target));
	return true;
}

int32_t small_file_number(int32_t min, int32_t max, const char *root, const char *fmt, ...)
{
	char path[PATH_MAX], text[32], *end;
	va_list args;
	long value;
	bool fits;

	va_start(args, fmt);
	fits = small_file_path(path, root, fmt, args);
	va_end(args);
	if (!fits || !small_file_read_line(path, text, sizeof(text)))
		return SMALL_FILE_UNKNOWN;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || (*end && *end != ' ') || value < min || value > max)
		return SMALL_FILE_UNKNOWN;
	return (int32_t)value;
}

void small_file_text(char *buf, size_t size, const char *text)
{
	snprintf(buf, size, "%s", text);
	small_file_cut(buf);
}

bool small_file_exists(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	struct stat st;
	va_list args;
	bool fits;

	va_start(args, fmt);
	fits = small_file_path(path, root, fmt, args);
	va_end(args);
	return fits && !lstat(path, &st);
}

/* Opens regular files only: opening a device can have side effects (a watchdog starts, a tape
 * rewinds). */

static bool small_file_is_regular(int root, const char *path)
{
	struct stat st;

	return !fstatat(root, path, &st, 0) && S_ISREG(st.st_mode);
}

unsigned int text_file_read(int root, const char *path, char text[TEXT_FILE_MAX + 1])
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (!small_file_is_regular(root, path))
		return 0;
	fd = openat(root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n = read(fd, text, TEXT_FILE_MAX);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? 0 : (unsigned int)n;
}

DIR *small_file_opendir(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !dir) {
		err = errno;
		close(fd);
		errno = err;
	}
	return dir;
}
