/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads a YAML map by the rows of a schema: finds the row of each key and reads the value by its
 * kind. Reports each problem and continues.
 */
#include "profiles/yaml/yaml_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"
#include "profiles/base/text.h"
#include "profiles/base/units.h"

/* Prints the JSON Schema (draft 2020-12) of a table, for editors that complete and check YAML. It
 * is as strict as the loader as far as JSON Schema allows; `rocecheck lint` checks cross-field
 * rules. */

/* jansson consumes the value in every case, and fails for a NULL object. */
void schema_json_set(json_t **object, const char *key, json_t *value)
{
	if (!json_object_set_new(*object, key, value))
		return;
	json_decref(*object);
	*object = NULL;
}

static json_t *schema_json_type(const char *word)
{
	return json_pack("{s:s}", "type", word);
}

json_t *schema_json_integer(uint64_t min, uint64_t max)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)min,
			 "maximum", (json_int_t)max);
}

static json_t *schema_json_pattern(const char *regex)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern", regex);
}

/* YAML parsers of editors read on and off as booleans. */
json_t *schema_json_words(const struct qos_word *list)
{
	json_t *array = json_array();

	for (; list->word; list++) {
		array = json_list_add(array, json_string(list->word));
		if (!strcmp(list->word, "on") || !strcmp(list->word, "off"))
			array = json_list_add(array, json_boolean(list->word[1] == 'n'));
	}
	return json_pack("{s:o}", "enum", array);
}

json_t *schema_json_list(json_t *item)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", item);
}

json_t *schema_json_number_or(uint64_t min, uint64_t max, const char *regex)
{
	return json_pack("{s:[o, o]}", "anyOf", schema_json_integer(min, max),
			 schema_json_pattern(regex));
}

static json_t *schema_to_json(const struct schema *schema);

static json_t *schema_json_maps(const struct schema_row *row)
{
	json_t *list = schema_json_list(schema_to_json(row->item));

	if (row->max)
		schema_json_set(&list, "maxItems", json_integer(row->max));
	return list;
}

static json_t *schema_row_value(const struct schema_row *row)
{
	switch (row->kind) {
	case SCHEMA_TEXT:
		return json_pack("{s:s, s:i, s:I}", "type", "string", "minLength", 1, "maxLength",
				 (json_int_t)row->size - 1);
	case SCHEMA_NAME:
		return schema_json_pattern("^[A-Za-z0-9_][A-Za-z0-9._-]*$");
	case SCHEMA_WORD:
		return schema_json_words(row->words);
	case SCHEMA_UINT:
		return schema_json_integer(row->min, row->max);
	case SCHEMA_SECONDS:
		return schema_json_pattern("^[0-9]+(ms|s|m|h)$");
	case SCHEMA_BYTES:
		return schema_json_number_or(row->min, row->max, "^[0-9]+([kMG]B|[KMG]iB)$");
	case SCHEMA_SWITCH:
		return schema_json_words(qos_switch_words);
	case SCHEMA_TEXTS:
		return schema_json_list(schema_json_type("string"));
	case SCHEMA_MAPS:
		return schema_json_maps(row);
	case SCHEMA_OWN:
		return json_loads(row->shape, 0, NULL);
	case SCHEMA_KIND_COUNT:
		break;
	}
	return NULL;
}

/* Adds value at a dotted path of nested object schemas; consumes the reference. */
static void schema_json_set_path(json_t **root, const char *path, json_t *value)
{
	json_t *properties = json_object_get(*root, "properties");
	const char *dot;

	while (properties && (dot = strchr(path, '.'))) {
		char key[32];
		json_t *group;

		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		group = json_object_get(properties, key);
		if (!group) {
			group = json_pack("{s:s, s:{}, s:b}", "type", "object", "properties",
					  "additionalProperties", 0);
			if (json_object_set_new(properties, key, group))
				group = NULL;
		}
		properties = json_object_get(group, "properties");
		path = dot + 1;
	}
	if (properties && value && !json_object_set(properties, path, value)) {
		json_decref(value);
		return;
	}
	json_decref(value);
	json_decref(*root);
	*root = NULL;
}

