/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening a capture file for a command. A kernel that takes no seccomp filter is told about and
 * does not stop the command: the file can be read no other way there.
 */
#include "cmd/capture_file.h"

#include <stdio.h>

#include "capture/sandbox.h"
#include "cmd/cmd.h"

unsigned int capture_max_flows, capture_jobs = 1, capture_link_gbps;

const struct opt capture_file_opts[] = {
	CAPTURE_MAX_FLOWS_OPT,
	CAPTURE_JOBS_OPT,
	CAPTURE_LINK_OPT,
	{.name = NULL},
};

int capture_file_open(const char *path, struct reader *r)
{
	struct err e = {0};
	struct source *s;

	if (source_open_file(path, &s, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (sandbox_enter(&e) && !globals->quiet)
		fprintf(stderr, "rocecheck: warning: %s: reading without confinement\n", e.text);
	if (reader_init(r, s, capture_max_flows, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (capture_link_gbps)
		reader_assume_link(r, capture_link_gbps * 1000);
	return 0;
}

int capture_file_open_skim(const char *path, bool pass_marks, struct reader *r)
{
	struct err e = {0};
	int code = capture_file_open(path, r);

	if (code)
		return code;
	if (pass_marks)
		reader_pass_marks(r);
	if (!reader_jobs(r, capture_jobs, &e))
		return 0;
	reader_clear(r);
	return cmd_fail(EXIT_ENVIRONMENT, &e);
}
