/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck validate: runs the fabric of an inventory, or loads a run or snapshots (--from), and
 * checks it with the rules. Prints the report before it fills the run folder, so that a full disk
 * costs the files and not the verdict.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/run_bar.h"
#include "cmd/verdict.h"
#include "probe/record/run.h"
#include "profiles/base/file.h"
#include "profiles/base/signals.h"
#include "profiles/base/text.h"
#include "profiles/fabric.h"
#include "reports/engine/allow.h"
#include "reports/write/writer.h"

static struct verdict_options options = VERDICT_DEFAULTS;
static const char *from, *profile_name, *out_dir;
static struct opt_list formats;
static const char *level_word, *maintenance, *require, *schedule, *phases, *resume;
static unsigned int stages; /* of --phases; 0 = all */
static bool no_traffic, around;
static char *const *job; /* the command of --around */

static const char *const validate_levels[] = {"quick", "standard", NULL};
static const char *const validate_claims[] = {"lossless", NULL};

static const struct opt validate_opts[] = {
	{"from", 0, OPT_STRING, &from, .arg = "DIR",
	 .help = "check the recorded run or the collected snapshots in DIR, contact no host"},
	{"profile", 0, OPT_STRING, &profile_name, .arg = "PROFILE",
	 .help = "use PROFILE instead of the inventory's"},
	{"out", 'o', OPT_STRING, &out_dir, .arg = "DIR",
	 .help = "keep the run in DIR (default rocecheck-run-<UTC time>; with --from: nothing)"},
	{"format", 0, OPT_LIST, &formats, .arg = "FORMAT[=FILE]",
	 .help = "text, json or junit, on stdout or in FILE (default text, repeatable)"},
	VERDICT_OPTS(options),
	{"level", 0, OPT_STRING, &level_word, .arg = "LEVEL", .words = validate_levels,
	 .help = "what to claim: quick or standard (default; with --from: as recorded)"},
	{"maintenance", 0, OPT_STRING, &maintenance, .arg = "PRIOS",
	 .help = "claim that these priorities are lossless: load them to congestion, e.g. 3"},
	{"schedule", 0, OPT_STRING, &schedule, .arg = "NAME|FILE",
	 .help = "order of the pairs: a pattern such as shift, or a file (default: by the number "
		 "of ports)"},
	{"phases", 0, OPT_STRING, &phases, .arg = "LIST",
	 .help = "run only these: quiet, marking, pairs, incast, control, shares (default: all "
		 "that the "
		 "level needs)"},
	{"resume", 0, OPT_STRING, &resume, .arg = "DIR",
	 .help = "continue the interrupted or incomplete run in DIR: keep its complete phases"},
	{"require", 0, OPT_STRING, &require, .arg = "CLAIM", .words = validate_claims,
	 .help = "exit with 4 unless the run proves the fabric lossless under congestion"},
	{"no-traffic", 0, OPT_FLAG, &no_traffic,
	 .help = "compare the settings of the hosts, send no traffic"},
	{"around", 0, OPT_FLAG, &around,
	 .help = "send no traffic: run the command after --, and check the RDMA of that job"},
	{.name = NULL},
};

/* The parsed --format options. */
struct validate_formats {
	const struct writer *print;		 /* on stdout */
	const struct writer *save[OPT_LIST_MAX]; /* into path[] */
	const char *path[OPT_LIST_MAX];
	unsigned int saves;
};

static const struct writer *validate_find_writer(const char *word)
{
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	return writer_find(name);
}

static int validate_parse_formats(struct validate_formats *c)
{
	c->print = globals->json ? writer_find("json") : NULL;
	for (unsigned int i = 0; i < formats.count; i++) {
		const struct writer *w = validate_find_writer(formats.item[i]);
		const char *file = strchr(formats.item[i], '=');

		if (!w || (file && !file[1]))
			return cmd_usage(&cmd_validate,
					 "invalid format '%s': expected text, json or junit, or "
					 "e.g. json=FILE",
					 formats.item[i]);
		if (file && !strcmp(file, "=-"))
			file = NULL;
		if (!file && c->print && c->print != w)
			return cmd_usage(&cmd_validate,
					 "two formats for standard output: %s and "
					 "%s; write one to a file with =FILE",
					 c->print->name, w->name);
		if (!file) {
			c->print = w;
			continue;
		}
		c->save[c->saves] = w;
		c->path[c->saves++] = file + 1;
	}
	if (!c->print)
		c->print = writer_find("text");
	return EXIT_OK;
}

