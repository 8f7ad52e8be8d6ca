/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keys of a configuration as tables in Markdown, from the rows that read them. README.md holds
 * what this prints.
 */
#include <stdio.h>

#include "tests/lab/switch/config_keys.h"

static const char *const kinds[SCHEMA_KIND_COUNT] = {
	[SCHEMA_TEXT] = "text",
	[SCHEMA_NAME] = "name",
	[SCHEMA_WORD] = "",
	[SCHEMA_UINT] = "",
	[SCHEMA_SECONDS] = "`30s`",
	[SCHEMA_BYTES] = "`60kB`",
	[SCHEMA_SWITCH] = "`on` `off`",
};

/* What is read by a function of its own. */
static const struct {
	schema_read *read;
	const char *value;
} own[] = {
	{config_read_rate, "`64M`"},
	{config_read_ms, "`5ms`"},
	{config_read_mac, "`02:00:00:00:01:00`"},
	{config_read_prio, "0 to 7"},
	{config_read_map, "`{26: 3, 40-47: 5}`"},
	{config_read_prio_set, "`[3, 4]`"},
	{config_read_pfc, "`[3]`, `{3: on, 4: auto}`"},
	{config_read_all_prios, "`60kB`"},
};

static void print_words(const struct qos_word *words, FILE *out)
{
	for (const struct qos_word *w = words; w->word; w++)
		fprintf(out, "%s`%s`", w == words ? "" : " ", w->word);
}

static void print_value(const struct schema_row *row, FILE *out)
{
	if (row->words)
		print_words(row->words, out);
	else if (row->item)
		fprintf(out, "`{N: {...}}`");
	else if (row->kind == SCHEMA_UINT)
		fprintf(out, "%u to %u", row->min, row->max);
	else if (row->kind != SCHEMA_OWN)
		fputs(kinds[row->kind], out);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (row->read == own[i].read && !row->words)
			fputs(own[i].value, out);
}

void config_print_keys(FILE *out)
{
	static const struct {
		const char *title;
		const struct schema *keys;
	} tables[] = {
		{"The file", &lab_keys},
		{"A switch", &switch_keys},
		{"A port, and `defaults`", &port_keys},
		{"`prio: {N: ...}` of a port", &prio_keys},
		{"`tc: {N: ...}` of a port", &tc_keys},
		{"An entry of `lldp.app`", &app_keys},
		{"A link", &link_keys},
		{"A fault", &fault_keys},
		{"A host", &host_keys},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		fprintf(out, "%s**%s**\n\n| key | value | meaning |\n| --- | --- | --- |\n",
			i ? "\n" : "", tables[i].title);
		for (const struct schema_row *row = tables[i].keys->rows; row->path; row++) {
			fprintf(out, "| `%s`%s | ", row->path, row->required ? " (needed)" : "");
			print_value(row, out);
			fprintf(out, " | %s |\n", row->help);
		}
	}
}
