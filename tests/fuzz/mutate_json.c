/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutators of JSON: a document, and documents one a line.
 */
#include <jansson.h>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/tree.h"

#define LINES_MAX    512
#define SPOIL_ONE_IN 32 /* not JSON then */
#define TWICE_ONE_IN 64 /* a key twice, which a reader refuses as a whole */

static struct tree *tree_of(const json_t *json, unsigned int depth)
{
	struct tree *t = NULL;
	const json_t *value;
	const char *key;
	char number[400];

	if (depth == TREE_DEPTH_MAX)
		return tree_leaf(TREE_WORD, "null", 4);
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		t = tree_new(TREE_MAP);
		json_object_foreach ((json_t *)json, key, value) {
			struct tree *item = tree_of(value, depth + 1);

			if (!item)
				return NULL;
			tree_add(t, tree_leaf(TREE_TEXT, key, strlen(key)));
			tree_add(t, item);
		}
		break;
	case JSON_ARRAY:
		t = tree_new(TREE_LIST);
		for (size_t i = 0; i < json_array_size(json); i++)
			tree_add(t, tree_of(json_array_get(json, i), depth + 1));
		break;
	case JSON_STRING:
		return tree_leaf(TREE_TEXT, json_string_value(json), json_string_length(json));
	case JSON_INTEGER:
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(json));
		return tree_leaf(TREE_NUMBER, number, strlen(number));
	case JSON_REAL:
		snprintf(number, sizeof(number), "%#.17g", json_real_value(json));
		return tree_leaf(TREE_NUMBER, number, strlen(number));
	case JSON_TRUE:
		return tree_leaf(TREE_WORD, "true", 4);
	case JSON_FALSE:
		return tree_leaf(TREE_WORD, "false", 5);
	default:
		return tree_leaf(TREE_WORD, "null", 4);
	}
	return t && t->kind == TREE_MAP && t->count % 2 ? NULL : t;
}

static void put_text(struct tree_out *out, const char *text)
{
	char escape[8];

	tree_put(out, "\"", 1);
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ')
			tree_put(out, escape,
				 (size_t)snprintf(escape, sizeof(escape), "\\u%04x",
						  (unsigned int)(unsigned char)*c));
		else if (*c == '"' || *c == '\\')
			tree_put(out, *c == '"' ? "\\\"" : "\\\\", 2);
		else
			tree_put(out, c, 1);
	}
	tree_put(out, "\"", 1);
}

static void put_tree(struct tree_out *out, const struct tree *t, unsigned int depth)
{
	bool map = t->kind == TREE_MAP;

	if (t->kind == TREE_TEXT) {
		put_text(out, t->text);
		return;
	}
	if (t->kind == TREE_NUMBER || t->kind == TREE_WORD || depth == 2 * TREE_DEPTH_MAX) {
		const char *text = depth == 2 * TREE_DEPTH_MAX ? "0" : t->text;

		tree_put(out, text, strlen(text));
		return;
	}
	tree_put(out, map ? "{" : "[", 1);
	for (size_t i = 0; i < t->count && !out->full; i++) {
		if (i)
			tree_put(out, map && i % 2 ? ":" : ",", 1);
		put_tree(out, t->item[i], depth + 1);
	}
	tree_put(out, map ? "}" : "]", 1);
}

/* The text of a document as a tree; NULL when it is none. */
static struct tree *parse(const uint8_t *data, size_t size)
{
	json_t *json = json_loadb((const char *)data, size, 0, NULL);
	struct tree *t = json ? tree_of(json, 0) : NULL;

	json_decref(json);
	return t;
}

static size_t put_document(const struct tree *t, uint8_t *data, size_t size, size_t max_size)
{
	struct tree_out out = {.size = max_size};

	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	put_tree(&out, t, 0);
	if (!out.full) {
		memcpy(data, out.data, out.used);
		size = out.used;
	}
	free(out.data);
	return size;
}

size_t mutate_json(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct dice d = dice_of(seed);
	struct tree *t;

	tree_reset();
	t = dice_one_in(&d, SPOIL_ONE_IN) ? NULL : parse(data, size);
	if (!t)
		return LLVMFuzzerMutate(data, size, max_size);
	tree_mutate(t, dice_one_in(&d, TWICE_ONE_IN), &d);
	return put_document(t, data, size, max_size);
}

size_t cross_json(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
		  size_t max_size, unsigned int seed)
{
	struct dice d = dice_of(seed);
	struct tree *to, *from;

	tree_reset();
	to = parse(a, a_size);
	from = parse(b, b_size);
	if (!to || !from)
		return 0;
	tree_cross(to, from, &d);
	return put_document(to, out, 0, max_size);
}

struct line {
	const uint8_t *text;
	size_t size;
};

static size_t split(const uint8_t *data, size_t size, struct line *line)
{
	size_t count = 0;

	while (size && count < LINES_MAX) {
		const uint8_t *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) + 1 : size;

		line[count++] = (struct line){data, n};
		data += n;
		size -= n;
	}
	return count;
}

/* A line is doubled, left out, or changes places with another. */
static size_t move_line(struct line *line, size_t count, struct dice *d)
{
	size_t at = dice_below(d, count), other = dice_below(d, count);
	struct line one = line[at];

	switch (dice_below(d, 3)) {
	case 0:
		memmove(line + other + 1, line + other, (count - other) * sizeof(*line));
		line[other] = one;
		return count + 1;
	case 1:
		memmove(line + at, line + at + 1, (count - at - 1) * sizeof(*line));
		return count - 1;
	default:
		line[at] = line[other];
		line[other] = one;
		return count;
	}
}

static void put_line(struct tree_out *out, const struct line *line, struct dice *d)
{
	struct tree *t = parse(line->text, line->size);

	if (!t) {
		tree_put(out, (const char *)line->text, line->size);
		return;
	}
	tree_mutate(t, dice_one_in(d, TWICE_ONE_IN), d);
	put_tree(out, t, 0);
	tree_put(out, "\n", 1);
}

size_t mutate_json_lines(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct tree_out out = {.size = max_size};
	struct line line[LINES_MAX + 1];
	struct dice d = dice_of(seed);
	size_t count = split(data, size, line), change;

	if (!count || dice_one_in(&d, SPOIL_ONE_IN))
		return LLVMFuzzerMutate(data, size, max_size);
	if (dice_one_in(&d, 4))
		count = move_line(line, count, &d);
	change = dice_below(&d, count + 1); /* count: none of them */
	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	tree_reset();
	for (size_t i = 0; i < count; i++) {
		if (i == change)
			put_line(&out, &line[i], &d);
		else
			tree_put(&out, (const char *)line[i].text, line[i].size);
	}
	if (!out.full) {
		memcpy(data, out.data, out.used);
		size = out.used;
	}
	free(out.data);
	return size;
}
