/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON Schema (draft 2020-12) of a schema table, for editors that complete and check YAML. It
 * is as strict as the loader where JSON Schema can say it; cross-field rules are `rocecheck
 * lint`'s.
 */
#include "profiles/yaml/schema.h"

#include <stdio.h>
#include <string.h>

/* jansson takes the value in every case, and NULL for an object as a failure. */
void schema_json_put(json_t **object, const char *key, json_t *value)
{
	if (!json_object_set_new(*object, key, value))
		return;
	json_decref(*object);
	*object = NULL;
}

static json_t *type(const char *word)
{
	return json_pack("{s:s}", "type", word);
}

json_t *schema_json_integer(uint64_t min, uint64_t max)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)min,
			 "maximum", (json_int_t)max);
}

static json_t *pattern(const char *regex)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern", regex);
}

static void push(json_t **array, json_t *item)
{
	if (!json_array_append_new(*array, item))
		return;
	json_decref(*array);
	*array = NULL;
}

/* YAML readers of editors make booleans of on and off. */
json_t *schema_json_words(const struct qos_word *list)
{
	json_t *array = json_array();

	for (; list->word; list++) {
		push(&array, json_string(list->word));
		if (!strcmp(list->word, "on") || !strcmp(list->word, "off"))
			push(&array, json_boolean(list->word[1] == 'n'));
	}
	return json_pack("{s:o}", "enum", array);
}

json_t *schema_json_list(json_t *item)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", item);
}

json_t *schema_json_number_or(uint64_t min, uint64_t max, const char *regex)
{
	return json_pack("{s:[o, o]}", "anyOf", schema_json_integer(min, max), pattern(regex));
}

static json_t *schema_to_json(const struct schema *schema);

static json_t *maps_of(const struct schema_row *row)
{
	json_t *list = schema_json_list(schema_to_json(row->item));

	if (row->max)
		schema_json_put(&list, "maxItems", json_integer(row->max));
	return list;
}

static json_t *row_value(const struct schema_row *row)
{
	switch (row->kind) {
	case SCHEMA_TEXT:
		return json_pack("{s:s, s:i, s:I}", "type", "string", "minLength", 1, "maxLength",
				 (json_int_t)row->size - 1);
	case SCHEMA_NAME:
		return pattern("^[A-Za-z0-9_][A-Za-z0-9._-]*$");
	case SCHEMA_WORD:
		return schema_json_words(row->words);
	case SCHEMA_UINT:
		return schema_json_integer(row->min, row->max);
	case SCHEMA_SECONDS:
		return pattern("^[0-9]+(ms|s|m|h)$");
	case SCHEMA_BYTES:
		return schema_json_number_or(row->min, row->max, "^[0-9]+([kMG]B|[KMG]iB)$");
	case SCHEMA_SWITCH:
		return schema_json_words(qos_switch_words);
	case SCHEMA_TEXTS:
		return schema_json_list(type("string"));
	case SCHEMA_MAPS:
		return maps_of(row);
	case SCHEMA_OWN:
		return json_loads(row->shape, 0, NULL);
	case SCHEMA_KIND_COUNT:
		break;
	}
	return NULL;
}

/* Puts value at a dotted path of nested object schemas; takes the reference. */
static void put_path(json_t **root, const char *path, json_t *value)
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

static json_t *row_schema(const struct schema_row *row)
{
	json_t *value = row_value(row);

	schema_json_put(&value, "description", json_string(row->help));
	return value;
}

static json_t *schema_to_json(const struct schema *schema)
{
	json_t *root = json_pack("{s:s, s:s, s:{}, s:b}", "title", schema->title, "type", "object",
				 "properties", "additionalProperties", 0);
	json_t *required = json_array();

	for (const struct schema_row *row = schema->rows; row->path; row++) {
		put_path(&root, row->path, row_schema(row));
		if (row->required && required)
			(void)json_array_append_new(required, json_string(row->path));
	}
	for (unsigned int i = 0; schema->fields && schema->fields->key(i); i++)
		put_path(&root, schema->fields->key(i), schema->fields->to_json(i));
	schema_json_put(&root, "required", required);
	return root;
}

json_t *schema_document(const struct schema *schema)
{
	json_t *root = schema_to_json(schema);

	schema_json_put(&root, "$schema",
			json_string("https://json-schema.org/draft/2020-12/schema"));
	return root;
}
