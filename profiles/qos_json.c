/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct qos as JSON, in snapshots, plans and reports: keys nest by the dots of the field table,
 * maps by priority and traffic class are arrays of 8, values without a word (a newer kernel's) are
 * numbers. Reading treats its input as hostile: every type, length and range is checked.
 */
#include "profiles/qos.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/json_uint.h"

/* Appends a new reference; on any failure drops the array and makes it NULL. jansson takes the item
 * in every case, and NULL for an array as a failure. */
static void array_push(json_t **array, json_t *item)
{
	if (!json_array_append_new(*array, item))
		return;
	json_decref(*array);
	*array = NULL;
}

static json_t *write_word(const struct qos_word *words, uint8_t value)
{
	const char *word = qos_word_text(words, value);

	return word ? json_string(word) : json_integer(value);
}

static json_t *write_u32(const struct qos_field *f, const void *member)
{
	(void)f;
	return json_integer(*(const uint32_t *)member);
}

static json_t *write_u16(const struct qos_field *f, const void *member)
{
	(void)f;
	return json_integer(*(const uint16_t *)member);
}

static json_t *write_u8(const struct qos_field *f, const void *member)
{
	(void)f;
	return json_integer(*(const uint8_t *)member);
}

static json_t *write_bool(const struct qos_field *f, const void *member)
{
	(void)f;
	return json_boolean(*(const uint8_t *)member);
}

static json_t *write_one_word(const struct qos_field *f, const void *member)
{
	return write_word(f->words, *(const uint8_t *)member);
}

static json_t *write_flags(const struct qos_field *f, const void *member)
{
	uint8_t left = *(const uint8_t *)member;
	json_t *array = json_array();

	for (const struct qos_word *w = f->words; w->word; w++) {
		if (!(left & w->value))
			continue;
		array_push(&array, json_string(w->word));
		left &= ~w->value;
	}
	if (left)
		array_push(&array, json_integer(left));
	return array;
}

static json_t *write_prio_set(const struct qos_field *f, const void *member)
{
	uint8_t set = *(const uint8_t *)member;
	json_t *array = json_array();

	(void)f;
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (set & (1u << prio))
			array_push(&array, json_integer(prio));
	return array;
}

static json_t *write_array_u8(const struct qos_field *f, const void *member)
{
	json_t *array = json_array();

	(void)f;
	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		array_push(&array, json_integer(((const uint8_t *)member)[i]));
	return array;
}

static json_t *write_array_u32(const struct qos_field *f, const void *member)
{
	json_t *array = json_array();

	(void)f;
	for (unsigned int i = 0; i < QOS_TCS; i++)
		array_push(&array, json_uint(((const uint32_t *)member)[i]));
	return array;
}

static json_t *write_array_u64(const struct qos_field *f, const void *member)
{
	json_t *array = json_array();

	(void)f;
	for (unsigned int i = 0; i < QOS_TCS; i++)
		array_push(&array, json_uint(((const uint64_t *)member)[i]));
	return array;
}

static json_t *write_array_word(const struct qos_field *f, const void *member)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < QOS_TCS; i++)
		array_push(&array, write_word(f->words, ((const uint8_t *)member)[i]));
	return array;
}

