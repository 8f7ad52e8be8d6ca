/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck capture check: applies the capture rules (RC-CAP) to a capture file and prints a report
 * with frame numbers as evidence. The report goes to stdout only: a confined process opens no file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/capture/capture_file.h"
#include "cmd/cmd.h"
#include "cmd/verdict.h"
#include "profiles/base/file.h"
#include "profiles/fabric.h"
#include "reports/rules/check_capture.h"

static struct verdict_options options = VERDICT_DEFAULTS;

static const struct opt check_opts[] = {
	VERDICT_FORMAT_OPT(options), VERDICT_OPTS(options), CAPTURE_MAX_FLOWS_OPT, CAPTURE_LINK_OPT,
	CAPTURE_SANDBOX_OPT,	     {.name = NULL},
};

/* Result of reading a capture. */
struct capture_read {
	struct capture_summary summary;
	struct samples samples;
	struct err broken; /* why reading ended early */
	int err;	   /* its code */
};

/* Reads to the end and clears the reader. 0, or -ENOMEM. */
static int check_read_all(struct reader *r, struct capture_read *c)
{
	struct progress progress = progress_begin(PROGRESS_TOTALS, globals->quiet);
	const struct packet *p;
	int err, got;

	while ((got = reader_next(r, -1, &p, &c->broken)) > 0) {
		progress_step(&progress, r);
		samples_add(&c->samples, p, flow_table_events(r->flows));
	}
	progress_end(&progress);
	c->err = got;
	err = reader_summary(r, &c->summary);
	reader_clear(r);
	return err;
}

static int check_judge(const char *name, const struct capture_read *read)
{
	struct capture_case one = {
		.name = name, .summary = &read->summary, .samples = &read->samples};
	struct fabric *fabric = calloc(1, sizeof(*fabric));
	struct run *run = calloc(1, sizeof(*run));
	struct findings findings = {0};
	struct report report = {
		.fabric = fabric,
		.run = run,
		.findings = &findings,
		.capture = &one,
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
		/* The report states the exit code of the command. */
		code = verdict_print(&options, verdict_writer(&options),
				     read->err < 0 ? EXIT_USAGE : EXIT_OK, &report);
	}
	findings_clear(&findings);
	free(run);
	free(fabric);
	return code;
}

static int run_check(int argc, char **argv)
{
	struct capture_read read = {0};
	struct err e = {0};
	struct reader r;
	int code;

	if (argc != 1)
		return cmd_usage(&cmd_capture_check, "expected one FILE (- for standard input)");
	code = verdict_check(&cmd_capture_check, &options);
	if (!code)
		code = capture_file_open(argv[0], &r);
	if (code)
		return code;
	if (check_read_all(&r, &read)) {
		err_sys(&e, -ENOMEM, "capture");
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	/* Findings name the file without its folder. */
	code = check_judge(strcmp(argv[0], "-") ? file_name_of(argv[0]) : "stdin", &read);
	capture_summary_clear(&read.summary);
	fflush(stdout); /* before the error on stderr; main() checks the result */
	return read.err < 0 ? cmd_worse(code, cmd_fail(EXIT_USAGE, &read.broken)) : code;
}

const struct command cmd_capture_check = {
	.name = "capture check",
	.args = "FILE",
	.help = "check a capture file for losses, NAKs, pauses and CE marks",
	.opts = check_opts,
	.run = run_check,
};
