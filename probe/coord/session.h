/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agents of a run: one connection for each host of the record. Requests go to all hosts at
 * once; a host that fails is marked in the record and skipped from then on. Agents stop by
 * themselves when the session does not renew their lease.
 */
#ifndef PROBE_SESSION_H
#define PROBE_SESSION_H

#include <stdatomic.h>

#include "probe/coord/agent_conn.h"
#include "probe/record/run.h"

#define SESSION_ANSWER_MS 30000 /* timeout of a request that normally takes a second */
#define SESSION_LEASE_MS  3000	/* a peer that is silent for this long is lost */

struct session {
	struct run *r;		/* its hosts are those of the session; borrowed */
	const atomic_int *stop; /* NULL = cannot be stopped */
	run_progress *progress; /* NULL = silent; of each event */
	void *arg;
	/* Of a fabric run; each may be NULL. */
	run_progress *notice; /* as progress, for everyone */
	void (*on_step)(const struct run_step *step, void *arg);
	struct run_step step;	    /* the current one */
	uint64_t step_ms, round_ms; /* its begin, and the end of its last round */
	bool broken;		    /* a breaker stops the session until this is cleared */
	unsigned int lease_ms;	    /* that agents have without a heartbeat; 0 = SESSION_LEASE_MS */
	struct loop *loop;	    /* of the caller; NULL = its own from session_open() on */
	bool own_loop;
	struct loop_timer *heartbeat;
	struct agent_conn *conn; /* owned; of each host of r */
};

/* Makes room for the connections, which the caller then opens; s has r, stop, progress, arg and
 * loop. Raises the soft limit of open files if the hosts need more. The caller closes it in any
 * case. */
int session_open(struct session *s, struct err *e);

/* Starts the agents of all hosts of an inventory and waits for their hellos, or the stop; marks
 * lost hosts. At most 64 at once, and fewer when a login is refused, as by a jump host that is
 * busy: such a host is tried again, 5 times in all. Agents that said hello get heartbeats
 * meanwhile. */
void session_launch(struct session *s, const struct launcher *launcher, const struct fabric *f);

/* Ends all agents, at once those that are busy. */
void session_close(struct session *s);

/* Prints one line of progress, for those who want each event. */
void session_report(const struct session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same for everyone. */
void session_notice(const struct session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Begins a step, of which phase (borrowed), number, count, of and seconds are given; reports it
 * now, and with the heartbeats. */
void session_begin_step(struct session *s, const struct run_step *step);

/* Counts and reports a round of the current step. */
void session_count_round(struct session *s);

/* The time that is left of a step, by its estimate until its first round is over, then by its
 * rounds. passed_s since its begin, round_s from then to the end of its last round. Pure. */
double session_seconds_left(const struct run_step *step, double passed_s, double round_s);

bool session_stopped(const struct session *s);
bool session_ready(const struct session *s, unsigned int host);

/* Renews all leases, and again twice a second while the loop runs. */
void session_start_heartbeat(struct session *s);
void session_stop_heartbeat(struct session *s);

/* Marks lost hosts and reports the reason once. */
void session_mark_lost(struct session *s);

/* Waits for all hellos and answers, or the stop; marks lost hosts. */
void session_wait(struct session *s);

/* Waits, with heartbeats. */
void session_pause(struct session *s, uint64_t ms);

/* Fails when an agent that said hello is of another version; the host is reached otherwise. */
int session_check_build(struct session *s, unsigned int host, struct err *e);

/* Reads the counters of all ports of the record into this reading, and with `users` adds who else
 * has queue pairs there. A reading that did not come is missing. In two steps: other sessions of
 * the loop can ask meanwhile. */
void session_ask_counters(struct session *s, bool users);
void session_read_counters(struct session *s, enum run_reading reading);

/* Asks one host for the counters of its ports, with this call. */
void session_ask_host_counters(struct session *s, unsigned int host, struct agent_call *call);

/* Reads the counters of a port of that host from the reply; false when they are not there. */
bool session_port_counters(const json_t *reply, unsigned int port, struct counters *out);

/* Time after the last packet until all counters include it: what the sources that answered before
 * the load say, and for hardware at least as long as the slowest driver known. */
unsigned int session_settle_ms(const struct session *s);

#endif