static json_t *write_dscp_map(const struct qos_field *f, const void *member)
{
	const uint8_t *prio = member;
	json_t *object = json_object();

	(void)f;
	for (unsigned int dscp = 0; object && dscp < QOS_DSCPS; dscp++) {
		char key[4];

		if (prio[dscp] == QOS_UNMAPPED)
			continue;
		snprintf(key, sizeof(key), "%u", dscp);
		if (json_object_set_new(object, key, json_integer(prio[dscp]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *write_tos(const struct qos_field *f, const void *member)
{
	uint8_t tos = *(const uint8_t *)member;

	return json_pack("{s:i, s:o}", "dscp", tos >> 2, "ecn", write_word(f->words, tos & 3));
}

static json_t *write_ms(const struct qos_field *f, const void *member)
{
	uint16_t value = *(const uint16_t *)member;
	const char *word = qos_word_text(f->words, value);

	return word ? json_string(word) : json_integer(value);
}

static json_t *write_selectors(const struct qos_field *f, const void *member)
{
	const uint8_t *selector = member;
	json_t *array = json_array();

	for (unsigned int i = 0; i < QOS_SELECTORS && selector[i]; i++)
		array_push(&array, write_word(f->words, selector[i]));
	return array;
}

static json_t *write_prio_map(const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;
	json_t *object = json_object();

	(void)f;
	for (unsigned int prio = 0; object && prio < QOS_PRIOS; prio++) {
		const char key[2] = {(char)('0' + prio), '\0'};

		if (value[prio] != QOS_UNMAPPED &&
		    json_object_set_new(object, key, json_integer(value[prio]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *write_skb_map(const struct qos_field *f, const void *member)
{
	const uint8_t *value = member;
	json_t *object = json_object();
	char key[4];

	(void)f;
	for (unsigned int prio = 0; object && prio < QOS_SKB_PRIOS; prio++) {
		snprintf(key, sizeof(key), "%u", prio);
		if (value[prio] && json_object_set_new(object, key, json_integer(value[prio]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *write_params(const struct qos_field *f, const void *member)
{
	const struct qos_params *params = member;
	json_t *object = json_object();

	(void)f;
	for (unsigned int i = 0; object && i < QOS_PARAM_COUNT; i++) {
		if (!qos_param_has(params, i))
			continue;
		if (json_object_set_new(object, qos_param_words[i].word,
					json_integer(params->value[i]))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *write_apps(const struct qos *q)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < q->app_count; i++) {
		const struct qos_app *app = &q->app[i];
		json_t *selector = write_word(qos_app_words, app->selector);

		array_push(&array, json_pack("{s:o, s:i, s:i}", "selector", selector, "protocol",
					     app->protocol, "prio", app->prio));
	}
	return array;
}

static json_t *(*const writers[])(const struct qos_field *f, const void *member) = {
	[QOS_KIND_U32] = write_u32,
	[QOS_KIND_U16] = write_u16,
	[QOS_KIND_U8] = write_u8,
	[QOS_KIND_BOOL] = write_bool,
	[QOS_KIND_WORD] = write_one_word,
	[QOS_KIND_FLAGS] = write_flags,
	[QOS_KIND_PRIO_SET] = write_prio_set,
	[QOS_KIND_PRIO_U8] = write_array_u8,
	[QOS_KIND_TC_WORD] = write_array_word,
	[QOS_KIND_TC_U8] = write_array_u8,
	[QOS_KIND_TC_U32] = write_array_u32,
	[QOS_KIND_TC_U64] = write_array_u64,
	[QOS_KIND_DSCP_MAP] = write_dscp_map,
	[QOS_KIND_TOS] = write_tos,
	[QOS_KIND_MS] = write_ms,
	[QOS_KIND_SELECTORS] = write_selectors,
	[QOS_KIND_PRIO_MAP] = write_prio_map,
	[QOS_KIND_SKB_MAP] = write_skb_map,
	[QOS_KIND_PARAMS] = write_params,
};

json_t *qos_field_json(const struct qos *q, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];

	if (!qos_has(q, id))
		return json_null();
	if (f->kind == QOS_KIND_APP)
		return write_apps(q);
	return writers[f->kind](f, qos_member(q, f));
}

json_t *qos_keys_json(uint64_t fields)
{
	json_t *keys = json_array();

	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (fields & QOS_BIT(id))
			array_push(&keys, json_string(qos_fields[id].key));
	return keys;
}

/* Takes the reference `value` whatever happens. */
static int object_set_path(json_t *object, const char *path, json_t *value)
{
	char part[32];
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		json_t *child;

		snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
		child = json_object_get(object, part);
		if (!child) {
			child = json_object();
			if (json_object_set_new(object, part, child)) {
				json_decref(value);
				return -ENOMEM;
			}
		}
		object = child;
		path = dot + 1;
	}
	return json_object_set_new(object, path, value) ? -ENOMEM : 0;
}

json_t *qos_to_json(const struct qos *q)
{
	json_t *root = json_object();

	for (int id = 0; root && id < QOS_FIELD_COUNT; id++) {
		if (!qos_has(q, id))
			continue;
		if (object_set_path(root, qos_fields[id].key, qos_field_json(q, id))) {
			json_decref(root);
			return NULL;
		}
	}
	return root;
}
