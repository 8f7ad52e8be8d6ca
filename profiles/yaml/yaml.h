/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses a YAML file to a tree in which every value has its place. Scalars are text; the schema
 * gives them a type. Aliases, tags, several documents and duplicate keys are refused; size, depth
 * and the number of keys of a map are limited. So the tree is never larger than the file permits:
 * every value needs at least one byte of the file.
 */
#ifndef PROFILES_YAML_H
#define PROFILES_YAML_H

#include "profiles/yaml/diag.h"

#define YAML_SIZE_MAX  (16u << 20)
#define YAML_KEYS_MAX  256 /* of one map: each key is compared with all before it */
#define YAML_DEPTH_MAX 32

enum yaml_kind {
	YAML_TEXT,
	YAML_LIST,
	YAML_MAP,
};

struct yaml_items;

struct yaml_node {
	enum yaml_kind kind;
	int line, column; /* from 1 */
	int width;	  /* characters on its first line */
	char *text;	  /* YAML_TEXT: owned, no NUL inside */
	/* YAML_LIST: its items. YAML_MAP: key, value, key, value; keys are texts. Owned; only
	 * yaml_item() looks into them. */
	struct yaml_items *items;
	size_t count; /* of the items */
};

struct yaml_file {
	char *path;	 /* owned: its name in findings */
	char *text;	 /* owned, terminated: content of the file */
	uint32_t *lines; /* owned: where each line of the text begins */
	size_t line_count;
	struct yaml_node *root; /* owned; a YAML_MAP */
};

/*
 * Reads and parses a file and adds findings to d, which call the file `shown`. Returns 0; -EINVAL
 * with at least one finding, and no tree; another -errno with e filled if the file cannot be read.
 * *f is only valid after success; the caller then calls yaml_close().
 */
int yaml_open(const char *path, const char *shown, struct yaml_file *f, struct diags *d,
	      struct err *e);

/* The same for text in memory, which it copies. */
int yaml_parse(const char *shown, const char *text, size_t size, struct yaml_file *f,
	       struct diags *d, struct err *e);

void yaml_close(struct yaml_file *f);

/* Item `index` of a list, or of a map's keys and values; NULL beyond the last, and if `node` is
 * NULL or a text. Items are only accessed here, with the check of the index. */
const struct yaml_node *yaml_item(const struct yaml_node *node, size_t index);

/* Value of a key of a map; NULL if it is missing, or if `map` is NULL or not a map. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* yaml_get() along a dotted path from the root. */
const struct yaml_node *yaml_find(const struct yaml_file *f, const char *path);

/* A finding without its place and text. */
struct yaml_finding {
	enum diag_level level;
	const char *rule;
	const char *note;	/* may be NULL */
	const char *suggestion; /* may be NULL */
};

/* Adds a finding at a node, with its source line. node NULL: about the whole file. Returns -EINVAL
 * or -ENOMEM, so that callers can return its result. */
int yaml_report(const struct yaml_file *f, const struct yaml_node *node,
		const struct yaml_finding *what, struct diags *d, const char *fmt, ...)
	PRINTF_LIKE(5, 6);

/* Adds the missing source lines to findings about this file, from number `first` on. */
int yaml_attach_source(const struct yaml_file *f, struct diags *d, size_t first);

#endif
