/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Encodes and decodes base64. The decoder accepts only canonical text: no line breaks, padding
 * required.
 */
#include "profiles/base/base64.h"

#include <errno.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(const uint8_t *data, size_t size, char *text)
{
	char *out = text;

	for (size_t i = 0; i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		uint32_t v = (uint32_t)data[i] << 16;

		v |= n > 1 ? (uint32_t)data[i + 1] << 8 : 0;
		v |= n > 2 ? data[i + 2] : 0;
		*out++ = alphabet[v >> 18];
		*out++ = alphabet[v >> 12 & 63];
		*out++ = n > 1 ? alphabet[v >> 6 & 63] : '=';
		*out++ = n > 2 ? alphabet[v & 63] : '=';
	}
	*out = '\0';
	return (size_t)(out - text);
}

static int base64_digit(char c)
{
	const char *at = c ? strchr(alphabet, c) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* Decodes one group of four characters with `pad` '=' at its end. */
static int base64_decode_group(const char *text, unsigned int pad, uint32_t *value)
{
	uint32_t v = 0;

	for (unsigned int i = 0; i < 4; i++) {
		int d = i >= 4 - pad ? 0 : base64_digit(text[i]);

		if (d < 0)
			return -EINVAL;
		v = v << 6 | (uint32_t)d;
	}
	if ((pad == 1 && v & 0xff) || (pad == 2 && v & 0xffff))
		return -EINVAL;
	*value = v;
	return 0;
}

int base64_decode(const char *text, size_t length, uint8_t *data, size_t max, size_t *size)
{
	size_t used = 0;

	if (length % 4)
		return -EINVAL;
	for (size_t i = 0; i < length; i += 4) {
		bool last = i + 4 == length;
		unsigned int pad = last ? (text[i + 3] == '=') +
						   (text[i + 2] == '=' && text[i + 3] == '=')
					: 0;
		uint32_t v;

		if (base64_decode_group(text + i, pad, &v) || used + 3 - pad > max)
			return -EINVAL;
		for (unsigned int k = 0; k < 3 - pad; k++)
			data[used++] = (uint8_t)(v >> (16 - 8 * k));
	}
	*size = used;
	return 0;
}
