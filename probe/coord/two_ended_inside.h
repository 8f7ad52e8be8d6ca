/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of probes between two hosts, for two_ended*.c and incast.c. The probes of an incast are in
 * step: they share one event loop, and what they do is done for all of them at once.
 */
#ifndef PROBE_TWO_ENDED_INSIDE_H
#define PROBE_TWO_ENDED_INSIDE_H

#include "probe/coord/load.h"
#include "probe/coord/two_ended.h"

/* One probe while it runs. */
struct duo {
	const struct two_ended_wish *w;
	struct two_ended *t;
	struct session s;		  /* its hosts are the sides */
	char address[SIDES][64];	  /* of the control connection */
	struct destinations destinations; /* where the server may have us send */
	struct two_ended_live live;
	int err; /* that ended it */
	struct err e;
};

/* All probes, and the flow of each. */
struct duos {
	struct loop *loop;
	unsigned int count;
	struct duo *one;	/* owned */
	struct load_flow *flow; /* owned, by probe */
};

/* Runs all phases of all probes; each has its own error. */
void duos_run(struct duos *x);

/* Makes room for so many probes. The caller closes in any case. */
int duos_open(struct duos *x, unsigned int count, struct err *e);
/* Opens the record and the session of a probe; an error is in d. */
int duo_open(struct duo *d, const struct two_ended_wish *w, struct two_ended *t, struct loop *loop);
void duos_close(struct duos *x);

/* Reads the counters of all probes. */
void duos_counters(struct duos *x, enum run_reading reading);

/* One load of all probes with the counters around it. */
void duos_load(struct duos *x);

/* Fails a probe, unless it already has failed. */
void duo_fail(struct duo *d, const struct err *e);

/* The servers of an incast load one port of this host: -ENOTUNIQ for another one than the first's.
 */
int duo_check_port(const struct duo *d, const struct duo *first, struct err *e);

/* Fails each probe of which an end was lost (-EPIPE) or that was stopped (-EINTR). */
void duos_check(struct duos *x);

/* Before the start, a probe that failed ends the others, too. Returns true when one has failed. */
bool duos_end_before_start(struct duos *x);

/* Describes traffic that had these specs and gave these reports. */
void two_ended_pair(const struct traffic_spec spec[SIDES], const bool has_report[SIDES],
		    const struct traffic_report report[SIDES], struct run_pair *pair);

/* Runs one after another all sizes of a sweep; of one probe. */
void duos_sizes(struct duos *x);

/* Makes a load with a flow for each probe, without specs; that of a failed probe has failed. */
void duos_make_load(struct duos *x, struct load *l);

/* Opens and closes what a device may not have (XRC): better now than after the baseline. */
void duos_try_transports(struct duos *x);

/* The marking test of the probes that ask for it. */
void duos_echo(struct duos *x);

#endif
