/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every text that the project gives to users: string literals of the sources, with adjacent ones
 * joined as the compiler does; examples and macro lines of manual pages; code of Markdown files.
 * Files are read from the current folder, the root of the project.
 */
#ifndef TESTS_UNIT_USER_TEXTS_H
#define TESTS_UNIT_USER_TEXTS_H

#include <ctype.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum user_text_kind {
	USER_TEXT_PROSE, /* a sentence, which may name a command */
	USER_TEXT_TYPED, /* lines to be typed as they are */
	USER_TEXT_MACRO, /* a line of a manual page, with its macros */
};

struct user_text {
	const char *path;
	unsigned int line;
	enum user_text_kind kind;
	const char *text;
};

typedef void user_text_fn(const struct user_text *text, void *arg);

/* A text that grows, of one place of a file. */
struct user_text_buffer {
	char *text;
	size_t size;
	FILE *out;
	unsigned int line;
	const char *path;
	user_text_fn *fn;
	void *arg;
};

static inline void user_text_begin(struct user_text_buffer *b, unsigned int line)
{
	b->line = line;
	b->out = open_memstream(&b->text, &b->size);
	if (!b->out)
		abort();
}

static inline void user_text_end(struct user_text_buffer *b, enum user_text_kind kind)
{
	if (!b->out)
		return;
	fclose(b->out);
	b->out = NULL;
	b->fn(&(struct user_text){b->path, b->line, kind, b->text}, b->arg);
	free(b->text);
}

/* The whole file; the caller frees. */
static inline char *user_text_file(const char *path)
{
	char *text = NULL, part[4096];
	size_t size = 0, got;
	FILE *in = fopen(path, "re"), *out = open_memstream(&text, &size);

	if (!in || !out)
		abort();
	while ((got = fread(part, 1, sizeof(part), in)) > 0)
		fwrite(part, 1, got, out);
	fclose(in);
	fclose(out);
	return text;
}

/* Moves *p behind a comment, white space or a joined line; false when none is there. */
static inline bool user_text_blank(const char **p, unsigned int *line)
{
	const char *from = *p, *end;

	if (isspace((unsigned char)**p) || !strncmp(*p, "\\\n", 2))
		*p += 1;
	else if (!strncmp(*p, "/*", 2) && (end = strstr(*p, "*/")))
		*p = end + 2;
	else if (!strncmp(*p, "//", 2))
		*p += strcspn(*p, "\n");
	for (const char *c = from; c < *p; c++)
		*line += *c == '\n';
	return *p != from;
}

/* The characters of one literal, up to its closing quote. */
static inline const char *user_text_literal(const char *p, FILE *out)
{
	for (; *p && *p != '"'; p++) {
		if (*p != '\\') {
			fputc(*p, out);
			continue;
		}
		p++;
		fputc(*p == 'n' ? '\n' : *p == '"' || *p == '\\' ? *p : ' ', out);
	}
	return *p ? p + 1 : p;
}

/* String literals of a C file. PRIu64 and its like between two of them belong to a conversion. */
static inline void user_texts_source(const char *path, user_text_fn *fn, void *arg)
{
	struct user_text_buffer b = {.path = path, .fn = fn, .arg = arg};
	char *all = user_text_file(path);
	unsigned int line = 1;

	for (const char *p = all; *p;) {
		if (user_text_blank(&p, &line))
			continue;
		if (*p == '"') {
			if (!b.out)
				user_text_begin(&b, line);
			p = user_text_literal(p + 1, b.out);
		} else if (b.out && !strncmp(p, "PRI", 3)) {
			fputc('u', b.out);
			p += strspn(p, "PRIudxX0123456789");
		} else {
			user_text_end(&b, USER_TEXT_PROSE);
			if (*p == '\'')
				p += p[1] == '\\' ? 3 : 2;
			p++;
		}
	}
	user_text_end(&b, USER_TEXT_PROSE);
	free(all);
}

