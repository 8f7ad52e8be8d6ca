/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target over its corpus without a fuzzer: each file under tests/fuzz/corpus/NAME/,
 * where NAME is that of the program, or the files that are named as arguments. A corpus that is
 * not there is a failure. What breaks ends the program, and the input is named.
 */
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (1U << 20)

static char current[512]; /* the input under way, for the handler */

static void tell_input(void)
{
	static const char text[] = "the input: ";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)!write(STDERR_FILENO, current, strlen(current));
	(void)!write(STDERR_FILENO, "\n", 1);
}

static void end_by(int number)
{
	tell_input();
	signal(number, SIG_DFL);
	raise(number);
}

static void tell_when_broken(void)
{
	signal(SIGABRT, end_by);
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_set_death_callback(tell_input);
#else
	signal(SIGSEGV, end_by);
#endif
}

static int run_file(const char *path)
{
	uint8_t *buf = malloc(INPUT_MAX), *exact;
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f || !buf) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(buf);
		return -1;
	}
	len = fread(buf, 1, INPUT_MAX, f);
	fclose(f);
	snprintf(current, sizeof(current), "%s", path);
	exact = fuzz_exact(buf, len);
	free(buf);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 0;
}

static int is_input(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* How many files were run, -1 when one could not be read. */
static int run_corpus(const char *folder)
{
	struct dirent **entry = NULL;
	int n = scandir(folder, &entry, is_input, alphasort), failed = 0;

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		failed |= run_file(path);
		free(entry[i]);
	}
	free(entry);
	return failed ? -1 : n;
}

int main(int argc, char **argv)
{
	char folder[256];
	int n = argc - 1;

	tell_when_broken();
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			if (run_file(argv[i]))
				return 1;
	} else {
		snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", basename(argv[0]));
		n = run_corpus(folder);
		if (n <= 0)
			fprintf(stderr, "%s: no input could be run\n", folder);
	}
	printf("%d inputs\n", n);
	return n > 0 ? 0 : 1;
}