/* Reads priorities like "3" or "3,4"; 0 on bad input. */
static uint8_t validate_parse_prios(const char *text)
{
	uint8_t prios = 0;

	for (const char *p = text;; p += 2) {
		if (*p < '0' || *p >= '0' + QOS_PRIOS || (p[1] && p[1] != ','))
			return 0;
		prios |= (uint8_t)(1u << (*p - '0'));
		if (!p[1])
			return prios;
	}
}

/* Sets the level of the run. Priorities of an incast are lossless by the profile: others would be
 * loaded in vain. */
static int validate_set_level(struct fabric *f)
{
	char text[24];

	if (level_word)
		f->level = (enum fabric_level)qos_word_value(fabric_level_words, level_word);
	if (!maintenance)
		return EXIT_OK;
	f->maintenance = validate_parse_prios(maintenance);
	if (!f->maintenance)
		return cmd_usage(&cmd_validate,
				 "invalid --maintenance '%s': expected priorities, e.g. 3 or 3,4",
				 maintenance);
	f->level = LEVEL_MAINTENANCE;
	qos_prio_set_text(f->profile.qos.pfc_enabled, text, sizeof(text));
	if (f->maintenance & ~f->profile.qos.pfc_enabled)
		return cmd_usage(&cmd_validate,
				 "--maintenance %s: the lossless priorities of profile '%s' are %s",
				 maintenance, f->profile.name, text);
	for (unsigned int prio = 0; prio < QOS_PRIOS; prio++)
		if (f->maintenance & 1u << prio && profile_prio_tos(&f->profile, prio) < 0)
			return cmd_usage(&cmd_validate,
					 "--maintenance %s: no DSCP of profile '%s' maps to "
					 "priority %u, so no traffic can be sent on it",
					 maintenance, f->profile.name, prio);
	return EXIT_OK;
}

/* Lint cannot: only the reports know which rules exist. */
static int validate_check_allow(const struct fabric *f)
{
	struct err e = {0};

	return allow_check(f, &e) ? cmd_fail(EXIT_USAGE, &e) : EXIT_OK;
}

/* Warns of packets that were summarized but not recorded in a file: no rule needs the file. */
static void validate_warn_captures(const struct run *r)
{
	for (unsigned int i = 0; i < r->host_count; i++) {
		for (unsigned int p = 0; p < r->host[i].port_count; p++) {
			const struct run_port *port = &r->host[i].port[p];

			if (!port->has_capture || !port->capture_error[0])
				continue;
			fprintf(stderr, "rocecheck: warning: %s %s: recording: ", r->host[i].name,
				port->netdev);
			text_print(stderr, port->capture_error, TEXT_FIELD);
			fputc('\n', stderr);
		}
	}
}

/* Runs the fabric through agents. A run that lost all hosts or was stopped is checked, too: it is
 * incomplete. */
static int validate_gather(const struct fabric *f, const struct folder *dir, struct run *earlier,
			   struct run *r, int *at_least)
{
	struct run_bar bar;
	const struct run_options o = {
		.dir = dir,
		.stop = signals_catch_stop(),
		.watcher = run_bar_watcher(&bar, globals->quiet || job, globals->verbose),
		.stages = stages,
		.earlier = resume ? earlier : NULL,
	};
	struct err e = {0};
	int err;

	err = job ? run_around(f, job, &o, r, &e) : run_fabric(f, &o, r, &e);
	run_bar_clear(&bar);
	validate_warn_captures(r);
	if (!err)
		return EXIT_OK;
	if (err == -EHOSTUNREACH || err == -EINTR) {
		*at_least = EXIT_INCOMPLETE;
		if (err == -EINTR && f->traffic_s)
			err_hint(&e, "to continue, give the same options and --resume %s",
				 dir->path);
		cmd_fail(EXIT_INCOMPLETE, &e);
		return EXIT_OK;
	}
	return cmd_fail(cmd_exit_for(&e, err == -EINVAL ? EXIT_USAGE : EXIT_ENVIRONMENT), &e);
}

