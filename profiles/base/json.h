/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts between JSON documents and structs, member by member or by a table of rows. Documents
 * are hostile: type and range are checked, errors name the key. Outputs are untouched on failure.
 * Members are required; the _or forms have a default.
 */
#ifndef PROFILES_JSON_H
#define PROFILES_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "profiles/base/base.h"

/* Counters, times and rates as integers of JSON documents. They are signed (jansson: 64 bits;
 * RFC 8259 s6 permits a limited range); larger values, which only a broken source has, are clamped.
 * New reference, NULL on -ENOMEM. */
#define JSON_UINT_MAX ((uint64_t)INT64_MAX)

static inline json_t *json_uint(uint64_t value)
{
	return json_integer((json_int_t)(value < JSON_UINT_MAX ? value : JSON_UINT_MAX));
}

int json_get_uint(const json_t *object, const char *key, uint64_t min, uint64_t max,
		  uint64_t *value, struct err *e);
int json_get_uint_or(const json_t *object, const char *key, uint64_t fallback, uint64_t min,
		     uint64_t max, uint64_t *value, struct err *e);

int json_get_bool(const json_t *object, const char *key, bool *value, struct err *e);

/* Read a text of at most size - 1 bytes. json_get_text() refuses control characters;
 * json_get_string() accepts them, for files of rocecheck with names of ports. */
int json_get_string(const json_t *object, const char *key, char *buf, size_t size, struct err *e);
int json_get_text(const json_t *object, const char *key, char *buf, size_t size, struct err *e);

/* An error as agents and traffic processes report it: {"code", "text", "hint"}. NULL on -ENOMEM. */
json_t *err_to_json(const struct err *e);

/* Reads such an error, which can have any content: -EIO for an invalid code, `otherwise` for a
 * missing or empty text. */
void err_from_json(const json_t *error, const char *otherwise, struct err *e);

/* Index of the text in words[0..count). */
int json_get_word(const json_t *object, const char *key, const char *const *words,
		  unsigned int count, unsigned int *index, struct err *e);

/* Read a borrowed object, or a borrowed array of at most max members. */
int json_get_object(const json_t *object, const char *key, const json_t **value, struct err *e);
int json_get_array(const json_t *object, const char *key, size_t max, const json_t **value,
		   struct err *e);

/* Bytes as hexadecimal text of exactly 2 * size digits. */
int json_get_hex(const json_t *object, const char *key, uint8_t *bytes, size_t size, struct err *e);
json_t *json_hex(const uint8_t *bytes, size_t size);

/* Words of an enum: index = its value. */
struct json_words {
	const char *const *word;
	unsigned int count;
};

enum json_kind {
	JSON_NUMBER,  /* of the member's size, from 0; with JSON_UNKNOWN also -1 */
	JSON_WORD,    /* an enum of the member's size, as one of `words` */
	JSON_BOOL,    /* bool */
	JSON_TEXT,    /* char[] */
	JSON_NAME,    /* char[], printable ASCII without blank and '/', first neither '-' nor '.' */
	JSON_NUMBERS, /* uint64_t[], an array of the same length */
	JSON_LIST,    /* struct[] with the rows of `item`, and a 32-bit member with the count */
};

enum json_need {
	JSON_NEEDED,
	JSON_OPTIONAL, /* if absent, the member is unchanged */
	JSON_UNKNOWN,  /* of a number: absent or null reads as -1, -1 is written as null */
};

/* A member of a struct and of an object. */
struct json_row {
	const char *key;
	enum json_kind kind;
	enum json_need need;
	size_t offset, size; /* of the member; JSON_LIST: of one element */
	uint64_t min, max;   /* of JSON_NUMBER; JSON_LIST: at most max elements */
	const struct json_words *words;
	const struct json_row *item; /* JSON_LIST */
	size_t item_rows, used_offset;
};

/* Rows; further arguments are initialisers. The key is the name of the member, or `name`. */
#define JSON_ROW_AS(name, type, member, ...)                                                       \
	{                                                                                          \
		.key = name, .offset = offsetof(type, member),                                     \
		.size = sizeof(((type *)0)->member), __VA_ARGS__                                   \
	}
#define JSON_ROW(type, member, ...) JSON_ROW_AS(#member, type, member, __VA_ARGS__)

/* A list of structs; member_count is the number of used ones. */
#define JSON_LIST_OF(name, type, member, rows, ...)                                                \
	{                                                                                          \
		.key = name, .kind = JSON_LIST, .offset = offsetof(type, member),                  \
		.size = sizeof(((type *)0)->member[0]), .max = ARRAY_SIZE(((type *)0)->member),    \
		.item = rows, .item_rows = ARRAY_SIZE(rows),                                       \
		.used_offset = offsetof(type, member##_count), __VA_ARGS__                         \
	}
#define JSON_ROWS(list) list, ARRAY_SIZE(list)

/* Adds the members of the struct at base in the order of the rows. -ENOMEM, also when the object is
 * NULL. */
int json_rows_write(json_t *object, const struct json_row *row, size_t rows, const void *base);

/* -EINVAL names the key of the first invalid member; the members before it are set then. Keys
 * without a row are ignored. */
int json_rows_read(const json_t *object, const struct json_row *row, size_t rows, void *base,
		   struct err *e);

/* An array of such structs that begins at base. NULL on -ENOMEM. */
json_t *json_list_write(const struct json_row *row, size_t rows, const void *base, size_t size,
			unsigned int count);
int json_list_read(const json_t *object, const char *key, const struct json_row *row, size_t rows,
		   void *base, size_t size, unsigned int most, unsigned int *count, struct err *e);

#endif
