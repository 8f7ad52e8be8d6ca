/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that judge have in common: the options that say what counts, and the way from
 * findings to a report on stdout and an exit code.
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
	{"format", 0, OPT_STRING, &(o).format, .arg = "FORMAT", .words = verdict_formats, \
	 .help = "text (default), json or junit"}
#define VERDICT_OPTS(o) \
	{"fail-on", 0, OPT_STRING, &(o).fail_on, .arg = "SEVERITY", .words = verdict_severities, \
	 .help = "error (default) or warn: what makes the exit code 1"}, \
	{"allow-inconclusive", 0, OPT_LIST, &(o).allowed, .arg = "RULE", \
	 .help = "this rule may lack its evidence; may be given again"}
/* clang-format on */
extern const char *const verdict_formats[], *const verdict_severities[];

/* Whether the rules that were named exist. EXIT_OK, or the code of a usage error that was told. */
int verdict_check(const struct command *c, const struct verdict_options *o);

/* What --format or --json ask for. */
const struct writer *verdict_writer(const struct verdict_options *o);

/*
 * Prints the report on stdout by w. Fills in what the options say of it, and its exit code: that of
 * its findings, or at_least. Returns the exit code, which is worse when stdout failed: what went
 * wrong was told, or is told by main().
 */
int verdict_print(const struct verdict_options *o, const struct writer *w, int at_least,
		  struct report *report);

#endif