static json_t *schema_row_to_json(const struct schema_row *row)
{
	json_t *value = schema_row_value(row);

	schema_json_set(&value, "description", json_string(row->help));
	return value;
}

static json_t *schema_to_json(const struct schema *schema)
{
	json_t *root = json_pack("{s:s, s:s, s:{}, s:b}", "title", schema->title, "type", "object",
				 "properties", "additionalProperties", 0);
	json_t *required = json_array();

	for (const struct schema_row *row = schema->rows; row->path; row++) {
		schema_json_set_path(&root, row->path, schema_row_to_json(row));
		if (row->required && required)
			(void)json_array_append_new(required, json_string(row->path));
	}
	for (unsigned int i = 0; schema->fields && schema->fields->key(i); i++)
		schema_json_set_path(&root, schema->fields->key(i), schema->fields->to_json(i));
	schema_json_set(&root, "required", required);
	return root;
}

json_t *schema_document(const struct schema *schema)
{
	json_t *root = schema_to_json(schema);

	schema_json_set(&root, "$schema",
			json_string("https://json-schema.org/draft/2020-12/schema"));
	return root;
}

#define KEYS_MAX 64 /* of one map, for the list of accepted words */

int schema_expect(struct schema_load *l, const struct yaml_node *node, const char *what)
{
	static const char *const kinds[] = {
		[YAML_TEXT] = "a single value",
		[YAML_LIST] = "a list",
		[YAML_MAP] = "a map",
	};
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-004"};

	return yaml_report(l->file, node, &finding, l->diags, "%s: expected %s, got %s", l->path,
			   what, kinds[node->kind]);
}

int schema_refuse(struct schema_load *l, const struct yaml_node *node, const struct err *e)
{
	struct yaml_finding finding = {.level = DIAG_ERROR};

	finding.rule = e->code == -ERANGE ? "RC-INP-005" : "RC-INP-004";
	finding.note = e->hint[0] ? e->hint : NULL;
	return yaml_report(l->file, node, &finding, l->diags, "%s: %s", l->path, e->text);
}

int schema_warn(struct schema_load *l, const struct yaml_node *node, const char *rule,
		const char *text)
{
	struct yaml_finding finding = {.level = DIAG_WARNING, .rule = rule};
	int err = yaml_report(l->file, node, &finding, l->diags, "%s: %s", l->path, text);

	return err == -EINVAL ? 0 : err;
}

bool schema_stop(int err, int *bad)
{
	if (err)
		*bad = err;
	return err && err != -EINVAL;
}

int schema_version(struct schema_load *l, const struct yaml_node *node, const char *schema,
		   const char *note)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-010", .note = note};

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, schema);
	if (!strcmp(node->text, schema))
		return 0;
	return yaml_report(l->file, node, &finding, l->diags, "unknown schema '%s'", node->text);
}

int schema_units(struct schema_load *l, const struct yaml_node *node, const char *what,
		 schema_unit *read, uint64_t min, uint64_t max, uint64_t *value)
{
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, what);
	return read(node->text, min, max, value, &e) ? schema_refuse(l, node, &e) : 0;
}

int schema_number(struct schema_load *l, const struct yaml_node *node, uint64_t min, uint64_t max,
		  uint64_t *value)
{
	return schema_units(l, node, "a number", units_number, min, max, value);
}

/* "a, b or c" from the words of a table. */
static void schema_list_words(const struct qos_word *words, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (const struct qos_word *w = words; w->word && used < size; w++) {
		const char *before = w == words ? "" : w[1].word ? ", " : " or ";

		used += snprintf(buf + used, size - used, "%s%s", before, w->word);
	}
}

