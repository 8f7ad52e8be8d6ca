/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the JSON that qos_json.c writes. It comes from agents, snapshots and plans, which anybody
 * may have written: every type, length and range is checked, keys nobody knows are left alone.
 */
#include "profiles/qos.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
