/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sanitizes foreign text. UTF-8 is checked by RFC 3629 s3: no overlong form, no surrogate, nothing
 * above U+10FFFF. Own ranges replace iswprint(), which does not support UTF-8 in the C locale of
 * services and containers.
 */
#include "profiles/base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/base.h"

/* Ascending. Noncharacters U+xFFFE and U+xFFFF of each plane are found by their low bits. */
static const struct {
	uint32_t first, last;
} unsafe[] = {
	{0x0000, 0x001f},   /* C0 */
	{0x007f, 0x009f},   /* DEL, C1 */
	{0x00ad, 0x00ad},   /* soft hyphen */
	{0x034f, 0x034f},   /* combining grapheme joiner */
	{0x061c, 0x061c},   /* Arabic letter mark (bidi) */
	{0x115f, 0x1160},   /* Hangul fillers */
	{0x17b4, 0x17b5},   /* Khmer inherent vowels */
	{0x180b, 0x180f},   /* Mongolian selectors, vowel separator */
	{0x200b, 0x200f},   /* zero width; LRM, RLM (bidi) */
	{0x2028, 0x202e},   /* line, paragraph separator; embeddings, overrides (bidi) */
	{0x2060, 0x206f},   /* word joiner, invisible operators; isolates (bidi) */
	{0x3164, 0x3164},   /* Hangul filler */
	{0xfdd0, 0xfdef},   /* noncharacters */
	{0xfe00, 0xfe0f},   /* variation selectors */
	{0xfeff, 0xfeff},   /* byte order mark */
	{0xffa0, 0xffa0},   /* halfwidth Hangul filler */
	{0xfff0, 0xfffb},   /* unassigned, ignorable; interlinear annotations */
	{0x1bca0, 0x1bca3}, /* shorthand format controls */
	{0x1d173, 0x1d17a}, /* musical format controls */
	{0xe0000, 0xe0fff}, /* tags, variation selectors supplement */
};

static bool text_is_unsafe(uint32_t c, enum text_form form)
{
	if ((c == '\t' && form != TEXT_FIELD) || (c == '\n' && form == TEXT_BLOCK))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(unsafe) && c >= unsafe[i].first; i++)
		if (c <= unsafe[i].last)
			return true;
	return (c & 0xfffe) == 0xfffe;
}

/* Length of the sequence that a lead byte begins; 0 = not a lead byte. */
static unsigned int text_lead(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/* Length and code point of the character at text, of which `size` bytes are readable; 0 = not
 * UTF-8. */
static unsigned int text_decode(const char *text, size_t size, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned int length = text_lead((uint8_t)text[0]);
	uint32_t c = (uint8_t)text[0];

	if (!length || length > size)
		return 0;
	if (length > 1)
		c &= 0xffu >> (length + 1);
	for (unsigned int i = 1; i < length; i++) {
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | ((uint8_t)text[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return length;
}

/* Length of the character at text, or of the part that one '?' replaces: an unsafe character, or
 * one byte that is not UTF-8. */
static unsigned int text_step(const char *text, size_t size, enum text_form form, bool *good)
{
	unsigned int length;
	uint32_t c;

	if (text[0] >= ' ' && text[0] < 0x7f) {
		*good = true;
		return 1;
	}
	length = text_decode(text, size, &c);
	*good = length && !text_is_unsafe(c, form);
	return length ? length : 1;
}

bool text_is_safe(const char *text, enum text_form form)
{
	size_t size = strlen(text);
	bool good = true;

	for (size_t at = 0; good && at < size;)
		at += text_step(text + at, size - at, form, &good);
	return good;
}

size_t text_sanitize_bytes(char *to, const char *from, size_t size, enum text_form form)
{
	size_t used = 0;

	for (size_t at = 0; at < size;) {
		bool good;
		unsigned int length = text_step(from + at, size - at, form, &good);

		if (good) {
			memmove(to + used, from + at, length);
			used += length;
		} else {
			to[used++] = '?';
		}
		at += length;
	}
	return used;
}

void text_sanitize(char *text, enum text_form form)
{
	text[text_sanitize_bytes(text, text, strlen(text), form)] = '\0';
}

char *text_copy(const char *text, enum text_form form)
{
	char *copy = strdup(text ? text : "");

	if (copy)
		text_sanitize(copy, form);
	return copy;
}

json_t *text_to_json(const char *text)
{
	char *copy = text_copy(text, TEXT_FIELD);
	json_t *made = copy ? json_string(copy) : NULL;

	free(copy);
	return made;
}

void text_print(FILE *out, const char *text, enum text_form form)
{
	size_t size = strlen(text);

	for (size_t at = 0; at < size;) {
		bool good;
		unsigned int length = text_step(text + at, size - at, form, &good);

		if (good)
			fwrite(text + at, 1, length, out);
		else
			fputc('?', out);
		at += length;
	}
}

size_t text_character_length(const char *text, size_t size)
{
	unsigned int length = text_lead((uint8_t)text[0]);
	uint32_t c;

	if (length <= size)
		return text_decode(text, size, &c);
	for (size_t i = 1; i < size; i++)
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static const char *const styles[] = {
	TEXT_RESET,  TEXT_BOLD, TEXT_DIM,  TEXT_RED,	  TEXT_GREEN,
	TEXT_YELLOW, TEXT_BLUE, TEXT_CYAN, TEXT_BOLD_RED, TEXT_BOLD_YELLOW,
};

size_t text_style_length(const char *text, size_t size)
{
	size_t longer = 0;

	for (size_t i = 0; i < ARRAY_SIZE(styles); i++) {
		size_t length = strlen(styles[i]);

		if (length <= size && !memcmp(text, styles[i], length))
			return length;
		if (length > size && !memcmp(text, styles[i], size))
			longer = length;
	}
	return longer;
}