/* A line of a manual page without the escapes that our pages have. */
static inline void user_text_unescape(char *line)
{
	char *to = line;

	for (const char *p = line; *p; p++) {
		if (!strncmp(p, "\\(dq", 4)) {
			*to++ = '"';
			p += 3;
		} else if (!strncmp(p, "\\&", 2)) {
			p++;
		} else if (*p == '\\' && (p[1] == '-' || p[1] == 'e')) {
			*to++ = p[1] == '-' ? '-' : '\\';
			p++;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* Examples (.Dl, and the lines of a literal display) are typed, other lines are prose or macros. */
static inline void user_texts_page(const char *path, user_text_fn *fn, void *arg)
{
	char *all = user_text_file(path), *next = all, *line;
	struct user_text_buffer b = {.path = path, .fn = fn, .arg = arg};
	unsigned int number = 0;

	while ((line = strsep(&next, "\n"))) {
		bool ends = !strncmp(line, ".Ed", 3);

		number++;
		user_text_unescape(line);
		if (b.out && !ends)
			fprintf(b.out, "%s\n", line);
		else if (ends)
			user_text_end(&b, USER_TEXT_TYPED);
		else if (!strncmp(line, ".Bd -literal", 12))
			user_text_begin(&b, number + 1);
		else if (!strncmp(line, ".Dl ", 4))
			fn(&(struct user_text){path, number, USER_TEXT_TYPED, line + 4}, arg);
		else if (strncmp(line, ".\\\"", 3))
			fn(&(struct user_text){path, number,
					       line[0] == '.' ? USER_TEXT_MACRO : USER_TEXT_PROSE,
					       line},
			   arg);
	}
	free(all);
}

/* Blocks between fences are typed, spans between backticks are prose. */
static inline void user_texts_markdown(const char *path, user_text_fn *fn, void *arg)
{
	struct user_text_buffer b = {.path = path, .fn = fn, .arg = arg};
	char *all = user_text_file(path);
	unsigned int line = 1;
	bool fenced = false;

	for (const char *p = all; *p; p++) {
		line += *p == '\n';
		if ((p == all || p[-1] == '\n') && !strncmp(p, "```", 3)) {
			fenced = !fenced;
			p += strcspn(p, "\n") - 1;
			if (fenced)
				user_text_begin(&b, line + 1);
			else
				user_text_end(&b, USER_TEXT_TYPED);
		} else if (*p == '`' && !fenced && b.out) {
			user_text_end(&b, USER_TEXT_PROSE);
		} else if (*p == '`' && !fenced) {
			user_text_begin(&b, line);
		} else if (b.out) {
			fputc(*p == '\n' && !fenced ? ' ' : *p, b.out);
		}
	}
	user_text_end(&b, USER_TEXT_PROSE);
	free(all);
}

/* Where texts for users stand, and how they are read. */
static const struct user_text_place {
	const char *pattern;
	void (*read)(const char *path, user_text_fn *fn, void *arg);
} user_text_places[] = {
	{"README.md", user_texts_markdown},	    {"CONTRIBUTING.md", user_texts_markdown},
	{"cmd/man/*.[578]", user_texts_page},	    {"profiles/*.c", user_texts_source},
	{"profiles/*/*.c", user_texts_source},	    {"dcb/*/*.c", user_texts_source},
	{"capture/*.c", user_texts_source},	    {"capture/*/*.c", user_texts_source},
	{"probe/*/*.c", user_texts_source},	    {"reports/*/*.c", user_texts_source},
	{"reports/rules/*.inc", user_texts_source}, {"cmd/*.c", user_texts_source},
	{"cmd/*/*.c", user_texts_source},	    {"cmd/*/*.h", user_texts_source},
};

/* Calls fn for every text; returns the number of files, 0 when a place has none. */
static inline unsigned int user_texts_each(user_text_fn *fn, void *arg)
{
	unsigned int files = 0;

	for (size_t i = 0; i < sizeof(user_text_places) / sizeof(user_text_places[0]); i++) {
		glob_t found;

		if (glob(user_text_places[i].pattern, 0, NULL, &found))
			return 0;
		for (size_t k = 0; k < found.gl_pathc; k++, files++)
			user_text_places[i].read(found.gl_pathv[k], fn, arg);
		globfree(&found);
	}
	return files;
}

#endif
