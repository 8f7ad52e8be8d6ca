/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct qos as JSON, in snapshots, plans and reports: keys nest by the dots of the field table,
 * maps by priority and traffic class are arrays of 8, values without a word (a newer kernel's) are
 * numbers. Reading treats its input as hostile: every type, length and range is checked; keys that
 * are not known are left alone.
 */
#include "profiles/qos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Readers return false when type or range is wrong; what they leave in *member then is not used. */

static bool read_number(const json_t *json, uint64_t min, uint64_t max, uint64_t *value)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return false;
	*value = json_integer_value(json);
	return *value >= min && *value <= max;
}

static bool read_byte(const json_t *json, uint64_t min, uint64_t max, uint8_t *byte)
{
	uint64_t value;

	if (!read_number(json, min, max, &value))
		return false;
	*byte = value;
	return true;
}

/* The word, or the number of a value that has none. */
static bool read_word(const struct qos_word *words, const json_t *json, uint8_t *byte)
{
	int value;

	if (!json_is_string(json))
		return read_byte(json, 0, UINT8_MAX, byte);
	value = qos_word_value(words, json_string_value(json));
	if (value < 0)
		return false;
	*byte = value;
	return true;
}

static bool read_u32(const struct qos_field *f, const json_t *json, void *member)
{
	uint64_t value;

	if (!read_number(json, f->min, f->max, &value))
		return false;
	*(uint32_t *)member = value;
	return true;
}

static bool read_u16(const struct qos_field *f, const json_t *json, void *member)
{
	uint64_t value;

	if (!read_number(json, f->min, f->max, &value))
		return false;
	*(uint16_t *)member = value;
	return true;
}

static bool read_u8(const struct qos_field *f, const json_t *json, void *member)
{
	return read_byte(json, f->min, f->max, member);
}

static bool read_bool(const struct qos_field *f, const json_t *json, void *member)
{
	(void)f;
	if (!json_is_boolean(json))
		return false;
	*(uint8_t *)member = json_is_true(json);
	return true;
}

static bool read_one_word(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t *byte = member;

	return read_word(f->words, json, byte) && *byte >= f->min && *byte <= f->max;
}

static bool read_flags(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t flags = 0;

	if (!json_is_array(json))
		return false;
	for (size_t i = 0; i < json_array_size(json); i++) {
		uint8_t flag;

		if (!read_word(f->words, json_array_get(json, i), &flag))
			return false;
		flags |= flag;
	}
	*(uint8_t *)member = flags;
	return true;
}

static bool read_prio_set(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t set = 0;

	if (!json_is_array(json))
		return false;
	for (size_t i = 0; i < json_array_size(json); i++) {
		uint8_t prio;

		if (!read_byte(json_array_get(json, i), f->min, f->max, &prio))
			return false;
		set |= 1u << prio;
	}
	*(uint8_t *)member = set;
	return true;
}

static bool is_array_of_8(const json_t *json)
{
	return json_is_array(json) && json_array_size(json) == QOS_PRIOS;
}

static bool read_array_u8(const struct qos_field *f, const json_t *json, void *member)
{
	if (!is_array_of_8(json))
		return false;
	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		if (!read_byte(json_array_get(json, i), f->min, f->max, (uint8_t *)member + i))
			return false;
	return true;
}

static bool read_array_word(const struct qos_field *f, const json_t *json, void *member)
{
	if (!is_array_of_8(json))
		return false;
	for (unsigned int i = 0; i < QOS_TCS; i++)
		if (!read_word(f->words, json_array_get(json, i), (uint8_t *)member + i))
			return false;
	return true;
}

static bool read_array_u32(const struct qos_field *f, const json_t *json, void *member)
{
	if (!is_array_of_8(json))
		return false;
	for (unsigned int i = 0; i < QOS_TCS; i++)
		if (!read_u32(f, json_array_get(json, i), (uint32_t *)member + i))
			return false;
	return true;
}

/* The field's range is for profiles; a device may state more. */
static bool read_array_u64(const struct qos_field *f, const json_t *json, void *member)
{
	(void)f;
	if (!is_array_of_8(json))
		return false;
	for (unsigned int i = 0; i < QOS_TCS; i++)
		if (!read_number(json_array_get(json, i), 0, INT64_MAX, (uint64_t *)member + i))
			return false;
	return true;
}

/* A number below count as it is written: no sign, space or leading zero. */
static int read_key(const char *key, int count)
{
	char canonical[12];
	int number = atoi(key);

	if (number < 0 || number >= count)
		return -EINVAL;
	snprintf(canonical, sizeof(canonical), "%d", number);
	return strcmp(canonical, key) ? -EINVAL : number;
}

static bool read_dscp_map(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t *prio = member;
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return false;
	memset(prio, QOS_UNMAPPED, QOS_DSCPS);
	/* The macro wants a pointer to non-const but only reads. */
	json_object_foreach ((json_t *)json, key, value) {
		int dscp = read_key(key, QOS_DSCPS);

		if (dscp < 0 || !read_byte(value, f->min, f->max, &prio[dscp]))
			return false;
	}
	return true;
}

static bool read_tos(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t dscp, ecn;

	if (!read_byte(json_object_get(json, "dscp"), 0, QOS_DSCPS - 1, &dscp))
		return false;
	if (!read_word(f->words, json_object_get(json, "ecn"), &ecn) || ecn > 3)
		return false;
	*(uint8_t *)member = dscp << 2 | ecn;
	return true;
}

