/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads values of the field table from a profile by the shape of their kind: the inverse of
 * qos_text.c, which also accepts ranges of DSCPs, and maps instead of a list of 8.
 */
#include "profiles/profile_qos.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/units.h"

/* A word that stands for a number, or the number. */
static int qos_read_word_or_number(struct schema_load *l, const struct qos_field *f,
				   const struct yaml_node *node, uint64_t *value)
{
	int word = node->kind == YAML_TEXT ? qos_word_value(f->words, node->text) : -1;

	if (word >= 0) {
		*value = word;
		return 0;
	}
	/* Also accepts the number of a word: ethtool has no words. */
	if (node->kind == YAML_TEXT && !units_number(node->text, 0, UINT16_MAX, value, NULL) &&
	    qos_element_word(f, *value))
		return 0;
	return schema_number(l, node, f->min, f->max, value);
}

/* A number with the unit of its kind: "64KiB", "10G". */
static int qos_read_amount(struct schema_load *l, const struct qos_field *f,
			   const struct yaml_node *node, uint64_t *value)
{
	struct err e;
	int err;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a number");
	if (f->kind == QOS_KIND_TC_U64)
		err = units_rate(node->text, f->min, f->max, value, &e);
	else
		err = units_bytes(node->text, f->min, f->max, value, &e);
	return err ? schema_refuse(l, node, &e) : 0;
}

/* Element i of a member. */
static int qos_read_element(struct schema_load *l, const struct qos_field *f,
			    const struct yaml_node *node, void *member, unsigned int i)
{
	uint64_t value = 0;
	uint8_t word = 0;
	int err;

	if (f->kind == QOS_KIND_MS) {
		err = qos_read_word_or_number(l, f, node, &value);
	} else if (f->kind == QOS_KIND_TC_U32 || f->kind == QOS_KIND_TC_U64) {
		err = qos_read_amount(l, f, node, &value);
	} else if (f->kind == QOS_KIND_BOOL || f->words) {
		err = schema_word(l, node, f->words ? f->words : qos_switch_words, &word);
		value = word;
	} else {
		err = schema_number(l, node, f->min, f->max, &value);
	}
	if (!err)
		qos_element_set(f, member, i, value);
	return err;
}

static int qos_read_flags(struct schema_load *l, const struct qos_field *f,
			  const struct yaml_node *node, void *member)
{
	uint8_t flags = 0, flag = 0;
	int bad = 0;

	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of words");
	for (size_t i = 0; i < node->count; i++) {
		if (schema_stop(schema_word(l, yaml_item(node, i), f->words, &flag), &bad))
			return bad;
		flags |= flag;
	}
	*(uint8_t *)member = flags;
	return bad;
}

static int qos_report_twice(struct schema_load *l, const struct yaml_node *node, const char *what)
{
	struct yaml_finding finding = {.level = DIAG_ERROR, .rule = "RC-INP-014"};

	return yaml_report(l->file, node, &finding, l->diags, "%s: %s %s is given twice", l->path,
			   what, node->text);
}

/* The numbers of a list's item or a map's key: "3" or "24-31". */
static int qos_read_range(struct schema_load *l, const struct yaml_node *node, unsigned int max,
			  unsigned int *first, unsigned int *last)
{
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a number");
	if (units_range(node->text, max, first, last, &e))
		return schema_refuse(l, node, &e);
	return 0;
}

/* Adds the priorities of one item. */
static int qos_read_prios(struct schema_load *l, const struct qos_field *f,
			  const struct yaml_node *node, uint8_t *set)
{
	unsigned int first = 0, last = 0;
	int err = qos_read_range(l, node, f->max, &first, &last);

	for (unsigned int prio = first; !err && prio <= last; prio++) {
		if (*set & (1u << prio))
			return qos_report_twice(l, node, "priority");
		*set |= 1u << prio;
	}
	return err;
}

static int qos_read_prio_set(struct schema_load *l, const struct qos_field *f,
			     const struct yaml_node *node, void *member)
{
	uint8_t set = 0;
	int bad = 0;

	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of priorities, such as [3]");
	for (size_t i = 0; i < node->count; i++)
		if (schema_stop(qos_read_prios(l, f, yaml_item(node, i), &set), &bad))
			return bad;
	*(uint8_t *)member = set;
	return bad;
}

/* "3: 6", items i and i + 1 of a map. */
static int qos_read_pair(struct schema_load *l, const struct qos_field *f,
			 const struct yaml_node *map, size_t i, void *member)
{
	uint64_t at = 0;
	int err = schema_number(l, yaml_item(map, i), 0, qos_shapes[f->kind].count - 1, &at);

	return err ? err : qos_read_element(l, f, yaml_item(map, i + 1), member, at);
}

