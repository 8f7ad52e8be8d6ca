/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the tree of struct yaml_node from the events of libyaml. Its document API is not used,
 * since it resolves aliases, which must be refused. YAML 1.1 types are not guessed: a scalar is its
 * text. Hints for syntax errors match messages of libyaml 0.2.5; unknown messages are printed
 * unchanged.
 */
#include "profiles/yaml/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yaml.h>

#include "profiles/base/file.h"

#define YAML_SOURCE_MAX 400 /* longer lines are not shown */

/* Error of libyaml. */
struct yaml_problem {
	const char *text;
	int line, column;
	int context_line, context_column; /* start of the enclosing construct; line 0: none */
};

/* Text and note of the finding. */
struct yaml_advice {
	char text[160];
	char note[160];
	int line, column;
};

static int yaml_read_fd(int fd, char **text, size_t *size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	if (st.st_size > YAML_SIZE_MAX)
		return -EFBIG;
	return file_read_all(fd, YAML_SIZE_MAX, text, size);
}

/* Reads a regular file of at most YAML_SIZE_MAX bytes; *text is terminated and the caller's to
 * free. -EFBIG with *text NULL if it is larger; -ENOTSUP with *text NULL if it is a pipe or a
 * device, which it does not wait for; another -errno with e filled if it cannot be read. */
static int yaml_read_file(const char *path, char **text, size_t *size, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err;

	*text = NULL;
	if (fd < 0)
		return err_sys(e, -errno, "%s", path);
	err = yaml_read_fd(fd, text, size);
	close(fd);
	if (err && err != -EFBIG && err != -ENOTSUP)
		return err_sys(e, err, "%s", path);
	return err;
}