static bool read_ms(const struct qos_field *f, const json_t *json, void *member)
{
	json_int_t number = json_integer_value(json);
	int value;

	if (json_is_integer(json) && number >= 0 && number <= UINT16_MAX &&
	    qos_word_text(f->words, number)) {
		*(uint16_t *)member = number;
		return true;
	}
	if (!json_is_string(json))
		return read_u16(f, json, member);
	value = qos_word_value(f->words, json_string_value(json));
	if (value < 0)
		return false;
	*(uint16_t *)member = value;
	return true;
}

static bool read_selectors(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t *selector = member;

	if (!json_is_array(json) || json_array_size(json) > QOS_SELECTORS)
		return false;
	memset(selector, 0, QOS_SELECTORS);
	for (size_t i = 0; i < json_array_size(json); i++)
		if (!read_word(f->words, json_array_get(json, i), &selector[i]) || !selector[i])
			return false;
	return true;
}

static bool read_prio_map(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t *map = member;
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return false;
	memset(map, QOS_UNMAPPED, QOS_PRIOS);
	/* The macro wants a pointer to non-const but only reads. */
	json_object_foreach ((json_t *)json, key, value)
		if (key[0] < '0' || key[0] > '7' || key[1] ||
		    !read_byte(value, f->min, f->max, &map[key[0] - '0']))
			return false;
	return true;
}

static bool read_skb_map(const struct qos_field *f, const json_t *json, void *member)
{
	uint8_t *map = member;
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return false;
	memset(map, 0, QOS_SKB_PRIOS);
	json_object_foreach ((json_t *)json, key, value) {
		int prio = read_key(key, QOS_SKB_PRIOS);

		if (prio < 0 || !read_byte(value, f->min, f->max, &map[prio]))
			return false;
	}
	return true;
}

/* A parameter that nobody here knows is one of a newer writer. */
static bool read_params(const struct qos_field *f, const json_t *json, void *member)
{
	struct qos_params *params = member;
	const char *key;
	json_t *item;

	(void)f;
	if (!json_is_object(json))
		return false;
	memset(params, 0, sizeof(*params));
	/* The macro wants a pointer to non-const but only reads. */
	json_object_foreach ((json_t *)json, key, item) {
		int i = qos_word_value(qos_param_words, key);
		uint64_t value;

		if (i < 0)
			continue;
		if (!read_number(item, 0, UINT32_MAX, &value))
			return false;
		qos_param_put(params, i, value);
	}
	return true;
}

static bool read_apps(const json_t *json, struct qos *q)
{
	if (!json_is_array(json))
		return false;
	q->app_count = 0;
	for (size_t i = 0; i < json_array_size(json); i++) {
		const json_t *item = json_array_get(json, i);
		struct qos_app app;
		uint64_t protocol;

		if (!read_word(qos_app_words, json_object_get(item, "selector"), &app.selector))
			return false;
		if (!read_number(json_object_get(item, "protocol"), 0, UINT16_MAX, &protocol))
			return false;
		if (!read_byte(json_object_get(item, "prio"), 0, QOS_PRIOS - 1, &app.prio))
			return false;
		app.protocol = protocol;
		if (qos_app_add(q, app))
			return false;
	}
	return true;
}

static bool (*const readers[])(const struct qos_field *f, const json_t *json, void *member) = {
	[QOS_KIND_U32] = read_u32,
	[QOS_KIND_U16] = read_u16,
	[QOS_KIND_U8] = read_u8,
	[QOS_KIND_BOOL] = read_bool,
	[QOS_KIND_WORD] = read_one_word,
	[QOS_KIND_FLAGS] = read_flags,
	[QOS_KIND_PRIO_SET] = read_prio_set,
	[QOS_KIND_PRIO_U8] = read_array_u8,
	[QOS_KIND_TC_WORD] = read_array_word,
	[QOS_KIND_TC_U8] = read_array_u8,
	[QOS_KIND_TC_U32] = read_array_u32,
	[QOS_KIND_TC_U64] = read_array_u64,
	[QOS_KIND_DSCP_MAP] = read_dscp_map,
	[QOS_KIND_TOS] = read_tos,
	[QOS_KIND_MS] = read_ms,
	[QOS_KIND_SELECTORS] = read_selectors,
	[QOS_KIND_PRIO_MAP] = read_prio_map,
	[QOS_KIND_SKB_MAP] = read_skb_map,
	[QOS_KIND_PARAMS] = read_params,
};

static const json_t *object_get_path(const json_t *object, const char *path)
{
	char part[32];
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		snprintf(part, sizeof(part), "%.*s", (int)(dot - path), path);
		object = json_object_get(object, part);
		path = dot + 1;
	}
	return json_object_get(object, path);
}

int qos_from_json(const json_t *json, struct qos *q, struct err *e)
{
	struct qos read = {.has = 0};

	if (!json_is_object(json))
		return err_set(e, -EINVAL, "settings: not a JSON object");
	for (int id = 0; id < QOS_FIELD_COUNT; id++) {
		const struct qos_field *f = &qos_fields[id];
		const json_t *value = object_get_path(json, f->key);
		bool good;

		if (!value || json_is_null(value))
			continue;
		good = f->kind == QOS_KIND_APP ? read_apps(value, &read)
					       : readers[f->kind](f, value, qos_slot(&read, f));
		if (!good)
			return err_set(e, -EINVAL, "%s: wrong type or out of range", f->key);
		read.has |= QOS_BIT(id);
	}
	*q = read;
	return 0;
}
