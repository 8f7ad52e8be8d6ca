/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subcommands. A new one needs a file cmd/NAME.c with its struct command, a row with an example in
 * commands[] (main.c), and a page in cmd/man/. Help, completion and, by `make man`, the tables of
 * the page use the option table.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <jansson.h>

#include "cmd/opts.h"
#include "profiles/base/base.h"
#include "profiles/yaml/diag.h"

/* Exit codes of all commands. The worst wins, in the order 6, 5, 2, 3, 1, 4. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,
	EXIT_USAGE = 2,	      /* usage error, or unusable input file */
	EXIT_ENVIRONMENT = 3, /* privilege, device, kernel feature or helper program missing */
	EXIT_INCOMPLETE = 4,
	EXIT_APPLY_UNDONE = 5, /* apply failed, the previous settings are restored */
	EXIT_APPLY_LOST = 6, /* apply failed, the previous settings are not restored, or unknown */
};

struct command {
	const char *name;	/* "show", "capture decode" */
	const char *args;	/* "PROFILE" for the usage line, "" for none */
	const char *help;	/* one line */
	const struct opt *opts; /* ends with a row without name; NULL = none */
	int (*run)(int argc,
		   char **argv); /* operands; options were parsed into the command's values */
	bool internal;		 /* not shown in usage */
};

/* Global options, parsed before the subcommand. Read only for commands. */
struct globals {
	bool json, quiet, verbose;
	bool colour_out, colour_err; /* result of terminal, NO_COLOR and --color */
};
extern const struct globals *const globals;

/* The commands; index into commands[]. */
extern const struct command cmd_show, cmd_lint, cmd_plan, cmd_apply, cmd_confirm, cmd_rollback,
	cmd_collect, cmd_validate, cmd_rules, cmd_explain, cmd_top, cmd_schema, cmd_completion,
	cmd_agent, cmd_capture_record, cmd_capture_decode, cmd_capture_stats, cmd_capture_flows,
	cmd_capture_check, cmd_watch, cmd_doctor, cmd_survey, cmd_probe_server, cmd_probe_client;

/* Row i of the command table, NULL after the last; and the global options. */
const struct command *cmd_at(size_t i);
const struct opt *cmd_global_opts(void);

/* Prints "rocecheck: error: TEXT" and the hint to stderr. Returns code. */
int cmd_fail(int code, const struct err *e);

/* Exit code of an error: 3 for errnos of the environment (EPERM, EACCES, ENODEV, ...), else
 * `otherwise`. */
int cmd_exit_for(const struct err *e, int otherwise);

/* Returns the worse exit code, in the order 6, 5, 2, 3, 1, 4, 0. */
int cmd_worse(int a, int b);

/* Prints an error and the usage line of the command to stderr. Returns EXIT_USAGE. */
int cmd_usage(const struct command *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Prints one JSON document to stdout with a newline and frees it. Returns 0 or EXIT_ENVIRONMENT. */
int cmd_print_json(json_t *doc);

/* One rule as an object of `rules --json`. New references, NULL on -ENOMEM. */
struct rule;
json_t *cmd_rule_json(const struct rule *rule);
json_t *cmd_input_rule_json(const struct diag_rule *d);

/* Loads a profile and prints its diagnostics to stderr. Returns 0 or an exit code. */
struct profile;
int cmd_load_profile(const char *name, struct profile *p);

/* The same for an inventory; the caller calls fabric_clear(). */
struct fabric;
int cmd_load_inventory(const char *path, struct fabric *f);

/* Prepares the state folder for a change: sets unreadable journals aside, with a warning for each.
 */
struct state_at;
void cmd_tidy(const struct state_at *at);

#endif
