/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Readers of values the tables have no kind for: rates, MAC addresses, maps by priority, traffic
 * class and DSCP. Each goes on after a bad item, so that all of them are reported.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profiles/base/units.h"
#include "tests/lab/switch/config_keys.h"

/* clang-format off */

const struct qos_word pfc_words[] = {
	{"on", PFC_ON}, {"off", PFC_OFF}, {"auto", PFC_AUTO},
	{"true", PFC_ON}, {"false", PFC_OFF}, {NULL, 0},
};

/* clang-format on */

int config_read_rate(struct schema_load *l, const struct schema_row *row,
		     const struct yaml_node *node, void *target)
{
	uint64_t kbps;
	struct err e;

	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a rate");
	if (units_rate(node->text, row->min, UINT32_MAX, &kbps, &e))
		return schema_refuse(l, node, &e);
	*(unsigned int *)target = kbps;
	return 0;
}

int config_read_ms(struct schema_load *l, const struct schema_row *row,
		   const struct yaml_node *node, void *target)
{
	uint64_t ms;
	struct err e;

	(void)row;
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a duration");
	if (units_duration(node->text, 0, 24 * 3600 * 1000, &ms, &e))
		return schema_refuse(l, node, &e);
	*(unsigned int *)target = ms;
	return 0;
}

int config_read_mac(struct schema_load *l, const struct schema_row *row,
		    const struct yaml_node *node, void *target)
{
	unsigned int b[6];
	int end = -1;

	(void)row;
	if (node->kind != YAML_TEXT ||
	    sscanf(node->text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4],
		   &b[5], &end) != 6 ||
	    end != 17 || node->text[17] || b[0] & 1)
		return schema_expect(l, node, "a unicast MAC address like 02:00:00:00:01:00");
	for (unsigned int i = 0; i < 6; i++)
		((uint8_t *)target)[i] = b[i];
	return 0;
}

int config_read_prio(struct schema_load *l, const struct schema_row *row,
		     const struct yaml_node *node, void *target)
{
	uint64_t prio;
	int err = schema_number(l, node, 0, row->max, &prio);

	if (!err)
		*(uint8_t *)target = prio;
	return err;
}

/* {26: 3, 24-31: 3}: bytes by number, row->max the highest number. */
int config_read_map(struct schema_load *l, const struct schema_row *row,
		    const struct yaml_node *node, void *target)
{
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map of numbers");
	for (size_t i = 0; i < node->count; i += 2) {
		unsigned int first, last;
		uint64_t prio;
		struct err e;

		if (units_range(yaml_item(node, i)->text, row->max, &first, &last, &e)) {
			if (schema_stop(schema_refuse(l, yaml_item(node, i), &e), &bad))
				return bad;
			continue;
		}
		if (schema_stop(schema_number(l, yaml_item(node, i + 1), 0, 7, &prio), &bad))
			return bad;
		for (unsigned int n = first; !bad && n <= last; n++)
			((uint8_t *)target)[n] = prio;
	}
	return bad;
}

int config_read_prio_set(struct schema_load *l, const struct schema_row *row,
			 const struct yaml_node *node, void *target)
{
	uint8_t set = 0;
	int bad = 0;

	(void)row;
	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of priorities");
	for (size_t i = 0; i < node->count; i++) {
		uint64_t prio = 0;

		if (schema_stop(schema_number(l, yaml_item(node, i), 0, 7, &prio), &bad))
			return bad;
		set |= 1u << prio;
	}
	if (!bad)
		*(uint8_t *)target = set;
	return bad;
}

/* A list of row->words: a bitmap. */
int config_read_words(struct schema_load *l, const struct schema_row *row,
		      const struct yaml_node *node, void *target)
{
	uint8_t set = 0;
	int bad = 0;

	if (node->kind != YAML_LIST)
		return schema_expect(l, node, "a list of words");
	for (size_t i = 0; i < node->count; i++) {
		uint8_t value = 0;

		if (schema_stop(schema_word(l, yaml_item(node, i), row->words, &value), &bad))
			return bad;
		set |= 1u << value;
	}
	if (!bad)
		*(uint8_t *)target = set;
	return bad;
}

/* [3] turns PFC on for these and off for all others; {3: on, 4: auto} for those it names. */
int config_read_pfc(struct schema_load *l, const struct schema_row *row,
		    const struct yaml_node *node, void *target)
{
	struct prio_config *prio = target;
	uint8_t set = 0, mode = 0;
	int bad = 0;

	if (node->kind != YAML_MAP) {
		bad = config_read_prio_set(l, row, node, &set);
		for (unsigned int i = 0; !bad && i < QOS_PRIOS; i++)
			prio[i].pfc = set >> i & 1 ? PFC_ON : PFC_OFF;
		return bad;
	}
	for (size_t i = 0; i < node->count; i += 2) {
		uint64_t n = 0;

		if (schema_stop(schema_number(l, yaml_item(node, i), 0, 7, &n), &bad) ||
		    schema_stop(schema_word(l, yaml_item(node, i + 1), pfc_words, &mode), &bad))
			return bad;
		if (!bad)
			prio[n].pfc = mode;
	}
	return bad;
}

/* {3: {...}}: elements by number, each loaded by row->item. */
int config_read_numbered(struct schema_load *l, const struct schema_row *row,
			 const struct yaml_node *node, void *target)
{
	int bad = 0;

	if (node->kind != YAML_MAP)
		return schema_expect(l, node, "a map by number");
	for (size_t i = 0; i < node->count; i += 2) {
		const struct yaml_node *value = yaml_item(node, i + 1);
		uint64_t n = 0;
		int err = schema_number(l, yaml_item(node, i), 0, 7, &n);

		if (!err && value->kind != YAML_MAP)
			err = schema_expect(l, value, "a map of keys");
		if (!err)
			err = schema_load_map(row->item, l->file, value,
					      (char *)target + n * row->item->size, l->diags);
		if (schema_stop(err, &bad))
			return bad;
	}
	return bad;
}

/* A size for all priorities at once. */
int config_read_all_prios(struct schema_load *l, const struct schema_row *row,
			  const struct yaml_node *node, void *target)
{
	uint64_t bytes;
	struct err e;

	(void)row;
	if (node->kind != YAML_TEXT)
		return schema_expect(l, node, "a size");
	if (units_bytes(node->text, 0, 1u << 30, &bytes, &e))
		return schema_refuse(l, node, &e);
	for (unsigned int i = 0; i < QOS_PRIOS; i++)
		*(unsigned int *)((char *)target + i * sizeof(struct prio_config)) = bytes;
	return 0;
}
