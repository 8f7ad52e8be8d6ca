/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Meanings of the words of `probe`, printed by `probe client --explain` (those of a run) and by
 * `explain WORD`.
 */
#ifndef CMD_GLOSSARY_H
#define CMD_GLOSSARY_H

struct glossary_word {
	const char *word, *meaning;
};
extern const struct glossary_word glossary[]; /* ends with a row without word */

/* Returns the meaning of a word such as "strict"; NULL when it has none. */
const char *glossary_meaning(const char *word);

#endif
