/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mutators of YAML. The document is read by libyaml itself, not by the reader that is tested, and
 * written in block form near its root and in flow form below. Comments are lost.
 */
#include <yaml.h>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/tree.h"

#define NODES_MAX    4000
#define BLOCK_DEPTH  2
#define SPOIL_ONE_IN 32 /* not YAML then */
#define TWICE_ONE_IN 16 /* a key twice */

/* Aliases make a graph of it, perhaps one without end: nodes are counted. */
static struct tree *tree_of(yaml_document_t *doc, int id, unsigned int depth, size_t *left)
{
	yaml_node_t *node = yaml_document_get_node(doc, id);
	struct tree *t;

	if (!node || !*left || depth == TREE_DEPTH_MAX)
		return NULL;
	--*left;
	if (node->type == YAML_SCALAR_NODE)
		return tree_leaf(TREE_TEXT, (const char *)node->data.scalar.value,
				 strlen((const char *)node->data.scalar.value));
	t = tree_new(node->type == YAML_MAPPING_NODE ? TREE_MAP : TREE_LIST);
	if (!t)
		return NULL;
	if (t->kind == TREE_LIST) {
		for (yaml_node_item_t *i = node->data.sequence.items.start;
		     i < node->data.sequence.items.top; i++)
			tree_add(t, tree_of(doc, *i, depth + 1, left));
		return t;
	}
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
	     p++) {
		struct tree *key = tree_of(doc, p->key, depth + 1, left);
		struct tree *value = tree_of(doc, p->value, depth + 1, left);

		if (!key || !value || key->kind != TREE_TEXT)
			continue;
		tree_add(t, key);
		tree_add(t, value);
	}
	return t->count % 2 ? NULL : t;
}

static struct tree *parse(const uint8_t *data, size_t size)
{
	size_t left = NODES_MAX;
	yaml_parser_t parser;
	yaml_document_t doc;
	struct tree *t = NULL;

	HOLDS(yaml_parser_initialize(&parser));
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, data, size);
	if (yaml_parser_load(&parser, &doc)) {
		if (yaml_document_get_root_node(&doc))
			t = tree_of(&doc, 1, 0, &left);
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	return t;
}

/* Number of a letter and its bytes. */
static unsigned int letter_of(const char *text, size_t *size)
{
	static const uint8_t first[] = {0, 0, 0x1f, 0x0f, 0x07};
	unsigned char c = (unsigned char)*text;
	unsigned int letter;

	*size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	letter = *size == 1 ? c : c & first[*size];
	for (size_t i = 1; i < *size; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80) {
			*size = 1;
			return '?';
		}
		letter = letter << 6 | ((unsigned char)text[i] & 0x3f);
	}
	return letter;
}

static void put_quoted(struct tree_out *out, const char *text)
{
	char escape[16];
	size_t size;

	tree_put(out, "\"", 1);
	for (const char *c = text; *c; c += size) {
		unsigned int letter = letter_of(c, &size);

		if (letter < ' ' || letter > '~')
			tree_put(out, escape,
				 (size_t)snprintf(escape, sizeof(escape), "\\U%08x", letter));
		else if (letter == '"' || letter == '\\')
			tree_put(out, letter == '"' ? "\\\"" : "\\\\", 2);
		else
			tree_put(out, c, 1);
	}
	tree_put(out, "\"", 1);
}

static bool is_plain(const char *text)
{
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

	return text[0] && strchr(good, text[0]) && text[0] != '-' && text[0] != '.' &&
	       !text[strspn(text, good)];
}

static void put_scalar(struct tree_out *out, const char *text, struct dice *d)
{
	if (!is_plain(text) || dice_one_in(d, 32))
		put_quoted(out, text);
	else
		tree_put(out, text, strlen(text));
}

static void put_flow(struct tree_out *out, const struct tree *t, unsigned int depth, struct dice *d)
{
	bool map = t->kind == TREE_MAP;

	if (t->kind != TREE_LIST && !map) {
		put_scalar(out, t->text, d);
		return;
	}
	tree_put(out, map ? "{" : "[", 1);
	for (size_t i = 0; depth < TREE_DEPTH_MAX && i < t->count && !out->full; i++) {
		if (i)
			tree_put(out, map && i % 2 ? ": " : ", ", 2);
		put_flow(out, t->item[i], depth + 1, d);
	}
	tree_put(out, map ? "}" : "]", 1);
}

/* Begins behind the ':' or '-' of what holds it, and ends its line. */
static void put_block(struct tree_out *out, const struct tree *t, unsigned int depth,
		      struct dice *d)
{
	bool map = t->kind == TREE_MAP;

	if ((t->kind != TREE_LIST && !map) || !t->count || depth == BLOCK_DEPTH) {
		tree_put(out, " ", depth ? 1 : 0);
		put_flow(out, t, depth, d);
		tree_put(out, "\n", 1);
		return;
	}
	tree_put(out, "\n", depth ? 1 : 0);
	for (size_t i = 0; i < t->count && !out->full; i += map ? 2 : 1) {
		tree_put(out, "    ", 2 * (size_t)depth);
		if (map)
			put_scalar(out, t->item[i]->text, d);
		tree_put(out, map ? ":" : "-", 1);
		put_block(out, t->item[map ? i + 1 : i], depth + 1, d);
	}
}

static size_t put_document(const struct tree *t, uint8_t *data, size_t size, size_t max_size,
			   struct dice *d)
{
	struct tree_out out = {.size = max_size};

	out.data = malloc(max_size ? max_size : 1);
	HOLDS(out.data);
	put_block(&out, t, 0, d);
	if (!out.full) {
		memcpy(data, out.data, out.used);
		size = out.used;
	}
	free(out.data);
	return size;
}

size_t mutate_yaml(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct dice d = dice_of(seed);
	struct tree *t;

	tree_reset();
	t = dice_one_in(&d, SPOIL_ONE_IN) ? NULL : parse(data, size);
	if (!t || t->kind != TREE_MAP)
		return LLVMFuzzerMutate(data, size, max_size);
	tree_mutate(t, dice_one_in(&d, TWICE_ONE_IN), &d);
	return put_document(t, data, size, max_size, &d);
}

size_t cross_yaml(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
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
	return put_document(to, out, 0, max_size, &d);
}