/* Length of the line break at text, or 0: YAML 1.1 s4.1.4, as libyaml counts lines. */
static size_t yaml_break_length(const char *text)
{
	static const char *const breaks[] = {"\r\n",	 "\r",		 "\n",
					     "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++)
		if (!strncmp(text, breaks[i], strlen(breaks[i])))
			return strlen(breaks[i]);
	return 0;
}

/* Finds the line break that ends this line, or the end of the text. */
static const char *yaml_line_end(const char *text)
{
	/* Fast path: skips bytes that begin no line break. */
	while (*(text += strcspn(text, "\r\n\xc2\xe2")) && !yaml_break_length(text))
		text++;
	return text;
}

static const char *yaml_next_line(const char *text)
{
	const char *end = yaml_line_end(text);

	return end + yaml_break_length(end);
}

/* Returns the offsets of all lines, counted as libyaml does; the caller frees. NULL on -ENOMEM. */
static uint32_t *yaml_find_lines(const char *text, size_t *count)
{
	size_t room = 1;
	uint32_t *lines;

	for (const char *at = text; *at; at = yaml_next_line(at))
		room++;
	lines = calloc(room, sizeof(*lines));
	if (!lines)
		return NULL;
	*count = 0;
	for (const char *at = text; *at; at = yaml_next_line(at))
		lines[(*count)++] = at - text;
	return lines;
}

/* Copies the line that begins at text, without its line break. -ENOENT if it is longer than size.
 */
static int yaml_copy_line(const char *text, char *source, size_t size)
{
	size_t length = yaml_line_end(text) - text;

	if (length >= size)
		return -ENOENT;
	memcpy(source, text, length);
	source[length] = '\0';
	return 0;
}

/* Finds line and column (in characters, from 1) of a byte. */
static void yaml_offset_place(const char *text, size_t offset, int *line, int *column)
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

/* Place of the finding. */
enum place {
	AT_PROBLEM,
	AT_CONTEXT, /* start of the bracket or quote */
};

struct advice_row {
	const char *problem;
	const char *text;
	const char *note;
	enum place place;
	char byte; /* only with this byte at the place of the problem; 0 = any */
};

/* clang-format off */

/* The first matching row applies. */
static const struct advice_row advice_rows[] = {
	{"cannot start any token", "a tab cannot indent", "indent with spaces", AT_PROBLEM, '\t'},
	{"cannot start any token", "this character cannot begin a value",
	 "put the value in quotes", AT_PROBLEM, 0},
	{"violates indentation", "a tab cannot indent", "indent with spaces", AT_PROBLEM, 0},
	{"expected ',' or ']'", "this '[' is not closed",
	 "a list is written [1, 2]", AT_CONTEXT, 0},
	{"expected ',' or '}'", "this '{' is not closed",
	 "a map is written {key: value}", AT_CONTEXT, 0},
	{"could not find expected ':'", "no ': ' after this key",
	 "write 'key: value', with a space", AT_CONTEXT, 0},
	{"mapping values are not allowed", "no key is possible before this ':'",
	 "check the indentation, or quote a text that holds ': '", AT_PROBLEM, 0},
	{"expected key", "this line is indented differently from its neighbours",
	 "keys of one map begin in the same column", AT_PROBLEM, 0},
	{"expected '-' indicator", "this line is not an item of the list above",
	 "items of one list begin with '- ' in the same column", AT_PROBLEM, 0},
	{"unexpected end of stream", "this quote is not closed", "", AT_CONTEXT, 0},
	{"unexpected document indicator", "this quote is not closed", "", AT_CONTEXT, 0},
	{"unknown escape character", "unknown escape in double quotes",
	 "use single quotes to write a backslash", AT_PROBLEM, 0},
	{"UTF-8", "not UTF-8 text", "save the file as UTF-8", AT_PROBLEM, 0},
	{"control characters are not allowed", "control character", "remove it", AT_PROBLEM, 0},
};

/* clang-format on */

static char yaml_byte_at(const char *text, int line, int column)
{
	for (; line > 1; line--) {
		text = strchr(text, '\n');
		if (!text)
			return '\0';
		text++;
	}
	/* Only used for tabs in an indentation, which is ASCII. */
	return strlen(text) >= (size_t)column ? text[column - 1] : '\0';
}

static const struct advice_row *yaml_find_advice(const char *text,
						 const struct yaml_problem *problem)
{
	char byte = yaml_byte_at(text, problem->line, problem->column);

	for (size_t i = 0; i < ARRAY_SIZE(advice_rows); i++) {
		const struct advice_row *row = &advice_rows[i];

		if (strstr(problem->text, row->problem) && (!row->byte || row->byte == byte))
			return row;
	}
	return NULL;
}

static void yaml_advise(const char *text, const struct yaml_problem *problem,
			struct yaml_advice *advice)
{
	const struct advice_row *row = yaml_find_advice(text, problem);
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

#define FINDING_TEXT_MAX 320

struct yaml_items {
	size_t room;
	struct yaml_node *node[];
};

/* State of the parser of one file. */
struct reader {
	yaml_parser_t parser;
	struct yaml_file *f;
	struct diags *d;
	bool twice; /* a key was given twice */
};

static void yaml_node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++)
		yaml_node_free(node->items->node[i]);
	free(node->items);
	free(node->text);
	free(node);
}

void yaml_close(struct yaml_file *f)
{
	if (!f)
		return;
	yaml_node_free(f->root);
	free(f->path);
	free(f->text);
	free(f->lines);
	*f = (struct yaml_file){.path = NULL};
}

static int yaml_source_line(const struct yaml_file *f, int line, char *source, size_t size)
{
	if (line < 1 || (size_t)line > f->line_count)
		return -ENOENT;
	return yaml_copy_line(f->text + f->lines[line - 1], source, size);
}

int yaml_report(const struct yaml_file *f, const struct yaml_node *node,
		const struct yaml_finding *what, struct diags *d, const char *fmt, ...)
{
	static const struct yaml_node whole_file = {.line = 0};
	const struct yaml_node *at = node ? node : &whole_file;
	char text[FINDING_TEXT_MAX], source[YAML_SOURCE_MAX];
	struct diag one = {
		.level = what->level,
		.path = f->path,
		.line = at->line,
		.column = at->column,
		.width = at->width,
		.text = text,
		/* diags_add() copies; it changes none of these. */
		.note = (char *)what->note,
		.suggestion = (char *)what->suggestion,
	};
	va_list ap;
	int err;

	if (d->count > DIAGS_MAX)
		return -EINVAL; /* findings above the limit are not stored */
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(one.rule, sizeof(one.rule), "%s", what->rule);
	if (!yaml_source_line(f, at->line, source, sizeof(source)))
		one.source = source;
	err = diags_add(d, &one);
	return err ? err : -EINVAL;
}

