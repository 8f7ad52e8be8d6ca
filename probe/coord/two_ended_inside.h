/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the two-ended probe, for two_ended*.c.
 */
#ifndef PROBE_TWO_ENDED_INSIDE_H
#define PROBE_TWO_ENDED_INSIDE_H

#include "probe/coord/session.h"
#include "probe/coord/two_ended.h"
#include "probe/io/destination.h"

struct duo {
	const struct two_ended_wish *w;
	struct two_ended *t;
	struct session s;		  /* its hosts are the sides */
	char address[SIDES][64];	  /* of the control connection */
	struct destinations destinations; /* where the server may have us send */
	uint64_t handle[SIDES];		  /* of the traffic there */
	bool open[SIDES];
	struct two_ended_live live;
	int64_t ahead_ns; /* the server's clock, of ours */
};

/* The reply of a side to what was asked last; NULL with its error in e: -EPIPE when it was lost. */
const json_t *duo_reply(struct duo *d, enum run_side side, struct err *e);

/* Counters of both ports, and who uses them, into this reading. */
void duo_counters(struct duo *d, enum run_reading reading);
/* Before the next load: a reading that does not come then is missing, not the one of the load
 * before. */
void duo_forget_load(struct duo *d);
uint64_t duo_settle_ms(const struct duo *d);

/* Opens traffic of both sides by this operation, with specs that it takes; self: what each tells
 * of itself. Then connects them: -EPERM, and nothing is, when the server is elsewhere. */
int duo_open(struct duo *d, const char *op, json_t *const spec[SIDES],
	     struct traffic_endpoint self[SIDES], struct err *e);
int duo_connect(struct duo *d, const struct traffic_endpoint self[SIDES], struct err *e);

/* -EPIPE when an end was lost, -EINTR when the user stopped it. */
int duo_check_ends(struct duo *d, struct err *e);

/* One run of traffic with the counters around it. */
int duo_load(struct duo *d, struct err *e);

/* What a run tells of traffic that had these specs and gave these reports. */
void two_ended_pair(const struct traffic_spec spec[SIDES], const bool has_report[SIDES],
		    const struct traffic_report report[SIDES], struct run_pair *pair);

/* One after another with all sizes of a sweep. */
int duo_sizes(struct duo *d, struct err *e);

/* Stops what runs, and waits so long for what it says. */
void duo_stop(struct duo *d, unsigned int wait_ms);

/* Waits until all that start together have come so far. -ECANCELED when one of them was lost before
 * the start; 0 at once for one that is alone. */
int duo_meet(struct duo *d, enum meeting_step step, struct err *e);

/* All that start together load one port of this host; -ENOTUNIQ when they chose several. */
int duo_one_port(struct duo *d, struct err *e);

/* Compares the clocks of both ends, for a common start. */
int duo_clocks(struct duo *d, struct err *e);

/* When a side has to start by its own clock; 0 = at once. */
uint64_t duo_start_ns(struct duo *d, enum run_side side);

/* The marking echo, when it is wished. */
void duo_echo(struct duo *d);

/* Opens and closes what a device may not have (XRC): better now than after the baseline. */
int duo_try_transports(struct duo *d, struct err *e);

/* Opens, connects and runs the traffic of both sides, and takes the reports that come. */
int duo_traffic(struct duo *d, struct err *e);

/* Queue pairs live until then: what is still repeated is counted before. And they are gone after
 * it, so that nobody takes them for those of others; not when a process takes too long to die. */
void duo_close_traffic(struct duo *d);

#endif