/* [0, 0, 0, 3, 0, 0, 6, 0], or {3: 3, 6: 6}, where unlisted entries are 0 (strict). */
static int qos_read_array(struct schema_load *l, const struct qos_field *f,
			  const struct yaml_node *node, void *member)
{
	int bad = 0;

	if (node->kind == YAML_TEXT || (node->kind == YAML_LIST && node->count != QOS_PRIOS))
		return schema_expect(l, node, "a list of 8 values, or a map with keys 0 to 7");
	for (size_t i = 0; node->kind == YAML_LIST && i < node->count; i++)
		if (schema_stop(qos_read_element(l, f, yaml_item(node, i), member, i), &bad))
			return bad;
	for (size_t i = 0; node->kind == YAML_MAP && i < node->count; i += 2)
		if (schema_stop(qos_read_pair(l, f, node, i, member), &bad))
			return bad;
	return bad;
}

/* "24-31: 3" of a map. */
static int qos_read_dscp_pair(struct schema_load *l, const struct qos_field *f,
			      const struct yaml_node *map, size_t i, uint8_t *prio)
{
	const struct yaml_node *dscps = yaml_item(map, i);
	unsigned int first = 0, last = 0;
	uint64_t value = 0;
	int err = qos_read_range(l, dscps, QOS_DSCPS - 1, &first, &last);
	int bad = 0;

	if (schema_stop(err, &bad) ||
	    schema_stop(schema_number(l, yaml_item(map, i + 1), f->min, f->max, &value), &bad) ||
	    bad)
		return bad;
	for (unsigned int dscp = first; dscp <= last; dscp++) {
		if (prio[dscp] != QOS_UNMAPPED)
			return qos_report_twice(l, dscps, "DSCP");
		prio[dscp] = value;
	}
	return 0;
}

/* {26: 3}; unlisted entries have the `unlisted` value of the kind. */
static int qos_read_map(struct schema_load *l, const struct qos_field *f,
			const struct yaml_node *node, void *member)
{
	static const char *const expect[QOS_KIND_COUNT] = {
		[QOS_KIND_DSCP_MAP] = "a map of DSCPs to priorities, such as {26: 3}",
		[QOS_KIND_PRIO_MAP] = "a map of priorities, such as {3: 26}",
		[QOS_KIND_SKB_MAP] = "a map of socket priorities, such as {2: 3}",
	};
	bool ranges = f->kind == QOS_KIND_DSCP_MAP;
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, expect[f->kind]);
	memset(member, qos_shapes[f->kind].unlisted, qos_shapes[f->kind].count);
	for (size_t i = 0; i < node->count; i += 2)
		if (schema_stop((ranges ? qos_read_dscp_pair(l, f, node, i, member)
					: qos_read_pair(l, f, node, i, member)),
				&bad))
			return bad;
	return bad;
}

/* {dscp: 26, ecn: ect0}: both keys and no other. */
static int qos_read_tos_map(struct schema_load *l, const struct qos_field *f,
			    const struct yaml_node *node, uint8_t *tos)
{
	const struct yaml_node *dscp_node = yaml_get(node, "dscp");
	const struct yaml_node *ecn_node = yaml_get(node, "ecn");
	uint64_t dscp = 0;
	uint8_t ecn = 0;
	int err;

	if (node->count != 4 || !dscp_node || !ecn_node)
		return schema_expect(l, node, "exactly the keys dscp and ecn");
	err = schema_number(l, dscp_node, 0, QOS_DSCPS - 1, &dscp);
	if (!err)
		err = schema_word(l, ecn_node, f->words, &ecn);
	*tos = dscp << 2 | ecn;
	return err;
}

static int qos_read_tos(struct schema_load *l, const struct qos_field *f,
			const struct yaml_node *node, uint8_t *tos)
{
	uint64_t value = 0;
	int err;

	if (node->kind == YAML_MAP)
		return qos_read_tos_map(l, f, node, tos);
	if (node->kind == YAML_LIST)
		return schema_expect(l, node, "{dscp: 26, ecn: ect0} or a number");
	err = schema_number(l, node, f->min, f->max, &value);
	*tos = value;
	return err;
}

/* [dscp, pcp]: each once. */
static int qos_read_selectors(struct schema_load *l, const struct qos_field *f,
			      const struct yaml_node *node, void *member)
{
	uint8_t *selector = member, one = 0;
	int bad = 0;

	if (node->kind != YAML_LIST || node->count > QOS_SELECTORS)
		return schema_expect(l, node, "a list of selectors, such as [dscp, pcp]");
	for (size_t i = 0; i < node->count; i++) {
		if (schema_stop(schema_word(l, yaml_item(node, i), f->words, &one), &bad))
			return bad;
		if (memchr(selector, one, i))
			return qos_report_twice(l, yaml_item(node, i), "selector");
		selector[i] = one;
	}
	return bad;
}

