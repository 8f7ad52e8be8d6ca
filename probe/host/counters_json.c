/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct counters as JSON: one key a metric, null where it was not measured, and under "sources"
 * the kernel's own name of what was read. Reading is strict about types and ranges and lenient
 * about keys and sources it does not know: a newer writer has more of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/host/counters.h"
#include "profiles/base/json.h"

#define SOURCE_TEXT_MAX 256

static json_t *prios_to_json(const struct counters *c, enum metric m)
{
	json_t *array = json_array();

	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		array = json_list_add(array, counters_has(c, m, prio)
						     ? json_integer((json_int_t)c->value[m][prio])
						     : json_null());
	return array;
}

static json_t *metric_to_json(const struct counters *c, enum metric m)
{
	if (!c->has[m])
		return json_null();
	if (metric_table[m].by_prio)
		return prios_to_json(c, m);
	return json_integer((json_int_t)c->value[m][0]);
}

json_t *counters_to_json(const struct counters *c)
{
	json_t *json = json_object(), *sources = json_object();
	char text[SOURCE_TEXT_MAX];
	int err;

	err = json_object_set_new(json, "when_ns", json_integer((json_int_t)c->when_ns));
	for (unsigned int m = 0; !err && m < METRIC_COUNT; m++) {
		err = json_object_set_new(json, metric_table[m].name, metric_to_json(c, m));
		if (err || !c->has[m] || c->def[m] >= counter_def_count)
			continue;
		counter_def_text(&counter_defs[c->def[m]], -1, text, sizeof(text));
		err = json_object_set_new(sources, metric_table[m].name, json_string(text));
	}
	if (json_object_set_new(json, "sources", sources) || err) {
		json_decref(json);
		return NULL;
	}
	return json;
}

static int number_from_json(const json_t *json, const char *key, uint64_t *value, struct err *e)
{
	if (!json_is_integer(json) || json_integer_value(json) < 0)
		return err_set(e, -EINVAL, "%s: want a number from 0 to 2^63-1", key);
	*value = (uint64_t)json_integer_value(json);
	return 0;
}

static int prios_from_json(const json_t *json, enum metric m, struct counters *c, struct err *e)
{
	const char *key = metric_table[m].name;

	if (!json_is_array(json) || json_array_size(json) != QOS_PRIOS)
		return err_set(e, -EINVAL, "%s: want null or %d numbers", key, QOS_PRIOS);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++) {
		const json_t *item = json_array_get(json, prio);
		int err;

		if (json_is_null(item))
			continue;
		err = number_from_json(item, key, &c->value[m][prio], e);
		if (err)
			return err;
		c->has[m] |= (uint8_t)(1u << prio);
	}
	return 0;
}

static int metric_from_json(const json_t *json, enum metric m, struct counters *c, struct err *e)
{
	int err;

	if (!json || json_is_null(json))
		return 0;
	if (metric_table[m].by_prio)
		return prios_from_json(json, m, c, e);
	err = number_from_json(json, metric_table[m].name, &c->value[m][0], e);
	if (!err)
		c->has[m] = 1;
	return err;
}

static uint16_t counters_def_find(enum metric m, const char *source)
{
	char text[SOURCE_TEXT_MAX];

	for (unsigned int row = 0; source && row < counter_def_count; row++) {
		if (counter_defs[row].metric != m)
			continue;
		counter_def_text(&counter_defs[row], -1, text, sizeof(text));
		if (!strcmp(text, source))
			return (uint16_t)row;
	}
	return COUNTER_NONE;
}

int counters_from_json(const json_t *json, struct counters *c, struct err *e)
{
	const json_t *sources = json_object_get(json, "sources");
	struct counters read;
	int err;

	counters_clear(&read);
	if (!json_is_object(json))
		return err_set(e, -EINVAL, "want an object");
	if (sources && !json_is_object(sources))
		return err_set(e, -EINVAL, "sources: want an object");
	err = number_from_json(json_object_get(json, "when_ns"), "when_ns", &read.when_ns, e);
	for (unsigned int m = 0; !err && m < METRIC_COUNT; m++) {
		const char *key = metric_table[m].name;

		err = metric_from_json(json_object_get(json, key), m, &read, e);
		if (!err && read.has[m])
			read.def[m] = counters_def_find(
				m, json_string_value(json_object_get(sources, key)));
	}
	if (!err)
		*c = read;
	return err;
}
