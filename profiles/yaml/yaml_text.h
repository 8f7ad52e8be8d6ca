/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text below yaml.c: reading it with a limit, its lines, and what to tell people about a syntax
 * error. Only yaml.c uses this.
 */
#ifndef PROFILES_YAML_TEXT_H
#define PROFILES_YAML_TEXT_H

#include "profiles/base/base.h"

#define YAML_SOURCE_MAX 400 /* longer lines are not shown */

/* Reads a regular file of at most YAML_SIZE_MAX bytes; *text is terminated and the caller's to
 * free. -EFBIG with *text NULL when it is larger, which its size tells before it is read; -ENOTSUP,
 * too, when it is a pipe or a device, which are not even waited for; another -errno with e filled
 * when it cannot be read. */
int yaml_read_text(const char *path, char **text, size_t *size, struct err *e);

/* Where the lines of a text begin, counted as the parser counts them; the caller's to free. NULL
 * when memory ran out. */
uint32_t *yaml_find_lines(const char *text, size_t *count);

/* Copies the line that begins at text without its end. -ENOENT when it is longer than size. */
int yaml_copy_line(const char *text, char *source, size_t size);

/* Line and column (characters, from 1) of a byte. */
void yaml_offset_place(const char *text, size_t offset, int *line, int *column);

/* What the parser says. */
struct yaml_problem {
	const char *text;
	int line, column;
	int context_line, context_column; /* where what it was reading began; line 0: nowhere */
};

/* What we say. */
struct yaml_advice {
	char text[160];
	char note[160];
	int line, column;
};

void yaml_advise(const char *text, const struct yaml_problem *problem, struct yaml_advice *advice);

#endif
