/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON Schema of the values of the field table in profile syntax, as strict as the loader where
 * JSON Schema can say it; cross-field rules are those of `rocecheck lint`.
 */
#include "profiles/profile_qos.h"

/* One of the words, or the number that stands for it. */
static json_t *words_or_values(const struct qos_word *list)
{
	json_t *either = schema_json_words(list);

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

static json_t *dscp_map(void)
{
	return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
			 "^[0-9]{1,2}(-[0-9]{1,2})?$", schema_json_integer(0, QOS_PRIOS - 1),
			 "additionalProperties", 0);
}

static json_t *app_map(void)
{
	json_t *prio = schema_json_integer(0, QOS_PRIOS - 1);
	json_t *prios = json_pack("{s:[O, o]}", "anyOf", prio, schema_json_list(prio));

	return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
			 "^[0-9]{1,5}$", prios, "additionalProperties", 0);
}

static json_t *app_entries(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_app_words; w->word; w++)
		schema_json_put(&properties, w->word, app_map());
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *tos(const struct qos_field *f)
{
	json_t *map = json_pack("{s:s, s:{s:o, s:o}, s:[s, s], s:b}", "type", "object",
				"properties", "dscp", schema_json_integer(0, QOS_DSCPS - 1), "ecn",
				schema_json_words(f->words), "required", "dscp", "ecn",
				"additionalProperties", 0);

	return json_pack("{s:[o, o]}", "anyOf", map, schema_json_integer(f->min, f->max));
}

static json_t *params(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_param_words; w->word; w++)
		schema_json_put(&properties, w->word, schema_json_integer(0, UINT32_MAX));
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *field_value(const struct qos_field *f)
{
	switch (f->kind) {
	case QOS_KIND_U32:
	case QOS_KIND_U16:
	case QOS_KIND_U8:
		return schema_json_integer(f->min, f->max);
	case QOS_KIND_BOOL:
		return schema_json_words(qos_switch_words);
	case QOS_KIND_WORD:
		return schema_json_words(f->words);
	case QOS_KIND_FLAGS:
		return schema_json_list(schema_json_words(f->words));
	case QOS_KIND_PRIO_SET:
		return schema_json_list(schema_json_number_or(f->min, f->max, "^[0-7](-[0-7])?$"));
	case QOS_KIND_PRIO_U8:
	case QOS_KIND_TC_U8:
		return by_eight(schema_json_integer(f->min, f->max));
	case QOS_KIND_TC_WORD:
		return by_eight(schema_json_words(f->words));
	case QOS_KIND_TC_U32:
		return by_eight(schema_json_number_or(f->min, f->max, "^[0-9]+([kMG]B|[KMG]iB)$"));
	case QOS_KIND_TC_U64:
		return by_eight(schema_json_number_or(f->min, f->max, "^[0-9]+[kMGT]$"));
	case QOS_KIND_DSCP_MAP:
		return dscp_map();
	case QOS_KIND_APP:
		return app_entries();
	case QOS_KIND_TOS:
		return tos(f);
	case QOS_KIND_MS:
		return json_pack("{s:[o, o]}", "anyOf", schema_json_integer(f->min, f->max),
				 words_or_values(f->words));
	case QOS_KIND_PARAMS:
		return params();
	case QOS_KIND_SELECTORS:
		return schema_json_list(schema_json_words(f->words));
	case QOS_KIND_SKB_MAP:
		return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
				 "^([0-9]|1[0-5])$", schema_json_integer(f->min, f->max),
				 "additionalProperties", 0);
	case QOS_KIND_PRIO_MAP:
		return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties",
				 "^[0-7]$", schema_json_integer(f->min, f->max),
				 "additionalProperties", 0);
	}
	return NULL;
}

json_t *profile_qos_schema(const struct qos_field *f)
{
	json_t *value = field_value(f);

	schema_json_put(&value, "description", json_string(f->help));
	return value;
}
