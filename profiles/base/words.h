/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of words and their values.
 */
#ifndef PROFILES_WORDS_H
#define PROFILES_WORDS_H

#include <stdint.h>

struct qos_word {
	const char *word; /* NULL ends a table */
	uint16_t value;
};

/* on and off, true and false. */
extern const struct qos_word qos_switch_words[];

/* Word of a value, or NULL; value of a word, or -ENOENT. */
const char *qos_word_text(const struct qos_word *words, uint16_t value);
int qos_word_value(const struct qos_word *words, const char *text);

#endif
