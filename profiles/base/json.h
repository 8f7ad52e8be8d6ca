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
#include "profiles/base/words.h"

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

/* Appends an element to a list and owns both. Returns the list; NULL if one of them is NULL or
 * memory is short, so that an incomplete list never looks complete. */
json_t *json_list_add(json_t *list, json_t *one);

/* An error as agents and traffic processes report it: {"code", "text", "hint"}. NULL on -ENOMEM. */
json_t *err_to_json(const struct err *e);

/* Reads such an error, which can have any content: -EIO for an invalid code, `otherwise` for a
 * missing or empty text. */
void err_from_json(const json_t *error, const char *otherwise, struct err *e);

/* Read a borrowed object, or a borrowed array of at most max members. */
int json_get_object(const json_t *object, const char *key, const json_t **value, struct err *e);
int json_get_array(const json_t *object, const char *key, size_t max, const json_t **value,
		   struct err *e);

enum json_kind {
	JSON_NUMBER,  /* of the member's size, from 0; with JSON_UNKNOWN also -1 */
	JSON_WORD,    /* an enum of the member's size, as one of `words` */
	JSON_BOOL,    /* bool */
	JSON_TEXT,    /* char[] */
	JSON_NAME,    /* char[], printable ASCII without blank and '/', first neither '-' nor '.' */
	JSON_HEX,     /* uint8_t[], as hexadecimal text of exactly two digits each */
	JSON_NUMBERS, /* uint64_t[], an array of the same length */
	JSON_STRUCT,  /* one element; `used`, if any, is a bool: the element is present */
	JSON_LIST,    /* element[]; `used` is the count */
	JSON_ALLOCATED, /* element *: the reader allocates, the caller frees, also on failure */
};

enum json_need {
	JSON_NEEDED,
	JSON_OPTIONAL, /* if absent, the member is unchanged */
	JSON_SPARSE,   /* the same, and 0, false, empty and unused are not written */
	JSON_UNKNOWN,  /* null reads as absent. An absent number reads as -1, and -1 is written as
			* null; an absent struct is unchanged, and an unused one is not written */
};

/* A member of a struct and of an object. An element is a struct with the rows of `item`, or any
 * value with functions of its own. */
struct json_row {
	const char *key;
	enum json_kind kind;
	enum json_need need;
	size_t offset, size; /* of the member; lists: of one element */
	uint64_t min, max;   /* of JSON_NUMBER; lists: at most max elements */
	const struct qos_word *words;
	const struct json_row *item;
	size_t item_rows;
	json_t *(*write)(const void *element); /* NULL on -ENOMEM */
	int (*read)(const json_t *value, void *element, struct err *e);
	size_t used_offset, used_size;
};

/* Rows; further arguments are initialisers. The key is the name of the member, or `name`. */
#define JSON_ROW_AS(name, type, member, ...)                                                       \
	{                                                                                          \
		.key = name, .offset = offsetof(type, member),                                     \
		.size = sizeof(((type *)0)->member), __VA_ARGS__                                   \
	}
#define JSON_ROW(type, member, ...) JSON_ROW_AS(#member, type, member, __VA_ARGS__)

/* A row whose element is the struct itself, for a key that stands for several members. */
#define JSON_SELF(name, ...)                                                                       \
	{                                                                                          \
		.key = name, .kind = JSON_STRUCT, __VA_ARGS__                                      \
	}

/* Lists in a struct and allocated ones; member_count, or `used`, is the count. */
#define JSON_LIST_OF(name, type, member, ...)                                                      \
	JSON_LIST_USED(name, type, member, member##_count, __VA_ARGS__)
#define JSON_LIST_USED(name, type, member, used, ...)                                              \
	JSON_LIST_ROW(JSON_LIST, name, type, member, used, ARRAY_SIZE(((type *)0)->member),        \
		      __VA_ARGS__)
#define JSON_ALLOCATED_OF(name, type, member, most, ...)                                           \
	JSON_LIST_ROW(JSON_ALLOCATED, name, type, member, member##_count, most, __VA_ARGS__)
#define JSON_LIST_ROW(how, name, type, member, used, most, ...)                                    \
	{                                                                                          \
		.key = name, .kind = how, .offset = offsetof(type, member),                        \
		.size = sizeof(((type *)0)->member[0]), .max = most, JSON_USED(type, used),        \
		__VA_ARGS__                                                                        \
	}
#define JSON_USED(type, member)                                                                    \
	.used_offset = offsetof(type, member), .used_size = sizeof(((type *)0)->member)
#define JSON_ROWS(list) list, ARRAY_SIZE(list)

/* Elements: by rows, or by the functions name_to_json() and name_from_json(), for which
 * JSON_FUNCTIONS(name) stands above the rows. */
#define JSON_ITEM(rows) .item = rows, .item_rows = ARRAY_SIZE(rows)
#define JSON_BY(name)	.write = name##_write_row, .read = name##_read_row
#define JSON_FUNCTIONS(name)                                                                       \
	static json_t *name##_write_row(const void *element)                                       \
	{                                                                                          \
		return name##_to_json(element);                                                    \
	}                                                                                          \
	static int name##_read_row(const json_t *value, void *element, struct err *e)              \
	{                                                                                          \
		return name##_from_json(value, element, e);                                        \
	}

/* Adds the members of the struct at base in the order of the rows. -ENOMEM, also when the object is
 * NULL. */
int json_rows_write(json_t *object, const struct json_row *row, size_t rows, const void *base);

/* The same as a new object. NULL on -ENOMEM. */
json_t *json_rows_make(const struct json_row *row, size_t rows, const void *base);

/* -EINVAL names the key of the first invalid member ("hosts[3]: 'name': ..."); the members before
 * it are set then. Keys without a row are ignored. */
int json_rows_read(const json_t *object, const struct json_row *row, size_t rows, void *base,
		   struct err *e);

#endif
