/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Glossary of the terms of `probe`, for `probe client --explain` (the terms of one run) and
 * `explain TERM`.
 */
#ifndef CMD_GLOSSARY_H
#define CMD_GLOSSARY_H

struct glossary_word {
	const char *word, *meaning;
};
extern const struct glossary_word glossary[]; /* ends with a row without word */

/* Returns the meaning of a term ("strict", "baseline"), or NULL. */
const char *glossary_meaning(const char *word);

#endif
