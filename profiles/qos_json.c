/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and reads struct qos as JSON, for snapshots, plans and reports. Keys nest at the dots of
 * the field table, maps by priority and traffic class are arrays of 8, values without a word (of a
 * newer kernel) are numbers. Reading treats its input as hostile: it checks every type, length and
 * range, and ignores unknown keys.
 */
#include "profiles/qos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiles/base/json.h"

/* A value without a word is a number. */
static json_t *word_to_json(const struct qos_word *words, uint8_t value)
{
	const char *word = qos_word_text(words, value);

	return word ? json_string(word) : json_integer(value);
}

static json_t *element_to_json(const struct qos_field *f, const void *member, unsigned int i)
{
	uint64_t value = qos_element(f, member, i);
	const char *word = qos_element_word(f, value);

	if (f->kind == QOS_KIND_BOOL)
		return json_boolean(value);
	return word ? json_string(word) : json_uint(value);
}

/* All elements if `all`, else those before the first 0. */
static json_t *list_to_json(const struct qos_field *f, const void *member, bool all)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < qos_shapes[f->kind].count; i++)
		if (all || qos_element(f, member, i))
			array = json_list_add(array, element_to_json(f, member, i));
		else
			break;
	return array;
}

static json_t *map_to_json(const struct qos_field *f, const void *member)
{
	json_t *object = json_object();
	char key[4];

	for (unsigned int i = 0; object && i < qos_shapes[f->kind].count; i++) {
		if (qos_element(f, member, i) == qos_shapes[f->kind].unlisted)
			continue;
		snprintf(key, sizeof(key), "%u", i);
		if (json_object_set_new(object, key, element_to_json(f, member, i))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *bits_to_json(uint8_t set)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < 8; i++)
		if (set & (1u << i))
			array = json_list_add(array, json_integer(i));
	return array;
}

static json_t *flags_to_json(const struct qos_word *w, uint8_t left)
{
	json_t *array = json_array();

	for (; w->word; w++) {
		if (!(left & w->value))
			continue;
		array = json_list_add(array, json_string(w->word));
		left &= ~w->value;
	}
	if (left)
		array = json_list_add(array, json_integer(left));
	return array;
}

static json_t *tos_to_json(const struct qos_field *f, uint8_t tos)
{
	return json_pack("{s:i, s:o}", "dscp", tos >> 2, "ecn", word_to_json(f->words, tos & 3));
}

static json_t *params_to_json(const struct qos_params *params)
{
	json_t *object = json_object();

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

static json_t *apps_to_json(const struct qos *q)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < q->app_count; i++) {
		const struct qos_app *app = &q->app[i];
		json_t *selector = word_to_json(qos_app_words, app->selector);

		array = json_list_add(array,
				      json_pack("{s:o, s:i, s:i}", "selector", selector, "protocol",
						app->protocol, "prio", app->prio));
	}
	return array;
}

json_t *qos_field_json(const struct qos *q, enum qos_field_id id)
{
	const struct qos_field *f = &qos_fields[id];
	const void *member = qos_member(q, f);

	if (!qos_has(q, id))
		return json_null();
	switch (qos_shapes[f->kind].form) {
	case QOS_FORM_ONE:
		return element_to_json(f, member, 0);
	case QOS_FORM_ARRAY:
		return list_to_json(f, member, true);
	case QOS_FORM_LIST:
		return list_to_json(f, member, false);
	case QOS_FORM_MAP:
		return map_to_json(f, member);
	case QOS_FORM_BITS:
		return bits_to_json(*(const uint8_t *)member);
	case QOS_FORM_FLAGS:
		return flags_to_json(f->words, *(const uint8_t *)member);
	case QOS_FORM_OWN:
		break;
	}
	if (f->kind == QOS_KIND_TOS)
		return tos_to_json(f, *(const uint8_t *)member);
	return f->kind == QOS_KIND_PARAMS ? params_to_json(member) : apps_to_json(q);
}

json_t *qos_keys_json(uint64_t fields)
{
	json_t *keys = json_array();

	for (int id = 0; id < QOS_FIELD_COUNT; id++)
		if (fields & QOS_BIT(id))
			keys = json_list_add(keys, json_string(qos_fields[id].key));
	return keys;
}

/* Consumes the reference `value`, also on failure. */
static int qos_object_set_path(json_t *object, const char *path, json_t *value)
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
		if (qos_object_set_path(root, qos_fields[id].key, qos_field_json(q, id))) {
			json_decref(root);
			return NULL;
		}
	}
	return root;
}

/* Readers return false if type or range is wrong; *member is then undefined. */

static bool json_to_number(const json_t *json, uint64_t min, uint64_t max, uint64_t *value)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return false;
	*value = json_integer_value(json);
	return *value >= min && *value <= max;
}

static bool json_to_byte(const json_t *json, uint64_t min, uint64_t max, uint8_t *byte)
{
	uint64_t value;

	if (!json_to_number(json, min, max, &value))
		return false;
	*byte = value;
	return true;
}

/* Reads a word, or the number of a value without a word. */
static bool json_to_word(const struct qos_word *words, const json_t *json, uint8_t *byte)
{
	int value;

	if (!json_is_string(json))
		return json_to_byte(json, 0, UINT8_MAX, byte);
	value = qos_word_value(words, json_string_value(json));
	if (value < 0)
		return false;
	*byte = value;
	return true;
}

/* Reads a word, the number of a word, or a number in the range of the field. For 64-bit members
 * that range holds for profiles only: a device may report more. */
