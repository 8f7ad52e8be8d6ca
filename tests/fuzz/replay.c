/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without a fuzzer over the seeds that seeds.py has made,
 * build/fuzz/seeds/NAME/, where NAME is that of the program, and over what was found,
 * tests/fuzz/corpus/NAME/; or over the files that are named as arguments. Seeds that are not there
 * are a failure. What breaks ends the program, and the input is named. Where the target has a
 * mutator, each file is also run as the mutator changes it, always in the same ways: over one half
 * of those have to get past the parser.
 */
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "tests/fuzz/mutate.h"

#define INPUT_MAX   (1U << 20)
#define MUTATED_MAX (1U << 16)
#define MUTATIONS   16	/* of each input */
#define SHARE_LEAST 500 /* per mille */

/* Not there in a target without a mutator. */
#pragma weak LLVMFuzzerCustomMutator

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

static unsigned int spoilt; /* bytes, of this file */

/* libFuzzer's, for what is no document: one byte becomes another. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	(void)max_size;
	if (size)
		data[spoilt * 2654435761u % size] ^= 1u << spoilt % 8;
	spoilt++;
	return size;
}

static void run_mutated(const char *path, const uint8_t *data, size_t len)
{
	uint8_t *buf = malloc(MUTATED_MAX), *exact;
	size_t n;

	HOLDS(buf);
	spoilt = 0;
	for (unsigned int seed = 1; len <= MUTATED_MAX && seed <= MUTATIONS; seed++) {
		snprintf(current, sizeof(current), "%s, mutated with seed %u", path, seed);
		memcpy(buf, data, len);
		n = LLVMFuzzerCustomMutator(buf, len, MUTATED_MAX, seed);
		exact = fuzz_exact(buf, n);
		LLVMFuzzerTestOneInput(exact, n);
		free(exact);
	}
	free(buf);
}

static int run_file(const char *path, bool mutated)
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
	if (mutated)
		run_mutated(path, exact, len);
	else
		LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 0;
}

static int is_input(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* How many files were run, 0 without such a folder, -1 when one could not be read. */
static int run_folder(const char *folder, bool mutated)
{
	struct dirent **entry = NULL;
	int n = scandir(folder, &entry, is_input, alphasort), failed = 0;

	if (n < 0)
		return errno == ENOENT ? 0 : -1;

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		failed |= run_file(path, mutated);
		free(entry[i]);
	}
	free(entry);
	return failed ? -1 : n;
}

/* The seeds of a target and what was found; 0 when there are no seeds. */
static int run_all(const char *name, bool mutated)
{
	char folder[256];
	int seeds, found;

	snprintf(folder, sizeof(folder), "build/fuzz/seeds/%s", name);
	seeds = run_folder(folder, mutated);
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name);
	found = run_folder(folder, mutated);
	return seeds > 0 && found >= 0 ? seeds + found : 0;
}

/* Inputs that are refused by the parser show nothing of what is behind it. */
static bool mutants_pass(const char *name)
{
	fuzz_forget_shares();
	if (!run_all(name, true))
		return false;
	if (fuzz_share(FUZZ_PARSED) >= SHARE_LEAST)
		return true;
	fprintf(stderr,
		"%s: %u of 1000 mutated inputs get past the parser, at least %d are needed\n", name,
		fuzz_share(FUZZ_PARSED), SHARE_LEAST);
	return false;
}

int main(int argc, char **argv)
{
	bool mutates = LLVMFuzzerCustomMutator != NULL;
	const char *name = basename(argv[0]);
	int n = argc - 1;

	tell_when_broken();
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			if (run_file(argv[i], false) || (mutates && run_file(argv[i], true)))
				return 1;
	} else {
		n = run_all(name, false);
		if (!n)
			fprintf(stderr, "%s: no seeds, or one could not be run\n", name);
		else if (mutates && !mutants_pass(name))
			n = 0;
	}
	printf("%d inputs\n", n);
	return n > 0 ? 0 : 1;
}
