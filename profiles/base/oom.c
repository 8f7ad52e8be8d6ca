/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See oom.h.
 */
#include "profiles/base/oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCORE "/proc/self/oom_score_adj"

int oom_get(void)
{
	int fd = open(SCORE, O_RDONLY | O_CLOEXEC);
	char text[16] = "";

	if (fd < 0)
		return 0;
	(void)!read(fd, text, sizeof(text) - 1); /* "" is 0 */
	close(fd);
	return (int)strtol(text, NULL, 10);
}

int oom_set(int score)
{
	int former = oom_get(), fd = open(SCORE, O_WRONLY | O_CLOEXEC), n;
	char text[16];

	if (fd < 0)
		return former;
	n = snprintf(text, sizeof(text), "%d", score);
	(void)!pwrite(fd, text, (size_t)n, 0); /* see oom.h */
	close(fd);
	return former;
}
