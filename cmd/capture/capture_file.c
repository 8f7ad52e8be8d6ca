/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a capture file for a command. Confines the process before it reads the file: a crafted file
 * may attack libpcap's header parser, zlib and libzstd as well as the decoder.
 */
#include "cmd/capture/capture_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "profiles/base/sandbox.h"

unsigned int capture_max_flows, capture_link_gbps;
bool capture_no_sandbox;

const struct opt capture_file_opts[] = {
	CAPTURE_MAX_FLOWS_OPT,
	CAPTURE_LINK_OPT,
	CAPTURE_SANDBOX_OPT,
	{.name = NULL},
};

/* The input has a descriptor of its own. A process that a file has taken over must not read what
 * the user types. */
static void file_detach_terminal(void)
{
	int null = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;

	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		close(null);
	}
}

int capture_file_open(const char *path, struct reader *r)
{
	struct err e = {0};
	struct input *s;
	int fd = input_file_fd(path, &e);

	if (fd < 0)
		return cmd_fail(EXIT_USAGE, &e);
	file_detach_terminal();
	if (sandbox_confine(SANDBOX_FILE, capture_no_sandbox, NULL, &e)) {
		err_prefix(&e, "%s", path);
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	}
	if (input_open_fd(fd, path, &s, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (reader_init(r, s, capture_max_flows, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	if (capture_link_gbps)
		reader_assume_link_speed(r, capture_link_gbps * 1000);
	return 0;
}
