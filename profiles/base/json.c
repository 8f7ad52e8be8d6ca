/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checked reading of JSON objects from agents, coordinators and files, and structs by table.
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

json_t *json_list_add(json_t *list, json_t *one)
{
	if (!json_array_append_new(list, one)) /* takes it in every case */
		return list;
	json_decref(list);
	return NULL;
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

/* Structs by table. */

/* -1 in the size of the member. */
static bool json_number_unknown(const struct json_row *r, uint64_t value)
{
	return r->need == JSON_UNKNOWN && value == UINT64_MAX >> (64 - 8 * r->size);
}

static int json_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static int json_hex_read(const json_t *object, const char *key, uint8_t *bytes, size_t size,
			 struct err *e)
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

static json_t *json_hex_write(const uint8_t *bytes, size_t size)
{
	char text[2 * HEX_MAX + 1] = "";

	for (size_t i = 0; i < size && i < HEX_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return json_string(text);
}

static json_t *json_numbers_write(const uint64_t *number, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		array = json_list_add(array, json_uint(number[i]));
	return array;
}

static json_t *json_element_write(const struct json_row *r, const void *at)
{
	return r->write ? r->write(at) : json_rows_make(r->item, r->item_rows, at);
}

static json_t *json_list_write(const struct json_row *r, const void *base)
{
	uint64_t used = uint_get((const char *)base + r->used_offset, r->used_size);
	const char *at = (const char *)base + r->offset;
	json_t *list = json_array();

	if (r->kind == JSON_ALLOCATED)
		memcpy(&at, at, sizeof(at));
	for (size_t i = 0; i < used; i++)
		list = json_list_add(list, json_element_write(r, at + i * r->size));
	return list;
}

static json_t *json_row_write(const struct json_row *r, const void *base)
{
	const char *at = (const char *)base + r->offset;
	const char *word;
	uint64_t value;

	switch (r->kind) {
	case JSON_NUMBER:
		value = uint_get(at, r->size);
		return json_number_unknown(r, value) ? json_null() : json_uint(value);
	case JSON_WORD:
		value = uint_get(at, r->size);
		word = value <= UINT16_MAX ? qos_word_text(r->words, (uint16_t)value) : NULL;
		return json_string(word ? word : "?");
	case JSON_BOOL:
		return json_boolean(*(const bool *)at);
	case JSON_TEXT:
	case JSON_NAME:
		return text_to_json(at); /* a peer or a host can have chosen it */
	case JSON_HEX:
		return json_hex_write((const uint8_t *)at, r->size);
	case JSON_NUMBERS:
		return json_numbers_write((const uint64_t *)(const void *)at,
					  r->size / sizeof(uint64_t));
	case JSON_STRUCT:
		return json_element_write(r, at);
	case JSON_LIST:
	case JSON_ALLOCATED:
		return json_list_write(r, base);
	}
	return NULL;
}

static bool json_row_is_absent(const struct json_row *r, const void *base)
{
	const char *at = base;

	if (r->need != JSON_SPARSE && r->need != JSON_UNKNOWN)
		return false;
	if (r->used_size)
		return !uint_get(at + r->used_offset, r->used_size);
	if (r->need == JSON_UNKNOWN)
		return false;
	at += r->offset;
	return r->kind == JSON_TEXT ? !*at : !uint_get(at, r->size);
}

int json_rows_write(json_t *object, const struct json_row *row, size_t rows, const void *base)
{
	for (const struct json_row *r = row; r < row + rows; r++)
		if (!json_row_is_absent(r, base) &&
		    json_object_set_new_nocheck(object, r->key, json_row_write(r, base)))
			return -ENOMEM;
	return 0;
}

json_t *json_rows_make(const struct json_row *row, size_t rows, const void *base)
{
	json_t *object = json_object();

	if (!json_rows_write(object, row, rows, base))
		return object;
	json_decref(object);
	return NULL;
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

static int json_word_read(const json_t *object, const struct json_row *r, void *at, struct err *e)
{
	const char *text = json_string_value(json_object_get(object, r->key));
	int value = text ? qos_word_value(r->words, text) : -ENOENT;

	if (value < 0)
		return err_set(e, -EINVAL, "'%s': %s", r->key,
			       text ? "unknown word" : "not a string");
	uint_set(at, r->size, (uint64_t)value);
	return 0;
}

static int json_element_read(const json_t *value, const struct json_row *r, void *at, struct err *e)
{
	if (r->read)
		return r->read(value, at, e);
	if (!json_is_object(value))
		return err_set(e, -EINVAL, "not an object");
	return json_rows_read(value, r->item, r->item_rows, at, e);
}

static int json_object_read(const json_t *object, const struct json_row *r, void *base,
			    struct err *e)
{
	const json_t *value = json_object_get(object, r->key);
	int err = value ? json_element_read(value, r, (char *)base + r->offset, e)
			: err_set(e, -EINVAL, "missing");

	if (err)
		err_prefix(e, "%s", r->key);
	else if (r->used_size)
		uint_set((char *)base + r->used_offset, r->used_size, true);
	return err;
}

static int json_list_read(const json_t *object, const struct json_row *r, void *base, struct err *e)
{
	char *at = (char *)base + r->offset, *used = (char *)base + r->used_offset;
	const json_t *list = NULL;
	int err = json_get_array(object, r->key, r->max, &list, e);
	size_t n = json_array_size(list);

	if (!err && r->kind == JSON_ALLOCATED) {
		void *made = calloc(n + 1, r->size);

		if (!made)
			return err_sys(e, -ENOMEM, "%s", r->key);
		memcpy(at, &made, sizeof(made));
		at = made;
	}
	for (size_t i = 0; !err && i < n; i++) {
		if (r->kind == JSON_ALLOCATED)
			uint_set(used, r->used_size, i + 1);
		err = json_element_read(json_array_get(list, i), r, at + i * r->size, e);
		if (err)
			err_prefix(e, "%s[%zu]", r->key, i);
	}
	if (!err)
		uint_set(used, r->used_size, n);
	return err;
}

static int json_row_read(const json_t *object, const struct json_row *r, void *base, struct err *e)
{
	char *at = (char *)base + r->offset;
	uint64_t number;
	int err = 0;

	switch (r->kind) {
	case JSON_NUMBER:
		err = json_get_uint(object, r->key, r->min, r->max, &number, e);
		if (!err)
			uint_set(at, r->size, number);
		return err;
	case JSON_WORD:
		return json_word_read(object, r, at, e);
	case JSON_BOOL:
		return json_get_bool(object, r->key, (bool *)at, e);
	case JSON_TEXT:
	case JSON_NAME:
		err = json_get_text(object, r->key, at, r->size, e);
		if (!err && r->kind == JSON_NAME && !json_text_is_name(at))
			err = err_set(e, -EINVAL, "'%s': not a name", r->key);
		return err;
	case JSON_HEX:
		return json_hex_read(object, r->key, (uint8_t *)at, r->size, e);
	case JSON_NUMBERS:
		return json_numbers_read(object, r, (uint64_t *)(void *)at, e);
	case JSON_STRUCT:
		return json_object_read(object, r, base, e);
	case JSON_LIST:
	case JSON_ALLOCATED:
		return json_list_read(object, r, base, e);
	}
	return -EINVAL;
}

int json_rows_read(const json_t *object, const struct json_row *row, size_t rows, void *base,
		   struct err *e)
{
	int err = 0;

	for (const struct json_row *r = row; !err && r < row + rows; r++) {
		const json_t *v = r->need == JSON_NEEDED ? NULL : json_object_get(object, r->key);

		if (r->need == JSON_UNKNOWN && json_is_null(v))
			v = NULL;
		if (r->need == JSON_NEEDED || v)
			err = json_row_read(object, r, base, e);
		else if (r->need == JSON_UNKNOWN && r->kind == JSON_NUMBER)
			uint_set((char *)base + r->offset, r->size, UINT64_MAX);
	}
	return err;
}
