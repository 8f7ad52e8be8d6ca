/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a capture file and confines the process, for the commands that read one.
 */
#ifndef CMD_CAPTURE_FILE_H
#define CMD_CAPTURE_FILE_H

#include "cmd/opts.h"
#include "cmd/progress.h"

/* Options of a command without options of its own. */
extern const struct opt capture_file_opts[];
/* Its rows, for other tables. */
#define CAPTURE_MAX_FLOWS_OPT                                                                      \
	{                                                                                          \
		"max-flows", 0, OPT_UINT, &capture_max_flows,                                      \
			.min = 2, .max = 1U << 20, .arg = "COUNT",                                 \
			.help = "follow at most COUNT flows, the latest (default 65536)"           \
	}
#define CAPTURE_LINK_OPT                                                                           \
	{                                                                                          \
		"link-speed", 0, OPT_UINT, &capture_link_gbps,                                     \
			.min = 1, .max = 10000, .arg = "GBPS",                                     \
			.help = "link speed in Gbit/s for pauses (default: of the file, or 10)"    \
	}
#define CAPTURE_SANDBOX_OPT                                                                        \
	{                                                                                          \
		"no-sandbox", 0, OPT_FLAG, &capture_no_sandbox,                                    \
			.help = "decode without a seccomp sandbox, for kernels without seccomp"    \
	}
extern unsigned int capture_max_flows, capture_link_gbps;
extern bool capture_no_sandbox;

/* Opens FILE (- for standard input), confines the process (profiles/base/sandbox.h), then reads the
 * first byte. A command opens its output files before. Returns 0, or an exit code after printing an
 * error. The caller clears r. */
int capture_file_open(const char *path, struct reader *r);

#endif
