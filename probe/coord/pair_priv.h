/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of probes between two hosts, for pair*.c and incast.c. The probes of an incast are in
 * step: they share one event loop, and what they do is done for all of them at once.
 */
#ifndef PROBE_PAIR_PRIV_H
#define PROBE_PAIR_PRIV_H

#include "probe/coord/load.h"
#include "probe/coord/pair.h"

/* One probe while it runs. */
struct pair_session {
	const struct pair_request *w;
	struct pair *t;
	struct session s;		  /* its hosts are the sides */
	char address[SIDES][64];	  /* of the control connection */
	struct destinations destinations; /* where the server may have us send */
	struct pair_live live;
	int err; /* that ended it */
	struct err e;
};

/* All probes, and the flow of each. */
struct pairs {
	struct loop *loop;
	unsigned int count;
	struct pair_session *one; /* owned */
	struct load_flow *flow;	  /* owned, by probe */
};

/* Runs all phases of all probes; each has its own error. */
void pairs_run(struct pairs *x);

/* Makes room for so many probes. The caller closes in any case. */
int pairs_open(struct pairs *x, unsigned int count, struct err *e);
/* Opens the record and the session of a probe; an error is in d. */
int pair_open(struct pair_session *d, const struct pair_request *w, struct pair *t,
	      struct loop *loop);
void pairs_close(struct pairs *x);

/* Reads the counters of all probes. */
void pairs_counters(struct pairs *x, enum run_reading reading);

/* One load of all probes with the counters around it. */
void pairs_load(struct pairs *x);

/* Fails a probe, unless it already has failed. */
void pair_fail(struct pair_session *d, const struct err *e);

/* The servers of an incast load one port of this host: -ENOTUNIQ for another one than the first's.
 */
int pair_check_port(const struct pair_session *d, const struct pair_session *first, struct err *e);

/* Fails each probe of which an end was lost (-EPIPE) or that was stopped (-EINTR). */
void pairs_check(struct pairs *x);

/* Before the start, a probe that failed ends the others, too. Returns true when one has failed. */
bool pairs_end_before_start(struct pairs *x);

/* Fills the results of a pair from its ends. */
void pair_fill_results(struct run_pair *pair);

/* Adds a pair with empty ends to the record. -ENOMEM. */
int pair_add(struct run *r);

/* Runs one after another all sizes of a sweep; of one probe. */
void pairs_sizes(struct pairs *x);

/* Makes a load with a flow for each probe, without specs; that of a failed probe has failed. */
void pairs_make_load(struct pairs *x, struct load *l);

/* Opens and closes what a device may not have (XRC): better now than after the baseline. */
void pairs_try_transports(struct pairs *x);

/* The marking test of the probes that ask for it. */
void pairs_marking(struct pairs *x);

#endif