int yaml_attach_source(const struct yaml_file *f, struct diags *d, size_t first)
{
	char source[YAML_SOURCE_MAX];

	for (size_t i = first; i < d->count; i++) {
		struct diag *one = &d->list[i];

		if (one->source || strcmp(one->path, f->path))
			continue;
		if (yaml_source_line(f, one->line, source, sizeof(source)))
			continue;
		if (diag_set_source(one, source))
			return -ENOMEM;
	}
	return 0;
}

/* Reports an unsupported feature or an exceeded limit at an event. */
static int yaml_refuse(struct reader *r, const yaml_event_t *event, const char *rule,
		       const char *text)
{
	struct yaml_node at = {
		.line = event->start_mark.line + 1,
		.column = event->start_mark.column + 1,
		.width = 1,
	};
	struct yaml_finding what = {.level = DIAG_ERROR, .rule = rule};

	if (event->end_mark.line == event->start_mark.line)
		at.width = event->end_mark.column - event->start_mark.column;
	return yaml_report(r->f, &at, &what, r->d, "%s", text);
}

/* Reports a syntax error of libyaml with a hint. */
static int yaml_report_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	struct yaml_problem problem = {
		.text = p->problem ? p->problem : "cannot be read",
		.line = p->problem_mark.line + 1,
		.column = p->problem_mark.column + 1,
		.context_line = p->context ? p->context_mark.line + 1 : 0,
		.context_column = p->context_mark.column + 1,
	};
	struct yaml_node at = {.width = 1};
	struct yaml_advice advice;
	struct yaml_finding what = {.level = DIAG_ERROR, .rule = "RC-INP-001"};

	if (p->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (p->error == YAML_READER_ERROR)
		yaml_offset_place(r->f->text, p->problem_offset, &problem.line, &problem.column);
	yaml_advise(r->f->text, &problem, &advice);
	at.line = advice.line;
	at.column = advice.column;
	what.note = advice.note;
	return yaml_report(r->f, &at, &what, r->d, "%s", advice.text);
}

static int yaml_next_event(struct reader *r, yaml_event_t *event)
{
	return yaml_parser_parse(&r->parser, event) ? 0 : yaml_report_syntax(r);
}

