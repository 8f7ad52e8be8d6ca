/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options and reports shared by doctor, validate, capture check and probe client.
 */
#include "cmd/verdict.h"

#include <string.h>

#include "cmd/cmd.h"

int verdict_check(const struct command *c, const struct verdict_options *o)
{
	for (unsigned int i = 0; i < o->allowed.count; i++)
		if (!rule_find(o->allowed.item[i]))
			return cmd_usage(c, "unknown rule '%s': 'rocecheck rules' lists all rules",
					 o->allowed.item[i]);
	return EXIT_OK;
}

const struct writer *verdict_writer(const struct verdict_options *o)
{
	return writer_find(globals->json ? "json" : o->format);
}

int verdict_exit(const struct verdict_options *o, const struct findings *f, int at_least)
{
	enum severity gate = strcmp(o->fail_on, "warn") ? SEVERITY_ERROR : SEVERITY_WARN;

	return cmd_worse(findings_exit(f, gate, o->allowed.item, o->allowed.count), at_least);
}

int verdict_print(const struct verdict_options *o, const struct writer *w, int at_least,
		  struct report *report)
{
	struct err e = {0};

	report->colour = globals->colour_out;
	report->verbose = globals->verbose;
	report->allow = o->allowed.item;
	report->allow_count = o->allowed.count;
	report->exit_code = verdict_exit(o, report->findings, at_least);
	if (!w->write(report, stdout, &e))
		return report->exit_code;
	return cmd_worse(report->exit_code,
			 ferror(stdout) ? EXIT_ENVIRONMENT : cmd_fail(EXIT_ENVIRONMENT, &e));
}
