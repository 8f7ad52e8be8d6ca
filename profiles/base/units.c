/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses decimal numbers with units. One parser of digits serves all tables of suffixes.
 */
#include "profiles/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct suffix {
	const char *word;
	uint64_t factor;
};

/* clang-format off */

static const struct suffix no_suffix[] = {
	{"", 1},
	{NULL, 0},
};

static const struct suffix byte_suffixes[] = {
	{"", 1},
	{"kB", 1000},
	{"MB", 1000 * 1000},
	{"GB", 1000 * 1000 * 1000},
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{NULL, 0},
};

static const struct suffix rate_suffixes[] = {
	{"", 1},
	{"k", 1},
	{"M", 1000},
	{"G", 1000 * 1000},
	{"T", 1000 * 1000 * 1000},
	{NULL, 0},
};

static const struct suffix duration_suffixes[] = {
	{"ms", 1},
	{"s", 1000},
	{"m", 60 * 1000},
	{"h", 60 * 60 * 1000},
	{NULL, 0},
};

/* clang-format on */

/* Reads the digits at *text and advances it. -ERANGE above 2^64 - 1. */
static int units_parse_digits(const char **text, uint64_t *value)
{
	const char *at = *text;
	uint64_t sum = 0;

	if (*at < '0' || *at > '9')
		return -EINVAL;
	if (*at == '0' && at[1] >= '0' && at[1] <= '9')
		return -EINVAL;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *at - '0', &sum))
			return -ERANGE;
	*text = at;
	*value = sum;
	return 0;
}

static const struct suffix *units_find_suffix(const struct suffix *list, const char *word)
{
	for (; list->word; list++)
		if (!strcmp(list->word, word))
			return list;
	return NULL;
}

/* Digits and one of the suffixes, nothing else. */
static int units_parse_value(const char *text, const struct suffix *suffixes, uint64_t *value)
{
	const struct suffix *suffix;
	uint64_t digits;
	int err = units_parse_digits(&text, &digits);

	if (err)
		return err;
	suffix = units_find_suffix(suffixes, text);
	if (!suffix)
		return -EINVAL;
	if (__builtin_mul_overflow(digits, suffix->factor, value))
		return -ERANGE;
	return 0;
}

struct bounds {
	uint64_t min, max;
};

static int units_parse_within(const char *text, const struct suffix *suffixes, struct bounds bounds,
			      uint64_t *value, struct err *e)
{
	uint64_t found;
	int err = units_parse_value(text, suffixes, &found);

	if (!err && (found < bounds.min || found > bounds.max))
		err = -ERANGE;
	if (err == -ERANGE)
		return err_set(e, err, "'%s' is out of range", text);
	if (err)
		return err_set(e, err, "'%s' is not %s", text,
			       suffixes == no_suffix ? "a decimal number" : "a value with a unit");
	*value = found;
	return 0;
}

int units_number(const char *text, uint64_t min, uint64_t max, uint64_t *value, struct err *e)
{
	int err = units_parse_within(text, no_suffix, (struct bounds){min, max}, value, e);

	if (err)
		err_hint(e, "expected a decimal number from %" PRIu64 " to %" PRIu64, min, max);
	return err;
}

static int units_parse_range(const char **text, unsigned int max, unsigned int *first,
			     unsigned int *last)
{
	uint64_t from, to;
	int err = units_parse_digits(text, &from);

	if (err)
		return err;
	to = from;
	if (**text == '-') {
		++*text;
		err = units_parse_digits(text, &to);
	}
	if (err)
		return err;
	if (from > max || to > max)
		return -ERANGE;
	if (from > to)
		return -EINVAL;
	*first = from;
	*last = to;
	return 0;
}

int units_range(const char *text, unsigned int max, unsigned int *first, unsigned int *last,
		struct err *e)
{
	unsigned int from = 0, to = 0;
	const char *at = text;
	int err = units_parse_range(&at, max, &from, &to);

	if (!err && *at)
		err = -EINVAL;
	if (err) {
		err_set(e, err, "'%s' is %s", text,
			err == -ERANGE ? "out of range" : "not a number or a range of numbers");
		err_hint(e, "expected a number from 0 to %u, or a range such as 0-%u", max, max);
		return err;
	}
	*first = from;
	*last = to;
	return 0;
}

int units_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *size_bytes, struct err *e)
{
	int err = units_parse_within(text, byte_suffixes, (struct bounds){min, max}, size_bytes, e);

	if (err)
		err_hint(e,
			 "expected bytes from %" PRIu64 " to %" PRIu64
			 ", such as 9000, 64KiB, 1MiB, 9kB, 1MB",
			 min, max);
	return err;
}

int units_rate(const char *text, uint64_t min, uint64_t max, uint64_t *rate_kbps, struct err *e)
{
	int err = units_parse_within(text, rate_suffixes, (struct bounds){min, max}, rate_kbps, e);

	if (err)
		err_hint(e,
			 "expected a rate such as 25G, 100M or 500k, or kbit/s from %" PRIu64
			 " to %" PRIu64,
			 min, max);
	return err;
}

int units_duration(const char *text, uint64_t min_ms, uint64_t max_ms, uint64_t *duration_ms,
		   struct err *e)
{
	int err = units_parse_within(text, duration_suffixes, (struct bounds){min_ms, max_ms},
				     duration_ms, e);

	if (err)
		err_hint(e,
			 "expected a duration such as 10ms, 3s, 2m or 1h, from %" PRIu64
			 "ms to %" PRIu64 "ms",
			 min_ms, max_ms);
	return err;
}
