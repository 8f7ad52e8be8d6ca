/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share. A target is a file fuzz_NAME.c with one LLVMFuzzerTestOneInput();
 * its inputs are under corpus/NAME/. `make check` runs them by replay.c, `make soak` by libFuzzer.
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
