/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of a JSON object that somebody else wrote: type and range are checked, an error names the
 * key. Outputs are untouched on failure. "required" is the rule; the _or forms have a default.
 */
#ifndef PROBE_JSON_TAKE_H
#define PROBE_JSON_TAKE_H

#include <jansson.h>
#include <stdint.h>

#include "profiles/base/base.h"

/* Counters, times and rates as integers of JSON documents. Those are signed (jansson: 64 bits; RFC
 * 8259 s6 lets implementations limit the range): what is beyond, as only a broken source has it, is
 * cut there. A new reference, NULL when there is no memory. */
#define JSON_UINT_MAX ((uint64_t)INT64_MAX)

static inline json_t *json_uint(uint64_t value)
{
	return json_integer((json_int_t)(value < JSON_UINT_MAX ? value : JSON_UINT_MAX));
}

int json_take_uint(const json_t *object, const char *key, uint64_t min, uint64_t max,
		   uint64_t *value, struct err *e);
int json_take_uint_or(const json_t *object, const char *key, uint64_t fallback, uint64_t min,
		      uint64_t max, uint64_t *value, struct err *e);

/* Several required ones, in order. The first that is not as it should be ends it; the values of
 * those ahead of it are set then. */
struct json_number {
	const char *key;
	uint64_t *value;
	uint64_t min, max;
};
int json_take_numbers(const json_t *object, const struct json_number *rows, size_t count,
		      struct err *e);

int json_take_bool(const json_t *object, const char *key, bool *value, struct err *e);

/* A text that fits into size bytes with its NUL and holds no control characters. */
int json_take_text(const json_t *object, const char *key, char *buf, size_t size, struct err *e);

/* An error as agents and traffic processes tell it: {"code", "text", "hint"}. NULL on -ENOMEM. */
json_t *err_to_json(const struct err *e);

/* What they say, which may be anything: -EIO when that is no error's code, `otherwise` without a
 * text or with an empty one. */
void err_from_json(const json_t *error, const char *otherwise, struct err *e);

/* Index of the text in words[0..count). */
int json_take_word(const json_t *object, const char *key, const char *const *words,
		   unsigned int count, unsigned int *index, struct err *e);

/* A borrowed object or array of at most max members. */
int json_take_object(const json_t *object, const char *key, const json_t **value, struct err *e);
int json_take_array(const json_t *object, const char *key, size_t max, const json_t **value,
		    struct err *e);

/* Bytes as hexadecimal text of exactly 2 * size digits. */
int json_take_hex(const json_t *object, const char *key, uint8_t *bytes, size_t size,
		  struct err *e);
json_t *json_hex(const uint8_t *bytes, size_t size);

#endif
