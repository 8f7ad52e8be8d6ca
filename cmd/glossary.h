/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Meanings of words of the options of `probe`, for `probe client --explain`, which picks those of a
 * run, and for `explain`, which is asked for one.
 */
#ifndef CMD_GLOSSARY_H
#define CMD_GLOSSARY_H

struct glossary_word {
	const char *word, *meaning;
};
extern const struct glossary_word glossary[]; /* ends with a row without word */

/* Meaning of "strict", "baseline"; NULL when there is none. */
const char *glossary_meaning(const char *word);

#endif
