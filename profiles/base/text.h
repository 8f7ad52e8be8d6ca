/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign text made safe to print: the names, errors and lines of hosts, peers, processes, files
 * and the wire. Unsafe characters and bytes become '?', one for each, so that a text keeps its
 * columns and never grows. Unsafe are:
 * - C0 controls, DEL and C1 controls (U+0080-U+009F): they drive terminals;
 * - bytes that are no UTF-8 by RFC 3629, among them raw 0x80-0x9f;
 * - Default_Ignorable_Code_Point of Unicode 15, which has all bidirectional controls, zero-width
 *   characters, tags and variation selectors: they reorder or hide text;
 * - U+2028, U+2029 (they end lines), U+FFF9-U+FFFB (annotations), and the noncharacters, of which
 *   XML 1.0 forbids U+FFFE and U+FFFF.
 * The result is valid UTF-8, valid XML 1.0 character data once it is escaped, and valid JSON text.
 */
#ifndef PROFILES_TEXT_H
#define PROFILES_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The C0 controls that may stay. */
enum text_form {
	TEXT_FIELD, /* none: names, values and whole errors, on one line */
	TEXT_LINE,  /* tabs: a line of a file */
	TEXT_BLOCK, /* tabs and newlines: several lines */
};

/* Whether a text would stay as it is. */
bool text_is_safe(const char *text, enum text_form form);

/* Cleans a text where it is. NUL-terminated before and after, never longer. */
void text_sanitize(char *text, enum text_form form);

/* A clean copy; NULL counts as empty. The caller's to free, NULL on -ENOMEM. */
char *text_copy(const char *text, enum text_form form);

/* A clean copy (TEXT_FIELD) as JSON: of a text that others wrote or that was cut, perhaps inside a
 * character, so that a document is never lost for it. New reference, NULL on -ENOMEM. */
json_t *text_to_json(const char *text);

/* Writes a text clean. Needs no memory; the stream keeps the error. */
void text_print(FILE *out, const char *text, enum text_form form);

/* Cleans `size` bytes that need not be terminated into `to`, which may be `from`, and returns how
 * many there are then, at most `size`. NUL is a C0 control. */
size_t text_sanitize_bytes(char *to, const char *from, size_t size, enum text_form form);

/* Bytes of the character at text; more than `size` when it may go on behind them, 0 when it is no
 * UTF-8. size is at least 1. */
size_t text_character_length(const char *text, size_t size);

/* What we colour output with; foreign text never holds them, as it holds no ESC. */
#define TEXT_RESET	 "\033[0m"
#define TEXT_BOLD	 "\033[1m"
#define TEXT_DIM	 "\033[2m"
#define TEXT_RED	 "\033[31m"
#define TEXT_GREEN	 "\033[32m"
#define TEXT_YELLOW	 "\033[33m"
#define TEXT_BLUE	 "\033[34m"
#define TEXT_CYAN	 "\033[36m"
#define TEXT_BOLD_RED	 "\033[1;31m"
#define TEXT_BOLD_YELLOW "\033[1;33m"

/* Bytes of the style at text; more than `size` when one may go on behind them, 0 when there is
 * none. */
size_t text_style_length(const char *text, size_t size);

#endif