static int yaml_node_new(const yaml_event_t *event, enum yaml_kind kind, struct yaml_node **out)
{
	struct yaml_node *node;

	node = calloc(1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->kind = kind;
	node->line = event->start_mark.line + 1;
	node->column = event->start_mark.column + 1;
	node->width = 1;
	if (event->end_mark.line == event->start_mark.line &&
	    event->end_mark.column > event->start_mark.column)
		node->width = event->end_mark.column - event->start_mark.column;
	*out = node;
	return 0;
}

/* Consumes the item, also on failure. */
static int yaml_node_append(struct yaml_node *node, struct yaml_node *item)
{
	struct yaml_items *grown = node->items;

	if (!grown || node->count == grown->room) {
		size_t room = node->count ? 2 * node->count : 2;

		grown = realloc(grown, sizeof(*grown) + room * sizeof(grown->node[0]));
		if (!grown) {
			yaml_node_free(item);
			return -ENOMEM;
		}
		grown->room = room;
		node->items = grown;
	}
	grown->node[node->count++] = item;
	return 0;
}

static int yaml_read_node(struct reader *r, const yaml_event_t *event, unsigned int depth,
			  struct yaml_node **out);

static int yaml_read_scalar(struct reader *r, const yaml_event_t *event, struct yaml_node **out)
{
	const char *value = (const char *)event->data.scalar.value;
	struct yaml_node *node;
	int err;

	if (event->data.scalar.tag)
		return yaml_refuse(r, event, "RC-INP-008", "tags are not accepted");
	if (memchr(value, '\0', event->data.scalar.length))
		return yaml_refuse(r, event, "RC-INP-004", "a NUL character in a text");
	err = yaml_node_new(event, YAML_TEXT, &node);
	if (err)
		return err;
	node->text = strdup(value);
	if (!node->text) {
		yaml_node_free(node);
		return -ENOMEM;
	}
	*out = node;
	return 0;
}

/* Reports all duplicate keys. The file then has no tree: yaml_get() would see one of the values,
 * and a walk over the map both. */
static int yaml_check_key(struct reader *r, const struct yaml_node *map,
			  const struct yaml_node *key)
{
	struct yaml_finding what = {.level = DIAG_ERROR, .rule = "RC-INP-003"};
	char note[64];
	int err;

	if (key->kind != YAML_TEXT) {
		what.rule = "RC-INP-004";
		return yaml_report(r->f, key, &what, r->d, "a key must be a word or a number");
	}
	if (map->count >= 2 * YAML_KEYS_MAX) {
		what.rule = "RC-INP-007";
		return yaml_report(r->f, key, &what, r->d, "more than %d keys in one map",
				   YAML_KEYS_MAX);
	}
	for (size_t i = 0; i < map->count; i += 2) {
		const struct yaml_node *first = yaml_item(map, i);

		if (strcmp(first->text, key->text))
			continue;
		snprintf(note, sizeof(note), "first given in line %d", first->line);
		what.note = note;
		r->twice = true;
		err = yaml_report(r->f, key, &what, r->d, "key '%s' is given twice", key->text);
		return err == -EINVAL ? 0 : err;
	}
	return 0;
}

/* Reads the items of a list, or keys and values of a map, up to its end event. */
static int yaml_read_items(struct reader *r, yaml_event_type_t end, unsigned int depth,
			   struct yaml_node *node)
{
	for (;;) {
		struct yaml_node *item;
		yaml_event_t event;
		int err = yaml_next_event(r, &event);

		if (err)
			return err;
		if (event.type == end) {
			if (event.end_mark.line + 1 == (size_t)node->line)
				node->width = event.end_mark.column + 1 - node->column;
			yaml_event_delete(&event);
			return 0;
		}
		err = yaml_read_node(r, &event, depth + 1, &item);
		yaml_event_delete(&event);
		if (err)
			return err;
		if (node->kind == YAML_MAP && !(node->count & 1))
			err = yaml_check_key(r, node, item);
		if (err) {
			yaml_node_free(item);
			return err;
		}
		err = yaml_node_append(node, item);
		if (err)
			return err;
	}
}

static int yaml_read_collection(struct reader *r, const yaml_event_t *event, unsigned int depth,
				struct yaml_node **out)
{
	bool map = event->type == YAML_MAPPING_START_EVENT;
	struct yaml_node *node;
	int err;

	if (map ? event->data.mapping_start.tag : event->data.sequence_start.tag)
		return yaml_refuse(r, event, "RC-INP-008", "tags are not accepted");
	if (depth >= YAML_DEPTH_MAX)
		return yaml_refuse(r, event, "RC-INP-007", "nested deeper than 32 levels");
	err = yaml_node_new(event, map ? YAML_MAP : YAML_LIST, &node);
	if (err)
		return err;
	err = yaml_read_items(r, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT, depth,
			      node);
	if (err) {
		yaml_node_free(node);
		return err;
	}
	*out = node;
	return 0;
}

static int yaml_read_node(struct reader *r, const yaml_event_t *event, unsigned int depth,
			  struct yaml_node **out)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return yaml_read_scalar(r, event, out);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return yaml_read_collection(r, event, depth, out);
	default: /* YAML_ALIAS_EVENT: the only other event in place of a node */
		return yaml_refuse(r, event, "RC-INP-008", "aliases are not accepted");
	}
}

/* Reads one expected event: start of the stream, start or end of a document. */
static int yaml_expect_event(struct reader *r, yaml_event_type_t type, bool *found)
{
	yaml_event_t event;
	int err = yaml_next_event(r, &event);

	if (err)
		return err;
	*found = event.type == type;
	if (!*found && event.type == YAML_DOCUMENT_START_EVENT)
		err = yaml_refuse(r, &event, "RC-INP-008", "a second document in one file");
	yaml_event_delete(&event);
	return err;
}

