/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON objects of agents, coordinators and files with checks, and structs by table.
 */
#include "profiles/base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"

#define HEX_MAX	  64
#define ERRNO_MAX 4096

int json_get_uint(const json_t *object, const char *key, uint64_t min, uint64_t max,
		  uint64_t *value, struct err *e)
{
	const json_t *v = json_object_get(object, key);
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not an integer" : "missing");
	if (n < 0 || (uint64_t)n < min || (uint64_t)n > max)
		return err_set(e, -EINVAL, "'%s': %lld is out of range: expected %llu to %llu", key,
			       (long long)n, (unsigned long long)min, (unsigned long long)max);
	*value = (uint64_t)n;
	return 0;
}

int json_get_uint_or(const json_t *object, const char *key, uint64_t fallback, uint64_t min,
		     uint64_t max, uint64_t *value, struct err *e)
{
	if (json_object_get(object, key))
		return json_get_uint(object, key, min, max, value, e);
	*value = fallback;
	return 0;
}

int json_get_bool(const json_t *object, const char *key, bool *value, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_boolean(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not true or false" : "missing");
	*value = json_is_true(v);
	return 0;
}

int json_get_string(const json_t *object, const char *key, char *buf, size_t size, struct err *e)
{
	const json_t *v = json_object_get(object, key);
	size_t length = json_string_length(v);
	const char *text = json_string_value(v);

	if (!text)
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not a string" : "missing");
	if (length >= size)
		return err_set(e, -EINVAL, "'%s': longer than %zu characters", key, size - 1);
	if (strlen(text) != length)
		return err_set(e, -EINVAL, "'%s': holds a control character", key);
	memcpy(buf, text, length + 1);
	return 0;
}

int json_get_text(const json_t *object, const char *key, char *buf, size_t size, struct err *e)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text && !text_is_safe(text, TEXT_FIELD))
		return err_set(e, -EINVAL, "'%s': holds a control character", key);
	return json_get_string(object, key, buf, size, e);
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

int json_get_word(const json_t *object, const char *key, const char *const *words,
		  unsigned int count, unsigned int *index, struct err *e)
{
	const char *text = json_string_value(json_object_get(object, key));

	for (unsigned int i = 0; text && i < count; i++) {
		if (!strcmp(words[i], text)) {
			*index = i;
			return 0;
		}
	}
	return err_set(e, -EINVAL, "'%s': %s", key, text ? "unknown word" : "not a string");
}

int json_get_object(const json_t *object, const char *key, const json_t **value, struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_object(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not an object" : "missing");
	*value = v;
	return 0;
}

int json_get_array(const json_t *object, const char *key, size_t max, const json_t **value,
		   struct err *e)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_array(v))
		return err_set(e, -EINVAL, "'%s': %s", key, v ? "not an array" : "missing");
	if (json_array_size(v) > max)
		return err_set(e, -EINVAL, "'%s': %zu entries, expected at most %zu", key,
			       json_array_size(v), max);
	*value = v;
	return 0;
}

static int json_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

