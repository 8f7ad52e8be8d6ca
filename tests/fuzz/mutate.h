/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutators by the language of an input: what comes out is well-formed, but for one in so many that
 * is not, on purpose. One that cannot be read as its language is changed byte by byte.
 */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include "tests/fuzz/fuzz.h"

/* Of libFuzzer; replay.c has a simple one. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t max_size, unsigned int seed);

typedef size_t mutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
typedef size_t crosser(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
		       uint8_t *out, size_t max_size, unsigned int seed);

mutator mutate_json;	   /* a document */
mutator mutate_json_lines; /* one a line */
mutator mutate_yaml;
mutator mutate_pcap;
mutator mutate_pcapng;
crosser cross_json;
crosser cross_yaml;

/* Of a target whose inputs are in one language. */
#define FUZZ_MUTATE(language)                                                                      \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,                \
				       unsigned int seed)                                          \
	{                                                                                          \
		return mutate_##language(data, size, max_size, seed);                              \
	}
#define FUZZ_CROSS(language)                                                                       \
	size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b,        \
					 size_t b_size, uint8_t *out, size_t max_size,             \
					 unsigned int seed)                                        \
	{                                                                                          \
		return cross_##language(a, a_size, b, b_size, out, max_size, seed);                \
	}

#endif