static int yaml_read_root(struct reader *r, struct yaml_node **root)
{
	struct yaml_finding what = {.level = DIAG_ERROR, .rule = "RC-INP-007"};
	yaml_event_t event;
	bool found;
	int err = yaml_expect_event(r, YAML_STREAM_START_EVENT, &found);

	if (!err)
		err = yaml_expect_event(r, YAML_DOCUMENT_START_EVENT, &found);
	if (err)
		return err;
	if (!found)
		return yaml_report(r->f, NULL, &what, r->d, "the file is empty");
	err = yaml_next_event(r, &event);
	if (err)
		return err;
	err = yaml_read_node(r, &event, 0, root);
	yaml_event_delete(&event);
	if (!err)
		err = yaml_expect_event(r, YAML_DOCUMENT_END_EVENT, &found);
	if (!err)
		err = yaml_expect_event(r, YAML_STREAM_END_EVENT, &found);
	return err;
}

/* Parses f->text to a tree. */
static int yaml_read_tree(struct yaml_file *f, size_t size, struct diags *d)
{
	struct yaml_finding what = {
		.level = DIAG_ERROR, .rule = "RC-INP-007", .note = "write 'key: value' lines"};
	struct reader r = {.f = f, .d = d};
	int err;

	if (!yaml_parser_initialize(&r.parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)f->text, size);
	err = yaml_read_root(&r, &f->root);
	yaml_parser_delete(&r.parser);
	if (!err && f->root->kind != YAML_MAP)
		err = yaml_report(f, f->root, &what, d, "the file holds no keys");
	return !err && r.twice ? -EINVAL : err;
}

/* Reports a file that was not read: too large (-EFBIG), or not a regular file. */
static int yaml_report_unread(const char *shown, int why, struct diags *d)
{
	struct yaml_finding what = {.level = DIAG_ERROR, .rule = "RC-INP-007"};
	struct yaml_file file = {.path = (char *)shown};

	return yaml_report(&file, NULL, &what, d, "%s",
			   why == -EFBIG ? "the file is larger than 16 MiB" : "not a regular file");
}

/* Consumes text, which has a NUL after size bytes. */
static int yaml_parse_owned(const char *shown, char *text, size_t size, struct yaml_file *f,
			    struct diags *d, struct err *e)
{
	struct yaml_file file = {.path = strdup(shown), .text = text};
	int err = -ENOMEM;

	file.lines = yaml_find_lines(text, &file.line_count);
	if (file.path && file.lines)
		err = yaml_read_tree(&file, size, d);
	if (err) {
		yaml_close(&file);
		return err == -ENOMEM ? err_sys(e, err, "%s", shown) : err;
	}
	*f = file;
	return 0;
}

int yaml_parse(const char *shown, const char *text, size_t size, struct yaml_file *f,
	       struct diags *d, struct err *e)
{
	char *copy;

	if (size > YAML_SIZE_MAX)
		return yaml_report_unread(shown, -EFBIG, d);
	copy = malloc(size + 1);
	if (!copy)
		return err_sys(e, -ENOMEM, "%s", shown);
	memcpy(copy, text, size);
	copy[size] = '\0';
	return yaml_parse_owned(shown, copy, size, f, d, e);
}

int yaml_open(const char *path, const char *shown, struct yaml_file *f, struct diags *d,
	      struct err *e)
{
	size_t size = 0;
	char *text;
	int err = yaml_read_file(path, &text, &size, e);

	if (err == -EFBIG || err == -ENOTSUP)
		return yaml_report_unread(shown, err, d);
	if (err)
		return err;
	return yaml_parse_owned(shown, text, size, f, d, e);
}

const struct yaml_node *yaml_item(const struct yaml_node *node, size_t index)
{
	return node && index < node->count ? node->items->node[index] : NULL;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (size_t i = 0; i < map->count; i += 2)
		if (!strcmp(yaml_item(map, i)->text, key))
			return yaml_item(map, i + 1);
	return NULL;
}

const struct yaml_node *yaml_find(const struct yaml_file *f, const char *path)
{
	const struct yaml_node *node = f->root;
	const char *dot;
	char key[64];

	while ((dot = strchr(path, '.'))) {
		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		node = yaml_get(node, key);
		path = dot + 1;
	}
	return yaml_get(node, path);
}
