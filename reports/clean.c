/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * UTF-8 is checked by RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF. Left out
 * besides are C0 and C1 controls (terminal escapes) and U+FFFE, U+FFFF, which are no XML 1.0 Char.
 */
#include "reports/clean.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the sequence a lead byte begins; 0 = none does. */
static unsigned int sequence_length(uint8_t lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

static bool allowed(uint32_t c, unsigned int length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};

	if (c < least[length] || c < 0x20 || (c >= 0x7f && c <= 0x9f) || c > 0x10ffff)
		return false;
	return !(c >= 0xd800 && c <= 0xdfff) && c != 0xfffe && c != 0xffff;
}

/* Length of the good character at text, 0 when there is none. */
static unsigned int good_length(const char *text)
{
	unsigned int length = sequence_length((uint8_t)text[0]);
	uint32_t c = (uint8_t)text[0];

	if (length > 1)
		c &= 0xffu >> (length + 1);
	for (unsigned int i = 1; i < length; i++) {
		if (((uint8_t)text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | ((uint8_t)text[i] & 0x3f);
	}
	return length && allowed(c, length) ? length : 0;
}

char *clean_text(const char *text)
{
	size_t at = 0, put = 0;
	char *copy;

	if (!text)
		text = "";
	copy = malloc(strlen(text) + 1);
	if (!copy)
		return NULL;
	while (text[at]) {
		unsigned int length = good_length(text + at);

		if (!length) {
			copy[put++] = '?';
			at++;
			continue;
		}
		memcpy(copy + put, text + at, length);
		put += length;
		at += length;
	}
	copy[put] = '\0';
	return copy;
}

void clean_put(FILE *out, const char *text)
{
	char *copy = clean_text(text);

	fputs(copy ? copy : "?", out);
	free(copy);
}
