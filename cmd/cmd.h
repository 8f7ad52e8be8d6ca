/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Subcommands. Adding one, 3 things to do: a file cmd/NAME.c with its struct command, a line in
 * commands[] (main.c), a page under cmd/man/. Usage, completion and, by `make man`, the tables of
 * the page come from the option table.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <jansson.h>

#include "cmd/opts.h"
#include "profiles/base/base.h"
#include "profiles/yaml/diag.h"

/* What the process answers; every command's. Worst wins in the order 6, 5, 2, 3, 1, 4. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FINDINGS = 1,
	EXIT_USAGE = 2,	      /* usage, or an input file that cannot be used */
	EXIT_ENVIRONMENT = 3, /* privilege, device, kernel feature or helper program missing */
	EXIT_INCOMPLETE = 4,
	EXIT_APPLY_UNDONE = 5, /* apply failed, the former state is back */
	EXIT_APPLY_LOST = 6,   /* apply failed, the former state is not back or cannot be known */
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
	bool colour_out, colour_err; /* decided: terminal, NO_COLOR, --color */
};
extern const struct globals *const globals;

/* The commands; index into commands[]. */
extern const struct command cmd_show, cmd_lint, cmd_plan, cmd_apply, cmd_confirm, cmd_rollback,
	cmd_collect, cmd_validate, cmd_rules, cmd_explain, cmd_top, cmd_schema, cmd_completion,
	cmd_agent, cmd_capture_record, cmd_capture_decode, cmd_capture_stats, cmd_capture_flows,
	cmd_capture_check, cmd_watch, cmd_doctor, cmd_probe_server, cmd_probe_client;

/* The command table, NULL behind the last one; and the options before a command. */
const struct command *cmd_at(size_t i);
const struct opt *cmd_global_opts(void);

/* Prints "rocecheck: error: TEXT" and the hint to stderr; returns code, so that "return
 * cmd_fail(...)". */
int cmd_fail(int code, const struct err *e);

/* Exit code for an errno of the environment: EPERM, EACCES, ENODEV, ... -> 3; else `otherwise`. */
int cmd_exit_for(const struct err *e, int otherwise);

/* Worse of two exit codes, in the order 6, 5, 2, 3, 1, 4, 0. */
int cmd_worse(int a, int b);

/* "error: ..." usage message with the command's usage line; returns EXIT_USAGE. */
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

/* The same of an inventory; *f is the caller's to fabric_clear(). */
struct fabric;
int cmd_load_inventory(const char *path, struct fabric *f);

/* The state folder before a command changes something: sets journals aside that cannot be read, and
 * warns of each. */
struct state_at;
void cmd_tidy(const struct state_at *at);

#endif