/* "rpg_ai_rate: 5" of a map. */
static int qos_read_param(struct schema_load *l, const struct yaml_node *map, size_t i,
			  struct qos_params *params)
{
	uint64_t value = 0;
	uint8_t param = 0;
	int err = schema_word(l, yaml_item(map, i), qos_param_words, &param);

	if (!err)
		err = schema_number(l, yaml_item(map, i + 1), 0, UINT32_MAX, &value);
	if (err)
		return err;
	qos_param_set(params, param, value);
	return 0;
}

static int qos_read_params(struct schema_load *l, const struct yaml_node *node,
			   struct qos_params *params)
{
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map of parameters to numbers");
	for (size_t i = 0; i < node->count; i += 2)
		if (schema_stop(qos_read_param(l, node, i, params), &bad))
			return bad;
	return bad;
}

static int qos_read_app(struct schema_load *l, const struct yaml_node *node, struct qos_app app,
			struct qos *q)
{
	struct err e;
	uint64_t prio = 0;
	int err = schema_number(l, node, 0, QOS_PRIOS - 1, &prio);

	if (err)
		return err;
	app.prio = prio;
	err = qos_app_add(q, app);
	if (err == -EEXIST)
		return qos_report_twice(l, node, "the entry with priority");
	if (err) {
		err_set(&e, -ERANGE, "more than %d application entries", QOS_APPS_MAX);
		return schema_refuse(l, node, &e);
	}
	return 0;
}

/* An empty map states "no entries". */
static void qos_begin_apps(struct qos *q)
{
	if (!qos_has(q, QOS_APP))
		q->app_count = 0;
	q->has |= QOS_BIT(QOS_APP);
}

/* "4791: 3" or "4791: [3, 4]" of a map. */
static int qos_read_protocol(struct schema_load *l, uint8_t selector, const struct yaml_node *map,
			     size_t i, struct qos *q)
{
	const struct yaml_node *prios = yaml_item(map, i + 1);
	uint64_t protocol = 0;
	int err = schema_number(l, yaml_item(map, i), 0, UINT16_MAX, &protocol), bad = 0;
	struct qos_app app = {.selector = selector, .protocol = protocol};

	if (err || prios->kind != YAML_LIST)
		return err ? err : qos_read_app(l, prios, app, q);
	for (size_t k = 0; k < prios->count; k++)
		if (schema_stop(qos_read_app(l, yaml_item(prios, k), app, q), &bad))
			return bad;
	return bad;
}

int profile_read_apps(struct schema_load *l, uint8_t selector, const struct yaml_node *node,
		      struct qos *q)
{
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map of numbers to priorities, such as {4791: 3}");
	qos_begin_apps(q);
	for (size_t i = 0; i < node->count; i += 2)
		if (schema_stop(qos_read_protocol(l, selector, node, i, q), &bad))
			return bad;
	return bad;
}

/* {udp: {4791: 3}, ethertype: {35093: 3}} */
static int qos_read_app_entries(struct schema_load *l, const struct yaml_node *node, struct qos *q)
{
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map such as {udp: {4791: 3}}");
	qos_begin_apps(q);
	for (size_t i = 0; i < node->count; i += 2) {
		uint8_t selector = 0;
		int err = schema_word(l, yaml_item(node, i), qos_app_words, &selector);

		if (!err)
			err = profile_read_apps(l, selector, yaml_item(node, i + 1), q);
		if (schema_stop(err, &bad))
			return bad;
	}
	return bad;
}

static int qos_read_field(struct schema_load *l, const struct qos_field *f,
			  const struct yaml_node *node, struct qos *q)
{
	void *member = qos_slot(q, f);

	switch (qos_shapes[f->kind].form) {
	case QOS_FORM_ONE:
		return qos_read_element(l, f, node, member, 0);
	case QOS_FORM_ARRAY:
		return qos_read_array(l, f, node, member);
	case QOS_FORM_LIST:
		return qos_read_selectors(l, f, node, member);
	case QOS_FORM_MAP:
		return qos_read_map(l, f, node, member);
	case QOS_FORM_BITS:
		return qos_read_prio_set(l, f, node, member);
	case QOS_FORM_FLAGS:
		return qos_read_flags(l, f, node, member);
	case QOS_FORM_OWN:
		break;
	}
	return f->kind == QOS_KIND_TOS ? qos_read_tos(l, f, node, member)
				       : qos_read_params(l, node, member);
}

