/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A load: flows of traffic (or of the marking test) between two agents each, which are opened,
 * connected and closed together, and run in waves, one after the other. In each step servers are
 * asked before clients: their receives are posted before anything is sent. A flow that fails takes
 * no part in later steps.
 */
#ifndef PROBE_LOAD_H
#define PROBE_LOAD_H

#include "probe/coord/session.h"
#include "probe/io/destination.h"

/* One end of a flow. The caller fills the first part. */
struct load_end {
	struct session *s; /* one for both ends; the sessions of a load share one loop */
	unsigned int host; /* of the session, that has this end */
	json_t *spec;	   /* owned by the load from load_open() on */
	const struct destinations *place; /* where this end may be; NULL = anywhere */

	bool open;
	uint64_t handle;
	uint8_t gid[16];
	json_t *peer;		/* owned; what the other end needs to connect */
	int64_t ahead_ns;	/* its clock, compared with ours */
	uint64_t round_trip_ns; /* of that comparison; it bounds the error */
	struct agent_call call; /* the last request; after load_run() the result */
};

struct load_flow {
	struct load_end end[SIDES];
	unsigned int wave;    /* in which it runs */
	uint32_t duration_ms; /* of its run */
	bool until_client;    /* the server is told to stop when the client is done */
	bool failed;	      /* in any step */
	struct err e;	      /* the first failure, with the host in front */
	uint64_t stop_ms;     /* when it was told to stop; 0 = was not */
};

struct load {
	struct loop *loop;
	struct load_flow *flow; /* borrowed */
	unsigned int count;
	unsigned int progress_ms; /* period of progress events; 0 = none */
	bool one_start;		  /* all flows start at one instant by their own clocks */
	uint64_t start_ns;	  /* that instant, of monotonic_ns() */
};

/* Opens both ends of all flows by this operation ("traffic_open", "echo_open"). */
void load_open(struct load *l, const char *op);

/* Connects the ends; fails a flow with an end that is elsewhere than `place`: -EPERM. */
void load_connect(struct load *l);

/* Compares the clocks of all ends with ours, for one_start. */
void load_compare_clocks(struct load *l);

/* Runs all flows of a wave until each is over. A flow of which one end is lost is told to stop, and
 * all are when a session is stopped; they have 5 s for their results. After a stop no wave runs. */
void load_run(struct load *l, unsigned int wave);

/* Closes what is open, also of failed flows, and frees what the load owns. Queue pairs live until
 * then: what is still repeated is counted before. Returns without an end that hangs for 5 s. */
void load_close(struct load *l);

/* Returns the reply of an end to its last request; NULL with its error in e: -EPIPE when its host
 * was lost, -EINTR when it was stopped. */
const json_t *load_reply(const struct load_flow *f, enum run_side side, struct err *e);

/* Marks a flow as failed by this end, unless it already is. */
void load_fail(struct load_flow *f, enum run_side side, const struct err *e);

#endif
