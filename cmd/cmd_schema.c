/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck schema: prints the JSON Schema of profiles and inventories, for editors and validators.
 */
#include <string.h>

#include "cmd/cmd.h"
#include "profiles/fabric.h"
#include "profiles/profile.h"

static const struct kind {
	const char *word;
	json_t *(*make)(void);
} kinds[] = {
	{"profile", profile_schema},
	{"fabric", fabric_schema},
};

static int run_schema(int argc, char **argv)
{
	if (argc != 1)
		return cmd_usage(&cmd_schema, "expected one schema (profile, fabric)");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].word, argv[0]))
			return cmd_print_json(kinds[i].make());
	return cmd_usage(&cmd_schema, "unknown schema '%s' (profile, fabric)", argv[0]);
}

const struct command cmd_schema = {
	.name = "schema",
	.args = "profile|fabric",
	.help = "print the JSON Schema of profiles or inventories",
	.run = run_schema,
};
