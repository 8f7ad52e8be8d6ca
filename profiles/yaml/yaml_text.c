/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text of YAML files: limited reading, lines for excerpts, and advice for the syntax errors that
 * people make. The messages of the table are those of libyaml 0.2.5; one that is not listed is
 * shown as it is.
 */
#include "profiles/yaml/yaml_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiles/yaml/yaml.h"

static int read_all(int fd, char *text, size_t room, size_t *size)
{
	size_t used = 0;

	while (used < room) {
		ssize_t n = read(fd, text + used, room - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += n;
	}
	*size = used;
	return 0;
}

static int read_limited(int fd, char **text, size_t *size)
{
	size_t used = 0, room = YAML_SIZE_MAX + 1;
	struct stat st;
	char *buf;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	if (st.st_size > YAML_SIZE_MAX)
		return -EFBIG;
	buf = malloc(room + 1);
	if (!buf)
		return -ENOMEM;
	err = read_all(fd, buf, room, &used);
	if (!err && used > YAML_SIZE_MAX)
		err = -EFBIG;
	if (err) {
		free(buf);
		return err;
	}
	buf[used] = '\0';
	*text = buf;
	*size = used;
	return 0;
}

int yaml_read_text(const char *path, char **text, size_t *size, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err;

	*text = NULL;
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	err = read_limited(fd, text, size);
	close(fd);
	if (err && err != -EFBIG && err != -ENOTSUP)
		return err_sys(e, err, "%s", path);
	return err;
}

/* Bytes of the line break at text, 0 when there is none: YAML 1.1 s4.1.4, as libyaml counts. */
static size_t break_length(const char *text)
{
	static const char *const breaks[] = {"\r\n",	 "\r",		 "\n",
					     "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++)
		if (!strncmp(text, breaks[i], strlen(breaks[i])))
			return strlen(breaks[i]);
	return 0;
}

/* The line break that ends this line, or the end of the text. */
static const char *line_end(const char *text)
{
	/* Bytes that no break begins with are passed over fast. */
	while (*(text += strcspn(text, "\r\n\xc2\xe2")) && !break_length(text))
		text++;
	return text;
}

static const char *next_line(const char *text)
{
	const char *end = line_end(text);

	return end + break_length(end);
}

uint32_t *yaml_find_lines(const char *text, size_t *count)
{
	size_t room = 1;
	uint32_t *lines;

	for (const char *at = text; *at; at = next_line(at))
		room++;
	lines = calloc(room, sizeof(*lines));
	if (!lines)
		return NULL;
	*count = 0;
	for (const char *at = text; *at; at = next_line(at))
		lines[(*count)++] = at - text;
	return lines;
}

int yaml_copy_line(const char *text, char *source, size_t size)
{
	size_t length = line_end(text) - text;

	if (length >= size)
		return -ENOENT;
	memcpy(source, text, length);
	source[length] = '\0';
	return 0;
}

void yaml_offset_place(const char *text, size_t offset, int *line, int *column)
{
	*line = 1;
	*column = 1;
	for (size_t i = 0; i < offset && text[i]; i++) {
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		} else if (((unsigned char)text[i + 1] & 0xc0) != 0x80) {
			++*column;
		}
	}
}

/* Where the finding points, besides the place of the problem. */
enum place {
	AT_PROBLEM,
	AT_CONTEXT, /* where the bracket or quote was opened */
};

struct advice_row {
	const char *problem;
	const char *text;
	const char *note;
	enum place place;
	char byte; /* only when this byte stands at the problem; 0 = any */
};

/* clang-format off */

/* The first row that fits is taken. */
static const struct advice_row advice_rows[] = {
	{"cannot start any token", "a tab cannot indent", "indent with spaces", AT_PROBLEM, '\t'},
	{"cannot start any token", "this character cannot begin a value",
	 "put the value in quotes", AT_PROBLEM, 0},
	{"violates indentation", "a tab cannot indent", "indent with spaces", AT_PROBLEM, 0},
	{"expected ',' or ']'", "this '[' is not closed",
	 "a list is written [1, 2]", AT_CONTEXT, 0},
	{"expected ',' or '}'", "this '{' is not closed",
	 "a map is written {key: value}", AT_CONTEXT, 0},
	{"could not find expected ':'", "no ': ' behind this key",
	 "write 'key: value', with a space", AT_CONTEXT, 0},
	{"mapping values are not allowed", "no key can stand before this ':'",
	 "check the indentation, or quote a text that holds ': '", AT_PROBLEM, 0},
	{"expected key", "this line is indented neither as its neighbours nor below them",
	 "keys of one map begin in the same column", AT_PROBLEM, 0},
	{"expected '-' indicator", "this line is no item of the list above",
	 "items of one list begin with '- ' in the same column", AT_PROBLEM, 0},
	{"unexpected end of stream", "this quote is not closed", "", AT_CONTEXT, 0},
	{"unexpected document indicator", "this quote is not closed", "", AT_CONTEXT, 0},
	{"unknown escape character", "unknown escape in double quotes",
	 "use single quotes to write a backslash", AT_PROBLEM, 0},
	{"UTF-8", "not UTF-8 text", "save the file as UTF-8", AT_PROBLEM, 0},
	{"control characters are not allowed", "control character", "remove it", AT_PROBLEM, 0},
};

/* clang-format on */

static char byte_at(const char *text, int line, int column)
{
	for (; line > 1; line--) {
		text = strchr(text, '\n');
		if (!text)
			return '\0';
		text++;
	}
	/* Only asked about tabs in an indentation, which is ASCII. */
	return strlen(text) >= (size_t)column ? text[column - 1] : '\0';
}

static const struct advice_row *find_advice(const char *text, const struct yaml_problem *problem)
{
	char byte = byte_at(text, problem->line, problem->column);

	for (size_t i = 0; i < ARRAY_SIZE(advice_rows); i++) {
		const struct advice_row *row = &advice_rows[i];

		if (strstr(problem->text, row->problem) && (!row->byte || row->byte == byte))
			return row;
	}
	return NULL;
}

void yaml_advise(const char *text, const struct yaml_problem *problem, struct yaml_advice *advice)
{
	const struct advice_row *row = find_advice(text, problem);
	bool at_context = row && row->place == AT_CONTEXT && problem->context_line;

	*advice = (struct yaml_advice){.line = problem->line, .column = problem->column};
	snprintf(advice->text, sizeof(advice->text), "%s", row ? row->text : problem->text);
	if (row)
		snprintf(advice->note, sizeof(advice->note), "%s", row->note);
	if (!at_context)
		return;
	advice->line = problem->context_line;
	advice->column = problem->context_column;
	snprintf(advice->note, sizeof(advice->note), "noticed in line %d, column %d%s%s",
		 problem->line, problem->column, row->note[0] ? "; " : "", row->note);
}
