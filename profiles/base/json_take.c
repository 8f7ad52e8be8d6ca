/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checked reading of JSON objects from agents, coordinators and files.
 */
#include "profiles/base/json_take.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"

#define HEX_MAX	  64
#define ERRNO_MAX 4096

int json_take_uint(const json_t *object, const char *key, uint64_t min, uint64_t max,
		   uint64_t *value, struct err *e)
{
	const json_t *v = json_object_get(object, key);
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "no integer" : "missing");
	if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return err_set(e, -EINVAL, "'%s': %lld is not within %llu to %llu", key,
			       (long long)n, (unsigned long long)min, (unsigned long long)max);
	*value = (uint64_t)n;
	return 0;
}

int json_take_uint_or(const json_t *object, const char *key, uint64_t fallback, uint64_t min,
		      uint64_t max, uint64_t *value, struct err *e)
{
	if (json_object_get(object, key))
		return json_take_uint(object, key, min, max, value, e);
	*value = fallback;
	return 0;
}

int json_take_numbers(const json_t *object, const struct json_number *rows, size_t count,
		      struct err *e)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = json_take_uint(object, rows[i].key, rows[i].min, rows[i].max, rows[i].value,
				     e);
	return err;
}

int json_take_bool(const json_t *object, const char *key, bool *value, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_boolean(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not true or false" : "missing");
	*value = json_is_true(v);
	return 0;
}

int json_take_text(const json_t *object, const char *key, char *buf, size_t size, struct err *e)
{
	const json_t *v = json_object_get(object, key);
	size_t length = json_string_length(v);
	const char *text = json_string_value(v);

	if (!text)
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "no text" : "missing");
	if (length >= size || strlen(text) != length)
		return err_set(e, -EINVAL, "'%s': longer than %zu characters", key, size - 1);
	if (!text_is_clean(text, TEXT_FIELD))
		return err_set(e, -EINVAL, "'%s': holds a control character", key);
	memcpy(buf, text, length + 1);
	return 0;
}

json_t *err_to_json(const struct err *e)
{
	return json_pack("{s:i, s:o, s:o}", "code", e->code, "text", text_to_json(e->text), "hint",
			 text_to_json(e->hint));
}

void err_from_json(const json_t *error, const char *otherwise, struct err *e)
{
	const char *text = json_string_value(json_object_get(error, "text"));
	const char *hint = json_string_value(json_object_get(error, "hint"));
	json_int_t code = json_integer_value(json_object_get(error, "code"));

	err_set(e, code < 0 && code > -ERRNO_MAX ? (int)code : -EIO, "%s",
		text && *text ? text : otherwise);
	if (hint && *hint)
		err_hint(e, "%s", hint);
}

int json_take_word(const json_t *object, const char *key, const char *const *words,
		   unsigned int count, unsigned int *index, struct err *e)
{
	const char *text = json_string_value(json_object_get(object, key));

	for (unsigned int i = 0; text && i < count; i++) {
		if (!strcmp(words[i], text)) {
			*index = i;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "'%s': %s", key, text ? "unknown word" : "no text");
}

int json_take_object(const json_t *object, const char *key, const json_t **value, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_object(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "no object" : "missing");
	*value = v;
	return 0;
}

int json_take_array(const json_t *object, const char *key, size_t max, const json_t **value,
		    struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_array(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "no array" : "missing");
	if (json_array_size(v) > max)
		return err_set(e, -EINVAL, "'%s': %zu entries, at most %zu are possible", key,
			       json_array_size(v), max);
	*value = v;
	return 0;
}

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int json_take_hex(const json_t *object, const char *key, uint8_t *bytes, size_t size, struct err *e)
{
	char text[2 * HEX_MAX + 1];
	uint8_t out[HEX_MAX];
	int err;

	if (size > HEX_MAX)
		return err_set(e, -EINVAL, "'%s': too long", key);
	err = json_take_text(object, key, text, sizeof(text), e);
	if (err)
		return err;
	if (strlen(text) != 2 * size)
		return err_set(e, -EINVAL, "'%s': must have %zu hexadecimal digits", key, 2 * size);
	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return err_set(e, -EINVAL, "'%s': no hexadecimal digit", key);
		out[i] = (uint8_t)(high << 4 | low);
	}
	memcpy(bytes, out, size);
	return 0;
}

json_t *json_hex(const uint8_t *bytes, size_t size)
{
	char text[2 * HEX_MAX + 1] = "";

	for (size_t i = 0; i < size && i < HEX_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}
