/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent, which a coordinator starts on each host (protocol rocecheck.agent/1). JSON lines, at
 * most 1 MiB each. The agent sends {"hello":"rocecheck.agent/1","build":...} first. Requests are
 * {"id":n,"op":...,...}; replies repeat the id with "ok":true or "error":{code,text,hint}; events
 * have no id. Requests are hostile input: an invalid one gets an error.
 *
 * End of input stops all work and ends the agent within 3 s. So does a lease ("ping" with
 * "lease_ms") that is not renewed. Exception: during traffic, while the peer's kernel still
 * acknowledges TCP, an expired lease stops only the traffic: the peer's host may run no program for
 * a while and ask for the results later.
 */
#ifndef PROBE_AGENT_H
#define PROBE_AGENT_H

#include <jansson.h>

#include "profiles/base/base.h"

#define AGENT_HELLO "rocecheck.agent/1"

/* Bytes of a recording in one answer to capture_read; only the last piece is smaller. */
#define AGENT_PIECE_BYTES (512u << 10)

struct destinations;

/* Reasons for the end of the agent. */
enum agent_stop_reason {
	AGENT_QUIT,	     /* request "quit" */
	AGENT_INPUT_CLOSED,  /* the connection was closed */
	AGENT_LEASE_EXPIRED, /* the lease was not renewed */
	AGENT_STARVED,	     /* nor within starved_ms after it, although the host acknowledges */
	AGENT_OUTPUT_FAILED, /* the peer does not read the replies */
	AGENT_STUCK,	     /* in a system call that does not return; see agent_config */
};

struct agent_config {
	const char *build; /* version of this binary; the coordinator compares it */
	const char *self;  /* path of this binary, for traffic processes: SELF agent --traffic */
	const char *root;  /* of /proc and /sys, to read available memory; NULL = this host */
	int in_fd, out_fd;
	bool probe_only; /* serve only the operations of `probe` */
	bool read_only;	 /* change no settings and capture no payload */
	/* Allowed destinations of traffic; NULL = any. */
	const struct destinations *destinations;
	unsigned int lease_ms; /* initial lease, 0 = none until a ping sets one */
	/* Extra time after the lease if there is a traffic result and the peer's kernel still
	 * acknowledges; 0 = none. Requires alive_ms. */
	unsigned int starved_ms;
	unsigned int alive_ms; /* interval of {"event":"alive"}, also while busy; 0 = never */
	/* Called with progress and results of traffic; may be NULL. */
	void (*on_traffic)(const char *key, const json_t *doc, void *arg);
	void (*on_starved)(void *arg); /* called when starved_ms begins; may be NULL */
	void *arg;
	/* Called when the input has ended but a system call does not return; returns the exit code
	 * of the process. Runs in its own thread and must not block. NULL: exit 1 silently. */
	int (*on_stuck)(void);
};

/* Serves until "quit", the end of the input, or the end of a lease. end may be NULL; *end is never
 * AGENT_STUCK, because the process exits then. in_fd may be out_fd. */
int agent_run(const struct agent_config *config, enum agent_stop_reason *end, struct err *e);

/* Runs one traffic endpoint in a separate process: if a post never returns from the kernel (Linux
 * 6.1 when the MTU is lowered under a running rxe queue pair), the agent kills that process and
 * survives.
 *
 * Lines on in_fd and the answer to each on out_fd, {"error":{...}} when it failed:
 *   the spec          -> {"peer":{...}}; {"echo":{...}} is the spec of a marking test
 *   the remote's peer -> {"connected":true}
 *   {"run":true}      -> {"result":{...}}, and {"progress":{...}} before it every progress_ms
 *   {"stop":true}     during a run: stops the run, which is then answered
 *   {"unheard":true}  the same, as a failure: the remote program is silent
 * End of input also stops the run, and ends the process. Queue pairs live until then.
 *
 * Returns when its input ends: 0 or -errno. confined: the process serves nothing else and drops its
 * privileges before it opens the device (profiles/base/privileges.h). */
int traffic_child(int in_fd, int out_fd, bool confined);

#endif
