/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many inputs get past the parser: a target that only fuzzes its parser is not worth its name.
 * And the file that an input is, for readers of files.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

static unsigned long long inputs, reached[FUZZ_STAGES];
static unsigned int seen; /* 1 << stage, of this input */

static void print_shares(void)
{
	fprintf(stderr, "share: %llu inputs, %.1f %% past the parser, %.1f %% taken\n", inputs,
		fuzz_share(FUZZ_PARSED) / 10.0, fuzz_share(FUZZ_TAKEN) / 10.0);
}

void fuzz_begin(void)
{
	static bool known;

	if (!known && getenv("FUZZ_SHARE"))
		HOLDS(!atexit(print_shares));
	known = true;
	inputs++;
	seen = 0;
}

void fuzz_reach(enum fuzz_stage stage)
{
	if (!(seen & 1u << stage))
		reached[stage]++;
	seen |= 1u << stage;
}

unsigned int fuzz_share(enum fuzz_stage stage)
{
	return inputs ? (unsigned int)(1000 * reached[stage] / inputs) : 0;
}

void fuzz_forget_shares(void)
{
	inputs = 0;
	memset(reached, 0, sizeof(reached));
}

/* In memory where there is such a place: what is synced would wait for the disk. */
static char folder[64] = "/dev/shm/rocecheck_fuzz_XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_folder(void)
{
	(void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
	static bool made;

	if (!made) {
		if (!mkdtemp(folder)) {
			snprintf(folder, sizeof(folder), "/tmp/rocecheck_fuzz_XXXXXX");
			HOLDS(mkdtemp(folder));
		}
		HOLDS(!atexit(remove_folder));
	}
	made = true;
	return folder;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size)
{
	static char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", fuzz_folder(), name);
	for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		HOLDS(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
	return path;
}