int schema_word(struct schema_load *l, const struct yaml_node *node, const struct qos_word *words,
		uint8_t *value)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-009"};
	const char *plain[KEYS_MAX] = {NULL};
	char note[160] = "expected ", *list = note + strlen(note);
	int found;

	schema_list_words(words, list, sizeof(note) - strlen(note));
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, list);
	found = qos_word_value(words, node->text);
	if (found >= 0) {
		*value = found;
		return 0;
	}
	for (unsigned int i = 0; words[i].word && i < KEYS_MAX - 1; i++)
		plain[i] = words[i].word;
	finding.note = note;
	finding.suggestion = diag_nearest(node->text, plain);
	return yaml_report(l->file, node, &finding, l->diags, "%s: unknown word '%s'", l->path,
			   node->text);
}

bool schema_name_ok(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	if (!name[0] || name[0] == '-' || name[0] == '.')
		return false;
	for (const char *c = name; *c; c++)
		if (!strchr(letters, *c) && !strchr("0123456789._-", *c))
			return false;
	return true;
}

static int schema_read_text(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a text");
	/* Quoted texts can contain "\e"; names and commands are printed on terminals. */
	if (!text_is_safe(node->text, TEXT_LINE)) {
		err_set(&e, -EINVAL, "control character in the text");
		return schema_refuse(l, node, &e);
	}
	if (!node->text[0] || strlen(node->text) >= row->size) {
		err_set(&e, -ERANGE, "the text has %zu characters", strlen(node->text));
		err_hint(&e, "expected 1 to %zu characters", row->size - 1);
		return schema_refuse(l, node, &e);
	}
	strcpy(target, node->text);
	return 0;
}

static int schema_read_name(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	struct yaml_finding finding = {
		.level = DIAG_ERROR,
		.rule = "RC-INP-013",
		.note = "expected letters, digits, '.', '_' and '-'; the first is a letter or a "
			"digit",
	};

	if (node->kind == YAML_TEXT && !schema_name_ok(node->text))
		return yaml_report(l->file, node, &finding, l->diags,
				   "%s: invalid characters in '%s'", l->path, node->text);
	return schema_read_text(l, row, node, target);
}

static int schema_read_word(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	uint8_t value;
	int err = schema_word(l, node, row->words, &value);

	if (!err)
		*(unsigned int *)target = value;
	return err;
}

static int schema_read_uint(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	uint64_t value;
	int err = schema_number(l, node, row->min, row->max, &value);

	if (!err)
		*(unsigned int *)target = value;
	return err;
}

static int schema_read_seconds(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node, void *target)
{
	uint64_t ms;
	struct err e;
	int err = schema_units(l, node, "a duration", units_duration, row->min * UINT64_C(1000),
			       row->max * UINT64_C(1000), &ms);

	if (err)
		return err;
	if (ms % 1000) {
		err_set(&e, -EINVAL, "'%s' is not a whole number of seconds", node->text);
		return schema_refuse(l, node, &e);
	}
	*(unsigned int *)target = ms / 1000;
	return 0;
}

static int schema_read_bytes(struct schema_load *l, const struct schema_row *row,
			     const struct yaml_node *node, void *target)
{
	uint64_t size_bytes;
	int err = schema_units(l, node, "a size", units_bytes, row->min, row->max, &size_bytes);

	if (!err)
		*(unsigned int *)target = size_bytes;
	return err;
}

static int schema_read_switch(struct schema_load *l, const struct schema_row *row,
			      const struct yaml_node *node, void *target)
{
	uint8_t value;
	int err = schema_word(l, node, qos_switch_words, &value);

	(void)row;
	if (!err)
		*(bool *)target = value;
	return err;
}

static int schema_refuse_count(struct schema_load *l, const struct schema_row *row,
			       const struct yaml_node *node)
{
	struct err e;

	err_set(&e, -ERANGE, "%zu entries", node->count);
	err_hint(&e, "expected at most %u", row->max);
	return schema_refuse(l, node, &e);
}

static int schema_read_texts(struct schema_load *l, const struct schema_row *row,
			     const struct yaml_node *node, void *target)
{
	int bad = 0;

	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of texts");
	if (node->count > row->max)
		return schema_refuse_count(l, row, node);
	for (size_t i = 0; i < node->count; i++)
		if (schema_stop(schema_read_text(l, row, yaml_item(node, i),
						 (char *)target + i * row->size),
				&bad))
			return bad;
	if (!bad)
		*(unsigned int *)((char *)l->target + row->count_offset) = node->count;
	return bad;
}

