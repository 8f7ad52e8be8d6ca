/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is no regular file is not even opened: opening a device can do something (a watchdog begins
 * to count, a tape rewinds).
 */
#include "profiles/base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_regular(int root, const char *path)
{
	struct stat st;

	return !fstatat(root, path, &st, 0) && S_ISREG(st.st_mode);
}

unsigned int text_file_read(int root, const char *path, char text[TEXT_FILE_MAX + 1])
{
	struct stat st;
	ssize_t n = -1;
	int fd;

	if (!is_regular(root, path))
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
