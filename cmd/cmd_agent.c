/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rocecheck agent: the launcher starts it on each host of a fabric run; it exchanges JSON lines
 * with the coordinator on stdin and stdout. Internal command. --traffic: the process that moves the
 * data of an agent. --read-only: for a key that authorized_keys restricts to this command.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "probe/agent/agent.h"
#include "probe/io/destination.h"
#include "profiles/base/process.h"

static bool traffic, read_only;
static const char *peer_address;

static const struct opt agent_opts[] = {
	{"traffic", 0, OPT_FLAG, &traffic, .help = "run as the traffic process of an agent"},
	{"read-only", 0, OPT_FLAG, &read_only,
	 .help = "refuse to change settings and to capture whole packets"},
	{"peer-address", 0, OPT_STRING, &peer_address, .arg = "ADDRESSES",
	 .help = "allow traffic only to ADDRESS[/LENGTH],... (default: all; --read-only: none)"},
	{.name = NULL},
};

static int run_agent(int argc, char **argv)
{
	char self[PATH_MAX];
	struct agent_config config = {
		.build = ROCECHECK_VERSION,
		.self = self,
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.read_only = read_only,
	};
	struct destinations allowed = {.owner = DESTINATION_OF_AGENT, .address = "none"};
	struct err e = {0};

	if (argc)
		return cmd_usage(&cmd_agent, "unexpected argument '%s'", argv[0]);
	if (peer_address &&
	    destinations_make(DESTINATION_OF_AGENT, peer_address, NULL, &allowed, &e))
		return cmd_fail(EXIT_USAGE, &e);
	if (read_only || peer_address)
		config.destinations = &allowed;
	if (traffic)
		return traffic_child(STDIN_FILENO, STDOUT_FILENO, true) ? EXIT_ENVIRONMENT
									: EXIT_OK;
	process_self(self, sizeof(self));
	if (agent_run(&config, NULL, &e))
		return cmd_fail(EXIT_ENVIRONMENT, &e);
	return EXIT_OK;
}

const struct command cmd_agent = {
	.name = "agent",
	.args = "",
	.help = "serve a coordinator on stdin and stdout",
	.opts = agent_opts,
	.run = run_agent,
	.internal = true,
};