/* Appends one loaded item to the array whose pointer is at target. */
static int schema_read_map_item(struct schema_load *l, const struct schema_row *row,
				const struct yaml_node *node, void *target)
{
	unsigned int *count = (unsigned int *)((char *)l->target + row->count_offset);
	size_t size = row->item->size;
	char *grown, *item;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a list of maps");
	grown = realloc(*(void **)target, (*count + 1) * size);
	if (!grown)
		return -ENOMEM;
	*(void **)target = grown;
	item = grown + *count * size;
	memset(item, 0, size);
	++*count;
	if (row->item->begin)
		row->item->begin(item, node);
	return schema_load_map(row->item, l->file, node, item, l->diags);
}

static int schema_read_maps(struct schema_load *l, const struct schema_row *row,
			    const struct yaml_node *node, void *target)
{
	int bad = 0;

	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of maps");
	if (row->max && node->count > row->max)
		return schema_refuse_count(l, row, node);
	for (size_t i = 0; i < node->count; i++)
		if (schema_stop(schema_read_map_item(l, row, yaml_item(node, i), target), &bad))
			return bad;
	return 0;
}

/* Readers of rows without their own. */
static schema_read *const readers[SCHEMA_KIND_COUNT] = {
	[SCHEMA_TEXT] = schema_read_text,	[SCHEMA_NAME] = schema_read_name,
	[SCHEMA_WORD] = schema_read_word,	[SCHEMA_UINT] = schema_read_uint,
	[SCHEMA_SECONDS] = schema_read_seconds, [SCHEMA_BYTES] = schema_read_bytes,
	[SCHEMA_SWITCH] = schema_read_switch,	[SCHEMA_TEXTS] = schema_read_texts,
	[SCHEMA_MAPS] = schema_read_maps,
};

/* Checks a reserved key: loads it into a scratch buffer. */
static int schema_read_reserved(struct schema_load *l, const struct schema_row *row,
				const struct yaml_node *node)
{
	char scratch[256];
	int err;

	if (row->size > sizeof(scratch))
		return -EINVAL;
	err = (row->read ? row->read : readers[row->kind])(l, row, node, scratch);
	if (err)
		return err;
	return schema_warn(l, node, "RC-INP-016",
			   "ignored (reserved; has no effect in this version)");
}

static const struct schema_row *schema_find_row(const struct schema *schema, const char *path)
{
	for (const struct schema_row *row = schema->rows; row->path; row++)
		if (!strcmp(row->path, path))
			return row;
	return NULL;
}

/* Path number i of the rows and the fields after them; NULL after the last. */
static const char *schema_path_at(const struct schema *schema, unsigned int i)
{
	unsigned int rows = 0;

	while (schema->rows[rows].path)
		rows++;
	if (i < rows)
		return schema->rows[i].path;
	return schema->fields ? schema->fields->key(i - rows) : NULL;
}

/* Rest of a path after a prefix: "enabled" of "pfc.enabled" after "pfc"; NULL without it. */
static const char *schema_path_suffix(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	if (!length)
		return path;
	if (strncmp(path, prefix, length) || path[length] != '.')
		return NULL;
	return path + length + 1;
}

static bool schema_is_group(const struct schema *schema, const char *path)
{
	const char *known;

	for (unsigned int i = 0; (known = schema_path_at(schema, i)); i++)
		if (schema_path_suffix(known, path))
			return true;
	return false;
}

/* Lists the keys of a map with this prefix, each once, in the order of the tables. */
struct keys {
	char word[KEYS_MAX][32];
	const char *list[KEYS_MAX + 1];
	unsigned int count;
};