int json_get_hex(const json_t *object, const char *key, uint8_t *bytes, size_t size, struct err *e)
{
	char text[2 * HEX_MAX + 1];
	uint8_t out[HEX_MAX];
	int err;

	if (size > HEX_MAX)
		return err_set(e, -EINVAL, "'%s': too long", key);
	err = json_get_text(object, key, text, sizeof(text), e);
	if (err)
		return err;
	if (strlen(text) != 2 * size)
		return err_set(e, -EINVAL, "'%s': must have %zu hexadecimal digits", key, 2 * size);
	for (size_t i = 0; i < size; i++) {
		int high = json_hex_digit(text[2 * i]), low = json_hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return err_set(e, -EINVAL, "'%s': not a hexadecimal digit", key);
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

/* Structs by table. */

/* -1 in the size of the member. */
static bool json_number_unknown(const struct json_row *r, uint64_t value)
{
	return r->need == JSON_UNKNOWN && value == UINT64_MAX >> (64 - 8 * r->size);
}

static json_t *json_numbers_write(const uint64_t *number, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < count; i++)
		if (json_array_append_new(array, json_uint(number[i]))) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *json_row_write(const struct json_row *r, const void *base)
{
	const char *at = (const char *)base + r->offset;
	uint64_t value;

	switch (r->kind) {
	case JSON_NUMBER:
		value = uint_get(at, r->size);
		return json_number_unknown(r, value) ? json_null() : json_uint(value);
	case JSON_WORD:
		value = uint_get(at, r->size);
		return json_string(value < r->words->count ? r->words->word[value] : "?");
	case JSON_BOOL:
		return json_boolean(*(const bool *)at);
	case JSON_TEXT:
	case JSON_NAME:
		return text_to_json(at); /* a peer or a host can have chosen it */
	case JSON_NUMBERS:
		return json_numbers_write((const uint64_t *)(const void *)at,
					  r->size / sizeof(uint64_t));
	case JSON_LIST:
		return json_list_write(
			r->item, r->item_rows, at, r->size,
			*(const uint32_t *)(const void *)((const char *)base + r->used_offset));
	}
	return NULL;
}

int json_rows_write(json_t *object, const struct json_row *row, size_t rows, const void *base)
{
	for (size_t i = 0; i < rows; i++)
		if (json_object_set_new_nocheck(object, row[i].key, json_row_write(&row[i], base)))
			return -ENOMEM;
	return 0;
}

json_t *json_list_write(const struct json_row *row, size_t rows, const void *base, size_t size,
			unsigned int count)
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i < count; i++) {
		json_t *one = json_object();

		if (json_rows_write(one, row, rows, (const char *)base + i * size) |
		    json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool json_text_is_name(const char *text)
{
	if (text[0] == '-' || text[0] == '.')
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || *text == '/')
			return false;
	return true;
}

static int json_numbers_read(const json_t *object, const struct json_row *r, uint64_t *number,
			     struct err *e)
{
	size_t count = r->size / sizeof(*number);
	const json_t *array = NULL;
	int err = json_get_array(object, r->key, count, &array, e);

	if (!err && json_array_size(array) < count)
		return err_set(e, -EINVAL, "'%s': must have %zu entries", r->key, count);
	for (size_t i = 0; !err && i < count; i++) {
		const json_t *v = json_array_get(array, i);

		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return err_set(e, -EINVAL, "'%s' %zu: not an integer from 0", r->key, i);
		number[i] = (uint64_t)json_integer_value(v);
	}
	return err;
}

static int json_row_read(const json_t *object, const struct json_row *r, void *base, struct err *e)
{
	char *at = (char *)base + r->offset;
	unsigned int word, used;
	uint64_t number;
	int err = 0;

	switch (r->kind) {
	case JSON_NUMBER:
		err = json_get_uint(object, r->key, r->min, r->max, &number, e);
		if (!err)
			uint_set(at, r->size, number);
		return err;
	case JSON_WORD:
		err = json_get_word(object, r->key, r->words->word, r->words->count, &word, e);
		if (!err)
			uint_set(at, r->size, word);
		return err;
	case JSON_BOOL:
		return json_get_bool(object, r->key, (bool *)at, e);
	case JSON_TEXT:
	case JSON_NAME:
		err = json_get_text(object, r->key, at, r->size, e);
		if (!err && r->kind == JSON_NAME && !json_text_is_name(at))
			err = err_set(e, -EINVAL, "'%s': not a name", r->key);
		return err;
	case JSON_NUMBERS:
		return json_numbers_read(object, r, (uint64_t *)(void *)at, e);
	case JSON_LIST:
		err = json_list_read(object, r->key, r->item, r->item_rows, at, r->size,
				     (unsigned int)r->max, &used, e);
		if (!err)
			*(uint32_t *)(void *)((char *)base + r->used_offset) = used;
		return err;
	}
	return -EINVAL;
}

int json_rows_read(const json_t *object, const struct json_row *row, size_t rows, void *base,
		   struct err *e)
{
	int err = 0;

	for (const struct json_row *r = row; !err && r < row + rows; r++) {
		const json_t *v = r->need == JSON_NEEDED ? NULL : json_object_get(object, r->key);

		if (r->need == JSON_UNKNOWN && (!v || json_is_null(v)))
			uint_set((char *)base + r->offset, r->size, UINT64_MAX);
		else if (r->need == JSON_NEEDED || v)
			err = json_row_read(object, r, base, e);
	}
	return err;
}

int json_list_read(const json_t *object, const char *key, const struct json_row *row, size_t rows,
		   void *base, size_t size, unsigned int most, unsigned int *count, struct err *e)
{
	const json_t *list = NULL;
	int err = json_get_array(object, key, most, &list, e);

	for (size_t i = 0; !err && i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);

		err = json_is_object(one)
			      ? json_rows_read(one, row, rows, (char *)base + i * size, e)
			      : err_set(e, -EINVAL, "not an object");
		if (err)
			err_prefix(e, "'%s' %zu", key, i);
	}
	if (!err)
		*count = (unsigned int)json_array_size(list);
	return err;
}
