/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sanitizes foreign text for printing: names, errors and lines of hosts, peers, processes, files
 * and packets. Each unsafe character or byte becomes one '?', so that a text keeps its columns and
 * never grows. Unsafe are:
 * - C0 controls, DEL and C1 controls (U+0080-U+009F): they drive terminals;
 * - bytes that are not UTF-8 by RFC 3629, such as raw 0x80-0x9f;
 * - Default_Ignorable_Code_Point of Unicode 15, which has all bidirectional controls, zero-width
 *   characters, tags and variation selectors: they reorder or hide text;
 * - U+2028, U+2029 (they end lines), U+FFF9-U+FFFB (annotations), and the noncharacters, of which
 *   XML 1.0 forbids U+FFFE and U+FFFF.
 * The result is valid UTF-8, valid XML 1.0 character data after escaping, and valid JSON text.
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

/* Returns true if text_sanitize() would not change the text. */
bool text_is_safe(const char *text, enum text_form form);

/* Sanitizes a NUL-terminated text in place; it never gets longer. */
void text_sanitize(char *text, enum text_form form);

/* Returns a sanitized copy, which the caller frees; NULL counts as empty. NULL on -ENOMEM. */
char *text_copy(const char *text, enum text_form form);

/* Returns a sanitized copy (TEXT_FIELD) as JSON string, also of a text that was cut inside a
 * character: jansson would refuse it. New reference, NULL on -ENOMEM. */
json_t *text_to_json(const char *text);

/* Prints a sanitized text, without allocating memory. The stream keeps the error. */
void text_print(FILE *out, const char *text, enum text_form form);

/* Sanitizes `size` bytes into `to`, which can be `from`; returns the number of bytes, at most
 * `size`. NUL is a C0 control, not the end. */
size_t text_sanitize_bytes(char *to, const char *from, size_t size, enum text_form form);

/* Length of the character at text; more than `size` if it can continue after them, 0 if it is not
 * UTF-8. size is at least 1. */
size_t text_character_length(const char *text, size_t size);

/* Styles of coloured output. Sanitized text cannot contain them, as it has no ESC. */
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

/* Length of the style at text; more than `size` if one can continue after them, 0 if there is none.
 */
size_t text_style_length(const char *text, size_t size);

#endif
