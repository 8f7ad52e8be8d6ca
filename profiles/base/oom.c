/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See oom.h.
 */
#include "profiles/base/oom.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int oom_set(int score)
{
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC), former = 0, n;
	char text[16] = "";

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) > 0)
		former = (int)strtol(text, NULL, 10);
	n = snprintf(text, sizeof(text), "%d", score);
	(void)!pwrite(fd, text, (size_t)n, 0); /* see oom.h */
	close(fd);
	return former;
}
