/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON Schema (draft 2020-12) of a schema table and of the values of the field table in profile
 * syntax, for editors that complete and check YAML. It is as strict as the loader where JSON Schema
 * can say it; cross-field rules are `rocecheck lint`'s.
 */
#include "profiles/yaml/schema.h"

#include <stdio.h>
#include <string.h>

#include "profiles/profile_qos.h"

/* Sets key to a new reference; on any failure drops the object and makes it NULL. jansson takes the
 * value in every case, and NULL for an object as a failure. */
static void put(json_t **object, const char *key, json_t *value)
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

static json_t *integer(uint64_t min, uint64_t max)
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
static json_t *words(const struct qos_word *list)
{
	json_t *array = json_array();

	for (; list->word; list++) {
		push(&array, json_string(list->word));
		if (!strcmp(list->word, "on") || !strcmp(list->word, "off"))
			push(&array, json_boolean(list->word[1] == 'n'));
	}
	return json_pack("{s:o}", "enum", array);
}

static json_t *list_of(json_t *item)
{
	return json_pack("{s:s, s:o}", "type", "array", "items", item);
}

/* One of the words, or the number that stands for it. */
static json_t *words_or_values(const struct qos_word *list)
{
	json_t *either = words(list);

	for (; list->word; list++)
		if (json_array_append_new(json_object_get(either, "enum"),
					  json_integer(list->value))) {
			json_decref(either);
			return NULL;
		}
	return either;
}

/* Keys 0 to 7 in either form: a list of 8 or a map. */
static json_t *by_eight(json_t *item)
{
	json_t *list = json_pack("{s:s, s:O, s:i, s:i}", "type", "array", "items", item, "minItems",
				 QOS_PRIOS, "maxItems", QOS_PRIOS);
	json_t *map = json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
				"^[0-7]$", item, "additionalProperties", 0);

	return json_pack("{s:[o, o]}", "anyOf", list, map);
}

static json_t *number_or(uint64_t min, uint64_t max, const char *regex)
{
	return json_pack("{s:[o, o]}", "anyOf", integer(min, max), pattern(regex));
}

static json_t *dscp_map(void)
{
	return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
			 "^[0-9]{1,2}(-[0-9]{1,2})?$", integer(0, QOS_PRIOS - 1),
			 "additionalProperties", 0);
}

static json_t *app_map(void)
{
	json_t *prio = integer(0, QOS_PRIOS - 1);
	json_t *prios = json_pack("{s:[O, o]}", "anyOf", prio, list_of(prio));

	return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
			 "^[0-9]{1,5}$", prios, "additionalProperties", 0);
}

static json_t *app_entries(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_app_words; w->word; w++)
		put(&properties, w->word, app_map());
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *tos(const struct qos_field *f)
{
	json_t *map = json_pack("{s:s, s:{s:o, s:o}, s:[s, s], s:b}", "type", "object",
				"properties", "dscp", integer(0, QOS_DSCPS - 1), "ecn",
				words(f->words), "required", "dscp", "ecn", "additionalProperties",
				0);

	return json_pack("{s:[o, o]}", "anyOf", map, integer(f->min, f->max));
}

static json_t *params(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_param_words; w->word; w++)
		put(&properties, w->word, integer(0, UINT32_MAX));
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *field_value(const struct qos_field *f)
{
	switch (f->kind) {
	case QOS_KIND_U32:
	case QOS_KIND_U16:
	case QOS_KIND_U8:
		return integer(f->min, f->max);
	case QOS_KIND_BOOL:
		return words(qos_switch_words);
	case QOS_KIND_WORD:
		return words(f->words);
	case QOS_KIND_FLAGS:
		return list_of(words(f->words));
	case QOS_KIND_PRIO_SET:
		return list_of(number_or(f->min, f->max, "^[0-7](-[0-7])?$"));
	case QOS_KIND_PRIO_U8:
	case QOS_KIND_TC_U8:
		return by_eight(integer(f->min, f->max));
	case QOS_KIND_TC_WORD:
		return by_eight(words(f->words));
	case QOS_KIND_TC_U32:
		return by_eight(number_or(f->min, f->max, "^[0-9]+([kMG]B|[KMG]iB)$"));
	case QOS_KIND_TC_U64:
		return by_eight(number_or(f->min, f->max, "^[0-9]+[kMGT]$"));
	case QOS_KIND_DSCP_MAP:
		return dscp_map();
	case QOS_KIND_APP:
		return app_entries();
	case QOS_KIND_TOS:
		return tos(f);
	case QOS_KIND_MS:
		return json_pack("{s:[o, o]}", "anyOf", integer(f->min, f->max),
				 words_or_values(f->words));
	case QOS_KIND_PARAMS:
		return params();
	case QOS_KIND_SELECTORS:
		return list_of(words(f->words));
	case QOS_KIND_SKB_MAP:
		return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
				 "^([0-9]|1[0-5])$", integer(f->min, f->max),
				 "additionalProperties", 0);
	case QOS_KIND_PRIO_MAP:
		return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
				 "^[0-7]$", integer(f->min, f->max), "additionalProperties", 0);
	}
	return NULL;
}

json_t *profile_qos_schema(const struct qos_field *f)
{
	json_t *value = field_value(f);

	put(&value, "description", json_string(f->help));
	return value;
}

static json_t *maps_of(const struct schema_row *row)
{
	json_t *list = list_of(schema_to_json(row->item));

	if (row->max)
		put(&list, "maxItems", json_integer(row->max));
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
		return words(row->words);
	case SCHEMA_UINT:
		return integer(row->min, row->max);
	case SCHEMA_SECONDS:
		return pattern("^[0-9]+(ms|s|m|h)$");
	case SCHEMA_BYTES:
		return number_or(row->min, row->max, "^[0-9]+([kMG]B|[KMG]iB)$");
	case SCHEMA_SWITCH:
		return words(qos_switch_words);
	case SCHEMA_TEXTS:
		return list_of(type("string"));
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

	put(&value, "description", json_string(row->help));
	return value;
}

json_t *schema_to_json(const struct schema *schema)
{
	json_t *root = json_pack("{s:s, s:s, s:{}, s:b}", "title", schema->title, "type", "object",
				 "properties", "additionalProperties", 0);
	json_t *required = json_array();

	for (const struct schema_row *row = schema->rows; row->path; row++) {
		put_path(&root, row->path, row_schema(row));
		if (row->required && required)
			(void)json_array_append_new(required, json_string(row->path));
	}
	for (int id = 0; schema->read_field && id < QOS_FIELD_COUNT; id++)
		put_path(&root, qos_fields[id].key, profile_qos_schema(&qos_fields[id]));
	put(&root, "required", required);
	return root;
}

json_t *schema_document(const struct schema *schema)
{
	json_t *root = schema_to_json(schema);

	put(&root, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
	return root;
}