static void schema_list_keys(const struct schema *schema, const char *prefix, struct keys *keys)
{
	const char *known;

	keys->count = 0;
	for (unsigned int i = 0; (known = schema_path_at(schema, i)); i++) {
		const char *rest = schema_path_suffix(known, prefix);
		unsigned int seen = 0;
		char word[32];

		if (!rest || keys->count == KEYS_MAX)
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(rest, "."), rest);
		while (seen < keys->count && strcmp(keys->word[seen], word))
			seen++;
		if (seen < keys->count)
			continue;
		strcpy(keys->word[keys->count], word);
		keys->list[keys->count] = keys->word[keys->count];
		keys->count++;
	}
	keys->list[keys->count] = NULL;
}

static int schema_report_unknown(struct schema_load *l, const char *prefix,
				 const struct yaml_node *key)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-002"};
	struct keys keys;
	char note[512];
	size_t used;

	schema_list_keys(l->schema, prefix, &keys);
	used = snprintf(note, sizeof(note), "%s%s%s", prefix[0] ? "keys of '" : "keys here", prefix,
			prefix[0] ? "'" : "");
	for (unsigned int i = 0; i < keys.count && used < sizeof(note); i++)
		used += snprintf(note + used, sizeof(note) - used, "%s%s", i ? ", " : ": ",
				 keys.list[i]);
	finding.note = note;
	finding.suggestion = diag_nearest(key->text, keys.list);
	if (!prefix[0])
		return yaml_report(l->file, key, &finding, l->diags, "unknown key '%s'", key->text);
	return yaml_report(l->file, key, &finding, l->diags, "unknown key '%s' in '%s'", key->text,
			   prefix);
}

static int schema_load_keys(struct schema_load *l, const char *prefix, const struct yaml_node *map);

static int schema_load_value(struct schema_load *l, const char *prefix, const struct yaml_node *key,
			     const struct yaml_node *value)
{
	char path[SCHEMA_PATH_MAX];
	const struct schema_row *row;
	int n = snprintf(path, sizeof(path), "%s%s%s", prefix, prefix[0] ? "." : "", key->text);
	int field;

	/* A key with a dot would match a path. */
	if (n >= (int)sizeof(path) || strchr(key->text, '.') || !key->text[0])
		return schema_report_unknown(l, prefix, key);
	strcpy(l->path, path);
	row = schema_find_row(l->schema, path);
	if (row && row->reserved)
		return schema_read_reserved(l, row, value);
	if (row)
		return (row->read ? row->read : readers[row->kind])(
			l, row, value, (char *)l->target + row->offset);
	field = l->schema->fields ? l->schema->fields->find(path) : -ENOENT;
	if (field >= 0)
		return l->schema->fields->read(l, (unsigned int)field, value);
	if (!schema_is_group(l->schema, path))
		return schema_report_unknown(l, prefix, key);
	if (value->kind != YAML_MAP)
		return schema_expect(l, value, "a map of keys");
	return schema_load_keys(l, path, value);
}

static int schema_load_keys(struct schema_load *l, const char *prefix, const struct yaml_node *map)
{
	int bad = 0;

	for (size_t i = 0; i < map->count; i += 2)
		if (schema_stop(
			    schema_load_value(l, prefix, yaml_item(map, i), yaml_item(map, i + 1)),
			    &bad))
			return bad;
	return 0;
}

static int schema_check_required(struct schema_load *l, const struct yaml_node *map)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-006"};

	for (const struct schema_row *row = l->schema->rows; row->path; row++) {
		int err;

		if (!row->required || yaml_get(map, row->path))
			continue;
		finding.note = row->help;
		err = yaml_report(l->file, map == l->file->root ? NULL : map, &finding, l->diags,
				  "key '%s' is missing", row->path);
		if (err != -EINVAL)
			return err;
	}
	return 0;
}

int schema_load_map(const struct schema *schema, const struct yaml_file *file,
		    const struct yaml_node *map, void *target, struct diags *diags)
{
	struct schema_load l = {.file = file, .diags = diags, .schema = schema, .target = target};
	int err = schema_load_keys(&l, "", map);

	return err ? err : schema_check_required(&l, map);
}
