/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expands sets of names, and folds names into sets. Each bracket is a digit of a mixed-radix
 * number: name i uses element i modulo the size of the last bracket, the quotient selects the
 * elements of the brackets before it. Folding goes from the last number of a name to the first, and
 * joins the names that are equal but for this number.
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

char *nodeset_next(char **list)
{
	char *item = *list, *c = item;

	for (bool inside = false; c && *c && (inside || *c != ','); c++)
		inside = *c == '[' || (inside && *c != ']');
	*list = c && *c ? c + 1 : NULL;
	if (c)
		*c = '\0';
	return item;
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

/* A name, or a set of names, and the number in it that a pass folds. */
struct nodeset_item {
	char *text;    /* owned */
	size_t prefix; /* bytes before the number; without one: all */
	size_t digits; /* 0: no number to fold */
	unsigned long value;
	bool opaque; /* has a bracket or a comma of its own */
};

/* Finds the number that has so many numbers and brackets behind it. */
static void nodeset_find_number(struct nodeset_item *item, unsigned int behind)
{
	size_t size = strlen(item->text), at = size;

	item->prefix = size;
	item->digits = 0;
	item->value = 0;
	while (at > 0 && !item->opaque) {
		size_t end = at--;

		if (item->text[at] == ']')
			while (at > 0 && item->text[at] != '[')
				at--;
		else if (!strchr("0123456789", item->text[at]))
			continue;
		else
			while (at > 0 && strchr("0123456789", item->text[at - 1]))
				at--;
		if (behind--)
			continue;
		if (item->text[at] == '[' || end - at > DIGITS_MAX)
			return;
		item->prefix = at;
		item->digits = end - at;
		item->value = strtoul(item->text + at, NULL, 10);
		return;
	}
}

/* Compares all but the number. */
static int nodeset_compare_rest(const struct nodeset_item *x, const struct nodeset_item *y)
{
	size_t size = x->prefix < y->prefix ? x->prefix : y->prefix;
	int difference = memcmp(x->text, y->text, size);

	if (!difference)
		difference = (x->prefix > y->prefix) - (x->prefix < y->prefix);
	if (!difference)
		difference = !y->digits - !x->digits;
	return difference
		       ? difference
		       : strcmp(x->text + x->prefix + x->digits, y->text + y->prefix + y->digits);
}

static int nodeset_compare(const void *a, const void *b)
{
	const struct nodeset_item *x = a, *y = b;
	int difference = nodeset_compare_rest(x, y);

	if (!difference)
		difference = (x->value > y->value) - (x->value < y->value);
	return difference ? difference : (x->digits > y->digits) - (x->digits < y->digits);
}

/* True when y is the number after x in a range whose first number has so many digits. */
static bool nodeset_continues(const struct nodeset_item *x, const struct nodeset_item *y,
			      size_t width)
{
	char next[24];
	int digits = snprintf(next, sizeof(next), "%0*lu", (int)width, y->value);

	return y->value == x->value + 1 && y->digits == (size_t)digits;
}

/* Writes "[1-3,7]" for the numbers of sorted items. */
static void nodeset_print_ranges(const struct nodeset_item *items, size_t count, FILE *out)
{
	for (size_t i = 0, last; i < count; i = last + 1) {
		for (last = i; last + 1 < count &&
			       nodeset_continues(&items[last], &items[last + 1], items[i].digits);)
			last++;
		fprintf(out, "%c%.*s", i ? ',' : '[', (int)items[i].digits,
			items[i].text + items[i].prefix);
		if (last > i)
			fprintf(out, "-%.*s", (int)items[last].digits,
				items[last].text + items[last].prefix);
	}
	fputc(']', out);
}

/* Replaces the text of the first item by the set of all, and clears the others. */
static int nodeset_join(struct nodeset_item *items, size_t count)
{
	const char *behind = items->text + items->prefix + items->digits;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;

	if (!out)
		return -ENOMEM;
	fprintf(out, "%.*s", (int)items->prefix, items->text);
	nodeset_print_ranges(items, count, out);
	fputs(behind, out);
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(text);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		free(items[i].text);
		items[i].text = NULL;
	}
	items->text = text;
	return 0;
}

