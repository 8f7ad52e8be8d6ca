/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent: what a coordinator starts on each host (rocecheck.agent/1). JSON lines, at most 1 MiB
 * each. The first line is ours: {"hello":"rocecheck.agent/1","build":...}. Requests are
 * {"id":n,"op":...,...}; replies repeat the id with "ok":true or "error":{code,text,hint}; events
 * have no id. Requests are hostile input: what is wrong is answered with an error.
 *
 * End of input stops everything and ends the agent within 3 s, and so does a lease ("ping" with
 * "lease_ms") that is not renewed. In traffic, behind a TCP connection whose other end still
 * acknowledges, the lease that ends stops the traffic alone: there is a host whose kernel lets no
 * program run for a while, and what was seen here is of use when it does.
 */
#ifndef PROBE_AGENT_H
#define PROBE_AGENT_H

#include <jansson.h>

#include "profiles/base/base.h"

#define AGENT_HELLO "rocecheck.agent/1"

/* Of a recording in one answer to capture_read: whole, except the last one that has any. */
#define AGENT_PIECE_BYTES (512u << 10)

struct destinations;

/* How it ended. */
enum agent_stop_reason {
	AGENT_QUIT,	     /* the coordinator said so */
	AGENT_INPUT_CLOSED,  /* the connection was closed */
	AGENT_LEASE_EXPIRED, /* the lease was not renewed */
	AGENT_STARVED,	     /* nor for starved_ms after it, by a host that answers */
	AGENT_OUTPUT_FAILED, /* nobody reads what it answers */
	AGENT_STUCK, /* held up in a call when the connection was closed; see agent_config */
};

struct agent_config {
	const char *build; /* of this binary; the coordinator compares */
	const char *self;  /* path of this binary, for traffic processes: SELF agent --traffic */
	const char *root;  /* of /proc and /sys, for what memory is available; NULL = this host */
	int in_fd, out_fd;
	bool probe_only; /* only what `probe` needs: the peer came by a token */
	bool read_only;	 /* changes no settings of this host and records no data of users */
	/* Traffic goes to these addresses alone; NULL = to any, as the coordinator says. */
	const struct destinations *destinations;
	unsigned int lease_ms; /* from the start on, 0 = only when a ping sets one */
	/* After the lease, with traffic to tell of, for a host that acknowledges what its program
	 * does not answer; 0 = none. alive_ms is needed for it. */
	unsigned int starved_ms;
	unsigned int alive_ms; /* says {"event":"alive"} so often, busy or not; 0 = never */
	/* Progress and results of traffic as they pass; may be NULL. */
	void (*on_traffic)(const char *key, const json_t *doc, void *arg);
	void (*on_starved)(void *arg); /* starved_ms begin; may be NULL */
	void *arg;
	/* The input has ended and a call does not return: the process ends with this code. In a
	 * thread of its own, and it may not wait. NULL: without a word, with 1. */
	int (*on_stuck)(void);
};

/* Serves until "quit", the end of the input, or the end of a lease. *end may be NULL, and is never
 * AGENT_STUCK, after which nothing returns. in_fd may be out_fd. */
int agent_run(const struct agent_config *config, enum agent_stop_reason *end, struct err *e);

/* One traffic end in a process of its own, so that a kernel which never comes back from a post
 * (Linux 6.1 when the MTU is lowered under a running rxe queue pair) costs a process that can be
 * killed, not the agent.
 *
 * Lines on in_fd and the answer to each on out_fd, {"error":{...}} when it failed:
 *   the spec          -> {"peer":{...}}; {"echo":{...}} is that of a marking echo
 *   the other's peer  -> {"connected":true}
 *   {"run":true}      -> {"result":{...}}, and {"progress":{...}} before it every progress_ms
 *   {"stop":true}     in a run: it ends now, and is answered
 *   {"unheard":true}  the same, as a failure: the other end's program is silent
 * End of input stops the run, too, and ends the process. Queue pairs live until then.
 *
 * Serves one end; returns when its input ends. 0 or -errno. confined: this process is it alone, and
 * gives up its rights for good before it opens its device (profiles/base/privileges.h). */
int traffic_child(int in_fd, int out_fd, bool confined);

#endif
