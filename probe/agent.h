/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: what a coordinator starts on each host (rocecheck.agent/1). JSON lines, at most 1 MiB
 * each. The first line is ours: {"hello":"rocecheck.agent/1","build":...}. Requests are
 * {"id":n,"op":...,...}; replies repeat the id with "ok":true or "error":{code,text,hint}; events
 * have no id. Requests are hostile input: what is wrong is answered with an error.
 *
 * End of input stops everything and ends the agent within 3 s, and so does a lease ("ping" with
 * "lease_ms") that is not renewed.
 */
#ifndef PROBE_AGENT_H
#define PROBE_AGENT_H

#include "profiles/base.h"

#define AGENT_HELLO "rocecheck.agent/1"

struct agent_config {
	const char *build; /* of this binary; the coordinator compares */
	const char *self;  /* path of this binary, for traffic processes: SELF agent --traffic */
	int in_fd, out_fd;
};

/* Serves until "quit", the end of the input, or the end of a lease. */
int agent_run(const struct agent_config *config, struct err *e);

#endif
