/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a YAML tree into a struct by a table with one row per key: type, range, target and help.
 * The same rows print the JSON Schema. Adding a key: a member and a row.
 */
#ifndef PROFILES_YAML_SCHEMA_H
#define PROFILES_YAML_SCHEMA_H

#include <jansson.h>

#include "profiles/base/words.h"
#include "profiles/yaml/yaml.h"

#define SCHEMA_PATH_MAX 96

struct schema_load;
struct schema_row;

enum schema_kind {
	SCHEMA_TEXT,	/* char[size] */
	SCHEMA_NAME,	/* char[size]: letters, digits, '.', '_', '-', the first no '-' */
	SCHEMA_WORD,	/* an enum: one of words */
	SCHEMA_UINT,	/* unsigned int, min..max */
	SCHEMA_SECONDS, /* unsigned int, min..max: "3s", "2m" */
	SCHEMA_BYTES,	/* unsigned int, min..max: "64KiB" */
	SCHEMA_SWITCH,	/* bool: on or off */
	SCHEMA_TEXTS,	/* char[max][size] and an unsigned int: a list of texts */
	SCHEMA_MAPS, /* pointer and unsigned int: maps, each loaded by item; max 0 = any number */
	SCHEMA_OWN,  /* read() loads it, shape is its JSON Schema */
	SCHEMA_KIND_COUNT,
};

typedef int schema_read(struct schema_load *l, const struct schema_row *row,
			const struct yaml_node *node, void *target);

struct schema_row {
	const char *path; /* dotted: "policy.disruption"; NULL ends the table */
	enum schema_kind kind;
	bool required;		      /* of paths without a dot */
	bool reserved;		      /* checked and ignored, with a warning */
	size_t offset;		      /* of the target in the struct */
	size_t size;		      /* of the text, or of each of the texts */
	size_t count_offset;	      /* SCHEMA_TEXTS, SCHEMA_MAPS */
	unsigned int min, max;	      /* of the value; max: of the number of texts, or of maps */
	const struct qos_word *words; /* SCHEMA_WORD */
	const struct schema *item;    /* SCHEMA_MAPS */
	schema_read *read;	      /* SCHEMA_OWN */
	const char *shape;	      /* SCHEMA_OWN: JSON Schema of the value */
	const char *help;
};

/* Keys of another table than the rows, by number i. */
struct schema_fields {
	const char *(*key)(unsigned int i); /* dotted path; NULL behind the last */
	int (*find)(const char *path);	    /* -ENOENT */
	int (*read)(struct schema_load *l, unsigned int i, const struct yaml_node *node);
	json_t *(*to_json)(unsigned int i); /* the JSON Schema of its value; NULL on -ENOMEM */
};

struct schema {
	const char *title;
	const struct schema_row *rows;
	size_t size;			    /* of the struct */
	const struct schema_fields *fields; /* NULL: the rows are all keys */
	/* When set, called with each new item of SCHEMA_MAPS before its keys are read. */
	void (*begin)(void *item, const struct yaml_node *node);
};

/* State of one load, which readers also use to report. */
struct schema_load {
	const struct yaml_file *file;
	struct diags *diags;
	const struct schema *schema;
	void *target;
	char path[SCHEMA_PATH_MAX]; /* of the key being read */
};

/* Loads a map and adds all findings to diags. Returns 0, also with findings, or -ENOMEM. */
int schema_load_map(const struct schema *schema, const struct yaml_file *file,
		    const struct yaml_node *map, void *target, struct diags *diags);

/* For readers: report at a node and return -EINVAL. "what" of schema_expect(): "a list of
 * priorities" */
int schema_expect(struct schema_load *l, const struct yaml_node *node, const char *what);
int schema_refuse(struct schema_load *l, const struct yaml_node *node, const struct err *e);
int schema_warn(struct schema_load *l, const struct yaml_node *node, const char *rule,
		const char *text);

/* For readers that continue after an invalid item to report all: stores a failure in *bad; returns
 * true if the walk must end (-ENOMEM). */
bool schema_stop(int err, int *bad);

/* For readers: checks the value of the key schema. note: the expected value. */
int schema_version(struct schema_load *l, const struct yaml_node *node, const char *schema,
		   const char *note);

/* For readers: parses a value by a function of profiles/base/units.h; what: "a rate". */
typedef int schema_unit(const char *text, uint64_t min, uint64_t max, uint64_t *value,
			struct err *e);
int schema_units(struct schema_load *l, const struct yaml_node *node, const char *what,
		 schema_unit *read, uint64_t min, uint64_t max, uint64_t *value);

/* For readers: parses a number, or one of the words. */
int schema_number(struct schema_load *l, const struct yaml_node *node, uint64_t min, uint64_t max,
		  uint64_t *value);
int schema_word(struct schema_load *l, const struct yaml_node *node, const struct qos_word *words,
		uint8_t *value);

/* Returns true if the name is safe as argument of another program. */
bool schema_name_ok(const char *name);

/* The JSON Schema (draft 2020-12) of a table. New reference, NULL on -ENOMEM. */
json_t *schema_document(const struct schema *schema);

/* Parts of a schema, for schema_fields.to_json. All consume their arguments. */
json_t *schema_json_integer(uint64_t min, uint64_t max);
json_t *schema_json_words(const struct qos_word *words);
json_t *schema_json_list(json_t *item);
json_t *schema_json_number_or(uint64_t min, uint64_t max, const char *regex);

/* Sets key to a new reference; on failure drops the object and makes it NULL. */
void schema_json_set(json_t **object, const char *key, json_t *value);

#endif
