/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the fabric run, for run_*.c: the coordinator and its phases. A phase asks all hosts at
 * once and waits; a host that fails is marked in the run and left out of what follows.
 */
#ifndef PROBE_PHASE_PRIV_H
#define PROBE_PHASE_PRIV_H

#include <stdatomic.h>

#include "probe/coord/agent_conn.h"
#include "probe/record/run.h"
#include "profiles/base/file.h"

#define PHASE_ANSWER_MS	     30000 /* for what should take a second */
#define PHASE_FETCH_GRACE_MS 60000

struct coordinator {
	const struct fabric *f;
	const struct folder *dir; /* of the run, NULL = nothing is kept */
	struct folder captures;	  /* below it; path is NULL before there is one */
	const atomic_int *stop;
	run_progress *progress;
	void *arg;
	struct run *r;
	struct loop *loop;
	struct loop_timer *heartbeat;
	struct agent_conn *conn; /* of each host */
	int (*capture)[64];	 /* handle of each host's port, -1 = none */
	uint64_t fetch_grace_ms; /* a host's recording of a port may take so long, and its pieces */
};

/* One line of progress. */
void phase_report(struct coordinator *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

bool phase_stopped(const struct coordinator *c);

/* Marks the hosts that were lost, and says why, once. */
void phase_mark_lost(struct coordinator *c);

/* Waits until all have answered; marks the hosts that were lost. */
void phase_wait(struct coordinator *c);

/* Lets time pass, with heartbeats. */
void phase_pause(struct coordinator *c, uint64_t ms);

bool phase_ready(const struct coordinator *c, unsigned int host);

/* The port of the snapshot that belongs to port p of a host, NULL if it is not there. Borrowed. */
const struct port *phase_port(const struct coordinator *c, unsigned int host, unsigned int p);

/* Removes recordings and schedules of the names this run will use. */
int phase_capture_remove(struct coordinator *c, struct err *e);
int phase_traffic_remove(const struct coordinator *c, struct err *e);

void phase_capture_start(struct coordinator *c);
/* Stops, takes the summaries, fetches the recordings into dir/captures. */
void phase_capture_stop(struct coordinator *c);

/* All pairs of all rails. -errno when it could not be prepared. */
int phase_traffic(struct coordinator *c, struct err *e);

#endif
