/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck survey: reads hosts twice while their own jobs run, and prints what differs from most
 * ports of the same group. Needs no inventory, profile or root; changes nothing and sends nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/run_bar.h"
#include "cmd/survey_draft.h"
#include "cmd/survey_print.h"
#include "profiles/base/signals.h"
#include "profiles/base/text.h"

#define INTERVAL_MS  60000
#define INTERVAL_MIN 1000
#define INTERVAL_MAX 3600000

static const char *hosts, *engine, *launcher, *agent, *out_dir;
static unsigned int interval_ms = INTERVAL_MS;

static const char *const survey_engines[] = {"ssh", "local", NULL};

static const struct opt survey_opts[] = {
	{"hosts", 0, OPT_STRING, &hosts, .arg = "NODESET",
	 .help = "hosts to compare: gpu[001-128], user@host, or a list of these"},
	{"interval", 0, OPT_DURATION, &interval_ms, .arg = "TIME",
	 .help = "time between the two readings of the counters (default 60s)"},
	{"out", 'o', OPT_STRING, &out_dir, .arg = "DIR",
	 .help = "write drafts of an inventory and a profile: DIR/fabric.yaml, DIR/profile.yaml"},
	{"engine", 0, OPT_STRING, &engine, .arg = "ENGINE", .words = survey_engines,
	 .help = "how to start agents: ssh (default) or local"},
	{"launcher", 0, OPT_STRING, &launcher, .arg = "COMMAND",
	 .help = "command that starts agents instead, with {host}: 'srun -w {host}'"},
	{"agent", 0, OPT_STRING, &agent, .arg = "PATH",
	 .help = "rocecheck on the hosts (default rocecheck)"},
	{.name = NULL},
};

/* Checks the options and makes the inventory that they stand for. */
static int survey_make_fabric(struct fabric *f)
{
	const char *argv[FABRIC_LAUNCHER_WORDS];
	char words[512];
	struct err e = {0};

	*f = (struct fabric){
		.name = "survey", .engine = "ssh", .agent = "rocecheck", .connect_timeout_s = 10};
	if (!hosts)
		return cmd_usage(&cmd_survey, "missing --hosts NODESET");
	if (interval_ms < INTERVAL_MIN || interval_ms > INTERVAL_MAX)
		return cmd_usage(&cmd_survey, "invalid --interval: expected 1s to 1h");
	if (agent && (!*agent || strlen(agent) >= sizeof(f->agent) || *agent == '-' ||
		      !text_is_safe(agent, TEXT_FIELD)))
		return cmd_usage(&cmd_survey, "invalid --agent '%s': expected a path", agent);
	if (launcher && engine)
		return cmd_usage(&cmd_survey, "--launcher and --engine exclude each other");
	if (launcher &&
	    (strlen(launcher) >= sizeof(f->launcher) || !text_is_safe(launcher, TEXT_FIELD)))
		return cmd_usage(&cmd_survey, "invalid --launcher: too long, or not printable");
	if (launcher && fabric_launcher_split(launcher, "h", words, sizeof(words), argv, &e) < 0)
		return cmd_usage(&cmd_survey, "invalid --launcher '%s': %s", launcher, e.text);
	snprintf(f->launcher, sizeof(f->launcher), "%s", launcher ? launcher : "");
	if (engine)
		snprintf(f->engine, sizeof(f->engine), "%s", engine);
	if (agent)
		snprintf(f->agent, sizeof(f->agent), "%s", agent);
	if (!fabric_add_hosts(f, hosts, &e))
		return EXIT_OK;
	err_prefix(&e, "--hosts");
	fabric_clear(f);
	return cmd_fail(EXIT_USAGE, &e);
}

static int survey_gather(const struct fabric *f, struct run *r)
{
	struct run_bar bar;
	const struct run_options o = {
		.stop = signals_catch_stop(),
		.watcher = run_bar_watcher(&bar, globals->quiet, globals->verbose)};
	struct err e = {0};
	int err = run_survey(f, interval_ms, &o, r, &e);

	run_bar_clear(&bar);
	if (!err)
		return EXIT_OK;
	if (err == -EHOSTUNREACH || err == -EINTR) /* the report names the hosts */
		return cmd_fail(EXIT_INCOMPLETE, &e);
	return cmd_fail(cmd_exit_for(&e, EXIT_ENVIRONMENT), &e);
}

/* Writes the drafts, and loads them: settings of hosts can be ones that a profile must not have. */
static int survey_save_draft(const struct fabric *f, const struct survey *s)
{
	struct diags diags;
	struct fabric draft;
	struct err e = {0};
	char path[4096];

	if (survey_draft_save(out_dir, f, s, &e))
		return cmd_fail(e.code == -ENODATA ? EXIT_INCOMPLETE : EXIT_ENVIRONMENT, &e);
	snprintf(path, sizeof(path), "%s/fabric.yaml", out_dir);
	diags_init(&diags);
	if (!fabric_load(path, &draft, &diags, &e)) {
		fabric_clear(&draft);
		if (!globals->quiet)
			fprintf(stderr, "rocecheck: drafts: %s and %s/profile.yaml\n", path,
				out_dir);
	} else {
		fprintf(stderr,
			"rocecheck: warning: the drafts need changes: run 'rocecheck lint %s'\n",
			path);
	}
	diags_clear(&diags);
	return EXIT_OK;
}

static int survey_report(const struct fabric *f, const struct run *r, int code)
{
	struct survey s;
	struct err e = {0};
	int err = survey_make(r, &s);

	s.interval_ms = interval_ms;
	if (s.lost || !s.compared)
		code = cmd_worse(code, EXIT_INCOMPLETE);
	if (s.outlier_count)
		code = cmd_worse(code, EXIT_FINDINGS);
	if (!err && globals->json)
		code = cmd_worse(code, cmd_print_json(survey_json(&s, code)));
	else if (!err)
		err = survey_print_text(&s);
	if (err) {
		err_sys(&e, err, "survey");
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	} else if (out_dir) {
		code = cmd_worse(code, survey_save_draft(f, &s));
	}
	survey_clear(&s);
	return code;
}

static int run_survey_command(int argc, char **argv)
{
	struct err e = {0};
	struct fabric f;
	struct run r = {0};
	int code;

	if (argc)
		return cmd_usage(&cmd_survey, "unexpected argument '%s'", argv[0]);
	code = survey_make_fabric(&f);
	if (code)
		return code;
	if (run_init(&r, &f)) {
		err_sys(&e, -ENOMEM, "survey");
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	} else {
		code = survey_gather(&f, &r);
		if (!code || code == EXIT_INCOMPLETE)
			code = survey_report(&f, &r, code);
	}
	run_clear(&r);
	fabric_clear(&f);
	return code;
}

const struct command cmd_survey = {
	.name = "survey",
	.args = "",
	.help = "compare hosts with each other while their jobs run",
	.opts = survey_opts,
	.run = run_survey_command,
};