/* One pass: sorts, and joins what differs in one number. *count falls. */
static int nodeset_fold_number(struct nodeset_item *items, size_t *count, unsigned int behind)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < *count; i++)
		nodeset_find_number(&items[i], behind);
	qsort(items, *count, sizeof(*items), nodeset_compare);
	for (size_t i = 0, next; i < *count; i = next) {
		size_t last = i; /* of those with another number than the one before */

		for (next = i + 1; next < *count && !nodeset_compare_rest(&items[i], &items[next]);
		     next++)
			if (!nodeset_compare(&items[last], &items[next])) {
				free(items[next].text);
				items[next].text = NULL;
			} else if (++last != next) {
				items[last] = items[next];
				items[next].text = NULL;
			}
		if (!err && last > i)
			err = nodeset_join(&items[i], last - i + 1);
		/* After an error every text is kept for the caller to free. */
		for (size_t k = i; k <= last; k++)
			if (items[k].text)
				items[kept++] = items[k];
	}
	*count = kept;
	return err;
}

int nodeset_fold(const char *const *names, size_t count, char **text)
{
	struct nodeset_item *items = calloc(count + 1, sizeof(*items));
	size_t made = 0, size = 1;
	int err = items ? 0 : -ENOMEM;
	char *end = NULL;

	for (; !err && made < count; made++) {
		items[made].text = strdup(names[made]);
		items[made].opaque = strpbrk(names[made], ",[]");
		if (!items[made].text)
			err = -ENOMEM;
	}
	for (unsigned int behind = 0; !err && behind < BRACKETS_MAX; behind++)
		err = nodeset_fold_number(items, &made, behind);
	for (size_t i = 0; !err && i < made; i++)
		size += strlen(items[i].text) + 1;
	if (!err)
		end = malloc(size);
	if (!err && !end)
		err = -ENOMEM;
	if (!err) {
		*text = end;
		*end = '\0';
		for (size_t i = 0; i < made; i++)
			end += sprintf(end, "%s%s", i ? "," : "", items[i].text);
	}
	for (size_t i = 0; items && i < made; i++)
		free(items[i].text);
	free(items);
	return err;
}

/* True when a bracket prints exactly these digits for one of its elements. */
static bool nodeset_bracket_has(const struct bracket *bracket, const char *digits, int length)
{
	unsigned int number = strtoul(digits, NULL, 10);
	const char *at = bracket->open + 1;
	struct range range;

	while (at < bracket->close && !nodeset_parse_range(&at, &range))
		if (number >= range.first && number <= range.last &&
		    snprintf(NULL, 0, "%0*u", range.width, number) == length)
			return true;
	return false;
}

/* Compares the text from a place on, which precedes these brackets. Digits may follow a bracket, so
 * each length of its number is tried. */
static bool nodeset_rest_has(const char *text, const struct bracket *bracket, unsigned int number,
			     const char *name)
{
	size_t literal = number ? (size_t)(bracket->open - text) : strlen(text);
	char digits[DIGITS_MAX + 1];

	if (!number || strncmp(text, name, literal))
		return !number && !strcmp(text, name);
	name += literal;
	for (int length = 1; length <= DIGITS_MAX; length++) {
		if (name[length - 1] < '0' || name[length - 1] > '9')
			return false;
		snprintf(digits, sizeof(digits), "%.*s", length, name);
		if (nodeset_bracket_has(bracket, digits, length) &&
		    nodeset_rest_has(bracket->close + 1, bracket + 1, number - 1, name + length))
			return true;
	}
	return false;
}

bool nodeset_has(const char *text, const char *name)
{
	struct bracket brackets[BRACKETS_MAX];
	unsigned int number, count;

	return !nodeset_parse_brackets(text, brackets, &number, &count) &&
	       nodeset_rest_has(text, brackets, number, name);
}
