/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See words.h.
 */
#include "profiles/base/words.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

const struct qos_word qos_switch_words[] = {
	{"on", 1}, {"off", 0}, {"true", 1}, {"false", 0}, {NULL, 0},
};

const char *qos_word_text(const struct qos_word *words, uint16_t value)
{
	for (; words->word; words++)
		if (words->value == value)
			return words->word;
	return NULL;
}

int qos_word_value(const struct qos_word *words, const char *text)
{
	for (; words->word; words++)
		if (!strcmp(words->word, text))
			return words->value;
	return -ENOENT;
}
