/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is a file fuzz_NAME.c with one LLVMFuzzerTestOneInput();
 * its inputs are made by seeds.py, and what was found is under corpus/NAME/. `make check` runs them
 * by replay.c, `make soak` by libFuzzer.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* How far an input came. Each target of a document or a file says it. */
enum fuzz_stage {
	FUZZ_PARSED, /* past the parser: of JSON, of YAML, of the file's header */
	FUZZ_TAKEN,  /* taken whole: what lies behind the checks was run, too */
	FUZZ_STAGES,
};

/* Counts an input, and then each stage it reaches, once. With FUZZ_SHARE in the environment, their
 * shares are printed when the program ends. */
void fuzz_begin(void);
void fuzz_reach(enum fuzz_stage stage);

/* Per mille of the inputs so far, 0 without any. */
unsigned int fuzz_share(enum fuzz_stage stage);
void fuzz_forget_shares(void);

/* What every target of capture files does. */
int fuzz_capture_file(const uint8_t *data, size_t size);

/* Writes the input into the file `name` of a folder that this process alone has and that is gone
 * with it; the name may have folders in it. Its path, until the next call. For readers that take a
 * path. */
const char *fuzz_file(const char *name, const uint8_t *data, size_t size);

/* That folder. */
const char *fuzz_folder(void);

/* What is true of every input: the run ends when it is not. */
#define HOLDS(fact) ((fact) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #fact))

static inline void fuzz_broken(const char *file, int line, const char *fact)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, fact);
	abort();
}

/* Of exactly this size, so that AddressSanitizer sees a read beyond the end. The caller frees. */
static inline uint8_t *fuzz_exact(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	HOLDS(copy);
	if (len)
		memcpy(copy, data, len);
	return copy;
}

/* Inputs of several records: a header of head_len bytes that ends in the 16-bit length of what
 * follows it (low byte first). The last record may be short. False at the end. */
static inline bool fuzz_record(const uint8_t **data, size_t *size, size_t head_len,
			       const uint8_t **head, const uint8_t **body, size_t *len)
{
	if (*size < head_len)
		return false;
	*head = *data;
	*body = *data + head_len;
	*len = (size_t)((*head)[head_len - 2] | (*head)[head_len - 1] << 8);
	if (*len > *size - head_len)
		*len = *size - head_len;
	*data = *body + *len;
	*size -= head_len + *len;
	return true;
}

#endif
