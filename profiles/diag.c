/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of findings about an input file. Texts hold pieces of that file, so they are made safe
 * when they come in: a finding may be printed to a terminal and written as JSON whatever it quotes.
 */
#include "profiles/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX     40 /* longer words get no suggestion */
#define DISTANCE_MAX 2

void diags_init(struct diags *d)
{
	*d = (struct diags){.list = NULL};
}

static void diag_clear(struct diag *one)
{
	free(one->path);
	free(one->text);
	free(one->source);
	free(one->note);
	free(one->suggestion);
}

void diags_clear(struct diags *d)
{
	for (size_t i = 0; i < d->count; i++)
		diag_clear(&d->list[i]);
	free(d->list);
	diags_init(d);
}

/*
 * Bytes of the UTF-8 character at text (RFC 3629 s4), 0 when it is not well formed, overlong or a
 * surrogate. The text is terminated, so that a cut sequence ends at its NUL.
 */
static unsigned int utf8_length(const unsigned char *text)
{
	unsigned int size = text[0] < 0x80   ? 1
			    : text[0] < 0xc2 ? 0
			    : text[0] < 0xe0 ? 2
			    : text[0] < 0xf0 ? 3
			    : text[0] < 0xf5 ? 4
					     : 0;

	for (unsigned int i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if (text[0] == 0xe0 && text[1] < 0xa0)
		return 0;
	if (text[0] == 0xed && text[1] > 0x9f)
		return 0;
	if (text[0] == 0xf0 && text[1] < 0x90)
		return 0;
	if (text[0] == 0xf4 && text[1] > 0x8f)
		return 0;
	return size;
}

/* C0 and C1 controls drive terminals. Tabs stay: the printer expands them. */
static bool is_control(const unsigned char *text)
{
	if (text[0] == '\t')
		return false;
	return text[0] < 0x20 || text[0] == 0x7f || (text[0] == 0xc2 && text[1] < 0xa0);
}

bool diag_has_control(const char *text)
{
	for (; *text; text++)
		if (is_control((const unsigned char *)text))
			return true;
	return false;
}

char *diag_safe_text(const char *text)
{
	char *copy = strdup(text);
	size_t from = 0, to = 0;

	while (copy && copy[from]) {
		unsigned int size = utf8_length((unsigned char *)copy + from);

		if (!size || is_control((unsigned char *)copy + from)) {
			copy[to++] = '?';
			from += size ? size : 1;
			continue;
		}
		memmove(copy + to, copy + from, size);
		from += size;
		to += size;
	}
	if (copy)
		copy[to] = '\0';
	return copy;
}

/* Copies a string that may be absent; false when memory ran out. */
static bool copy_string(char **to, const char *from)
{
	*to = from ? diag_safe_text(from) : NULL;
	return *to || !from;
}

int diags_add(struct diags *d, const struct diag *one)
{
	struct diag *list = realloc(d->list, (d->count + 1) * sizeof(*list));
	struct diag *copy;
	bool good;

	if (!list)
		return -ENOMEM;
	d->list = list;
	copy = &list[d->count];
	*copy = *one;
	if (copy->width < 1)
		copy->width = 1;
	good = copy_string(&copy->path, one->path ? one->path : "");
	good = copy_string(&copy->text, one->text ? one->text : "") && good;
	good = copy_string(&copy->source, one->source) && good;
	good = copy_string(&copy->note, one->note) && good;
	good = copy_string(&copy->suggestion, one->suggestion) && good;
	if (!good) {
		diag_clear(copy);
		return -ENOMEM;
	}
	d->count++;
	d->errors += one->level == DIAG_ERROR;
	return 0;
}

int diag_set_source(struct diag *one, const char *source)
{
	char *copy = diag_safe_text(source);

	if (!copy)
		return -ENOMEM;
	free(one->source);
	one->source = copy;
	return 0;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edit distance in which swapping neighbours is one edit ("enabeld"). Both at most WORD_MAX long.
 */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1];
	unsigned int *before = row[0], *above = row[1], *here = row[2];
	size_t width = strlen(b);

	for (unsigned int j = 0; j <= width; j++)
		above[j] = j;
	for (unsigned int i = 1; a[i - 1]; i++) {
		unsigned int *spare = before;

		here[0] = i;
		for (unsigned int j = 1; j <= width; j++) {
			unsigned int same = a[i - 1] == b[j - 1];

			here[j] = min3(above[j] + 1, here[j - 1] + 1, above[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				here[j] = min3(here[j], before[j - 2] + 1, here[j]);
		}
		before = above;
		above = here;
		here = spare;
	}
	return above[width];
}

const char *diag_nearest(const char *got, const char *const *words)
{
	unsigned int best = DISTANCE_MAX + 1;
	const char *nearest = NULL;
	size_t length = strlen(got);

	if (length > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		unsigned int distance;

		if (strlen(*words) > WORD_MAX)
			continue;
		distance = edit_distance(got, *words);
		/* One edit in three letters is likeness; "no" must not become "on". */
		if (distance < best && 3 * distance <= length) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}
