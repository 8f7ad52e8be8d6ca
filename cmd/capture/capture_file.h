/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the commands that read a capture file share: opening it, and confining the process.
 */
#ifndef CMD_CAPTURE_FILE_H
#define CMD_CAPTURE_FILE_H

#include "cmd/opts.h"
#include "cmd/progress.h"

/* Options of the commands that only sum up a file. */
extern const struct opt capture_file_opts[];
/* The rows of it, for those that have others too. */
#define CAPTURE_MAX_FLOWS_OPT                                                                      \
	{                                                                                          \
		"max-flows", 0, OPT_UINT, &capture_max_flows,                                      \
			.min = 2, .max = 1U << 20, .arg = "COUNT",                                 \
			.help = "follow so many flows at once (65536); of more the idle ones are " \
				"forgotten"                                                        \
	}
#define CAPTURE_LINK_OPT                                                                           \
	{                                                                                          \
		"link-speed", 0, OPT_UINT, &capture_link_gbps, .min = 1, .max = 10000,             \
							       .arg = "GBPS",                      \
							       .help = "speed of the link that "   \
								       "pauses hold, in Gbit/s, "  \
								       "when the file does not "   \
								       "say it (10)"               \
	}
#define CAPTURE_SANDBOX_OPT                                                                        \
	{                                                                                          \
		"no-sandbox", 0, OPT_FLAG, &capture_no_sandbox,                                    \
			.help = "decode packets without a seccomp filter, where the kernel has "   \
				"none"                                                             \
	}
extern unsigned int capture_max_flows, capture_link_gbps;
extern bool capture_no_sandbox;

/* Opens FILE, or - for standard input, confines the process (profiles/base/sandbox.h), and only
 * then reads the first byte: what a command writes to beside stdout and stderr, it opens before.
 * Returns 0, or an exit code when it has printed an error. The caller clears r. */
int capture_file_open(const char *path, struct reader *r);

#endif