/* Saves all files and reports the first failure in the folder (a full disk is one error, not four)
 * and the failure of each --format file. */
static int validate_save(const struct report *report, const struct validate_formats *c,
			 const struct folder *dir)
{
	struct err e = {0};
	int code = EXIT_OK, err = dir ? run_save(report->run, dir, &e) : 0;

	for (unsigned int i = 0; dir && i < writer_count; i++) {
		struct err one = {0};

		if (report_save_in(report, &writers[i], dir, &one) && !err) {
			err = one.code;
			e = one;
		}
	}
	if (err)
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	for (unsigned int i = 0; i < c->saves; i++) {
		if (report_save(report, c->save[i], c->path[i], &e))
			code = cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	return code;
}

static int validate_judge(const struct fabric *f, const struct run *r,
			  const struct validate_formats *c, const struct folder *dir, int at_least)
{
	struct findings findings = {0};
	struct report report = {
		.fabric = f,
		.run = r,
		.findings = &findings,
		.require_lossless = require != NULL,
	};
	struct err e = {0};
	struct claim claim;
	int code;

	if (rules_run(f, r, &findings)) {
		err_sys(&e, -ENOMEM, "rules");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	claim_make(r, &findings, &claim);
	if (require && !claim_is_lossless(&claim))
		at_least = cmd_worse(at_least, EXIT_INCOMPLETE);
	code = verdict_print(&options, c->print, at_least, &report);
	report.colour = false;
	code = cmd_worse(code, validate_save(&report, c, dir));
	if (dir && !globals->quiet)
		fprintf(stderr, "rocecheck: run folder: %s\n", dir->path);
	findings_clear(&findings);
	return code;
}

/* Refuses a bad schedule before any host is contacted, and before the run has a folder. */
static int validate_check_schedule(const struct fabric *f, struct run *r)
{
	struct err e = {0};
	int err = run_check_schedule(f, r, &e);

	return err ? cmd_fail(err == -ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE, &e) : EXIT_OK;
}

/* Opens the folder of --resume or --out, or creates a new one, named after the UTC time in the
 * run's id: others can guess that name. */
static int validate_open_folder(const struct run *r, struct folder *dir)
{
	struct err e = {0};
	char name[64];
	int err;

	snprintf(name, sizeof(name), "rocecheck-run-%.*s", (int)strcspn(r->id, "-"), r->id);
	if (resume)
		err = folder_open(resume, dir, &e);
	else
		err = out_dir ? folder_make(out_dir, dir, &e) : folder_make_new(name, dir, &e);
	return err ? cmd_fail(EXIT_ENVIRONMENT, &e) : EXIT_OK;
}

static int validate_load_earlier(const struct fabric *f, const struct run *r, struct run *earlier)
{
	struct err e = {0};
	int err = resume ? run_resume_load(resume, f, r, earlier, &e) : 0;

	if (!err)
		return EXIT_OK;
	err_prefix(&e, "--resume");
	return cmd_fail(err == -ENOMEM ? EXIT_ENVIRONMENT : EXIT_USAGE, &e);
}

static int validate_set_phases(const struct fabric *f)
{
	struct err e = {0};

	if (!phases || !run_parse_stages(phases, f, &stages, &e))
		return EXIT_OK;
	err_prefix(&e, "--phases %.80s", phases);
	return cmd_fail(EXIT_USAGE, &e);
}

static int validate_online(const char *path, const struct validate_formats *c)
{
	int at_least = EXIT_OK, code;
	struct folder dir = {0};
	struct err e = {0};
	struct fabric f;
	struct run r = {0}, earlier = {0}; /* cleared also when they were not made */

	code = cmd_load_inventory(path, &f);
	if (code)
		return code;
	if (profile_name)
		code = cmd_load_profile(profile_name, &f.profile);
	if (!code)
		code = validate_check_allow(&f);
	if (!code)
		code = validate_set_level(&f);
	if (!code)
		code = validate_set_phases(&f);
	if (no_traffic)
		f.traffic_s = 0;
	f.schedule = schedule;
	if (!code && run_init(&r, &f)) {
		err_sys(&e, -ENOMEM, "run");
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (!code)
		code = validate_check_schedule(&f, &r);
	if (!code)
		code = validate_open_folder(&r, &dir);
	if (!code)
		code = validate_load_earlier(&f, &r, &earlier);
	if (!code)
		code = validate_gather(&f, &dir, &earlier, &r, &at_least);
	if (!code)
		code = validate_judge(&f, &r, c, &dir, at_least);
	folder_close(&dir);
	run_clear(&earlier);
	run_clear(&r);
	fabric_clear(&f);
	return code;
}

/* Loads the inventory file, or makes one from the run itself, with a profile. */
static int validate_load_offline(const char *path, struct fabric *f, struct run *r)
{
	struct profile profile;
	struct err e = {0};
	int code = path ? cmd_load_inventory(path, f) : EXIT_OK;

	if (!code)
		code = validate_check_allow(f);
	if (!code && profile_name)
		code = cmd_load_profile(profile_name, path ? &f->profile : &profile);
	if (!code && run_load(from, path ? f : NULL, r, &e))
		code = cmd_fail(EXIT_USAGE, &e);
	if (code) {
		if (path && f->host)
			fabric_clear(f);
		return code;
	}
	if (!path && run_make_fabric(r, &profile, f)) {
		run_clear(r);
		err_sys(&e, -ENOMEM, "run");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	return EXIT_OK;
}

static void validate_warn_unlisted(const struct run *r)
{
	if (r->unlisted_count)
		fprintf(stderr,
			"rocecheck: warning: %s: host %s%s not in the inventory, and not checked\n",
			from, r->unlisted, r->unlisted_count > 1 ? " and others are" : " is");
}

static int validate_offline(const char *path, const struct validate_formats *c)
{
	struct folder dir = {0};
	struct fabric f = {0};
	struct run r;
	int code;

	if (!path && !profile_name)
		return cmd_usage(&cmd_validate, "--from without an inventory needs --profile");
	code = validate_load_offline(path, &f, &r);
	if (code)
		return code;
	if (level_word)
		r.level = (enum fabric_level)qos_word_value(fabric_level_words, level_word);
	validate_warn_unlisted(&r);
	if (out_dir)
		code = validate_open_folder(&r, &dir);
	if (!code)
		code = validate_judge(&f, &r, c, out_dir ? &dir : NULL, EXIT_OK);
	folder_close(&dir);
	run_clear(&r);
	fabric_clear(&f);
	return code;
}

static int run_validate(int argc, char **argv)
{
	struct validate_formats c = {0};
	int code = validate_parse_formats(&c);

	if (!code)
		code = verdict_check(&cmd_validate, &options);
	if (code)
		return code;
	if (around && (maintenance || schedule || no_traffic || from || phases || resume))
		return cmd_usage(&cmd_validate,
				 "--around excludes --maintenance, --phases, --resume, --schedule, "
				 "--no-traffic and --from");
	if (around && argc < 2)
		return cmd_usage(&cmd_validate, "--around needs FABRIC.yaml and the command of a "
						"job: FABRIC.yaml --around -- CMD");
	if (around)
		job = argv + 1;
	else if (argc > 1)
		return cmd_usage(&cmd_validate, "unexpected argument '%s'", argv[1]);
	if (maintenance && (level_word || no_traffic || from))
		return cmd_usage(&cmd_validate, "--maintenance excludes --level, --no-traffic and "
						"--from");
	if (schedule && (no_traffic || from))
		return cmd_usage(&cmd_validate, "--schedule excludes --no-traffic and --from");
	if (resume && (no_traffic || from || out_dir))
		return cmd_usage(&cmd_validate, "--resume excludes --no-traffic, --from and --out");
	if (phases && (no_traffic || from))
		return cmd_usage(&cmd_validate, "--phases excludes --no-traffic and --from");
	if (!argc && !from)
		return cmd_usage(&cmd_validate, "missing FABRIC.yaml or --from DIR");
	return from ? validate_offline(argc ? argv[0] : NULL, &c) : validate_online(argv[0], &c);
}

const struct command cmd_validate = {
	.name = "validate",
	.args = "FABRIC.yaml | FABRIC.yaml --around -- CMD... | --from DIR",
	.help = "check a fabric with traffic, or check a recorded run",
	.opts = validate_opts,
	.run = run_validate,
};
