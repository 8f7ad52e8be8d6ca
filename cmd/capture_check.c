/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture check: what a capture file alone proves, judged by the rules of captures and
 * told by the writers of reports, with frame numbers as evidence. The report goes to stdout alone:
 * a confined process opens no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/capture_file.h"
#include "cmd/cmd.h"
#include "profiles/fabric.h"
#include "reports/check_capture.h"
#include "reports/writer.h"

static const char *format = "text", *fail_on = "error";
static struct opt_list allowed;

static const char *const format_words[] = {"text", "json", "junit", NULL};
static const char *const fail_words[] = {"error", "warn", NULL};

static const struct opt check_opts[] = {
	{.name = "format",
	 .kind = OPT_STRING,
	 .value = &format,
	 .arg = "FORMAT",
	 .help = "text (default), json or junit",
	 .words = format_words},
	{.name = "fail-on",
	 .kind = OPT_STRING,
	 .value = &fail_on,
	 .arg = "SEVERITY",
	 .help = "error (default) or warn: what makes the exit code 1",
	 .words = fail_words},
	{.name = "allow-inconclusive",
	 .kind = OPT_LIST,
	 .value = &allowed,
	 .arg = "RULE",
	 .help = "this rule may lack its evidence; may be given again"},
	{.name = NULL},
};

/* What was read of a capture. */
struct capture_read {
	struct capture_summary summary;
	struct witnesses witnesses;
	struct err broken; /* where the file breaks off */
	int err;	   /* of it */
};

/* Takes the reader over. 0, or -ENOMEM. */
static int read_all(struct reader *r, struct capture_read *c)
{
	struct progress progress = progress_begin(PROGRESS_TOTALS, globals->quiet);
	struct packet p;
	int err, got;

	while ((got = reader_next(r, -1, &p, &c->broken)) > 0) {
		progress_step(&progress, r);
		witness_add(&c->witnesses, &p, flow_table_events(r->flows));
	}
	progress_end(&progress);
	c->err = got;
	err = reader_summary(r, &c->summary);
	reader_clear(r);
	return err;
}

static int write_report(struct report *report)
{
	const struct writer *w = writer_find(globals->json ? "json" : format);
	struct err e = {0};

	if (!w->write(report, stdout, &e) || ferror(stdout)) /* main() tells of that */
		return report->exit_code;
	return cmd_worse(report->exit_code, cmd_fail(EXIT_ENVIRONMENT, &e));
}

static int judge(const char *name, const struct capture_read *read)
{
	struct capture_case one = {
		.name = name, .summary = &read->summary, .witnesses = &read->witnesses};
	enum severity gate = strcmp(fail_on, "warn") ? SEVERITY_ERROR : SEVERITY_WARN;
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	struct run *run = calloc(1, sizeof(*run));
	struct findings findings = {0};
	struct report report = {
		.fabric = fabric,
		.run = run,
		.findings = &findings,
		.colour = globals->colour_out,
		.verbose = globals->verbose > 0,
		.allow = allowed.item,
		.allow_count = allowed.count,
		.capture = name,
		.alone = true,
	};
	struct err e = {0};
	int code;

	if (fabric)
		snprintf(fabric->name, sizeof(fabric->name), "%s", name);
	if (!fabric || !run || rules_run_capture(fabric, run, &one, &findings)) {
		err_sys(&e, -ENOMEM, "rules");
		code = cmd_fail(EXIT_ENVIRONMENT, &e);
	} else {
		report.exit_code = findings_exit(&findings, gate, allowed.item, allowed.count);
		code = write_report(&report);
	}
	findings_clear(&findings);
	free(run);
	free(fabric);
	return code;
}

static int check_rules(void)
{
	for (unsigned int i = 0; i < allowed.count; i++)
		if (!rule_find(allowed.item[i]))
			return cmd_usage(&cmd_capture_check,
					 "no rule '%s': 'rocecheck rules' lists them",
					 allowed.item[i]);
	return EXIT_OK;
}

/* As findings name it: without the folder. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!strcmp(path, "-"))
		return "stdin";
	return slash && slash[1] ? slash + 1 : path;
}

static int run_check(int argc, char **argv)
{
	struct capture_read read = {0};
	struct err e = {0};
	struct reader r;
	int code;

	if (argc != 1)
		return cmd_usage(&cmd_capture_check, "one capture file is needed, or - for "
						     "standard input");
	code = check_rules();
	if (!code)
		code = capture_file_open(argv[0], &r);
	if (code)
		return code;
	if (read_all(&r, &read)) {
		err_sys(&e, -ENOMEM, "capture");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	code = judge(file_name(argv[0]), &read);
	capture_summary_clear(&read.summary);
	fflush(stdout); /* an error is told behind what was judged; main() looks at the result */
	return read.err < 0 ? cmd_worse(code, cmd_fail(EXIT_USAGE, &read.broken)) : code;
}

const struct command cmd_capture_check = {
	.name = "capture check",
	.args = "FILE",
	.help = "judge a capture file by the rules, with frames as evidence",
	.opts = check_opts,
	.run = run_check,
};