static bool json_to_element(const struct qos_field *f, const json_t *json, void *member,
			    unsigned int i)
{
	uint64_t max = qos_shapes[f->kind].width == 8 ? INT64_MAX : f->max, value;

	if (f->kind == QOS_KIND_BOOL) {
		value = json_is_true(json);
		if (!json_is_boolean(json))
			return false;
	} else if (f->words && json_is_string(json)) {
		int word = qos_word_value(f->words, json_string_value(json));

		if (word < 0)
			return false;
		value = word;
	} else if (!json_to_number(json, 0, INT64_MAX, &value) ||
		   (!qos_element_word(f, value) && (value < f->min || value > max))) {
		return false;
	}
	qos_element_set(f, member, i, value);
	return true;
}

/* Reads all elements, or for a list those that are present. */
static bool json_to_list(const struct qos_field *f, const json_t *json, void *member, bool all)
{
	size_t n = json_array_size(json), count = qos_shapes[f->kind].count;

	if (!json_is_array(json) || n > count || (all && n < count))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!json_to_element(f, json_array_get(json, i), member, i) ||
		    (!all && !qos_element(f, member, i)))
			return false;
	return true;
}

/* Reads a key that is a number below count, without sign, space or leading zero. */
static int json_key_to_number(const char *key, int count)
{
	int number = 0;

	if (!key[0] || (key[0] == '0' && key[1]))
		return -EINVAL;
	for (; *key >= '0' && *key <= '9' && number < count; key++)
		number = 10 * number + *key - '0';
	return *key || number >= count ? -EINVAL : number;
}

static bool json_to_map(const struct qos_field *f, const json_t *json, void *member)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return false;
	memset(member, qos_shapes[f->kind].unlisted, qos_shapes[f->kind].count);
	/* The macro needs a non-const pointer but only reads. */
	json_object_foreach ((json_t *)json, key, value) {
		int i = json_key_to_number(key, qos_shapes[f->kind].count);

		if (i < 0 || !json_to_element(f, value, member, i))
			return false;
	}
	return true;
}

/* Numbers of bits, or words of flags. */
static bool json_to_bits(const struct qos_field *f, const json_t *json, uint8_t *set)
{
	bool flags = qos_shapes[f->kind].form == QOS_FORM_FLAGS;
	uint8_t bit;

	if (!json_is_array(json))
		return false;
	*set = 0;
	for (size_t i = 0; i < json_array_size(json); i++) {
		const json_t *item = json_array_get(json, i);

		if (!(flags ? json_to_word(f->words, item, &bit)
			    : json_to_byte(item, f->min, f->max, &bit)))
			return false;
		*set |= flags ? bit : 1u << bit;
	}
	return true;
}

static bool json_to_tos(const struct qos_field *f, const json_t *json, uint8_t *tos)
{
	uint8_t dscp, ecn;

	if (!json_to_byte(json_object_get(json, "dscp"), 0, QOS_DSCPS - 1, &dscp))
		return false;
	if (!json_to_word(f->words, json_object_get(json, "ecn"), &ecn) || ecn > 3)
		return false;
	*tos = dscp << 2 | ecn;
	return true;
}

/* Ignores unknown parameters: a newer version wrote them. */
static bool json_to_params(const json_t *json, struct qos_params *params)
{
	const char *key;
	json_t *item;

	if (!json_is_object(json))
		return false;
	memset(params, 0, sizeof(*params));
	/* The macro needs a non-const pointer but only reads. */
	json_object_foreach ((json_t *)json, key, item) {
		int i = qos_word_value(qos_param_words, key);
		uint64_t value;

		if (i < 0)
			continue;
		if (!json_to_number(item, 0, UINT32_MAX, &value))
			return false;
		qos_param_set(params, i, value);
	}
	return true;
}

static bool json_to_apps(const json_t *json, struct qos *q)
{
	if (!json_is_array(json))
		return false;
	q->app_count = 0;
	for (size_t i = 0; i < json_array_size(json); i++) {
		const json_t *item = json_array_get(json, i);
		struct qos_app app;
		uint64_t protocol;

		if (!json_to_word(qos_app_words, json_object_get(item, "selector"), &app.selector))
			return false;
		if (!json_to_number(json_object_get(item, "protocol"), 0, UINT16_MAX, &protocol))
			return false;
		if (!json_to_byte(json_object_get(item, "prio"), 0, QOS_PRIOS - 1, &app.prio))
			return false;
		app.protocol = protocol;
		if (qos_app_add(q, app))
			return false;
	}
	return true;
}

static bool json_to_field(const struct qos_field *f, const json_t *json, struct qos *q)
{
	void *member = qos_slot(q, f);

	switch (qos_shapes[f->kind].form) {
	case QOS_FORM_ONE:
		return json_to_element(f, json, member, 0);
	case QOS_FORM_ARRAY:
		return json_to_list(f, json, member, true);
	case QOS_FORM_LIST:
		return json_to_list(f, json, member, false);
	case QOS_FORM_MAP:
		return json_to_map(f, json, member);
	case QOS_FORM_BITS:
	case QOS_FORM_FLAGS:
		return json_to_bits(f, json, member);
	case QOS_FORM_OWN:
		break;
	}
	if (f->kind == QOS_KIND_TOS)
		return json_to_tos(f, json, member);
	return f->kind == QOS_KIND_PARAMS ? json_to_params(json, member) : json_to_apps(json, q);
}

static const json_t *qos_object_get_path(const json_t *object, const char *path)
{
	char part[32];
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		size_t length = (size_t)(dot - path);

		if (length >= sizeof(part))
			return NULL;
		memcpy(part, path, length);
		part[length] = '\0';
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
		const json_t *value = qos_object_get_path(json, f->key);

		if (!value || json_is_null(value))
			continue;
		if (!json_to_field(f, value, &read))
			return err_set(e, -EINVAL, "%s: wrong type or out of range", f->key);
		read.has |= QOS_BIT(id);
	}
	*q = read;
	return 0;
}
