/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expands sets of names. Each bracket is a digit of a mixed-radix number: name i uses element i
 * modulo the size of the last bracket, the quotient selects the elements of the brackets before it.
 */
#include "profiles/base/nodeset.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRACKETS_MAX 4
#define DIGITS_MAX   6

struct bracket {
	const char *open, *close; /* at '[' and ']' */
	unsigned int count;
};

struct range {
	unsigned int first, last;
	int width;
};

static int nodeset_parse_number(const char **at, unsigned int *number, int *width)
{
	size_t digits = strspn(*at, "0123456789");

	if (!digits || digits > DIGITS_MAX)
		return -EINVAL;
	*number = strtoul(*at, NULL, 10);
	*width = (int)digits;
	*at += digits;
	return 0;
}

/* Parses "01-16" or "20", and the ',' after it. */
static int nodeset_parse_range(const char **at, struct range *range)
{
	int err = nodeset_parse_number(at, &range->first, &range->width), width;

	range->last = range->first;
	if (!err && **at == '-') {
		++*at;
		err = nodeset_parse_number(at, &range->last, &width);
	}
	if (err || range->last < range->first)
		return -EINVAL;
	if (**at == ',')
		++*at;
	else if (**at != ']')
		return -EINVAL;
	return 0;
}

static int nodeset_parse_bracket(const char *open, struct bracket *bracket)
{
	const char *at = open + 1;

	*bracket = (struct bracket){.open = open, .close = strchr(open, ']')};
	if (!bracket->close || bracket->close == at || bracket->close[-1] == ',')
		return -EINVAL;
	while (at < bracket->close) {
		struct range range;
		int err = nodeset_parse_range(&at, &range);

		if (err)
			return err;
		bracket->count += range.last - range.first + 1;
	}
	return bracket->count > NODESET_MAX ? -ERANGE : 0;
}

/* Parses all brackets; *count is the product of their sizes. */
static int nodeset_parse_brackets(const char *text, struct bracket *brackets, unsigned int *number,
				  unsigned int *count)
{
	const char *at = text;

	*number = 0;
	*count = 1;
	while (*(at += strcspn(at, "[]"))) {
		int err;

		if (*at == ']' || *number == BRACKETS_MAX)
			return -EINVAL;
		err = nodeset_parse_bracket(at, &brackets[*number]);
		if (err)
			return err;
		*count *= brackets[*number].count;
		if (*count > NODESET_MAX)
			return -ERANGE;
		at = brackets[(*number)++].close + 1;
	}
	return 0;
}

int nodeset_count(const char *text, struct err *e)
{
	struct bracket brackets[BRACKETS_MAX];
	unsigned int number, count;
	int err = nodeset_parse_brackets(text, brackets, &number, &count);

	if (!err)
		return (int)count;
	err_set(e, err,
		err == -ERANGE ? "'%s' is more than 4096 names" : "invalid set of names '%s'",
		text);
	err_hint(e, "expected a set of names such as gpu[01-16] or gpu[1-4,7]");
	return err;
}

/* Prints number i of a bracket. */
static int nodeset_format_bracket(const struct bracket *bracket, unsigned int i, char *text,
				  size_t size)
{
	const char *at = bracket->open + 1;
	struct range range;

	while (!nodeset_parse_range(&at, &range)) {
		unsigned int count = range.last - range.first + 1;

		if (i < count)
			return snprintf(text, size, "%0*u", range.width, range.first + i);
		i -= count;
	}
	return -EINVAL;
}

int nodeset_name(const char *text, unsigned int i, char *name, size_t size)
{
	struct bracket brackets[BRACKETS_MAX];
	unsigned int number, count, digit[BRACKETS_MAX] = {0};
	size_t used = 0;
	int err = nodeset_parse_brackets(text, brackets, &number, &count);

	if (err)
		return err;
	for (unsigned int b = number; b-- > 0; i /= brackets[b].count)
		digit[b] = i % brackets[b].count;
	for (unsigned int b = 0; b <= number && used < size; b++) {
		const char *end = b < number ? brackets[b].open : text + strlen(text);

		used += snprintf(name + used, size - used, "%.*s", (int)(end - text), text);
		if (b == number || used >= size)
			break;
		used += nodeset_format_bracket(&brackets[b], digit[b], name + used, size - used);
		text = brackets[b].close + 1;
	}
	return used >= size ? -ENAMETOOLONG : 0;
}
