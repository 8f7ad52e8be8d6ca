/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck plan: prints the steps that apply would run, each with its profile line. Writes
 * nothing.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/apply/hosts.h"
#include "cmd/apply/plan_file.h"
#include "cmd/apply/plan_text.h"
#include "cmd/cmd.h"

static const char *interface, *out_path;
static bool exit_code;
static struct hosts_options many;

static const struct opt plan_opts[] = {
	{"interface", 'i', OPT_STRING, &interface, .arg = "IFACE", .help = "only this port"},
	{"exit-code", 0, OPT_FLAG, &exit_code, .help = "exit 1 if the host differs"},
	{"out", 'o', OPT_STRING, &out_path, .arg = "FILE",
	 .help = "save the plan for apply as FILE.json; - prints only the plan"},
	HOSTS_OPTS(many),
	{.name = NULL},
};

/* --out -: the plan goes to standard output. */
static bool plan_to_stdout(void)
{
	return out_path && !strcmp(out_path, "-");
}

static int plan_print_all(const struct plans *plans, const struct profile *profile,
			  const char *name)
{
	if (globals->json)
		return cmd_print_json(cmd_plans_json(plans));
	cmd_plans_print(plans, profile, stdout, globals->colour_out);
	puts(cmd_plans_changes(plans) || cmd_plans_cannot(plans) ? " Nothing written." : "");
	if (cmd_plans_cannot(plans) && profile->on_unsupported == CHOICE_FAIL)
		return EXIT_OK; /* the plan begins with the refusal */
	if (cmd_plans_changes(plans) > cmd_plans_cannot(plans) && strcmp(name, "-"))
		printf("Next: rocecheck apply %s%s%s\n", name, interface ? " -i " : "",
		       interface ? interface : "");
	return EXIT_OK;
}

static int plan_report(const struct plans *plans, const struct profile *profile, const char *name)
{
	struct err e = {0};
	int rc = plan_to_stdout() ? EXIT_OK : plan_print_all(plans, profile, name);

	if (out_path && !rc && plan_file_write(plans, profile, out_path, &e))
		rc = cmd_fail(EXIT_ENVIRONMENT, &e);
	if (cmd_plans_check_owner(plans, &e))
		fprintf(stderr, "rocecheck: warning: %s\n   = help: %s\n", e.text, e.hint);
	return rc;
}

/* A saved plan is planned again from its profile. */
static int plan_load(const char *name, struct profile *profile)
{
	struct err e = {0};
	json_t *doc;

	if (!plan_file_is(name))
		return cmd_load_profile(name, profile);
	if (plan_file_read(name, profile, &doc, &e))
		return cmd_fail(EXIT_USAGE, &e);
	json_decref(doc);
	return EXIT_OK;
}

static int plan_run_hosts(int argc, char **argv)
{
	struct hosts h;
	int rc;

	if (argc > 1)
		return cmd_usage(&cmd_plan, "more than one PROFILE");
	if (out_path || (argc && plan_file_is(argv[0])))
		return cmd_usage(&cmd_plan, "a saved plan (PLAN.json) is for one host");
	rc = hosts_plan(&cmd_plan, &many, argc ? argv[0] : NULL, interface, &h);
	if (rc)
		return rc;
	rc = hosts_report_plans(&h, exit_code);
	hosts_clear(&h);
	return rc;
}

static int plan_main(int argc, char **argv)
{
	struct profile profile;
	struct plans plans;
	struct err e = {0};
	struct dcb *dcb;
	int rc;

	if (hosts_asked(&many))
		return plan_run_hosts(argc, argv);
	if (argc != 1)
		return cmd_usage(&cmd_plan, "missing PROFILE");
	if (globals->json && plan_to_stdout())
		return cmd_usage(&cmd_plan, "--json and --out - both print to standard output");
	rc = plan_load(argv[0], &profile);
	if (rc)
		return rc;
	if (dcb_open(NULL, &dcb, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	rc = cmd_plans_make(dcb, &profile, interface, &plans, &e);
	dcb_close(dcb);
	if (rc)
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	rc = plan_report(&plans, &profile, argv[0]);
	if (!rc && exit_code && (cmd_plans_changes(&plans) || cmd_plans_cannot(&plans)))
		rc = EXIT_FINDINGS;
	cmd_plans_clear(&plans);
	return rc;
}

const struct command cmd_plan = {
	.name = "plan",
	.args = "PROFILE | PLAN.json",
	.help = "print what apply would change",
	.opts = plan_opts,
	.run = plan_main,
};
