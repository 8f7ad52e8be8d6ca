/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A YAML file as a tree in which every value knows its place, and nothing has a type yet: scalars
 * are text, the schema says what they must be. Aliases, tags, several documents and keys given
 * twice are refused, size, depth and the keys of one map are limited, so that no input costs more
 * than it weighs: no value comes from less than a byte of the file.
 */
#ifndef PROFILES_YAML_H
#define PROFILES_YAML_H

#include "profiles/yaml/diag.h"

#define YAML_SIZE_MAX  (16u << 20)
#define YAML_KEYS_MAX  256 /* of one map: each is compared with those before it */
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
	int width;	  /* characters up to its end on the first line */
	char *text;	  /* YAML_TEXT: owned, no NUL inside */
	/* YAML_LIST: its items. YAML_MAP: key, value, key, value; keys are texts. Owned; only
	 * yaml_item() looks into them. */
	struct yaml_items *items;
	size_t count; /* of the items */
};

struct yaml_file {
	char *path;	 /* owned: what findings call it */
	char *text;	 /* owned, terminated: the file as it is */
	uint32_t *lines; /* owned: where each line of the text begins */
	size_t line_count;
	struct yaml_node *root; /* owned; a YAML_MAP */
};

/*
 * Reads and parses a file, which findings call `shown`. Findings about it go to d. Returns 0;
 * -EINVAL with at least one finding: there is no tree to read on in; another -errno with e filled
 * when the file cannot be opened or read. *f is only valid after success; the caller then calls
 * yaml_close().
 */
int yaml_open(const char *path, const char *shown, struct yaml_file *f, struct diags *d,
	      struct err *e);

/* The same for text in memory, which is copied. */
int yaml_parse(const char *shown, const char *text, size_t size, struct yaml_file *f,
	       struct diags *d, struct err *e);

void yaml_close(struct yaml_file *f);

/* Item `index` of a list, or of a map's keys and values; NULL beyond the last, and when `node` is
 * NULL or a text. The one way to an item: what counts items may be another list than this. */
const struct yaml_node *yaml_item(const struct yaml_node *node, size_t index);

/* Value of a key of a map, NULL when it is absent or `map` is NULL or no map. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* yaml_get() along a dotted path from the root. */
const struct yaml_node *yaml_find(const struct yaml_file *f, const char *path);

/* What a finding says besides its place. */
struct yaml_finding {
	enum diag_level level;
	const char *rule;
	const char *note;	/* may be NULL */
	const char *suggestion; /* may be NULL */
};

/* Adds a finding at a node, with its source line. node NULL: about the whole file. Returns -EINVAL,
 * so that "return yaml_report(...)" reads well, or -ENOMEM. */
int yaml_report(const struct yaml_file *f, const struct yaml_node *node,
		const struct yaml_finding *what, struct diags *d, const char *fmt, ...)
	PRINTF_LIKE(5, 6);

/* Gives findings from number `first` on that name this file and a line, but have no source line,
 * their source line. */
int yaml_attach_source(const struct yaml_file *f, struct diags *d, size_t first);

#endif
