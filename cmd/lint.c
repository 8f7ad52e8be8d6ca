/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck lint: checks profiles and inventories without a host. A file whose key schema is that
 * of an inventory is loaded as one, all others as profiles. Findings go to stdout.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "profiles/fabric.h"
#include "profiles/profile.h"

static const char *format = "text";
static const char *const formats[] = {"text", "gcc", "json", NULL};
static bool strict;

static const struct opt lint_opts[] = {
	{"format", 0, OPT_STRING, &format, .arg = "FORMAT", .words = formats,
	 .help = "text, gcc (one line per finding, for editors) or json (default text)"},
	{"strict", 0, OPT_FLAG, &strict, .help = "exit 1 on warnings, too"},
	{.name = NULL},
};

static int lint_load(const char *name, struct diags *d, struct err *e)
{
	struct profile p;
	struct fabric f;
	int err;

	if (!profile_is_path(name) || !fabric_is_inventory(name))
		return profile_load(name, &p, d, e);
	err = fabric_load(name, &f, d, e);
	if (!err)
		fabric_clear(&f);
	return err;
}

/* Exit code of one file: that of its findings, from number `first` on. */
static int lint_exit_code(const struct diags *d, size_t first)
{
	int code = EXIT_OK;

	for (size_t i = first; i < d->count; i++) {
		const struct diag_rule *rule = diag_rule_find(d->list[i].rule);

		if (d->list[i].level == DIAG_ERROR || strict)
			code = cmd_worse(code, EXIT_FINDINGS);
		if (d->list[i].level == DIAG_ERROR && rule && rule->unusable)
			code = cmd_worse(code, EXIT_USAGE);
	}
	return code;
}

static int lint_file(const char *name, struct diags *d)
{
	size_t first = d->count;
	struct err e = {0};
	int err = lint_load(name, d, &e);

	if (err && d->count == first)
		return cmd_fail(EXIT_USAGE, &e);
	return lint_exit_code(d, first);
}

static int lint_print_text(const struct diags *d, int argc, char **argv)
{
	if (d->count || globals->quiet)
		return diags_print(d, stdout, globals->colour_out);
	fputs("no findings in", stdout);
	for (int i = 0; i < argc; i++)
		printf("%s %s", i ? "," : "", argv[i]);
	putchar('\n');
	return ferror(stdout) ? -EIO : 0;
}

static int lint_print(const struct diags *d, int argc, char **argv)
{
	struct err e = {0};
	int err;

	if (globals->json || !strcmp(format, "json"))
		return cmd_print_json(diags_to_json(d));
	err = !strcmp(format, "gcc") ? diags_print_gcc(d, stdout) : lint_print_text(d, argc, argv);
	if (!err)
		return EXIT_OK;
	err_sys(&e, err, "standard output");
	return cmd_fail(EXIT_ENVIRONMENT, &e);
}

static int run_lint(int argc, char **argv)
{
	struct diags d;
	int code = EXIT_OK;

	if (!argc)
		return cmd_usage(&cmd_lint, "missing FILE");
	diags_init(&d);
	for (int i = 0; i < argc; i++)
		code = cmd_worse(code, lint_file(argv[i], &d));
	/* If no file could be read, "no findings" would be wrong. */
	if (d.count || code == EXIT_OK)
		code = cmd_worse(code, lint_print(&d, argc, argv));
	diags_clear(&d);
	return code;
}

const struct command cmd_lint = {
	.name = "lint",
	.args = "FILE...",
	.help = "check profiles and inventories without a host",
	.opts = lint_opts,
	.run = run_lint,
};