int profile_read_qos(struct schema_load *l, enum qos_field_id id, const struct yaml_node *node,
		     struct qos *q)
{
	const struct qos_field *f = &qos_fields[id];
	struct qos fresh = {.has = QOS_BIT(id)};
	int err;

	if (f->kind == QOS_KIND_APP)
		return qos_read_app_entries(l, node, q);
	err = qos_read_field(l, f, node, &fresh);
	if (!err)
		qos_copy_field(q, &fresh, id);
	return err;
}

/* JSON Schema of the values of the field table in profile syntax. It is as strict as the loader as
 * far as JSON Schema allows; cross-field rules are left to `rocecheck lint`. */

/* One of the words, or the number that stands for it. */
static json_t *qos_schema_words_or_numbers(const struct qos_word *list)
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

/* An object with keys of a pattern. */
static json_t *qos_schema_map(const char *pattern, json_t *item)
{
	return json_pack("{s:s, s:{s:o}, s:b}", "type", "object", "patternProperties", pattern,
			 item, "additionalProperties", 0);
}

/* Keys 0 to 7 in either form: a list of 8 or a map. */
static json_t *qos_schema_eight(json_t *item)
{
	json_t *list = json_pack("{s:s, s:O, s:i, s:i}", "type", "array", "items", item, "minItems",
				 QOS_PRIOS, "maxItems", QOS_PRIOS);

	return json_pack("{s:[o, o]}", "anyOf", list, qos_schema_map("^[0-7]$", item));
}

static json_t *qos_schema_app_map(void)
{
	json_t *prio = schema_json_integer(0, QOS_PRIOS - 1);
	json_t *prios = json_pack("{s:[O, o]}", "anyOf", prio, schema_json_list(prio));

	return qos_schema_map("^[0-9]{1,5}$", prios);
}

static json_t *qos_schema_app_entries(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_app_words; w->word; w++)
		schema_json_set(&properties, w->word, qos_schema_app_map());
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *qos_schema_tos(const struct qos_field *f)
{
	json_t *map = json_pack("{s:s, s:{s:o, s:o}, s:[s, s], s:b}", "type", "object",
				"properties", "dscp", schema_json_integer(0, QOS_DSCPS - 1), "ecn",
				schema_json_words(f->words), "required", "dscp", "ecn",
				"additionalProperties", 0);

	return json_pack("{s:[o, o]}", "anyOf", map, schema_json_integer(f->min, f->max));
}

static json_t *qos_schema_params(void)
{
	json_t *properties = json_object();

	for (const struct qos_word *w = qos_param_words; w->word; w++)
		schema_json_set(&properties, w->word, schema_json_integer(0, UINT32_MAX));
	return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties,
			 "additionalProperties", 0);
}

static json_t *qos_schema_value(const struct qos_field *f)
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
		return qos_schema_eight(schema_json_integer(f->min, f->max));
	case QOS_KIND_TC_WORD:
		return qos_schema_eight(schema_json_words(f->words));
	case QOS_KIND_TC_U32:
		return qos_schema_eight(
			schema_json_number_or(f->min, f->max, "^[0-9]+([kMG]B|[KMG]iB)$"));
	case QOS_KIND_TC_U64:
		return qos_schema_eight(schema_json_number_or(f->min, f->max, "^[0-9]+[kMGT]$"));
	case QOS_KIND_DSCP_MAP:
		return qos_schema_map("^[0-9]{1,2}(-[0-9]{1,2})?$",
				      schema_json_integer(0, QOS_PRIOS - 1));
	case QOS_KIND_APP:
		return qos_schema_app_entries();
	case QOS_KIND_TOS:
		return qos_schema_tos(f);
	case QOS_KIND_MS:
		return json_pack("{s:[o, o]}", "anyOf", schema_json_integer(f->min, f->max),
				 qos_schema_words_or_numbers(f->words));
	case QOS_KIND_PARAMS:
		return qos_schema_params();
	case QOS_KIND_SELECTORS:
		return schema_json_list(schema_json_words(f->words));
	case QOS_KIND_SKB_MAP:
		return qos_schema_map("^([0-9]|1[0-5])$", schema_json_integer(f->min, f->max));
	case QOS_KIND_PRIO_MAP:
		return qos_schema_map("^[0-7]$", schema_json_integer(f->min, f->max));
	}
	return NULL;
}

json_t *profile_qos_schema(const struct qos_field *f)
{
	json_t *value = qos_schema_value(f);

	schema_json_set(&value, "description", json_string(f->help));
	return value;
}
