/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options and reports shared by the commands that check rules: from findings to a report on stdout
 * and an exit code.
 */
#ifndef CMD_VERDICT_H
#define CMD_VERDICT_H

#include "cmd/opts.h"
#include "reports/write/writer.h"

struct command;

struct verdict_options {
	const char *format, *fail_on;
	struct opt_list allowed;
};

/* clang-format off */
#define VERDICT_DEFAULTS {.format = "text", .fail_on = "error"}

/* Rows of a table of options; o is a struct verdict_options. */
#define VERDICT_FORMAT_OPT(o) \
	{"format", 0, OPT_STRING, &(o).format, .arg = "FORMAT", .words = opt_formats, \
	 .help = "format of the report (default text)"}
#define VERDICT_OPTS(o) \
	{"fail-on", 0, OPT_STRING, &(o).fail_on, .arg = "SEVERITY", .words = opt_severities, \
	 .help = "lowest severity that makes the exit code 1 (default error)"}, \
	{"allow-inconclusive", 0, OPT_LIST, &(o).allowed, .arg = "RULE", \
	 .help = "missing evidence of RULE does not make the exit code 4 (repeatable)"}
/* clang-format on */

/* Checks that the named rules exist. Returns EXIT_OK, or EXIT_USAGE after printing the error. */
int verdict_check(const struct command *c, const struct verdict_options *o);

/* Returns the writer of --format or --json. */
const struct writer *verdict_writer(const struct verdict_options *o);

/* Returns the exit code of findings by the options, or at_least if that is worse. */
int verdict_exit(const struct verdict_options *o, const struct findings *f, int at_least);

/*
 * Fills in the options and the exit code of the report (of its findings, or at_least) and prints it
 * on stdout with w. Returns the exit code, or a worse one when stdout failed; the error was
 * printed, or main() prints it.
 */
int verdict_print(const struct verdict_options *o, const struct writer *w, int at_least,
		  struct report *report);

#endif
