/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The list of findings about an input file. Texts hold pieces of that file, so they are made safe
 * when they come in: a finding may be printed to a terminal and written as JSON whatever it quotes.
 */
#include "profiles/yaml/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/text.h"

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

/* Copies a string that may be absent; false when memory ran out. */
static bool copy_string(char **to, const char *from)
{
	*to = from ? text_copy(from, TEXT_LINE) : NULL;
	return *to || !from;
}

static int diags_keep(struct diags *d, const struct diag *one)
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

int diags_add(struct diags *d, const struct diag *one)
{
	static const struct diag last = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-007",
		.text = "more than 1000 findings: the others are left out"};
	struct diag end = last;

	if (d->count > DIAGS_MAX)
		return 0;
	if (d->count == DIAGS_MAX) {
		end.path = one->path;
		one = &end;
	}
	return diags_keep(d, one);
}

int diag_set_source(struct diag *one, const char *source)
{
	char *copy = text_copy(source, TEXT_LINE);

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
